import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bisectPlot } from '../../src/report/bisect-plot.ts';
import { explained, readAnyResult } from '../../src/report/read-result.ts';
import { renderHtml, renderMarkdown } from '../../src/report/reports.ts';
import { writeResult } from '../../src/report/write-reports.ts';
import { aBisectResult, bisectResults, mellanoxFixed } from '../fakes/bisect-result.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aProfile } from '../fakes/result.ts';

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
  const profileOf = (variant: string) => ({ ...aProfile(variant), file: `${variant}.folded` });
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
