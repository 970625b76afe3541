// Plans the interim analyses of a cell, and the level of each.
import type { CellResult } from '../../model/result.ts';
import { pocockLevel } from './boundary.ts';

/** Error rates of one cell, as ratios of experiments; as levels of an interim analysis, nominal and one-sided. */
export type ErrorRates = {
  /** Share of regressions without a loss, or improvements without a gain. */
  falseAlarms: number;
  /** Share of passes despite a loss of the margin. */
  misses: number;
  /** Share of shown intervals wholly above the true change, and of those wholly below it. */
  outside: number;
};

export type Design = CellResult['design'];

/** An interim analysis of the first `pairs` pairs. */
export type InterimAnalysis = { pairs: number; levels: ErrorRates };

/**
 * Returns the interim analyses of a design, in order, all of one nominal level (Pocock, Biometrika 64, 1977). The error
 * rates hold over all of them, extensions included: the planned budget spends nine tenths of each rate, and every
 * extension half of the rest.
 */
export function analysesOf(design: Design, rates: ErrorRates): InterimAnalysis[] {
  const key = JSON.stringify([design, rates]);
  const analyses = knownAnalyses.get(key) ?? computeAnalyses(design, rates);
  knownAnalyses.set(key, analyses);
  return analyses;
}

/** Cached, as computing one takes a tenth of a second, and each is read after every trial. */
const knownAnalyses = new Map<string, InterimAnalysis[]>();

function computeAnalyses(design: Design, rates: ErrorRates): InterimAnalysis[] {
  return design.budgets.flatMap((budget, stage) => {
    const sizes = sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design);
    const levels = {
      falseAlarms: pocockLevel(sizes, rates.falseAlarms * shareOf(stage, 0.9)),
      misses: pocockLevel(sizes, rates.misses * shareOf(stage, 0.8)),
      outside: pocockLevel(sizes, rates.outside * shareOf(stage, 0.9)),
    };
    return sizes.map((pairs) => ({ pairs, levels }));
  });
}

/** The planned budget spends `first`, and every extension half of the rest. */
const shareOf = (stage: number, first: number): number => (stage === 0 ? first : (1 - first) * 0.5 ** stage);

/** The pairs at each interim analysis. */
export const analysisSizes = (design: Design): number[] =>
  design.budgets.flatMap((budget, stage) => sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design));

function sizesUpTo(budget: number, after: number, { name, pairsPerStep }: Design): number[] {
  if (!(pairsPerStep >= 1)) {
    throw new RangeError(`A step has at least one pair, not ${pairsPerStep}.`);
  }
  if (name === 'fixed') return [budget];
  const sizes = [];
  const sizeAfter = pairsPerStep === 1 ? sizeOfSinglesAfter : sizeOfStepsAfter(pairsPerStep);
  for (let size = sizeAfter(0); size < budget; size = sizeAfter(size)) {
    if (size > after) sizes.push(size);
  }
  return [...sizes, budget];
}

/** The first analysis has a whole ABBA: otherwise a first run that differs from all others would pass for a change. */
const singleSizes = [2, 3, 4, 6, 8, 11, 15, 20];

const sizeOfSinglesAfter = (size: number): number =>
  singleSizes.find((next) => next > size) ?? Math.round((size * 4) / 3);

/** Sizes after every step or, once there are many steps, after every twentieth part more. */
const sizeOfStepsAfter =
  (pairsPerStep: number) =>
  (size: number): number =>
    size + pairsPerStep * Math.max(1, Math.round(size / 20 / pairsPerStep));
