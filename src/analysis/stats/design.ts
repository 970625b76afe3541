// Which looks a cell gets at its growing data, and how sure each must be: the design of its experiment.
import type { DesignName } from '../../model/result.ts';
import { constantLevels, fallingLevels, likelihoodLevels } from './boundary.ts';
import { boundsOf, type Evidence } from './evidence.ts';
import { criticalT } from './student.ts';

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

/**
 * A look at the first `pairs` pairs; its levels are nominal and one-sided, and 0 where nothing of the kind is told at it.
 */
export type InterimAnalysis = {
  pairs: number;
  levels: ErrorRates;
  /** Level at which a great change is told, at a look that tells no other. */
  greatAlarms?: number;
  /** What its alarms have in common with other looks of its budget, where the noise that is met tells how to spend it. */
  alarms?: Alarms;
};

/** Alarms that are spent by the noise: `share` of their rate, over as many of these sizes as the cell will need. */
type Alarms = { rates: ErrorRates; share: number; sizes: readonly number[] };

/**
 * The looks of a design, in order. The error rates hold over all of them, extensions included: the budget that was
 * planned spends four fifths of each rate or more, and every extension half of what is then left.
 */
export function looksOf(design: Design, rates: ErrorRates): InterimAnalysis[] {
  const key = JSON.stringify([design, rates]);
  const looks = knownLooks.get(key) ?? computeLooks(design, rates);
  knownLooks.set(key, looks);
  return looks;
}

/** They take a tenth of a second to compute, and are asked for after every trial. */
const knownLooks = new Map<string, InterimAnalysis[]>();

function computeLooks(design: Design, rates: ErrorRates): InterimAnalysis[] {
  const isLikelihood = design.name === 'glr' && design.method === 'pooled';
  return design.budgets.flatMap((budget, stage) => {
    const sizes = sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design);
    const from = isLikelihood ? Math.min(firstAlarm(design, rates.falseAlarms), budget) : 0;
    const alarmSizes = sizes.filter((size) => size >= from);
    const fromGreat = isLikelihood ? firstGreatAlarm(design, rates.falseAlarms) : 0;
    const share = shareOf(stage, 0.8);
    const boundShare = shareOf(stage, isLikelihood ? 0.9 : 0.8);
    const falseAlarms = nominalLevels(design, alarmSizes, rates.falseAlarms * share);
    const misses = nominalLevels(design, sizes, rates.misses * boundShare);
    const outside = nominalLevels(design, sizes, rates.outside * boundShare);
    const isSpentByNoise = isLikelihood && stage === 0 && canTellSpan(design, rates);
    const alarms = isSpentByNoise ? { rates, share, sizes: alarmSizes } : undefined;
    return sizes.map((pairs, index) => ({
      pairs,
      levels: {
        falseAlarms: falseAlarms[alarmSizes.indexOf(pairs)] ?? 0,
        misses: misses[index] ?? 0,
        outside: outside[index] ?? 0,
      },
      ...(pairs < from && pairs >= fromGreat && { greatAlarms: rates.falseAlarms / 20 }),
      ...(alarms && pairs >= from && { alarms }),
    }));
  });
}

/**
 * The spread of a few runs says too little of how long a cell will take. Nor does that of many where cells share the
 * alarms: their levels are so strict that they are as often reached by heavy tails, of which no spread tells.
 */
const canTellSpan = ({ earlierDegreesOfFreedom }: Design, { falseAlarms }: ErrorRates): boolean =>
  earlierDegreesOfFreedom >= 4 && falseAlarms >= 0.005;

/** The alarms keep more back: the variance is estimated, and where it also says how to spend them, a fifth more is spent. */
const shareOf = (stage: number, first: number): number =>
  stage === 0 ? first : (1 - first) * 0.5 ** stage;

/**
 * The levels of a look for the noise that its evidence shows. Where a cell will be decided within fewer pairs than it
 * may have, its alarms are spent on those: as many as a test of a fixed number of runs would need for the margin.
 */
