// Times `ppsgate fold` on a call graph of 100 MB, beside a Perl program that prints the same.
// By hand: node bench/fold.ts
import { execFileSync } from 'node:child_process';
import { closeSync, createReadStream, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { FoldedText } from '../src/analysis/profile/fold.ts';
import { readProfile } from '../src/analysis/profile/read-profile.ts';

/** Megabytes of call graph a second, of the fastest of five runs each. */
export type FoldBench = { ours: number; perl: number; ratio: number };

/** Alternates the runs, so that a busy machine is busy for both; throws if the two print different stacks. */
export async function benchFold(): Promise<FoldBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const graph = writeCallGraph(join(folder, 'pmc.graph'), 100_000_000);
    const stacks = { ours: join(folder, 'ours.stack'), perl: join(folder, 'perl.stack') };
    const seconds = { ours: Infinity, perl: Infinity };
    for (let turn = 0; turn < 5; turn += 1) {
      seconds.perl = Math.min(seconds.perl, foldWithPerl(graph, stacks.perl));
      seconds.ours = Math.min(seconds.ours, await fold(graph, stacks.ours));
    }
    if (!readFileSync(stacks.ours).equals(readFileSync(stacks.perl))) {
      throw new Error('ppsgate and Perl fold the same call graph to different stacks.');
    }
    const megabytes = statSync(graph).size / 1e6;
    const [ours, perl] = [megabytes / seconds.ours, megabytes / seconds.perl];
    return { ours, perl, ratio: ours / perl };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Writes a graph of the shape that forwarding has: some hundred functions, most of them with one caller, stacks of
 * about 15.
 */
export function writeCallGraph(file: string, bytes: number): string {
  const random = xoroshiro128plus(1);
  const output = openSync(file, 'w');
  let written = writeSync(output, '@ CPU_CLK_UNHALTED_CORE [1 samples]\n\n');
  while (written < bytes) {
    const lines = callersOf(random, { depth: 0, samples: uniformInt(random, 1, 20_000) });
    written += writeSync(output, `${lines.map(modulesWhereTheyChange()).join('\n')}\n\n`);
  }
  closeSync(output);
  return file;
}

type Line = { text: string; module: string };

function callersOf(random: RandomGenerator, { depth, samples }: { depth: number; samples: number }): Line[] {
  const number = uniformInt(random, 0, 999);
  const name = `${words[number % words.length]}_${number}`;
  const module = number < 100 ? 'if_cxgbe.ko' : 'kernel';
  const indent = ' '.repeat(depth);
  const line = {
    text: `${indent}100.0%  ${`[${samples}]`.padEnd(11)}${indent}${name}`,
    module,
  };
  if (depth > uniformInt(random, 10, 20)) return [line];
  const shares = uniformInt(random, 0, 9) === 0 ? [0.6, 0.3, 0.1] : [1];
  const callers = shares.flatMap((share) =>
    callersOf(random, { depth: depth + 1, samples: Math.ceil(samples * share) }),
  );
  return [line, ...callers];
}

const words = ['ip_input', 'ether_demux', 'netisr_dispatch', 'pf_test', 'iflib_rxeof', 'uma_zalloc'];

function modulesWhereTheyChange(): (line: Line) => string {
  let before = '';
  return ({ text, module }) => {
    const isSame = module === before;
    before = module;
    return isSame ? text : `${text} @ /boot/kernel/${module}`;
  };
}

function foldWithPerl(graph: string, stacks: string): number {
  const output = openSync(stacks, 'w');
  const start = performance.now();
  execFileSync('perl', [join(import.meta.dirname, 'stackcollapse.pl'), graph], {
    stdio: ['ignore', output, 'inherit'],
  });
  const seconds = (performance.now() - start) / 1000;
  closeSync(output);
  return seconds;
}

/** The work of the command after its start. */
async function fold(graph: string, stacks: string): Promise<number> {
  const output = openSync(stacks, 'w');
  const start = performance.now();
  const pieces = createReadStream(graph, { highWaterMark: 1024 * 1024 });
  const text = new FoldedText();
  const { profile } = await readProfile(pieces, graph, text);
  for (const piece of text.pieces(profile)) writeSync(output, piece);
  const seconds = (performance.now() - start) / 1000;
  closeSync(output);
  return seconds;
}

export function describeFold({ ours, perl, ratio }: FoldBench): string {
  return `fold, a call graph of 100 MB: ours ${ours.toFixed(0)} MB/s, Perl ${perl.toFixed(0)} MB/s, ratio ${ratio.toFixed(1)} (goal: at least 3.5)`;
}

if (import.meta.main) console.log(describeFold(await benchFold()));
