// Has packets meet a limit in guests with FreeBSD, and asserts the readings of both.
import { expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import type { CellLimits } from '../../../src/model/limits.ts';
import type { Cell, OwnRules } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { fakeGuests } from '../../fakes/freebsd-guests.ts';
import { openGuests, prepare, trialOf } from '../../fakes/freebsd-guests-testbed.ts';
import { builtVariant } from '../../fakes/freebsd-testbed.ts';

const { signal } = new AbortController();

/** Sends a trial through base and patched with these rules. */
async function measured(own: OwnRules): Promise<CellLimits | undefined> {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  const folder = temporaryFolder();
  const cell: Cell = { scenario: 'own', family: 'inet4' };
  const variants = ['base', 'patched'].map((ident) => builtVariant(ident, { ident }, folder));
  await prepare(testbed, [cell], variants, { rules: { own } });
  const outcome = await testbed.trial(trialOf(1, 1, cell, []), async () => {}, signal);
  await testbed.restore();
  if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
  return cellLimits([outcome.summary]);
}

test.each([
  [
    'pf',
    'pass no state\nblock in quick from 198.18.10.2/31 to any\n',
    'the rule "block drop in quick from 198.18.10.2/31 to any" of pf',
  ],
  [
    'ipfw',
    'add 100 deny ip from 198.18.10.2/31 to any\nadd 200 allow ip from any to any\n',
    'the rule "00100 deny ip from 198.18.10.2/31 to any" of ipfw',
  ],
] as const)('a rule of %s that drops one flow in ten is named', async (firewall, text, name) => {
  const limits = await measured({ firewall, text, keepsStates: false });
  const ratio = expect.closeTo(0.1, 2);
  const losing = { lostRatio: ratio, drops: [{ place: 'firewall', cause: name, ratio }] };
  expect(limits).toMatchObject({ base: losing, patched: losing });
});
