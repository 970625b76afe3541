// How long `ppsgate --help` takes beside an empty script on the same Node.
// By hand: node bench/startup.ts
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../src/stats/summary.ts';

/** Medians of twenty runs each, in seconds, and ours over the empty script's. */
export type StartupBench = { ours: number; empty: number; ratio: number };

/** Runs take turns, so that a busy machine is busy for both. */
export function benchStartup(): StartupBench {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const script = join(folder, 'empty.js');
    writeFileSync(script, '');
    const turns = Array.from({ length: 20 }, () => ({
      empty: seconds(process.execPath, [script]),
      ours: seconds(ppsgate, ['--help']),
    }));
    const ours = median(turns.map((turn) => turn.ours));
    const empty = median(turns.map((turn) => turn.empty));
    return { ours, empty, ratio: ours / empty };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ppsgate = join(import.meta.dirname, '..', 'bin', 'ppsgate');

function seconds(program: string, args: readonly string[]): number {
  const start = performance.now();
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - start) / 1000;
}

export function describeStartup({ ours, empty, ratio }: StartupBench): string {
  return `start-up, --help: ours ${ours.toFixed(3)} s, an empty script ${empty.toFixed(3)} s, ratio ${ratio.toFixed(2)} (goal: below 2.5)`;
}

if (import.meta.main) console.log(describeStartup(benchStartup()));
