// Patches of a router's rules on guests with FreeBSD, which boot the image's own kernel.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Variant } from '../../../src/kernel/variant.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import { fakeGuests } from '../../fakes/freebsd-guests.ts';
import { forwarding, isGivenBack, openGuests, prepare, trialOf } from '../../fakes/freebsd-guests-testbed.ts';

const rules = 'set skip on lo0\npass no state\n';

function overlay(variant: string, files: Record<string, string> = {}): Variant {
  return {
    variant,
    commit: 'a'.repeat(40),
    folder: 'dut',
    files: Object.entries(files).map(([path, content]) => ({
      path,
      mode: '100644',
      content,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
  };
}

test('The rules of a patch are in force on patched alone, and other files are left out with a warning.', async () => {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  const variants = [overlay('base'), overlay('patched', { 'a.txt': 'words', 'pf.conf': rules })];
  expect(await prepare(testbed, [forwarding], variants)).toEqual({ kind: 'ready' });
  const { signal } = new AbortController();
  expect(await testbed.trial(trialOf(1, 1, forwarding, []), async () => {}, signal)).toMatchObject({
    kind: 'measured',
    runs: [1, 2].map(() => ({ validity: { kind: 'valid' } })),
    warnings: [expect.stringMatching(/^dut\/a\.txt is not measured/)],
  });
  const firewalls = guests.copies.map(({ journal }) => journal.some(({ command }) => command === 'pfctl -e'));
  expect(firewalls.toSorted()).toEqual([false, true]);
  await testbed.restore();
  isGivenBack(guests);
});

const pf: Cell = { scenario: 'pf-stateful', family: 'inet4' };

test.for([
  ['rules of two firewalls', { 'ipfw.rules': '', 'pf.conf': '' }, forwarding, 'has both pf.conf and ipfw.rules'],
  ['a scenario that would replace the rules', { 'pf.conf': rules }, pf, 'pf-stateful has its own rules'],
] as const)('%s is refused before a guest boots.', async ([, files, cell, why]) => {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  const preparing = prepare(testbed, [cell], [overlay('base'), overlay('patched', files)]);
  await expect(preparing).rejects.toThrow(why);
  expect(guests.copies).toEqual([]);
  await testbed.restore();
});
