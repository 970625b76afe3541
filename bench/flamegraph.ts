// Times `ppsgate flamegraph` on a call graph of 5 MB after its start, and measures its SVG.
// By hand: node bench/flamegraph.ts
import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { flamegraph } from '../src/analysis/profile/flamegraph.ts';
import { layout } from '../src/analysis/profile/flamegraph-layout.ts';
import { withoutIdle } from '../src/analysis/profile/idle.ts';
import { type Profile, samplesOf } from '../src/analysis/profile/profile.ts';
import { readProfile } from '../src/analysis/profile/read-profile.ts';
import { escaped } from '../src/model/xml.ts';
import { writeCallGraph } from './fold.ts';

/** The time of the fastest of five runs, and the size, also over that of flamegraph.pl's. */
export type FlamegraphBench = { milliseconds: number; bytes: number; ratio: number };

/** Each run is a new process, as a warm compiler would flatter it. */
export function benchFlamegraph(): FlamegraphBench {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const graph = writeCallGraph(join(folder, 'pmc.graph'), 5_000_000);
    const runs = Array.from({ length: 5 }, () =>
      run.parse(JSON.parse(execFileSync(process.execPath, [import.meta.filename, graph], { encoding: 'utf8' }))),
    );
    const { bytes, classicBytes } = runs[0] ?? { bytes: NaN, classicBytes: NaN };
    const milliseconds = Math.min(...runs.map((one) => one.milliseconds));
    return { milliseconds, bytes, ratio: bytes / classicBytes };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = z.object({ milliseconds: z.number(), bytes: z.number(), classicBytes: z.number() });

/** The work of the command after its start: read, fold, draw, write. */
async function drawOnce(graph: string): Promise<z.infer<typeof run>> {
  const start = performance.now();
  const pieces = createReadStream(graph, { highWaterMark: 1024 * 1024 });
  const { profile } = withoutIdle((await readProfile(pieces, graph)).profile);
  const svg = flamegraph(profile, { title: 'a call graph of 5 MB' });
  writeFileSync(`${graph}.svg`, svg);
  const milliseconds = performance.now() - start;
  return { milliseconds, bytes: Buffer.byteLength(svg), classicBytes: classicBytes(profile) };
}

/**
 * The size of flamegraph.pl's output, by its elements and attributes: the same frames, at its own width of 1,200
 * pixels without those below 0.1, and 12 kB of script and head.
 */
function classicBytes(profile: Profile): number {
  const { stacks } = profile;
  const total = samplesOf(stacks);
  const { rows } = layout({ profile: stacks, base: [] }, 'profile', {
    pixelsPerSample: 1180 / total,
    minPixels: 0.1,
  });
  const frames = rows.flatMap((row, depth) => {
    const y = (rows.length - depth) * 16;
    return row.map(({ frame, samples: { profile: samples }, x, width }) => {
      const name = escaped(frame.name);
      const characters = Math.floor(width / (12 * 0.59));
      const label = characters < 3 ? '' : name.slice(0, characters);
      const share = ((100 * samples) / total).toFixed(2);
      return `<g >\n<title>${name} (${samples.toLocaleString('en-US')} samples, ${share}%)</title><rect x="${(10 + x).toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="15.0" fill="rgb(223,157,44)" rx="2" ry="2" />\n<text  x="${(13 + x).toFixed(2)}" y="${(y + 10.5).toFixed(1)}" >${label}</text>\n</g>\n`;
    });
  });
  return 12_000 + Buffer.byteLength(frames.join(''));
}

export function describeFlamegraph({ milliseconds, bytes, ratio }: FlamegraphBench): string {
  return `flamegraph, a call graph of 5 MB: ${milliseconds.toFixed(0)} ms after start-up (goal: at most 150 ms), ${(bytes / 1e3).toFixed(0)} kB, as flamegraph.pl writes it × ${ratio.toFixed(2)} (goal: at most 0.5)`;
}

if (import.meta.main) {
  const graph = process.argv[2];
  console.log(graph === undefined ? describeFlamegraph(benchFlamegraph()) : JSON.stringify(await drawOnce(graph)));
}
