import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BisectResult } from '../../src/model/bisect-result.ts';
import { bisectPlot } from '../../src/report/bisect-plot.ts';
import { explained, readAnyResult } from '../../src/report/read-result.ts';
import { renderHtml, renderMarkdown } from '../../src/report/reports.ts';
import { writeResult } from '../../src/report/write-reports.ts';
import { aBisectResult, bisectResults, mellanoxFixed } from '../fakes/bisect-result.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { anExperiment } from '../fakes/report.ts';
import { aResult } from '../fakes/result.ts';

test('a bisection is read as it was written, with its report beside it and nothing else', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, mellanoxFixed);
  const found = { directory, result: mellanoxFixed };
  expect(await readAnyResult(directory)).toEqual(found);
  expect(await readAnyResult(join(directory, 'result.json'))).toEqual(found);
  const read = (...path: string[]) => readFileSync(join(directory, ...path));
  expect(read('report.md').toString()).toBe(renderMarkdown(mellanoxFixed));
  expect(readdirSync(directory).toSorted()).toEqual(['report', 'report.md', 'result.json']);
  expect(readdirSync(join(directory, 'report')).toSorted()).toEqual(['bisect.png', 'bisect.svg', 'index.html']);
  expect(read('report', 'index.html').toString()).toBe(renderHtml(mellanoxFixed));
  expect(read('report', 'bisect.svg').toString()).toBe(bisectPlot(mellanoxFixed));
  expect(read('report', 'bisect.png').subarray(1, 4).toString()).toBe('PNG');
});

test('distinguishes the result of a gate from that of a bisection', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, aResult());
  expect((await readAnyResult(directory)).result).toEqual(aResult());
});

test('an invalid file is refused, with the remedy', async () => {
  const directory = temporaryFolder();
  await expect(readAnyResult(directory)).rejects.toThrow(/name the work directory of a gate or/);
  writeFileSync(join(directory, 'result.json'), '{"kind":"bisect"}');
  await expect(readAnyResult(directory)).rejects.toThrow(/not a result of this version of ppsgate/);
});

test('a plot of an earlier result is gone where nothing was measured', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, mellanoxFixed);
  await writeResult(directory, bisectResults['nothing measured'] ?? aBisectResult());
  expect(readdirSync(join(directory, 'report'))).toEqual(['index.html']);
});

test('profiles of before and after are read again, and each has its flamegraph', async () => {
  const directory = temporaryFolder();
  const profileOf = (variant: string): BisectResult['profiles'][number] => ({
    kind: 'profiled',
    variant,
    event: 'cpu-clock',
    kernel: 'FreeBSD 13',
    seconds: 10,
    busySamples: 10_000,
    idleSamples: 1,
    file: `${variant}.folded`,
  });
  writeFileSync(join(directory, 'base.folded'), 'ip_input;mlx5e_xmit 1000\nip_input 9000\n');
  writeFileSync(join(directory, 'patched.folded'), 'ip_input;mlx5e_xmit 6000\nip_input 4000\n');
  const written = { ...mellanoxFixed, profiles: [profileOf('base'), profileOf('patched')] };
  const { result, profiles } = await explained(written, directory);
  expect(result.reason?.changedFunctions[0]?.function).toBe('mlx5e_xmit');
  await writeResult(directory, result, profiles);
  for (const which of ['base', 'patched', 'difference']) {
    const name = `flamegraph-forwarding-inet4-${which}.svg`;
    expect(existsSync(join(directory, 'report', name)), name).toBe(true);
  }
});

test('a failing drawing is omitted alone, with a warning', async () => {
  const directory = temporaryFolder();
  const stacks = Array.from({ length: 10_000 }, (_, index) => ({
    frames: Array.from({ length: 20 }, (_, depth) => ({ name: `${index}.${depth}` })),
    samples: 1,
  }));
  const [first] = anExperiment().profiles;
  if (first === undefined) expect.fail('There are profiles.');
  const profile = { format: 'folded', stacks } as const;
  const leftOut: string[] = [];
  const variants = [{ variant: 'patched', idleFrames: [], profile }];
  await writeResult(directory, mellanoxFixed, [{ ...first, variants }], (why) => leftOut.push(why));
  expect(leftOut).toEqual([expect.stringMatching(/^There is no flamegraph of forwarding inet4, f8f5b459d21e: .*\.$/)]);
  expect(existsSync(join(directory, 'report', 'index.html'))).toBe(true);
});
