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

/** Outcomes of trials on base without rules, and on patched with these files. */
async function outcomesOf(files: Record<string, string>, trials: number) {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  const prepared = await prepare(testbed, [forwarding], [overlay('base'), overlay('patched', files)]);
  expect(prepared).toEqual({ kind: 'ready' });
  const outcomes = [];
  for (let number = 1; number <= trials; number += 1) {
    const { signal } = new AbortController();
    outcomes.push(await testbed.trial(trialOf(number, 1, forwarding, []), async () => {}, signal));
  }
  const firewalls = guests.copies.map(({ journal }) => journal.some(({ command }) => command === 'pfctl -e'));
  await testbed.restore();
  isGivenBack(guests);
  return { outcomes, firewalls };
}

test('The rules of a patch are in force on patched alone.', async () => {
  const { outcomes, firewalls } = await outcomesOf({ 'pf.conf': rules }, 1);
  expect(outcomes).toMatchObject([{ kind: 'measured', runs: [1, 2].map(() => ({ validity: { kind: 'valid' } })) }]);
  expect(firewalls.toSorted()).toEqual([false, true]);
});

test('A file that no firewall reads is left out with a warning.', async () => {
  const { outcomes, firewalls } = await outcomesOf({ 'a.txt': 'words', 'pf.conf': rules }, 1);
  expect(outcomes).toMatchObject([
    {
      kind: 'measured',
      warnings: ['dut/a.txt is not measured: of an overlay this testbed loads pf.conf and ipfw.rules.'],
    },
  ]);
  expect(firewalls.toSorted()).toEqual([false, true]);
});

test('Rules that pfctl refuses twice are the fault of the patch.', async () => {
  const { outcomes } = await outcomesOf({ 'pf.conf': 'pas all\n' }, 2);
  expect(outcomes.at(-1)).toMatchObject({
    kind: 'rejected',
    variant: 'patched',
    rejection: { kind: 'does-not-load', scenario: 'forwarding' },
  });
});

const pf: Cell = { scenario: 'pf-stateful', family: 'inet4' };

test.for([
  [
    'rules of two firewalls',
    { 'ipfw.rules': '', 'pf.conf': '' },
    forwarding,
    'The overlay of patched has both pf.conf and ipfw.rules, but a scenario has one firewall: name one of them in ppsgate.yml, like `overlay: { files: { pf.conf: … } }`.',
  ],
  [
    'a scenario that would replace the rules',
    { 'pf.conf': rules },
    pf,
    'The scenario pf-stateful has its own rules, which replace those of the overlay: measure the overlay with `scenarios: [forwarding]`.',
  ],
] as const)('%s is refused before a guest boots.', async ([, files, cell, why]) => {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  const preparing = prepare(testbed, [cell], [overlay('base'), overlay('patched', files)]);
  await expect(preparing).rejects.toThrow(why);
  expect(guests.copies).toEqual([]);
  await testbed.restore();
});
