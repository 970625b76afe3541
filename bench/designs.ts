// Compares error rates and runs of the designs on the noise of real labs.
// By hand: node bench/designs.ts
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { formatPercent, grouped } from '../src/model/format.ts';
import { cvOf, readNoiseFile } from './noise-file.ts';
import { standardNormal } from './normal.ts';
import { type NoiseSource, type SimulationRequest, type SimulationRow, simulate } from './simulated-gates.ts';

/** `missed` if the line holds a value outside its goal. */
export type Line = { text: string; missed: boolean };

/** Yields each line as soon as it is known. */
export async function* benchDesigns(): AsyncGenerator<Line> {
  const { says, quiet, classes, quarters } = await labs();
  yield plain(says);
  yield plain(`\nOne cell, ${quiet.says}, margin ${formatPercent(margin)}:`);
  for (const contender of contenders) yield* effectsOf(contender, quiet);
  yield plain(`\n12 cells with no change, ${quiet.says}:`);
  for (const contender of usual) yield patchesOf(contender, quiet);
  yield plain(`\nOne cell by its noise, margin ${formatPercent(margin)}:`);
  for (const contender of usual) yield* classesOf(contender, classes);
  yield plain('\nEach quarter of the sets, in one cell and in 12:');
  for (const contender of usual) yield* quartersOf(contender, quarters);
  yield plain('\nHeavier tails than any seen, of runs that deviate by 0.5 % without them:');
  for (const contender of usual) yield* tailsOf(contender);
}

export type Lab = { says: string; noise: NoiseSource };
type Labs = { says: string; quiet: Lab; classes: Lab[]; quarters: Lab[] };

/** Uses real labs if they are present, otherwise noise that replaces theirs. */
export const labs = async (): Promise<Labs> => (existsSync(corpus) ? await realLabs() : assumedLabs);

const corpus = join(import.meta.dirname, '..', '..', 'shared', 'corpus', 'noise.jsonl');

async function realLabs(): Promise<Labs> {
  const { cells } = await readNoiseFile(corpus);
  const sets = cells.flat();
  const upTo = (cv: number): Lab => {
    const kept = sets.filter((set) => cvOf(set) <= cv);
    return {
      says: `${grouped(kept.length)} sets with a CV of at most ${formatPercent(cv)}`,
      noise: { kind: 'sets', cells: kept.map((set) => [set]) },
    };
  };
  const few = sets.filter((set) => cvOf(set) <= 0.01).toSorted((a, b) => cvOf(a) - cvOf(b));
  const quarter = (says: string, isIn: (index: number) => boolean): Lab => ({
    says,
    noise: { kind: 'sets', cells: few.filter((_, index) => isIn(index)).map((set) => [set]) },
  });
  const names = ['first', 'second', 'third', 'fourth'];
  const all: Lab = {
    says: `all ${grouped(sets.length)} sets`,
    noise: { kind: 'sets', cells: sets.map((set) => [set]) },
  };
  return {
    says: 'Runs are drawn from sets that were measured on real testbeds.',
    quiet: upTo(0.01),
    classes: [...[0.005, 0.01, 0.02, 0.05].map(upTo), all],
    quarters: names.flatMap((name, at) => [
      quarter(`${name} quarter by noise`, (index) => Math.floor((4 * index) / few.length) === at),
      quarter(`${name} of each four`, (index) => index % 4 === at),
    ]),
  };
}

const normalNoise = (cv: number): Lab => ({
  says: `normal noise with a CV of ${formatPercent(cv)}`,
  noise: { kind: 'normal', cv },
});

const assumedLabs: Labs = {
  says: 'There is no ../shared/corpus/noise.jsonl, so NORMAL NOISE stands in for that of real testbeds.',
  quiet: normalNoise(0.006),
  classes: [0.005, 0.01, 0.02, 0.05].map(normalNoise),
  quarters: [0.002, 0.004, 0.006, 0.009].map(normalNoise),
};

export type Goal = { least: number } | { most: number };
type Goals = { regression?: Goal; meanRuns?: Goal };

type Contender = Pick<SimulationRequest, 'design' | 'historyRuns' | 'marginRatio'> & {
  says: string;
  falseAlarms: number;
  /** Goals by the true change. */
  goals: ReadonlyMap<number, Goals>;
};

const margin = 0.02;
const falseAlarms = 0.01;
const misses = 0.05;

const goalsOf = (runsIfUnchanged: number, runsIfLost: number) =>
  new Map<number, Goals>([
    [0, { regression: { most: falseAlarms }, meanRuns: { most: runsIfUnchanged } }],
    [-margin, { regression: { least: 1 - misses }, meanRuns: { most: runsIfLost } }],
    [-0.5, { regression: { least: 1 } }],
  ]);

