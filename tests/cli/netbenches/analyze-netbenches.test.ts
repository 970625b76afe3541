// Verdicts on the sets of a netbenches directory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AnalysisOptions, analyzeBenches } from '../../../src/cli/netbenches/analyze-netbenches.ts';
import { readBenches } from '../../../src/cli/netbenches/directory.ts';
import { renderAnalysis } from '../../../src/cli/netbenches/render.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { madeLog, trial } from '../../fakes/pkt-gen.ts';
import { policy } from '../../fakes/result.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

type Measured = { forwarded: number; offered?: number };

/** A directory with one set per label, and in it one run per measurement. */
function benches(sets: Readonly<Record<string, readonly Measured[]>>): string {
  const folder = temporaryFolder();
  for (const [label, runs] of Object.entries(sets)) {
    for (const [index, { forwarded, offered = 14e6 }] of runs.entries()) {
      const path = join(folder, `bench.${label}.${index + 1}`);
      writeFileSync(`${path}.receiver`, madeLog({ pps: trial(forwarded, 30) }));
      writeFileSync(`${path}.sender`, madeLog({ pps: trial(offered, 30), side: 'sender' }));
    }
  }
  return folder;
}

const around = (pps: number, offered?: number): Measured[] =>
  [1, 1.004, 0.997, 1.002, 0.999].map((ratio) => ({
    forwarded: pps * ratio,
    ...(offered !== undefined && { offered: offered * ratio }),
  }));

const analyze = async (folder: string, changes: Partial<AnalysisOptions> = {}) =>
  analyzeBenches(await readBenches(folder), { netbenchesTrim: false, policy, ...changes });

const verdicts = async (...args: Parameters<typeof analyze>) =>
  (await analyze(...args)).comparisons.map(
    ({ base, patched, verdict }) => `${patched.label} / ${base.label}: ${verdict.kind}`,
  );

const turned = 'r1.inet4 / r2.inet4: improvement';

test('images are compared within their family, the first with all others', async () => {
  const folder = benches({
    'r1.inet4': around(5e6),
    'r1.inet6': around(4e6),
    'r1D7.inet4': around(4.5e6),
    'r1D7.inet6': around(4e6),
    'r1D7v2.inet4': around(5.5e6),
  });
  expect(await verdicts(folder)).toEqual([
    'r1D7.inet4 / r1.inet4: regression',
    'r1D7v2.inet4 / r1.inet4: improvement',
    'r1D7.inet6 / r1.inet6: no-regression',
  ]);
});

test.each<[string, Record<string, Measured[]>, Partial<AnalysisOptions>, string]>([
  [
    'configurations of one image with each other',
    { 'r1.aim-off': around(5e6), 'r1.aim-on': around(4e6) },
    {},
    'r1.aim-on / r1.aim-off: regression',
  ],
  ['with another image', { 'r1.inet4': around(5e6), 'r2.inet4': around(4e6) }, { base: 'r2' }, turned],
  ['with another label', { 'r1.inet4': around(5e6), 'r2.inet4': around(4e6) }, { base: 'r2.inet4' }, turned],
  [
    'a patch that only then reaches the limit of the generator',
    { 'r1.inet4': around(10e6, 14.88e6), 'r1D7.inet4': around(14.8e6, 14.88e6) },
    {},
    'r1D7.inet4 / r1.inet4: invalid',
  ],
  [
    'four runs that count',
    { 'r1.inet4': around(5e6), 'r2.inet4': [{ forwarded: 0 }, ...around(4e6).slice(1)] },
    {},
    'r2.inet4 / r1.inet4: regression',
  ],
])('compares %s', async (_, sets, changes, verdict) => {
  expect(await verdicts(benches(sets), changes)).toEqual([verdict]);
});

test.each<[string, Record<string, Measured[]>, string]>([
  [
    'the generator is the limit',
    { 'r1.inet4': around(14.8e6, 14.88e6), 'r1D7.inet4': around(14.7e6, 14.88e6) },
    'generator-limited: ',
  ],
  [
    'two runs count',
    { 'r1.inet4': around(5e6), 'r2.inet4': [...new Array(3).fill({ forwarded: 0 }), ...around(4e6).slice(3)] },
    '2 of 3 pairs of runs count: no steady rate',
  ],
])('gives no verdict where %s', async (_, sets, reason) => {
  const [compared] = (await analyze(benches(sets))).comparisons;
  expect(compared?.verdict).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(reason) });
});

test('names from a directory reach a terminal without its control characters', async () => {
  const folder = benches({ 'r\u001b[2J1.inet4': around(5e6) });
  const text = renderAnalysis(await analyze(folder));
  expect(text).toContain('r [2J1.inet4: 5 of 5 runs count');
  expect(text).not.toContain('\u001b');
});

describeWith(['shared/corpus/runs'], 'studies of the netbenches archive', () => {
  const study = (name: string) => analyze(sharedFolder(`corpus/runs/${name}`), { netbenchesTrim: true });

  test('D12685 is an improvement, and its published tables are below the verdict', async () => {
    const analysis = await study('r325006-D12685');
    expect(analysis.comparisons.map(({ verdict }) => verdict.kind)).toEqual(['improvement', 'improvement']);
    expect(renderAnalysis(analysis)).toContain('\t8.32677% +/- 1.53565%\n');
    expect(renderAnalysis(analysis)).toContain('\t26.3706% +/- 1.54172%\n');
  });
});
