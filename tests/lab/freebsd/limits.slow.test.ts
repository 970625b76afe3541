// Makes packets meet a limit at each place of a FreeBSD DUT, and checks the comment and the page.
import { expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import type { CellLimits, VariantLimits } from '../../../src/model/limits.ts';
import type { Cell, OwnRules } from '../../../src/model/scenario.ts';
import { renderHtml, renderMarkdown } from '../../../src/report/reports.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, depsOf, prepareRequest, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { aCell, aResult } from '../../fakes/result.ts';

const traffic = { ...usualTraffic, measureSeconds: 30 };

type Limited = {
  /** The patched kernel's; it works when absent. */
  behaviour?: Behaviour;
  rules?: Record<string, OwnRules>;
  scenario?: string;
};

/** Sends a trial through each of base and patched. */
async function measured({
  behaviour = { kind: 'works' },
  rules = {},
  scenario = 'forwarding',
}: Limited): Promise<CellLimits> {
  await using lab = await startFreebsdLab({ truth: () => 20e6 });
  const folder = temporaryFolder();
  const testbed = await openFreebsdTestbed('shelf', testbedOf(lab, folder), traffic, depsOf(lab));
  const { signal } = new AbortController();
  const cell: Cell = { scenario, family: 'inet4' };
  const variants = [
    builtVariant('base', { ident: 'base' }, folder),
    builtVariant('patched', { ident: 'patched', behaviour }, folder),
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

/** Comment and page of a regression with these readings. */
function reportOn(limits: CellLimits): { comment: string; page: string } {
  const cells = [{ ...aCell({ kind: 'regression' }), limits }];
  const result = aResult({ outcome: { kind: 'judged', verdict: 'regression', cells } });
  const [comment = '', page = ''] = [
    renderMarkdown(result),
    renderHtml(result, [])
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"'),
  ].map((text) => text.replaceAll('\u00a0', ' ').replaceAll('`', ''));
  return { comment, page };
}

function expectAddsUp({ lostRatio, drops }: VariantLimits, wantedLoss: number): void {
  expect(lostRatio).toBeCloseTo(wantedLoss, 2);
  expect(drops.reduce((sum, { ratio }) => sum + ratio, 0)).toBeCloseTo(lostRatio, 2);
}

const bothSay = (limits: CellLimits, text: string) => {
  const { comment, page } = reportOn(limits);
  expect(comment).toContain(text);
  expect(page).toContain(text);
};

test('Packets that find no place in the queue towards the card are lost in the output queue.', async () => {
  const limits = await measured({ behaviour: { kind: 'drops-in-queue' } });
  expectAddsUp(limits.patched, 0.1);
  bothSay(
    limits,
    'all losses of patched (10 % of the packets, base 0 %) are in output queue, a full queue, or too few buffers',
  );
});

test('A full table of states is named, for base, too.', async () => {
  const rules = {
    small: { firewall: 'pf', text: 'set limit states 3000\npass keep state\n', keepsStates: true },
  } as const;
  const limits = await measured({ rules, scenario: 'small' });
  expectAddsUp(limits.base, 0.25);
  expectAddsUp(limits.patched, 0.25);
  bothSay(limits, 'pf: memory, because its table is full (set limit states)');
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
] as const)('A rule of %s that drops one flow in ten is named with its share.', async (firewall, text, name) => {
  const limits = await measured({
    rules: { leaky: { firewall, text, keepsStates: false } },
    scenario: 'leaky',
  });
  expectAddsUp(limits.base, 0.1);
  expectAddsUp(limits.patched, 0.1);
  bothSay(limits, `are in firewall, ${name}`);
});
