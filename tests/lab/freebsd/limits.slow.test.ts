// Makes packets meet a limit at each place of a FreeBSD DUT.
import { expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import type { CellLimits, VariantLimits } from '../../../src/model/limits.ts';
import type { Cell, OwnRules } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, depsOf, prepareRequest, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';

const traffic = { ...usualTraffic, measureSeconds: 30 };

type Limited = {
  rules: Record<string, OwnRules>;
  scenario: string;
};

/** Sends a trial through each of base and patched. */
async function measured({ rules, scenario }: Limited): Promise<CellLimits> {
  await using lab = await startFreebsdLab({ truth: () => 20e6 });
  const folder = temporaryFolder();
  const testbed = await openFreebsdTestbed('shelf', testbedOf(lab, folder), traffic, depsOf(lab));
  const { signal } = new AbortController();
  const cell: Cell = { scenario, family: 'inet4' };
  const variants = [
    builtVariant('base', { ident: 'base' }, folder),
    builtVariant('patched', { ident: 'patched' }, folder),
  ];
  const keepLog = async () => {};
  await testbed.prepare(prepareRequest(variants, { cells: [cell], rules }));
  const trials = [];
  for (const [index, variant] of ['base', 'patched'].entries()) {
    const number = index + 1;
    const runs = [{ number, pair: 1, variant }];
    const outcome = await testbed.trial({ number, cell, runs }, keepLog, signal);
    if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
    trials.push(outcome.summary);
  }
  await testbed.restore();
  const limits = cellLimits(trials);
  if (limits === undefined) throw new Error('no limits were read');
  return limits;
}

/** All losses are at this place. */
function expectLost({ lostRatio, drops }: VariantLimits, ratio: number, place: string, cause: string): void {
  expect(lostRatio).toBeCloseTo(ratio, 2);
  expect(drops).toMatchObject([{ place, cause: expect.stringContaining(cause), ratio: expect.closeTo(ratio, 2) }]);
}

test('a full table of states is named, for base, too', async () => {
  const text = 'set limit states 3000\npass keep state\n';
  const rules = { small: { firewall: 'pf', text, keepsStates: true } } as const;
  const { base, patched } = await measured({ rules, scenario: 'small' });
  for (const limits of [base, patched]) expectLost(limits, 0.25, 'state-table', 'pf: memory');
});

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
] as const)('a rule of %s that drops one flow in ten is named with its share', async (firewall, text, name) => {
  const rules = { leaky: { firewall, text, keepsStates: false } };
  const { base, patched } = await measured({ rules, scenario: 'leaky' });
  for (const limits of [base, patched]) expectLost(limits, 0.1, 'firewall', name);
});
