// Measures the embedded lab's verdicts, the functions named for the slow patch, the demo's duration, and the share of
// it in which packets flow.
// By hand, as root: node bench/demo.ts --demos 10 --busy-loops 4
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { sum } from 'simple-statistics';
import { z } from 'zod';
import { trafficSeconds } from '../src/cli/demo/demo.ts';
import { demoPatches } from '../src/cli/demo/demo-repository.ts';
import type { Result } from '../src/model/result.ts';
import { cellName } from '../src/model/scenario.ts';
import { readResult } from '../src/report/read-result.ts';

export type DemoBench = { demos: number; busyLoops: number };

/** Yields a table of demos as they end, with the outcome of each patch in each of its cells; then the totals. */
export async function* benchDemo({ demos, busyLoops }: DemoBench): AsyncGenerator<string> {
  const loops = Array.from({ length: busyLoops }, () => spawn('sh', ['-c', busyLoop]));
  try {
    yield* table(demos);
  } finally {
    for (const loop of loops) loop.kill();
  }
}

/** Loops, and ends when this process does, in any way. */
const busyLoop = 'while kill -0 "$PPID"; do i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done';

async function* table(demos: number): AsyncGenerator<string> {
  const columns = ['demo', ...demoPatches.map(({ branch }) => branch), 'durations', 'packets flowed'];
  yield row(columns);
  yield row(columns.map(() => '---'));
  const all: Demo[] = [];
  for (let number = 1; number <= demos; number += 1) {
    const demo = await runOnce();
    all.push(demo);
    const { patches, seconds, flowedSeconds } = demo;
    const flowed = `${((flowedSeconds / seconds) * 100).toFixed(0)} %`;
    yield row([String(number), ...patches.map(told), `${seconds.toFixed(0)} s`, flowed]);
  }
  yield '';
  yield* totals(all);
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** `none`: the patch was not judged, or its verdict is that nothing can be said. */
type Grade = 'right' | 'wrong' | 'none';
type Patch = {
  grade: Grade;
  cells: { name: string; verdict: string; grade: Grade; why: string; named?: string }[];
};
type Demo = { patches: Patch[]; seconds: number; flowedSeconds: number };

async function runOnce(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const start = performance.now();
    const demo = spawn(ppsgate, ['demo', '--json', '--directory', folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [printed, said] = await Promise.all([text(demo.stdout), text(demo.stderr)]);
    const seconds = (performance.now() - start) / 1000;
    if (printed === '') throw new Error(`The demo did not end: ${said}`);
    const judged = summaries.parse(JSON.parse(printed));
    const results = await Promise.all(judged.map(({ directory }) => readResult(directory)));
    const patches = judged.map(({ expected, verdict }, index) => ({
      grade: gradeOf(verdict, expected),
      cells: cellsOf(results[index], expected),
    }));
    return { patches, seconds, flowedSeconds: sum(results.map(trafficSeconds)) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ppsgate = join(import.meta.dirname, '..', 'bin', 'ppsgate');
const summaries = z.array(z.object({ directory: z.string(), expected: z.string(), verdict: z.string() }));

function gradeOf(verdict: string, expected: string): Grade {
  if (verdict === expected) return 'right';
  return verdict === 'invalid' || verdict === 'inconclusive' ? 'none' : 'wrong';
}

function cellsOf(result: Result | undefined, expected: string): Patch['cells'] {
  if (result?.outcome.kind !== 'judged') return [];
  return result.outcome.cells.map(({ cell, verdict, reason }) => ({
    name: cellName(cell),
    verdict: verdict.kind,
    grade: gradeOf(verdict.kind, expected),
    why: verdict.kind === 'invalid' ? verdict.reason : '',
    ...(verdict.kind === 'regression' && {
      named: reason?.changedFunctions.at(0)?.function ?? 'no function',
    }),
  }));
}

/** `right: 3 of 3 cells`, and each cell that is not. */
function told({ grade, cells }: Patch): string {
  if (cells.length === 0) return grade;
  const right = cells.filter((cell) => cell.grade === 'right').length;
  const others = cells
    .filter((cell) => cell.grade !== 'right')
    .map(({ name, verdict, why }) => `${name} ${[verdict, why].filter(Boolean).join(': ')}`);
  const named = cells.flatMap(({ named }) => named ?? []);
  return [
    `${grade}: ${right} of ${cells.length} cells`,
    ...others,
    ...(named.length > 0 ? [`named first: ${named.join(', ')}`] : []),
  ].join('; ');
}

function* totals(demos: readonly Demo[]): Generator<string> {
  const whole = demos.filter(({ patches }) => patches.every(({ grade }) => grade === 'right'));
  const patches = demos.flatMap((demo) => demo.patches);
  const cells = patches.flatMap((patch) => patch.cells);
  yield `demo: ${whole.length} of ${demos.length} with all patches right`;
  yield `patches: ${grades(patches)}`;
  yield `cells: ${grades(cells)}`;
  const named = cells.flatMap(({ named }) => named ?? []);
  const expected = named.filter((one) => one.startsWith('nft_')).length;
  yield `reasons: ${expected} of ${named.length} regressions name a function of nft first`;
  const seconds = sum(demos.map((demo) => demo.seconds));
  const flowed = sum(demos.map((demo) => demo.flowedSeconds)) / seconds;
  yield `${(seconds / demos.length).toFixed(0)} s each, packets flowed for ${flowed.toFixed(2)} of it`;
}

const grades = (all: readonly { grade: Grade }[]): string =>
  (['right', 'wrong', 'none'] as const)
    .map((grade) => `${all.filter((one) => one.grade === grade).length} ${words[grade]}`)
    .join(', ');

const words = { right: 'right', wrong: 'wrong', none: 'without a verdict' };

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      demos: { type: 'string', default: '1' },
      'busy-loops': { type: 'string', default: '0' },
    },
  });
  const asked = { demos: Number(values.demos), busyLoops: Number(values['busy-loops']) };
  for await (const line of benchDemo(asked)) console.log(line);
}
