// How often each design errs, and how many runs it takes, side by side on the noise of real labs.
// By hand: node bench/designs.ts
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cvOf, readNoiseFile } from '../src/commands/noise-file.ts';
import {
  type NoiseSource,
  type SimulationRequest,
  type SimulationRow,
  simulate,
} from '../src/stats/simulate.ts';
import { formatPercent, grouped } from '../src/words/format.ts';

/** `missed` where the line holds a value that is not what it should be. */
export type Line = { text: string; missed: boolean };

/** A line as soon as it is known. */
export async function* benchDesigns(): AsyncGenerator<Line> {
  const { says, quiet, classes } = await labs();
  yield plain(says);
  yield plain(`\nOne cell, ${quiet.says}, margin ${formatPercent(margin)}:`);
  for (const contender of contenders) yield* effectsOf(contender, quiet);
  yield plain(`\n12 cells with no change, ${quiet.says}:`);
  for (const contender of sequential) yield patchesOf(contender, quiet);
  yield plain(`\nOne cell by its noise, margin ${formatPercent(margin)}:`);
  for (const contender of sequential) yield* classesOf(contender, classes);
}

export type Lab = { says: string; noise: NoiseSource };
type Labs = { says: string; quiet: Lab; classes: Lab[] };

/** Real ones where they are there, or noise that stands in for theirs. */
export const labs = async (): Promise<Labs> =>
  existsSync(corpus) ? await realLabs() : assumedLabs;

const corpus = join(import.meta.dirname, '..', '..', 'shared', 'corpus', 'noise.jsonl');

async function realLabs(): Promise<Labs> {
  const { sets } = await readNoiseFile(corpus);
  const upTo = (cv: number): Lab => {
    const kept = sets.filter((set) => cvOf(set) <= cv);
    return {
      says: `${grouped(kept.length)} sets with a CV of at most ${formatPercent(cv)}`,
      noise: { kind: 'sets', sets: kept },
    };
  };
  const all: Lab = { says: `all ${grouped(sets.length)} sets`, noise: { kind: 'sets', sets } };
  return {
    says: 'Runs are drawn from sets that were measured on real testbeds.',
    quiet: upTo(0.01),
    classes: [...[0.005, 0.01, 0.02, 0.05].map(upTo), all],
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

const sequential: Contender[] = [
  {
    says: 'group-sequential, at most 20 + 20 runs, no history',
    design: { name: 'group-sequential', budgets: [20] },
    historyRuns: 0,
    falseAlarms,
    marginRatio: margin,
    goals: goalsOf(8, 10),
  },
  {
    says: 'glr, at most 20 + 20 runs, 10 runs of history',
    design: { name: 'glr', budgets: [20] },
    historyRuns: 10,
    falseAlarms,
    marginRatio: margin,
    goals: goalsOf(5.5, 7),
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
 * Every difference counts, however small, with 2.5 % on each side: what a design that was not extended spends is four
 * fifths of its rate.
 */
const ministat = (pairs: number): Contender => ({
  ...fixed(pairs),
  says: `t-test of ${pairs} + ${pairs} runs as ministat does it, 95 %`,
  falseAlarms: 0.025 / 0.8,
  marginRatio: 1e-12,
});

const contenders = [ministat(5), ministat(10), fixed(5), fixed(10), ...sequential];

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

/** The more a cell's runs differ, the less often a loss is found; what errs must not mind. */
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

/** Prints lines as they come, and how many miss a goal; the process exits with 1 where some do. */
export async function printLines(lines: AsyncIterable<Line>): Promise<void> {
  const startedAt = performance.now();
  let missed = 0;
  for await (const line of lines) {
    if (line.missed) missed += 1;
    console.log(line.missed ? `${line.text}  MISSED` : line.text);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `\n${missed === 0 ? 'All goals are met' : `${missed} lines miss a goal`}; ${seconds} s.`,
  );
  process.exitCode = missed === 0 ? 0 : 1;
}

if (import.meta.main) await printLines(benchDesigns());