/** Runs that a gate adds for outliers. */
const usual: Contender[] = [
  {
    says: 'group-sequential, at most 20 + 20 runs, no history',
    design: { name: 'group-sequential', budgets: [20] },
    historyRuns: 0,
    falseAlarms,
    marginRatio: margin,
    goals: goalsOf(6.8, 9.1),
  },
  {
    says: 'group-sequential, at most 20 + 20 runs, 30 runs of history',
    design: { name: 'group-sequential', budgets: [20] },
    historyRuns: 30,
    falseAlarms,
    marginRatio: margin,
    goals: goalsOf(5.4, 7),
  },
  {
    says: 'group-sequential, at most 20 + 20 runs, 200 runs of history',
    design: { name: 'group-sequential', budgets: [20] },
    historyRuns: 200,
    falseAlarms,
    marginRatio: margin,
    goals: goalsOf(4.8, 6),
  },
];

const fixed = (pairs: number): Contender => ({
  says: `fixed, ${pairs} + ${pairs} runs`,
  design: { name: 'fixed', budgets: [pairs] },
  historyRuns: 0,
  falseAlarms,
  marginRatio: margin,
  goals: new Map(),
});

/**
 * Counts every difference, however small, with 2.5 % on each side: a design that was not extended spends nine tenths of
 * its rate.
 */
const ministat = (pairs: number): Contender => ({
  ...fixed(pairs),
  says: `t-test of ${pairs} + ${pairs} runs as ministat does it, 95 %`,
  falseAlarms: 0.025 / 0.9,
  marginRatio: 1e-12,
});

const contenders = [ministat(5), ministat(10), fixed(5), fixed(10), ...usual];

function* effectsOf(contender: Contender, { noise }: Lab): Generator<Line> {
  yield plain(contender.says);
  for (const effect of [0, -margin / 2, -margin, -0.5]) {
    const row = run(contender, { noise, effect, cells: 1, experiments: 40_000 });
    const { regression, meanRuns } = contender.goals.get(effect) ?? {};
    const change = formatPercent(effect).padStart(7);
    const found = share(row.regression).padStart(8) + goalText(regression).padEnd(15);
    const runs = row.meanRuns.toFixed(2).padStart(5) + goalText(meanRuns).padEnd(14);
    yield {
      text: `${change}: regression ${found} mean runs ${runs} p95 ${Math.ceil(row.p95Runs)}`,
      missed: isMissed(row.regression, regression) || isMissed(row.meanRuns, meanRuns),
    };
  }
}

function patchesOf(contender: Contender, { noise }: Lab): Line {
  const goal = { most: falseAlarms };
  const row = run(contender, { noise, effect: 0, cells: 12, experiments: 12 * 20_000 });
  return {
    text: `${contender.says}: patch-level false alarms ${share(row.patchRegression)}${goalText(goal)}`,
    missed: isMissed(row.patchRegression, goal),
  };
}

/** The more a cell's runs differ, the less often a loss is found; the error rates must not change. */
function* classesOf(contender: Contender, classes: readonly Lab[]): Generator<Line> {
  yield plain(contender.says);
  for (const { says, noise } of classes) {
    const size = { cells: 1, experiments: 40_000 };
    const unchanged = run(contender, { noise, effect: 0, ...size });
    const lost = run(contender, { noise, effect: -margin, ...size });
    const [alarmGoal, missGoal] = [{ most: falseAlarms }, { most: misses }];
    const parts = [
      `  ${says.padEnd(38)} false alarms ${share(unchanged.regression)}${goalText(alarmGoal)}`,
      `at ${formatPercent(-margin)} missed ${share(lost.noRegression)}${goalText(missGoal)}`,
      `found ${share(lost.regression)}`,
    ];
    yield {
      text: parts.join(', '),
      missed: isMissed(unchanged.regression, alarmGoal) || isMissed(lost.noRegression, missGoal),
    };
  }
}

/** The promises hold for cells that are all of one kind, and not only on average over kinds. */
function* quartersOf(contender: Contender, quarters: readonly Lab[]): Generator<Line> {
  yield plain(contender.says);
  const alarmGoal = { most: falseAlarms };
  const powerGoal = { least: 1 - misses };
  for (const { says, noise } of quarters) {
    const one = { noise, cells: 1, experiments: 20_000 };
    const unchanged = run(contender, { ...one, effect: 0 });
    const lost = run(contender, { ...one, effect: -margin });
    const patches = run(contender, { ...one, effect: 0, cells: 12, experiments: 12 * 10_000 });
    const parts = [
      `  ${says.padEnd(24)} false alarms ${share(unchanged.regression)}${goalText(alarmGoal)}`,
      `of 12 cells ${share(patches.patchRegression)}${goalText(alarmGoal)}`,
      `found ${share(lost.regression)}${goalText(powerGoal)}`,
      `mean runs ${unchanged.meanRuns.toFixed(2)} and ${lost.meanRuns.toFixed(2)}`,
    ];
    yield {
      text: parts.join(', '),
      missed:
        isMissed(unchanged.regression, alarmGoal) ||
        isMissed(patches.patchRegression, alarmGoal) ||
        isMissed(lost.regression, powerGoal),
    };
  }
}

