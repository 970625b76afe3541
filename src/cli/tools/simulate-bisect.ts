// `ppsgate simulate --bisect`: estimates the cost and the errors of a bisection with known noise.
import { z } from 'zod';
import type { NoiseSource } from '../../analysis/stats/simulate.ts';
import { kebabCase } from '../../config/parameters.ts';
import { type BisectRow, type BisectSimulation, simulateBisect } from '../../gate/bisect/simulate-bisection.ts';
import { formatPercent, grouped } from '../../model/format.ts';
import { expected, ratio } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { printJson } from '../table.ts';
import { aligned, count, listOf, parse, readNoise, sharedOptions } from './simulate-options.ts';

/** Values as typed; some exist only to be rejected. */
export type BisectOptions = {
  commits?: string;
  broken?: string;
  buildMinutes?: string;
  maxBoots?: string;
  json?: true;
} & Partial<Record<(typeof ofGates)[number], string>>;

const ofGates = [
  ...(['design', 'margin', 'falseAlarms', 'power', 'cells', 'maxRuns', 'buildNoise'] as const),
  'layoutVariants',
] as const;
const ofBisections = ['commits', 'broken', 'buildMinutes', 'maxBoots'] as const;

export function refuseBisectOptions(options: BisectOptions): void {
  const [first] = ofBisections.filter((name) => options[name] !== undefined);
  if (first === undefined) return;
  throw new UsageError(`--${kebabCase(first)}: applies to bisections only; add --bisect.`);
}

/** Prints one row per number of commits and effect; throws a `UsageError` for an invalid option. */
export async function printBisectRows(options: BisectOptions): Promise<void> {
  const [gate] = ofGates.filter((name) => options[name] !== undefined);
  if (gate !== undefined) {
    throw new UsageError(`--${kebabCase(gate)}: applies to gates only; drop it, or --bisect.`);
  }
  const request = parse(ownOptions, options);
  const noise = await readNoise(request);
  const rows = rowsOf(request, noise.source);
  if (options.json) printJson({ rows });
  else process.stdout.write(`${noise.noiseText}\n${conditions(request)}\n\n${table(rows)}`);
}

const ownOptions = sharedOptions.extend({
  commits: z
    .string()
    .transform(listOf)
    .pipe(z.array(count(1, 20_000)))
    .prefault('256'),
  broken: ratio({ description: 'a percentage up to 90%', holds: (value) => value <= 0.9 }).prefault('0%'),
  buildMinutes: z
    .string()
    .regex(/^\d{1,4}(?:\.\d{1,3})?$/, { error: expected('a number of minutes like 10') })
    .transform(Number)
    .prefault('10'),
  maxBoots: count(4, 1000).prefault('60'),
  experiments: count(1, 1_000_000).prefault('1000'),
});

type Request = z.output<typeof ownOptions>;

/** Outcomes are shares of all experiments, and sum up to 1. */
type Row = Omit<BisectRow, 'allFound'> & {
  commits: number;
  effect: number;
  brokenRatio: number;
};

/** Typical number if one commit breaks a driver and a later one fixes it. */
const brokenInARow = 6;

const usualEffects = [0, -0.02, -0.05, -0.1];

/** Shows progress after every row, from two seconds on. */
function rowsOf(request: Request, noise: NoiseSource): Row[] {
  const effects = [...new Set(request.effects ?? usualEffects)];
  const all = request.commits.flatMap((commits) => effects.map((effect) => ({ commits, effect })));
  const startedAt = performance.now();
  return all.map(({ commits, effect }, index) => {
    const { allFound: _, ...row } = simulateBisect(simulationOf(request, noise, commits, effect));
    if (performance.now() - startedAt > 2000) {
      const done = `${index + 1} of ${all.length}`;
      process.stderr.write(`${done}: ${commits} commits at ${formatPercent(effect)}\n`);
    }
    return { commits, effect, brokenRatio: request.broken, ...row };
  });
}

function simulationOf(
  { broken, buildMinutes, reboot, traffic, history, maxBoots, experiments, seed }: Request,
  noise: NoiseSource,
  commits: number,
  effect: number,
): BisectSimulation {
  const run = (reboot + traffic) / 60;
  return {
    noise,
    commits,
    brokenInARow,
    experiments,
    seed,
    effects: [effect],
    brokenRatio: broken,
    historyRuns: history,
    mostBoots: maxBoots,
    // After a kernel that fails to boot, the DUT boots its own.
    minutes: { build: buildMinutes, run, failure: 2 * run },
  };
}

function conditions({ broken, history, buildMinutes, maxBoots, experiments, seed }: Request): string {
  return [
    `${formatPercent(broken)} broken, ${brokenInARow} in a row`,
    `${history} of history`,
    `builds of ${buildMinutes} min`,
    `at most ${maxBoots} boots`,
    `${grouped(experiments)} experiments a row`,
    `seed ${seed}`,
  ].join(', ');
}

function table(rows: readonly Row[]): string {
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
  const lines = rows.map((row) => [
    String(row.commits),
    formatPercent(row.effect),
    row.meanBoots.toFixed(1),
    String(Math.ceil(row.p95Boots)),
    row.meanMinutes.toFixed(0),
    row.p95Minutes.toFixed(0),
    ...[row.namedRight, row.namedWrong, row.groupRight, row.groupWrong].map(percent),
    ...[row.inconclusive, row.notReproduced].map(percent),
  ]);
  const heads = [
    'commits',
    'change',
    'mean boots',
    'p95 boots',
    'mean minutes',
    'p95 minutes',
    'named',
    'named wrong',
    'group',
    'group wrong',
    'inconclusive',
    'not reproduced',
  ];
  return `${aligned([heads, ...lines])}\n`;
}
