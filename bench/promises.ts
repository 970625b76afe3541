// Checks the error rates in sessions that differ from history, and in ways that a design cannot know.
// By hand: node bench/promises.ts [CELLS]; 20,000 cells a row take a few minutes.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { sum, sumNthPowerDeviations } from 'simple-statistics';
import { analysesOf } from '../src/analysis/stats/design.ts';
import {
  boundsOf,
  type EarlierNoise,
  type Measurement,
  noNoise,
  pooledEvidence,
  priorNoise,
  sumOf,
} from '../src/analysis/stats/evidence.ts';
import { judgeInOrder } from '../src/analysis/stats/judge.ts';
import { sessionDegreesOfFreedom } from '../src/analysis/stats/sessions.ts';
import type { Line } from './designs.ts';
import { standardNormal } from './normal.ts';

const marginRatio = 0.02;
const rates = { falseAlarms: 0.01, misses: 0.05, outside: 0.025 };
const noiseRatio = 0.006;
const maxPairs = 20;

/** Noise that differs from a design's assumption: of the cell, or of the experiment's session alone. */
type Condition = {
  says: string;
  /** Degrees of freedom of the variances of all sessions around that of the cell; absent: all are alike. */
  sessions?: number;
  /** Variance of this session, and of its patched runs alone, as multiples. */
  variance?: number;
  patchedVariance?: number;
  /** Changes of the first run and from trial to trial, as ratios. */
  firstRun?: number;
  drift?: number;
  /** Correlation of the noise of neighbouring trials. */
  autocorrelation?: number;
  /** Some runs of the cell, in all sessions, are slower: so many, and by how much. */
  slow?: { share: number; by: number };
  /** Limits of false alarms and misses that differ from 1.2 % and 5.5 %. */
  limits?: { falseAlarms: number; misses: number };
};

const hard = { falseAlarms: 0.02, misses: 0.075 };

const conditions: Condition[] = [
  { says: 'as history' },
  { says: 'sessions vary, d0 16', sessions: 16 },
  { says: 'sessions vary, d0 8', sessions: 8 },
  { says: 'sessions vary, d0 4', sessions: 4 },
  { says: 'variance x2', variance: 2 },
  { says: 'variance x3', variance: 3, limits: hard },
  { says: 'patched twice as noisy', patchedVariance: 4, limits: hard },
  { says: 'first run 1 % slow', firstRun: -0.01 },
  { says: 'first run 1 % fast', firstRun: 0.01 },
  { says: 'drift 0.2 % a trial', drift: -0.002 },
  { says: 'drift 0.5 % a trial', drift: -0.005 },
  { says: 'drift 1 % a trial', drift: -0.01 },
  { says: 'autocorrelation 0.5', autocorrelation: 0.5 },
  { says: 'outliers: 5 % of runs 5 % slow', slow: { share: 0.05, by: 0.05 } },
  { says: 'bimodal: 30 % of runs 1.5 % slow', slow: { share: 0.3, by: 0.015 } },
];

const historyRuns = [0, 10, 30, 200];

/** Yields each line as soon as it is known. */
export function* benchPromises(cells: number): Generator<Line> {
  yield plain(
    `Margin ${percent(marginRatio)}, CV ${percent(noiseRatio)}, at most ${maxPairs} + ${maxPairs} runs, ${cells} cells a row.`,
  );
  for (const runs of historyRuns) {
    yield plain(`\n${runs} runs of history`);
    for (const condition of conditions) yield rowOf(condition, runs, cells);
  }
  yield plain('\n12 cells without a change: patches with a false alarm');
  for (const condition of conditions.slice(0, 4)) yield patchesOf(condition, cells);
}

const plain = (text: string): Line => ({ text, missed: false });
const percent = (ratio: number): string => `${(100 * ratio).toFixed(2)} %`;

function rowOf(condition: Condition, runs: number, cells: number): Line {
  const unchanged = judgeAll({ condition, runs, cells, effect: 0, alarms: rates.falseAlarms });
  const lost = judgeAll({
    condition,
    runs,
    cells,
    effect: -marginRatio,
    alarms: rates.falseAlarms,
  });
  const limits = condition.limits ?? { falseAlarms: 0.012, misses: 0.055 };
  const isTorn = condition.drift !== undefined && unchanged.inconclusive > 0.05;
  const missed = unchanged.regression > limits.falseAlarms || lost.noRegression > limits.misses || isTorn;
  const parts = [
    condition.says.padEnd(34),
    `false alarms ${percent(unchanged.regression)}`,
    `misses ${percent(lost.noRegression)}`,
    `inconclusive ${percent(unchanged.inconclusive)} and ${percent(lost.inconclusive)}`,
    `runs ${unchanged.meanRuns.toFixed(1)} and ${lost.meanRuns.toFixed(1)}`,
    `interval holds in ${percent(unchanged.covered)} and ${percent(lost.covered)}`,
  ];
  return { text: parts.join('  '), missed };
}

function patchesOf(condition: Condition, cells: number): Line {
  const alarms = rates.falseAlarms / 12;
  const { regression } = judgeAll({ condition, runs: 30, cells: 4 * cells, effect: 0, alarms });
  const ofPatch = 1 - (1 - regression) ** 12;
  return { text: `${condition.says.padEnd(34)}${percent(ofPatch)}`, missed: ofPatch > 0.01 };
}

