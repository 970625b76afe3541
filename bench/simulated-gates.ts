// Simulates a design on a lab of known noise: its error rates and number of runs.

import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { mean, quantileSorted, sum, sumNthPowerDeviations } from 'simple-statistics';
import { analysesOf, type Design, type ErrorRates } from '../src/analysis/stats/design.ts';
import {
  type EarlierNoise,
  type Measurement,
  type Noise,
  onePerLayout,
  pooledEvidence,
  priorNoise,
  sumOf,
} from '../src/analysis/stats/evidence.ts';
import { judgeInOrder, type Verdict } from '../src/analysis/stats/judge.ts';
import { sessionDegreesOfFreedom } from '../src/analysis/stats/sessions.ts';
import { layoutOfPair } from '../src/model/planned-trial.ts';
import { standardNormal } from './normal.ts';

/**
 * Source of runs: normal noise of the coefficient of variation `cv`, or measured runs of cells, in any unit. A cell has a
 * set for each session, with at least two runs. Sessions of normal noise differ in variance by a scaled
 * inverse chi-square distribution of `sessionDegreesOfFreedom`; absent: all are alike.
 */
export type NoiseSource =
  | { kind: 'normal'; cv: number; sessionDegreesOfFreedom?: number | undefined }
  | { kind: 'sets'; cells: number[][][] };

export type SimulationRequest = {
  noise: NoiseSource;
  design: Omit<Design, 'method' | 'pairsPerStep'>;
  /** Effect of each build's section order on speed; absent: none. */
  builds?: {
    cv: number;
    /** Kernels of each variant, booted in turn; 1: every run boots the same. */
    layouts: number;
  };
  historyRuns: number;
  /** Absent: estimated from the drawn sessions. */
  sessionDegreesOfFreedom?: number | undefined;
  /** Error rates of one cell; `falseAlarms` holds over all `cells` of a patch. */
  rates: Omit<ErrorRates, 'outside'>;
  cells: number;
  marginRatio: number;
  /** True change as a ratio: −0.02 is 2 % less. */
  effect: number;
  experiments: number;
  seed: number;
};

/** Verdicts as shares of experiments; `patchRegression` is the share of patches with a regression in any cell. */
export type SimulationRow = {
  regression: number;
  noRegression: number;
  improvement: number;
  inconclusive: number;
  patchRegression: number;
  meanRuns: number;
  meanMostRuns: number;
  p95Runs: number;
};

/** Draws runs and judges them as an experiment would; deterministic by request. */
export function simulate(request: SimulationRequest): SimulationRow {
  const { noise, historyRuns, sessionDegreesOfFreedom: known, rates, cells } = request;
  const { marginRatio, effect, experiments, seed } = request;
  expectAtMost(maxExperiments, experiments);
  if (!(cells >= 1 && experiments >= cells)) {
    throw new RangeError('A simulation has at least one cell, and an experiment for each.');
  }
  const { builds = { cv: 0, layouts: 1 } } = request;
  const random = xoroshiro128plus(seed);
  const drawCell = cellSource(noise, random);
  // Without build noise nothing is drawn, so that a seed stands for the same runs.
  const drawBuild = () => (builds.cv === 0 ? 1 : Math.exp(builds.cv * standardNormal(random)));
  const analyses = analysesOf(
    { ...request.design, method: 'pooled', pairsPerStep: 1 },
    {
      falseAlarms: rates.falseAlarms / cells,
      misses: rates.misses,
      outside: rates.misses,
    },
  );
  const rule = { metric: 'pps', marginRatio } as const;

  const verdicts: Verdict[] = [];
  const runs: number[] = [];
  for (let experiment = 0; experiment < experiments; experiment++) {
    const drawSession = drawCell();
    const variantRuns = (layouts: number, change: number, drawRun: () => number) =>
      runsOfLayouts(layouts, drawBuild, drawRun, change);
    // The history has one run per layout.
    const earlierLayouts = builds.layouts > 1 ? Infinity : 1;
    const history = earlierNoise(historyRuns, () => {
      const draw = variantRuns(earlierLayouts, 0, drawSession());
      return (count) => draw(count).map(({ value }) => value);
    });
    const earlier = priorNoise(
      known === undefined || history === undefined ? history : { ...history, sessionDegreesOfFreedom: known },
      marginRatio,
    );
    const drawRun = drawSession();
    const base = growing(variantRuns(builds.layouts, 0, drawRun), false);
    const patched = growing(variantRuns(builds.layouts, effect, drawRun), true);
    let pairsMeasured = 0;
    const judgement = judgeInOrder(
      analyses,
      (pairs) => {
        pairsMeasured = pairs;
        return pooledEvidence(onePerLayout(base(pairs)), onePerLayout(patched(pairs)), earlier);
      },
      rule,
    );
    verdicts.push(judgement?.verdict ?? 'inconclusive');
    runs.push(2 * pairsMeasured);
  }
  return rowOf(verdicts, runs, cells);
}

