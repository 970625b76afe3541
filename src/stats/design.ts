// Which looks a cell gets at its growing data, and how sure each must be: the design of its experiment.
import type { DesignName } from '../words/result.ts';
import { constantLevels, likelihoodLevels } from './boundary.ts';

/** How often a judgement of one cell may be wrong, as ratios of experiments; as levels of a look, nominal ones. */
export type ErrorRates = {
  /** A regression where nothing was lost, and an improvement where nothing was gained. */
  falseAlarms: number;
  /** No regression where the margin was lost. */
  misses: number;
  /** The interval that is shown lies wholly above the true change, and wholly below it. */
  outside: number;
};

export type Design = {
  name: DesignName;
  /** Most pairs: as planned, and then of each extension; ascending. */
  budgets: readonly number[];
  /** Pairs that come at once, so that there is no look between them. */
  pairsPerStep: number;
  /** `paired` compares neighbours, `pooled` takes all runs as independent. */
  method: 'paired' | 'pooled';
  /** Degrees of freedom that earlier experiments add to the cell's own. */
  earlierDegreesOfFreedom: number;
};

/** A look at the first `pairs` pairs; its levels are nominal and one-sided. */
export type Look = { pairs: number; levels: ErrorRates };

/**
 * The looks of a design, in order. The error rates hold over all of them, extensions included: the budget that was
 * planned spends four fifths of each rate, and every extension half of what is then left.
 */
export function looksOf(design: Design, rates: ErrorRates): Look[] {
  const key = JSON.stringify([design, rates]);
  const looks = knownLooks.get(key) ?? computeLooks(design, rates);
  knownLooks.set(key, looks);
  return looks;
}

/** They take a tenth of a second to compute, and are asked for after every blast. */
const knownLooks = new Map<string, Look[]>();

function computeLooks(design: Design, rates: ErrorRates): Look[] {
  return design.budgets.flatMap((budget, stage) => {
    const sizes = sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design);
    const levelsOf = (rate: number) => nominalLevels(design, sizes, rate * shareOf(stage));
    const falseAlarms = levelsOf(rates.falseAlarms);
    const misses = levelsOf(rates.misses);
    const outside = levelsOf(rates.outside);
    return sizes.map((pairs, index) => ({
      pairs,
      levels: {
        falseAlarms: falseAlarms[index] ?? 0,
        misses: misses[index] ?? 0,
        outside: outside[index] ?? 0,
      },
    }));
  });
}

const shareOf = (stage: number): number => (stage === 0 ? 0.8 : 0.2 * 0.5 ** stage);

type Steps = Omit<Design, 'method'>;

/** The pairs at each look. */
export const lookSizes = (design: Steps): number[] =>
  design.budgets.flatMap((budget, stage) =>
    sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design),
  );

function sizesUpTo(budget: number, after: number, design: Steps): number[] {
  if (design.name === 'fixed') return [budget];
  const sizes = [];
  for (let size = firstSize(design); size < budget; size = sizeAfter(size, design)) {
    if (size > after) sizes.push(size);
  }
  return [...sizes, budget];
}

/** The spread of four runs alone tells too little of a noise with heavy tails. */
function firstSize({ name, pairsPerStep, earlierDegreesOfFreedom }: Steps): number {
  if (pairsPerStep > 1) return pairsPerStep;
  return name === 'glr' && earlierDegreesOfFreedom >= 4 ? 2 : 3;
}

/** After every step, and where they have become many, after every twentieth part more. */
function sizeAfter(size: number, { name, pairsPerStep }: Steps): number {
  if (name === 'group-sequential' && pairsPerStep === 1) {
    const looks = Math.round(Math.log(size / 3) / Math.log(1.6)) + 1;
    return Math.round(3 * 1.6 ** looks);
  }
  return size + pairsPerStep * Math.max(1, Math.round(size / 20 / pairsPerStep));
}

function nominalLevels(design: Design, sizes: readonly number[], level: number): number[] {
  if (design.name !== 'glr') return constantLevels(sizes, level);
  const degreesOfFreedom = sizes.map((pairs) =>
    design.method === 'paired' ? pairs - 1 : 2 * pairs - 2 + design.earlierDegreesOfFreedom,
  );
  return likelihoodLevels(sizes, degreesOfFreedom, level);
}
