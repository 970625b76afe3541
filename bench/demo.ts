// How much of the demo's time packets flow, and how long it takes.
// By hand, as root: node bench/demo.ts
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sum } from 'simple-statistics';
import { z } from 'zod';
import { trafficSeconds } from '../src/demo/demo.ts';
import { readResult } from '../src/report/read.ts';

export type DemoBench = { seconds: number; trafficSeconds: number; ratio: number };

/** Throws where the demo does not end as it must. */
export async function benchDemo(): Promise<DemoBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const start = performance.now();
    const printed = execFileSync(ppsgate, ['demo', '--json', '--directory', folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const seconds = (performance.now() - start) / 1000;
    const judged = z.array(z.object({ directory: z.string() })).parse(JSON.parse(printed));
    const results = await Promise.all(judged.map(({ directory }) => readResult(directory)));
    const flowed = sum(results.map(trafficSeconds));
    return { seconds, trafficSeconds: flowed, ratio: flowed / seconds };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ppsgate = join(import.meta.dirname, '..', 'bin', 'ppsgate');

export function describeDemo({ seconds, trafficSeconds, ratio }: DemoBench): string {
  return `demo: ${seconds.toFixed(0)} s, packets flowed for ${trafficSeconds.toFixed(0)} s, ratio ${ratio.toFixed(2)}`;
}

if (import.meta.main) console.log(describeDemo(await benchDemo()));