/** Returns the runs of a variant up to a pair; each is drawn once. */
function growing(draw: (count: number) => Measurement[], isPatched: boolean): (pairs: number) => Measurement[] {
  const runs: Measurement[] = [];
  return (pairs) => {
    for (const run of draw(pairs - runs.length)) runs.push({ ...run, trial: trialOf(runs.length + 1, isPatched) });
    return runs;
  };
}

/** Trial of a run in the order ABBA ABBA …, with base as A. */
const trialOf = (pair: number, isPatched: boolean): number => 2 * pair - ((pair % 2 === 1) === isPatched ? 0 : 1);

/** Draws more runs of one variant at each call: every kernel has its own speed, and they are booted in turn. */
function runsOfLayouts(
  layouts: number,
  drawBuild: () => number,
  drawRun: () => number,
  change: number,
): (count: number) => Measurement[] {
  const speeds = new Map<number, number>();
  let runs = 0;
  return (count) =>
    take(count, () => {
      runs += 1;
      const layout = layoutOfPair(runs, layouts);
      const speed = speeds.get(layout) ?? drawBuild();
      speeds.set(layout, speed);
      return { value: drawRun() * speed * (1 + change), ...(layouts > 1 && { layout }) };
    });
}

/** Picks a cell at each call, and returns a function that opens a session of it, which draws runs around 1. */
export function cellSource(noise: NoiseSource, random: RandomGenerator): () => () => () => number {
  if (noise.kind === 'normal') {
    const { cv, sessionDegreesOfFreedom: degrees } = noise;
    return () => () => {
      const session = degrees === undefined ? cv : cv * sessionFactor(degrees, random);
      return () => Math.exp(session * standardNormal(random));
    };
  }
  const cells = noise.cells.map((sessions) => sessions.map(residuals));
  const pick = <T>(items: readonly T[]) => items[uniformInt(random, 0, items.length - 1)];
  return () => {
    const sessions = pick(cells) ?? [];
    return () => {
      const session = pick(sessions) ?? [1];
      return () => pick(session) ?? 1;
    };
  };
}

/** Deviation of a session over that of its cell: √(d/χ²) of whole degrees of freedom. */
function sessionFactor(degreesOfFreedom: number, random: RandomGenerator): number {
  expectAtMost(maxEarlierRuns, degreesOfFreedom);
  const squares = take(degreesOfFreedom, () => standardNormal(random) ** 2);
  return Math.sqrt(degreesOfFreedom / sum(squares));
}

/** Centres a set around 1 and spreads it by √(n / (n − 1)): runs are closer to their own mean than to the true one. */
function residuals(set: readonly number[]): number[] {
  if (set.length < 2) throw new RangeError('A set has at least two runs.');
  const logs = set.map(Math.log);
  const center = mean(logs);
  const stretch = Math.sqrt(set.length / (set.length - 1));
  return logs.map((value) => Math.exp((value - center) * stretch));
}

/** Works like Array.from, in a third of the time. */
function take<T>(count: number, draw: () => T): T[] {
  const drawn: T[] = [];
  for (let index = 0; index < count; index += 1) drawn.push(draw());
  return drawn;
}

const maxExperiments = 10_000_000;
export const maxEarlierRuns = 1000;

function expectAtMost(most: number, count: number): void {
  if (count <= most) return;
  throw new RangeError(`A simulation has at most ${most}, not ${count}.`);
}

const runsPerSession = 5;

/** Noise of earlier runs, in sessions of five; undefined for fewer than two runs. */
export function earlierNoise(runs: number, openSession: () => (count: number) => number[]): EarlierNoise | undefined {
  expectAtMost(maxEarlierRuns, runs);
  const sessions: Noise[] = [];
  for (let left = runs; left > 1; left -= runsPerSession) {
    const count = Math.min(left, runsPerSession);
    const logs = openSession()(count).map(Math.log);
    sessions.push({ sumOfSquares: sumNthPowerDeviations(logs, 2), degreesOfFreedom: count - 1 });
  }
  if (sessions.length === 0) return undefined;
  const degrees = sessionDegreesOfFreedom([sessions]);
  return {
    ...sessions.reduce(sumOf),
    ...(degrees !== undefined && { sessionDegreesOfFreedom: degrees }),
  };
}

function rowOf(verdicts: Verdict[], runs: number[], cells: number): SimulationRow {
  const share = (kind: Verdict) => verdicts.filter((verdict) => verdict === kind).length / verdicts.length;
  const byPatch = <T>(items: readonly T[]): T[][] =>
    Array.from({ length: Math.floor(items.length / cells) }, (_, index) =>
      items.slice(index * cells, (index + 1) * cells),
    );
  const patches = byPatch(verdicts);
  const alarmed = patches.filter((patch) => patch.includes('regression'));
  return {
    regression: share('regression'),
    noRegression: share('no-regression'),
    improvement: share('improvement'),
    inconclusive: share('inconclusive'),
    patchRegression: alarmed.length / patches.length,
    meanRuns: mean(runs),
    meanMostRuns: mean(byPatch(runs).map((patch) => Math.max(...patch))),
    p95Runs: quantileSorted(
      runs.toSorted((a, b) => a - b),
      0.95,
    ),
  };
}