type Question = {
  condition: Condition;
  /** Earlier runs of the cell, in sessions of five. */
  runs: number;
  cells: number;
  effect: number;
  /** False alarms of one cell. */
  alarms: number;
};

type Shares = {
  regression: number;
  noRegression: number;
  inconclusive: number;
  covered: number;
  meanRuns: number;
};

function judgeAll({ condition, runs, cells, effect, alarms }: Question): Shares {
  const random = xoroshiro128plus(40);
  const looks = analysesOf(
    { name: 'group-sequential', budgets: [maxPairs], pairsPerStep: 1, method: 'pooled' },
    { ...rates, falseAlarms: alarms },
  );
  const rule = { metric: 'pps', marginRatio } as const;
  const truth = Math.log1p(effect);
  const counts = { regression: 0, noRegression: 0, inconclusive: 0, covered: 0, runs: 0 };
  for (let cell = 0; cell < cells; cell += 1) {
    const prior = priorNoise(historyOf(runs, condition, random), marginRatio);
    const { base, patched } = sessionOf(condition, effect, random);
    const judgement = judgeInOrder(
      looks,
      (pairs) => pooledEvidence(base.slice(0, pairs), patched.slice(0, pairs), prior),
      rule,
    );
    if (judgement === undefined) throw new Error('No interim analysis was made.');
    const { verdict, analysis: look, evidence } = judgement;
    if (verdict === 'regression') counts.regression += 1;
    if (verdict === 'no-regression') counts.noRegression += 1;
    if (verdict === 'inconclusive') counts.inconclusive += 1;
    const { low, high } = boundsOf(evidence, look.levels.outside);
    if (low <= truth && truth <= high) counts.covered += 1;
    counts.runs += 2 * look.pairs;
  }
  return {
    regression: counts.regression / cells,
    noRegression: counts.noRegression / cells,
    inconclusive: counts.inconclusive / cells,
    covered: counts.covered / cells,
    meanRuns: counts.runs / cells,
  };
}

const runsPerSession = 5;

function historyOf(runs: number, condition: Condition, random: RandomGenerator): EarlierNoise | undefined {
  if (runs === 0) return undefined;
  const earlier = Array.from({ length: runs / runsPerSession }, () => {
    const deviation = deviationOf(condition.sessions, random);
    const logs = Array.from(
      { length: runsPerSession },
      () => deviation * standardNormal(random) + slowness(condition, random),
    );
    return {
      sumOfSquares: sumNthPowerDeviations(logs, 2),
      degreesOfFreedom: runsPerSession - 1,
    };
  });
  const degrees = sessionDegreesOfFreedom([earlier]);
  return {
    ...earlier.reduce(sumOf, noNoise),
    ...(degrees !== undefined && { sessionDegreesOfFreedom: degrees }),
  };
}

const slowness = ({ slow = { share: 0, by: 0 } }: Condition, random: RandomGenerator): number =>
  uniformFloat64(random) < slow.share ? Math.log1p(-slow.by) : 0;

/** Standard deviation of the runs of a session. */
const deviationOf = (sessions: number | undefined, random: RandomGenerator): number =>
  sessions === undefined ? noiseRatio : noiseRatio * Math.sqrt(sessions / chiSquare(sessions, random));

const chiSquare = (degreesOfFreedom: number, random: RandomGenerator): number =>
  sum(Array.from({ length: degreesOfFreedom }, () => standardNormal(random) ** 2));

/** All runs of an experiment: ABBA or BAAB, as chance has it for each two pairs. */
function sessionOf(
  condition: Condition,
  effect: number,
  random: RandomGenerator,
): { base: Measurement[]; patched: Measurement[] } {
  const { variance = 1, patchedVariance = 1, firstRun = 0, drift = 0 } = condition;
  const { autocorrelation = 0 } = condition;
  const deviation = deviationOf(condition.sessions, random) * Math.sqrt(variance);
  const runs = { base: [] as Measurement[], patched: [] as Measurement[] };
  let noise = standardNormal(random);
  let isPatchedFirst = false;
  for (let trial = 1; trial <= 2 * maxPairs; trial += 1) {
    if (trial % 4 === 1) isPatchedFirst = uniformFloat64(random) < 0.5;
    const isOuter = trial % 4 <= 1;
    const isPatched = isOuter === isPatchedFirst;
    const log =
      deviation * noise * Math.sqrt(isPatched ? patchedVariance : 1) +
      (trial === 1 ? Math.log1p(firstRun) : 0) +
      drift * trial +
      (isPatched ? Math.log1p(effect) : 0) +
      slowness(condition, random);
    (isPatched ? runs.patched : runs.base).push({ value: Math.exp(log), trial });
    noise = autocorrelation * noise + Math.sqrt(1 - autocorrelation ** 2) * standardNormal(random);
  }
  return runs;
}

if (import.meta.main) {
  for (const { text, missed } of benchPromises(Number(process.argv[2] ?? 20_000)))
    process.stdout.write(`${text}${missed ? '  MISSED' : ''}\n`);
}
