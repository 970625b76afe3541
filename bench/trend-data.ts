// Measures the size of nightly runs on the data branch, the time of a clone, and the files that a nightly run touches.
// By hand: node bench/trend-data.ts [RESULTS]; all nightly runs are judged, too, which takes minutes for 10,000 results.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { emptyTrend, type Trend } from '../src/analysis/trend/nightly-runs.ts';
import type { CellResult, Result, Run } from '../src/model/result.ts';
import { type Cell, families, scenarios } from '../src/model/scenario.ts';
import { folderOf } from '../src/publish/data-branch/layout.ts';
import { nextTrend, trendFiles } from '../src/publish/data-branch/trend-files.ts';

type TrendDataBench = {
  results: number;
  lines: number;
  files: number;
  /** Longest file of nightly runs. */
  maxBytes: number;
  packBytes: number;
  cloneSeconds: number;
  /** The same of a repository with an empty commit. */
  emptyCloneSeconds: number;
  /** Bytes that one more nightly run writes in `trend/`. */
  touched: string[];
};

const testbeds = ['hp-t540', 'apu2', 'xeon-d', 'epyc'];
const cells: readonly Cell[] = scenarios
  .flatMap((scenario) => families.map((family) => ({ scenario, family })))
  .slice(0, 12);
const runsOfCell = 5;

/** Nightly runs of four testbeds in turns, each of twelve cells and five trials, through the same functions as a publication. */
export function benchTrendData(results = 10_000): TrendDataBench {
  const random = xoroshiro128plus(22);
  const draw = () => uniformFloat64(random);
  let trend = emptyTrend;
  const now = new Date('2036-01-01T00:00:00Z');
  const add = (before: Trend, number: number): Trend => {
    const result = nightlyRunOf(number, draw);
    const about = { result, path: folderOf(result), isDefaultBranch: true, isTrusted: true };
    const committed = new Date(Date.parse(result.startedAt) - draw() * 43_200_000);
    const commits = { [result.patch.headCommit]: `${committed.toISOString().slice(0, 19)}Z` };
    return nextTrend(before, [{ ...about, commits }], now);
  };
  for (let number = 0; number < results; number += 1) trend = add(trend, number);
  const files = trendFiles(undefined, trend);
  const touched = [...trendFiles(trend, add(trend, results))].map(([path]) => path);
  const years = [...files].filter(([path]) => path.endsWith('.jsonl'));
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const [full, empty] = [cloned(folder, 'full', files), cloned(folder, 'empty', new Map([['README.md', '']]))];
    return {
      results,
      lines: years.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0),
      files: files.size,
      maxBytes: Math.max(...years.map(([, text]) => Buffer.byteLength(text))),
      packBytes: full.packBytes,
      cloneSeconds: full.seconds,
      emptyCloneSeconds: empty.seconds,
      touched,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const hex = (draw: () => number): string =>
  Array.from({ length: 40 }, () => Math.floor(draw() * 16).toString(16)).join('');

/** Runs scatter by 0.5 %, builds by 0.3 %: digits that nothing can guess. */
function nightlyRunOf(number: number, draw: () => number): Result {
  const normal = () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  const commit = hex(draw);
  const day = Math.floor(number / testbeds.length);
  const startedAt = new Date(Date.UTC(2027, 0, day, 2) + draw() * 3_600_000).toISOString();
  const runs = (index: number): Run[] => {
    const build = 1 + 0.003 * normal();
    return Array.from({ length: runsOfCell }, (_, trial): Run => {
      const pps = 5_000_000 * (1 - index / 20) * build * (1 + 0.005 * normal());
      return {
        number: trial + 1,
        trial: trial + 1,
        attempt: 1,
        pair: trial + 1,
        variant: 'base',
        pps,
        nsPerPacket: 1e9 / pps,
        samples: [],
        validity: { kind: 'valid' },
      };
    });
  };
  const judged = cells.map(
    (cell, index): CellResult => ({
      cell,
      verdict: { kind: 'no-regression' },
      baseline: { kind: 'unknown' },
      design: { name: 'group-sequential', budgets: [20], pairsPerStep: 1, method: 'pooled' },
      pairs: runsOfCell,
      comparisons: [],
      others: [],
      profiles: [],
      runs: runs(index),
    }),
  );
  return {
    schemaVersion: 1,
    generator: { name: 'ppsgate', version: '0' },
    patch: { kind: 'range', title: '', author: '', baseCommit: commit, headCommit: commit },
    variants: [],
    testbed: { name: testbeds[number % testbeds.length] ?? '', fingerprint: {}, warnings: [] },
    policy: {
      metric: 'pps',
      marginRatio: 0.02,
      confidenceRatio: 0.9,
      falseAlarmRatio: 0.01,
      missRatio: 0.05,
    },
    traffic: { flows: 2000, frameBytes: 64, measureSeconds: 1 },
    seed: number,
    startedAt,
    finishedAt: startedAt,
    trials: [],
    leftOut: [],
    outcome: { kind: 'judged', verdict: 'no-regression', cells: judged },
  };
}

/** A commit without parents of these files, packed, and the fastest of three clones of it. */
function cloned(folder: string, name: string, files: ReadonlyMap<string, string>) {
  const bare = join(folder, `${name}.git`);
  const git = (args: readonly string[], input?: string) =>
    execFileSync('git', args, { encoding: 'utf8', input, maxBuffer: 2 ** 30 });
  git(['init', '--quiet', '--bare', '--initial-branch=main', bare]);
  git(['-C', bare, 'fast-import', '--quiet'], commitOf(files));
  git(['-C', bare, 'repack', '-adfq']);
  const packKibibytes = /size-pack: (\d+)/.exec(git(['-C', bare, 'count-objects', '-v']))?.[1];
  const seconds = [1, 2, 3].map((turn) => {
    const start = performance.now();
    git(['clone', '--quiet', '--no-local', bare, join(folder, `${name}-${turn}`)]);
    return (performance.now() - start) / 1000;
  });
  return { packBytes: Number(packKibibytes) * 1024, seconds: Math.min(...seconds) };
}

function commitOf(files: ReadonlyMap<string, string>): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const entries = [...files].map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`);
  return `commit refs/heads/main\ncommitter ppsgate <> 0 +0000\n${data('Results')}${entries.join('')}\ndone\n`;
}

function describeTrendData(bench: TrendDataBench): string[] {
  const { results, lines, files, maxBytes, packBytes, cloneSeconds, emptyCloneSeconds } = bench;
  const ratio = cloneSeconds / emptyCloneSeconds;
  return [
    `trend, ${results} results of ${cells.length} cells: ${lines} nightly runs in ${files} files, the longest ${maxBytes} bytes; packed ${(packBytes / 2 ** 20).toFixed(1)} MiB (goal: at most 6)`,
    `trend, clone: ${cloneSeconds.toFixed(2)} s, ${ratio.toFixed(1)} times an empty one's ${emptyCloneSeconds.toFixed(2)} s (goal: at most 3 s)`,
    `trend, one nightly run more writes ${bench.touched.length} files: ${bench.touched.filter((path) => path.endsWith('.jsonl')).length} of its cells' year, ${bench.touched.filter((path) => !path.endsWith('.jsonl')).join(', ')}`,
  ];
}

if (import.meta.main) {
  const [results] = process.argv.slice(2);
  for (const line of describeTrendData(benchTrendData(results ? Number(results) : undefined))) {
    console.log(line);
  }
}