export function levelsAt(
  look: InterimAnalysis,
  evidence: Evidence,
  marginRatio: number,
): ErrorRates {
  const { levels, pairs, alarms, greatAlarms } = look;
  if (greatAlarms !== undefined) {
    return isGreat(evidence, greatAlarms) ? { ...levels, falseAlarms: greatAlarms } : levels;
  }
  if (alarms === undefined || evidence.method === 'paired') return levels;
  const { standardError, degreesOfFreedom } = evidence;
  const { falseAlarms: rate, misses } = alarms.rates;
  const reach = criticalT(degreesOfFreedom, rate) + criticalT(degreesOfFreedom, misses);
  const needed = pairs * ((reach * standardError) / Math.log1p(-marginRatio)) ** 2;
  const atLeast = Math.max(needed, pairs);
  const last = alarms.sizes.findIndex((size) => size >= atLeast);
  const sizes = last === -1 ? alarms.sizes : alarms.sizes.slice(0, last + 1);
  // No alarm is surer than the interval that is shown beside it.
  const falseAlarms = Math.min(levelWithin(sizes, pairs, alarms), levels.misses);
  return { ...levels, falseAlarms };
}

/** Whether a change is surely one, and greater than what habits mostly do. */
function isGreat(evidence: Evidence, level: number): boolean {
  const { low, high } = boundsOf(evidence, level);
  return Math.abs(evidence.effect) >= greatEffect && (low > 0 || high < 0);
}

/** The level of the look at `pairs`, in an experiment that would end with the last of these sizes. */
function levelWithin(sizes: readonly number[], pairs: number, alarms: Alarms): number {
  const known = knownLevels.get(alarms) ?? new Map<number, number[]>();
  knownLevels.set(alarms, known);
  const rate = alarms.rates.falseAlarms * alarms.share;
  const levels = known.get(sizes.length) ?? fallingLevels(sizes, rate);
  known.set(sizes.length, levels);
  return levels[sizes.indexOf(pairs)] ?? 0;
}

/** Levels by how many looks there are: they take long to compute, and are asked for often. */
const knownLevels = new WeakMap<Alarms, Map<number, number[]>>();

/** The pairs at each look. */
export const lookSizes = (design: Design): number[] =>
  design.budgets.flatMap((budget, stage) =>
    sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design),
  );

function sizesUpTo(budget: number, after: number, design: Design): number[] {
  if (design.name === 'fixed') return [budget];
  const sizes = [];
  for (let size = firstSize(design); size < budget; size = sizeAfter(size, design)) {
    if (size > after) sizes.push(size);
  }
  return [...sizes, budget];
}

function firstSize(design: Design): number {
  const { name, method, pairsPerStep, earlierDegreesOfFreedom } = design;
  if (pairsPerStep > 1) return pairsPerStep;
  if (name !== 'glr') return 3;
  if (method === 'paired') return earlierDegreesOfFreedom >= 4 ? 2 : 3;
  return pairsThatTell(design, 0.05);
}

/** Nobody is blamed for a single run: one in a hundred lies far off by itself. Habits may take half of the alarms. */
const firstAlarm = (design: Design, rate: number): number =>
  Math.max(2, pairsThatTell(design, rate / 2));

/**
 * One cell in eight, of 1,818 on many testbeds, has runs of which some are 8 % or more apart from all others: so seldom can
 * habits pass for a change as great.
 */
const greatHabits = 1 / 8;

/** Four runs alone say too little of how noisy a cell is. */
const firstGreatAlarm = (design: Design, rate: number): number =>
  Math.max(design.earlierDegreesOfFreedom >= 4 ? 2 : 3, firstAlarm(design, rate / greatHabits));

const greatEffect = -Math.log1p(-0.08);

/**
 * Pairs after which habits do not pass for a change more often than at `rate`. Many testbeds have two, and here it is one
 * run in five that follows the other: all of patched do, none of base, and none of the earlier ones that would have told.
 */
function pairsThatTell({ earlierDegreesOfFreedom }: Design, rate: number): number {
  const earlierRuns = earlierDegreesOfFreedom === 0 ? 0 : earlierDegreesOfFreedom + 1;
  const untold = 0.8 ** earlierRuns;
  return Math.max(1, Math.ceil(Math.log(rate / untold) / Math.log(0.2 * 0.8)));
}

/** After every step, and where they have become many, after every twentieth part more. */
function sizeAfter(size: number, { name, pairsPerStep }: Design): number {
  if (name === 'group-sequential' && pairsPerStep === 1) {
    const looks = Math.round(Math.log(size / 3) / Math.log(1.6)) + 1;
    return Math.round(3 * 1.6 ** looks);
  }
  return size + pairsPerStep * Math.max(1, Math.round(size / 20 / pairsPerStep));
}

function nominalLevels(design: Design, sizes: readonly number[], level: number): number[] {
  if (design.name !== 'glr') return constantLevels(sizes, level);
  if (design.method === 'pooled') return fallingLevels(sizes, level);
  const degreesOfFreedom = sizes.map((pairs) => pairs - 1);
  return likelihoodLevels(sizes, degreesOfFreedom, level);
}
