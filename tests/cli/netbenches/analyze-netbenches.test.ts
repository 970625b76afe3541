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

test('configurations of one image are compared with each other', async () => {
  const folder = benches({ 'r1.aim-off': around(5e6), 'r1.aim-on': around(4e6) });
  expect(await verdicts(folder)).toEqual(['r1.aim-on / r1.aim-off: regression']);
});

test('another base may be named, by image or by label', async () => {
  const folder = benches({ 'r1.inet4': around(5e6), 'r2.inet4': around(4e6) });
  const turned = ['r1.inet4 / r2.inet4: improvement'];
  expect(await verdicts(folder, { base: 'r2' })).toEqual(turned);
  expect(await verdicts(folder, { base: 'r2.inet4' })).toEqual(turned);
});

test('a limit of the generator prevents a verdict, for any result of ministat', async () => {
  const folder = benches({
    'r1.inet4': around(14.8e6, 14.88e6),
    'r1D7.inet4': around(14.7e6, 14.88e6),
  });
  const [compared] = (await analyze(folder)).comparisons;
  expect(compared?.verdict).toMatchObject({
    kind: 'invalid',
    reason: expect.stringMatching(
      /^generator-limited: 14\.\d+ Mpps came through in a median second, of 14\.\d+ Mpps offered on average/,
    ),
  });
});

test('a patch that only then reaches the generator’s limit is no measured improvement', async () => {
  const folder = benches({
    'r1.inet4': around(10e6, 14.88e6),
    'r1D7.inet4': around(14.8e6, 14.88e6),
  });
  expect(await verdicts(folder)).toEqual(['r1D7.inet4 / r1.inet4: invalid']);
});

test('a run that does not count leaves the verdict to the others, of which there must be three', async () => {
  const dead = { forwarded: 0 };
  const four = benches({
    'r1.inet4': around(5e6),
    'r2.inet4': [dead, ...around(4e6).slice(1)],
  });
  const two = benches({
    'r1.inet4': around(5e6),
    'r2.inet4': [dead, dead, dead, ...around(4e6).slice(3)],
  });
  expect(await verdicts(four)).toEqual(['r2.inet4 / r1.inet4: regression']);
  expect((await analyze(two)).comparisons[0]?.verdict).toMatchObject({
    kind: 'invalid',
    reason: expect.stringMatching(/^2 of 3 pairs of runs count: no steady rate/),
  });
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

  test('D27401 measured its generator', async () => {
    const [compared] = (await study('r368606-D27401')).comparisons;
    expect(compared?.verdict).toEqual({
      kind: 'invalid',
      reason:
        'generator-limited: 14.82 Mpps came through in a median second, of 14.88 Mpps offered on average (99.6 %), and the line carries 14.88 Mpps (10 Gbit/s)',
    });
  });
});