/** Has no goals: the line marks a broken promise. */
function* tailsOf(contender: Contender): Generator<Line> {
  yield plain(contender.says);
  for (const { says, draw } of tails) {
    const random = xoroshiro128plus(23);
    const runs = Array.from({ length: 50_000 }, () => Math.exp(0.005 * draw(random)));
    const noise: NoiseSource = { kind: 'sets', cells: [[runs]] };
    const one = { noise, cells: 1, experiments: 20_000 };
    const unchanged = run(contender, { ...one, effect: 0 });
    const lost = run(contender, { ...one, effect: -margin });
    const patches = run(contender, { ...one, effect: 0, cells: 12, experiments: 12 * 10_000 });
    const told = (ratio: number, most: number) => `${share(ratio)}${ratio > most ? ' BREAKS' : ''}`;
    const parts = [
      `  ${says.padEnd(38)} false alarms ${told(unchanged.regression, falseAlarms)}`,
      `of 12 cells ${told(patches.patchRegression, falseAlarms)}`,
      `missed ${told(lost.noRegression, misses)}`,
      `found ${share(lost.regression)}`,
    ];
    yield plain(parts.join(', '));
  }
}

type Tail = { says: string; draw: (random: RandomGenerator) => number };

/** Deviations of a run, in units of its deviation without them. */
const tails: Tail[] = [
  { says: 'none: normal', draw: standardNormal },
  ...[3, 2.5, 2].map((degreesOfFreedom) => ({
    says: `Student’s, ${degreesOfFreedom} degrees of freedom`,
    draw: (random: RandomGenerator) => studentNumber(random, degreesOfFreedom),
  })),
  ...[0.01, 0.02, 0.05, 0.1].map((ratio) => ({
    says: `${formatPercent(ratio)} of runs thrown 3 to 10 deviations off`,
    draw: (random: RandomGenerator) => {
      const side = uniformFloat64(random) < 0.5 ? -1 : 1;
      const thrown = uniformFloat64(random) < ratio ? side * (3 + 7 * uniformFloat64(random)) : 0;
      return thrown + standardNormal(random);
    },
  })),
  ...[0.5, 0.2, 0.1].flatMap((ratio) =>
    [4, 8].map((apart) => ({
      says: `${formatPercent(ratio)} of runs ${formatPercent(-0.005 * apart)} by a habit`,
      draw: (random: RandomGenerator) => (uniformFloat64(random) < ratio ? -apart : 0) + standardNormal(random),
    })),
  ),
];

/** A normal number over the root of a mean square, whose sum has a gamma distribution (Marsaglia and Tsang, 2000). */
function studentNumber(random: RandomGenerator, degreesOfFreedom: number): number {
  const d = degreesOfFreedom / 2 - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = standardNormal(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    if (Math.log(1 - uniformFloat64(random)) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
      return standardNormal(random) / Math.sqrt((2 * d * v) / degreesOfFreedom);
    }
  }
}

function run(
  contender: Contender,
  question: Pick<SimulationRequest, 'noise' | 'effect' | 'cells' | 'experiments'>,
): SimulationRow {
  const { design, historyRuns, marginRatio } = contender;
  const rates = { falseAlarms: contender.falseAlarms, misses };
  return simulate({ ...question, design, historyRuns, marginRatio, rates, seed: 1 });
}

export const plain = (text: string): Line => ({ text, missed: false });

export const share = (ratio: number): string => `${(ratio * 100).toFixed(2)} %`;

export function goalText(goal: Goal | undefined): string {
  if (goal === undefined) return '';
  const [sign, value] = 'most' in goal ? ['≤', goal.most] : ['≥', goal.least];
  return ` (goal ${sign} ${value <= 1 ? formatPercent(value) : value})`;
}

export function isMissed(value: number, goal: Goal | undefined): boolean {
  if (goal === undefined) return false;
  return 'most' in goal ? value > goal.most : value < goal.least;
}

/** Prints lines as they arrive, and how many miss a goal; the process exits with 1 if some do. */
export async function printLines(lines: AsyncIterable<Line>): Promise<void> {
  const startedAt = performance.now();
  let missed = 0;
  for await (const line of lines) {
    if (line.missed) missed += 1;
    console.log(line.missed ? `${line.text}  MISSED` : line.text);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`\n${missed === 0 ? 'All goals are met' : `${missed} lines miss a goal`}; ${seconds} s.`);
  process.exitCode = missed === 0 ? 0 : 1;
}

if (import.meta.main) await printLines(benchDesigns());
