// Runs `ppsgate simulate`, whose options are in simulate.ts.
import type { z } from 'zod';
import { type NoiseSource, type SimulationRow, simulate } from '../../analysis/stats/simulate.ts';
import { maxLayouts } from '../../config/builder.ts';
import { configKeys, wholeGate } from '../../config/schema.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { formatPercent, grouped } from '../../model/format.ts';
import type { DesignName } from '../../model/result.ts';
import { type QuantityLimit, ratio } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { printJson } from '../table.ts';
import { type BisectOptions, printBisectRows, refuseBisectOptions } from './simulate-bisect.ts';
import { aligned, count, listOf, parse, readNoise, sharedOptions } from './simulate-options.ts';

type SimulateOptions = BisectOptions & {
  bisect?: true;
  noise?: string;
  maxCv?: string;
  design?: string;
  margin?: string;
  effects?: string;
  falseAlarms?: string;
  power?: string;
  cells?: string;
  maxRuns?: string;
  buildNoise?: string;
  layoutVariants?: string;
  history?: string;
  experiments?: string;
  seed?: string;
  reboot?: string;
  traffic?: string;
  json?: true;
};

export async function run(options: SimulateOptions): Promise<number> {
  if (options.bisect) {
    await printBisectRows(options);
    return exitCodes.pass;
  }
  refuseBisectOptions(options);
  const request = parseOptions(options);
  const noise = await readNoise(request);
  const rows = rowsOf(request, noise.source);

  if (options.json) printJson({ rows });
  else process.stdout.write(`${noise.noiseText}\n${conditions(request)}\n\n${table(rows, request)}`);
  return exitCodes.pass;
}

type Request = z.output<typeof ownOptions> & {
  designs: DesignName[];
  effects: number[];
  marginRatio: number;
  falseAlarmRatio: number;
  missRatio: number;
};

/** Parses margin, falseAlarms, power and design as ppsgate.yml does. */
function parseOptions(options: SimulateOptions): Request {
  const { design = 'fixed,group-sequential', margin, falseAlarms, power } = options;
  const { gate } = configKeys.shape;
  const { marginRatio, falseAlarmRatio, missRatio } = wholeGate(parse(gate, { margin, falseAlarms, power }));
  const designs = listOf(design).flatMap((name) => parse(gate, { design: name }).design ?? []);
  const own = parse(ownOptions, options);
  if (own.cells > own.experiments) {
    throw new UsageError(
      `--cells: expected at most the number of experiments, ${own.experiments}, found ${own.cells}.`,
    );
  }
  const usualEffects = [0, -marginRatio / 2, -marginRatio, -0.5];
  return {
    ...own,
    designs: [...new Set(designs)],
    effects: [...new Set(own.effects ?? usualEffects)],
    marginRatio,
    falseAlarmRatio,
    missRatio,
  };
}

const largestBuildNoise: QuantityLimit = {
  description: 'a percentage from 0% to 20%',
  holds: (value) => value >= 0 && value <= 0.2,
};

const ownOptions = sharedOptions.extend({
  cells: count(1, 100).prefault('1'),
  maxRuns: count(2, 1000).prefault('20'),
  buildNoise: ratio(largestBuildNoise).prefault('0%'),
  layoutVariants: count(1, maxLayouts).prefault('1'),
  experiments: count(1, 1_000_000).prefault('20000'),
});

type Row = Omit<SimulationRow, 'patchRegression' | 'meanMostRuns'> & {
  design: DesignName;
  effect: number;
  /** Absent for a single cell. */
  patchRegression?: number;
  meanMinutes: number;
};

/** Shows progress after every row, from two seconds on. */
function rowsOf(request: Request, noise: NoiseSource): Row[] {
  const { designs, effects } = request;
  const startedAt = performance.now();
  const all = designs.flatMap((design) => effects.map((effect) => ({ design, effect })));
  return all.map(({ design, effect }, index) => {
    const row = rowOf(request, noise, design, effect);
    if (performance.now() - startedAt > 2000) {
      const done = `${index + 1} of ${all.length}`;
      process.stderr.write(`${done}: ${design} at ${formatPercent(effect)}\n`);
    }
    return row;
  });
}

function rowOf(request: Request, noise: NoiseSource, design: DesignName, effect: number): Row {
  const { cells, reboot, traffic } = request;
  const {
    patchRegression,
    meanMostRuns: _,
    ...row
  } = simulate({
    noise,
    design: { name: design, budgets: [request.maxRuns] },
    historyRuns: request.history,
    rates: { falseAlarms: request.falseAlarmRatio, misses: request.missRatio },
    cells,
    marginRatio: request.marginRatio,
    effect,
    builds: { cv: request.buildNoise, layouts: request.layoutVariants },
    experiments: request.experiments,
    seed: request.seed,
  });
  return {
    design,
    effect,
    ...row,
    ...(cells > 1 && { patchRegression }),
    meanMinutes: (row.meanRuns * (reboot + traffic)) / 60,
  };
}

function conditions(request: Request): string {
  const { maxRuns, history, experiments, seed, marginRatio, falseAlarmRatio, missRatio } = request;
  const { buildNoise, layoutVariants } = request;
  return [
    `margin ${formatPercent(marginRatio)}`,
    `required false alarms ${formatPercent(falseAlarmRatio)}`,
    `power ${formatPercent(1 - missRatio)}`,
    `at most ${maxRuns} + ${maxRuns} runs`,
    ...(buildNoise > 0 ? [`build noise ${formatPercent(buildNoise)}`] : []),
    ...(layoutVariants > 1 ? [`each kernel linked ${layoutVariants} times`] : []),
    `${history} of history`,
    `${grouped(experiments)} experiments a row`,
    `seed ${seed}`,
  ].join(', ');
}

function table(rows: readonly Row[], { cells, marginRatio }: Request): string {
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
  const lines = rows.map((row) => [
    row.design,
    formatPercent(row.effect),
    percent(row.regression),
    percent(row.noRegression),
    percent(row.improvement),
    percent(row.inconclusive),
    ...(row.patchRegression === undefined ? [] : [percent(row.patchRegression)]),
    row.meanRuns.toFixed(2),
    String(Math.ceil(row.p95Runs)),
    row.meanMinutes.toFixed(1),
  ]);
  const patchHead = cells > 1 ? [`any of ${cells}`] : [];
  const heads = [
    'design',
    'change',
    'regression',
    'no regression',
    'improvement',
    'inconclusive',
    ...patchHead,
    'mean runs',
    'p95 runs',
    'minutes',
  ];
  return `${aligned([heads, ...lines])}\n\n${explanation(cells, marginRatio)}\n`;
}

function explanation(cells: number, marginRatio: number): string {
  const patch = cells > 1 ? ` "any of ${cells}" are patches with a regression in at least one of their cells;` : '';
  return `Regressions at 0 % are false alarms, those at ${formatPercent(-marginRatio)} are the power, and no regression there is a miss;${patch} runs count both variants.`;
}
