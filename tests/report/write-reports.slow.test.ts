import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Profile } from '../../src/analysis/profile/profile.ts';
import { intervalPlot } from '../../src/report/interval-plot.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { readResult } from '../../src/report/read-result.ts';
import { renderHtml, renderMarkdown } from '../../src/report/reports.ts';
import { writeResult } from '../../src/report/write-reports.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { anExperiment } from '../fakes/report.ts';
import { aResult } from '../fakes/result.ts';

test('a result is read as it was written, with its report beside it and nothing else', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, aResult());
  expect(await readResult(directory)).toEqual(aResult());
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toBe(renderMarkdown(aResult()));
  expect(readdirSync(directory).toSorted()).toEqual(['report', 'report.md', 'result.json']);
});

test('writes the page into a separate folder, with the plot in SVG and in PNG, and the cells as test cases', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, aResult());
  const read = (name: string) => readFileSync(join(directory, 'report', name));
  expect(readdirSync(join(directory, 'report')).toSorted()).toEqual([
    'index.html',
    'intervals.png',
    'intervals.svg',
    'junit.xml',
  ]);
  expect(read('index.html').toString()).toBe(renderHtml(aResult(), []));
  expect(read('intervals.svg').toString()).toBe(intervalPlot(aResult()));
  expect(read('junit.xml').toString()).toBe(renderJunit(aResult()));
  expect(read('intervals.png').subarray(1, 4).toString()).toBe('PNG');
});

test('writes a flamegraph of each profile into a separate file', async () => {
  const directory = temporaryFolder();
  const { result, profiles } = anExperiment();
  await writeResult(directory, result, profiles);
  const names = readdirSync(join(directory, 'report')).filter((name) => /^flame.*\.svg$/.test(name));
  const cells = ['forwarding', 'ipfw-stateful', 'ipfw-stateless'];
  expect(names).toHaveLength(15);
  for (const cell of cells) {
    for (const which of ['base', 'patched', 'difference']) {
      const name = `flamegraph-${cell}-inet4-${which}.svg`;
      expect(names).toContain(name);
      const svg = readFileSync(join(directory, 'report', name), 'utf8');
      expect(svg).toMatch(/^<svg .*<script>/s);
      expect(svg).toContain(`${cell} inet4, ${which === 'difference' ? 'patched against base' : which}`);
    }
  }
});

test('a failing drawing is omitted alone, with a warning', async () => {
  const directory = temporaryFolder();
  const cell = { scenario: 'forwarding', family: 'inet4' } as const;
  const profileOf = (variant: string, stacks: Profile['stacks']) => ({
    variant,
    idleFrames: [],
    profile: { format: 'folded', stacks } as const,
  });
  const hostile = Array.from({ length: 10_000 }, (_, index) => ({
    frames: Array.from({ length: 20 }, (_, depth) => ({ name: `${index}.${depth}` })),
    samples: 1,
  }));
  const variants = [profileOf('base', hostile), profileOf('patched', [{ frames: [{ name: 'napi' }], samples: 1 }])];
  const stale = join(directory, 'report', 'flamegraph-forwarding-inet4-base.svg');
  mkdirSync(join(directory, 'report'));
  writeFileSync(stale, '');
  const leftOut: string[] = [];
  await writeResult(directory, aResult(), [{ cell, variants }], (why) => leftOut.push(why));
  expect(leftOut[0]).toMatch(/^There is no flamegraph of forwarding inet4, base: .*\.$/);
  expect(await readResult(directory)).toEqual(aResult());
  const names = readdirSync(join(directory, 'report'));
  expect(names).toContain('flamegraph-forwarding-inet4-patched.svg');
  expect(names).toContain('index.html');
  expect(existsSync(stale)).toBe(false);
});

test('a plot of an earlier result is gone where nothing was judged', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, aResult());
  await writeResult(directory, aResult({ outcome: { kind: 'boot-failed', message: 'silent' } }));
  expect(readdirSync(join(directory, 'report')).toSorted()).toEqual(['index.html', 'junit.xml']);
});
