// Simulates a design on a lab of known noise: its error rates and number of runs.

import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { mean, quantileSorted, sumNthPowerDeviations } from 'simple-statistics';
import { layoutOfPair } from '../../model/planned-trial.ts';
import { type Design, type ErrorRates, looksOf } from './design.ts';
import {
  knownNoise,
  type LayoutNumber,
  type Noise,
  onePerLayout,
  pooledEvidence,
} from './evidence.ts';
import { judgeInOrder, type Verdict } from './judge.ts';
import { standardNormal } from './normal.ts';

/** A normal distribution with `cv`, or sets of two or more measured runs, each of one cell at one time. */
export type NoiseSource = { kind: 'normal'; cv: number } | { kind: 'sets'; sets: number[][] };

export type SimulationRequest = {
  noise: NoiseSource;
  design: Omit<Design, 'method' | 'earlierDegreesOfFreedom' | 'pairsPerStep'>;
  /** Effect of each build's section order on speed; absent: none. */
  builds?: {
    cv: number;
    /** Kernels of each variant, booted in turn; 1: every run boots the same. */
    layouts: number;
  };
  historyRuns: number;
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
  const { noise, historyRuns, rates, cells, marginRatio, effect, experiments, seed } = request;
  const { builds = { cv: 0, layouts: 1 } } = request;
  const random = xoroshiro128plus(seed);
  const drawCell = cellSource(noise, random);
  // Without build noise nothing is drawn, so that a seed stands for the same runs.
  const drawBuild = () => (builds.cv === 0 ? 1 : Math.exp(builds.cv * standardNormal(random)));
  const design: Design = {
    ...request.design,
    method: 'pooled',
    pairsPerStep: 1,
    earlierDegreesOfFreedom: Math.max(0, historyRuns - 1),
  };
  const looks = looksOf(design, {
    falseAlarms: rates.falseAlarms / cells,
    misses: rates.misses,
    outside: rates.misses,
  });
  const rule = { metric: 'pps', marginRatio } as const;

  const verdicts: Verdict[] = [];
  const runs: number[] = [];
  for (let experiment = 0; experiment < experiments; experiment++) {
    const draw = drawCell();
    const variantRuns = (layouts: number, change: number) =>
      runsOfLayouts(layouts, drawBuild, draw, change);
    // The history has one run per layout.
    const earlierRuns = variantRuns(builds.layouts > 1 ? Infinity : 1, 0)(historyRuns);
    const earlier = knownNoise(earlierNoise(earlierRuns.map(({ value }) => value)), marginRatio);
    const [drawBase, drawPatched] = [
      variantRuns(builds.layouts, 0),
      variantRuns(builds.layouts, effect),
    ];
    const base: LayoutNumber[] = [];
    const patched: LayoutNumber[] = [];
    const judgement = judgeInOrder(
      looks,
      (pairs) => {
        base.push(...drawBase(pairs - base.length));
        patched.push(...drawPatched(pairs - patched.length));
        return pooledEvidence(onePerLayout(base), onePerLayout(patched), earlier);
      },
      rule,
    );
    verdicts.push(judgement?.verdict ?? 'inconclusive');
    runs.push(base.length + patched.length);
  }
  return rowOf(verdicts, runs, cells);
}

/** Draws more runs of one variant at each call: every kernel has its own speed, and they are booted in turn. */
function runsOfLayouts(
  layouts: number,
  drawBuild: () => number,
  drawRun: () => number,
  change: number,
): (count: number) => LayoutNumber[] {
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

/** Picks a cell at each call, and returns a generator of its runs, around 1. */
export function cellSource(noise: NoiseSource, random: RandomGenerator): () => () => number {
  if (noise.kind === 'normal') {
    return () => () => Math.exp(noise.cv * standardNormal(random));
  }
  const cells = noise.sets.map(residuals);
  return () => {
    const cell = cells[uniformInt(random, 0, cells.length - 1)] ?? [1];
    return () => cell[uniformInt(random, 0, cell.length - 1)] ?? 1;
  };
}

/** Resamples a set around 1, spread by √(n / (n − 1)): runs are closer to their own mean than to the true one. */
function residuals(set: readonly number[]): number[] {
  const logs = set.map(Math.log);
  const center = mean(logs);
  const stretch = Math.sqrt(set.length / (set.length - 1));
  return logs.map((value) => Math.exp((value - center) * stretch));
}

const take = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);

export function earlierNoise(runs: number[]): Noise | undefined {
  if (runs.length < 2) return undefined;
  return {
    sumOfSquares: sumNthPowerDeviations(runs.map(Math.log), 2),
    degreesOfFreedom: runs.length - 1,
  };
}

function rowOf(verdicts: Verdict[], runs: number[], cells: number): SimulationRow {
  const share = (kind: Verdict) =>
    verdicts.filter((verdict) => verdict === kind).length / verdicts.length;
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
