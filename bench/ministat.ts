// Times `ppsgate ministat` against Debian's ministat on a million numbers, start-up included.
// By hand: node bench/ministat.ts [PROGRAM]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Seconds of the fastest of five runs each, and ours over the reference's. */
export type MinistatBench = { ours: number; reference: number; ratio: number };

/** Alternates the runs, so that a busy machine is busy for both; throws if one of the programs fails. */
export async function benchMinistat(program = ppsgate): Promise<MinistatBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const files = [noise(folder, 'base', 5_000_000), noise(folder, 'patched', 5_050_000)];
    const turns = Array.from({ length: 5 }, () => ({
      reference: seconds('ministat', files),
      ours: seconds(program, ['ministat', ...files]),
    }));
    const ours = Math.min(...turns.map((turn) => turn.ours));
    const reference = Math.min(...turns.map((turn) => turn.reference));
    return { ours, reference, ratio: ours / reference };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ppsgate = join(import.meta.dirname, '..', 'bin', 'ppsgate');

/** Half a million numbers that look like packets per second: a sum of uniform ones is about normal. */
function noise(folder: string, name: string, average: number): string {
  const random = xoroshiro128plus(average);
  const lines = Array.from({ length: 500_000 }, () => {
    const parts = Array.from({ length: 6 }, () => uniformInt(random, -50_000, 50_000));
    return `${parts.reduce((sum, part) => sum + part, average)}\n`;
  });
  const file = join(folder, `${name}.pps`);
  writeFileSync(file, lines.join(''));
  return file;
}

function seconds(program: string, args: readonly string[]): number {
  const start = performance.now();
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - start) / 1000;
}

export function describeMinistat({ ours, reference, ratio }: MinistatBench): string {
  return `ministat, 10^6 numbers: ours ${ours.toFixed(3)} s, Debian's ${reference.toFixed(3)} s, ratio ${ratio.toFixed(2)} (goal: at most 1.2)`;
}

if (import.meta.main) console.log(describeMinistat(await benchMinistat(process.argv[2])));
