// Designs the experiment of a cell: the interim analyses and the level of each.
import type { DesignName } from '../../model/result.ts';
import { constantLevels, fallingLevels, likelihoodLevels } from './boundary.ts';
import { boundsOf, type Evidence } from './evidence.ts';
import { criticalT } from './student.ts';

/** Permitted error rates of the judgement of one cell, as ratios of experiments; for a look, nominal levels. */
export type ErrorRates = {
  /** A regression without a loss, or an improvement without a gain. */
  falseAlarms: number;
  /** No regression despite a loss of the margin. */
  misses: number;
  /** The displayed interval lies wholly above the true change, or wholly below it; each side. */
  outside: number;
};

export type Design = {
  name: DesignName;
  /** Maximum pairs: as planned, then of each extension; ascending. */
  budgets: readonly number[];
  /** Pairs that arrive together, without a look between them. */
  pairsPerStep: number;
  /** `paired` compares neighbours, `pooled` treats all runs as independent. */
  method: 'paired' | 'pooled';
  earlierDegreesOfFreedom: number;
};

/** A look at the first `pairs` pairs; its levels are nominal and one-sided, 0 for a verdict that it cannot give. */
export type InterimAnalysis = {
  pairs: number;
  levels: ErrorRates;
  /** Level of an alarm for a great change, at a look that allows no other. */
  greatAlarms?: number;
  /** Alarms that share a budget with other looks; the noise decides how it is spent. */
  alarms?: Alarms;
};

/** `share` of the rate of alarms is spent over as many of these sizes as the cell will need. */
type Alarms = { rates: ErrorRates; share: number; sizes: readonly number[] };

/**
 * Returns the looks of a design, in order. The error rates hold over all of them, extensions included: the planned
 * budget spends at least four fifths of each rate, every extension half of the rest.
 */
export function looksOf(design: Design, rates: ErrorRates): InterimAnalysis[] {
  const key = JSON.stringify([design, rates]);
  const looks = knownLooks.get(key) ?? computeLooks(design, rates);
  knownLooks.set(key, looks);
  return looks;
}

/** They take a tenth of a second to compute and are needed after every trial. */
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

/** The spread of a few runs predicts little. If cells share alarms, heavy tails reach the strict levels as often. */
const canTellSpan = ({ earlierDegreesOfFreedom }: Design, { falseAlarms }: ErrorRates): boolean =>
  earlierDegreesOfFreedom >= 4 && falseAlarms >= 0.005;

/**
 * Alarms hold more back, as the variance is estimated; if it also decides how they are spent, a fifth more is spent.
 */
const shareOf = (stage: number, first: number): number =>
  stage === 0 ? first : (1 - first) * 0.5 ** stage;

/** A cell that will be decided early spends its alarms on the pairs that a fixed-size test needs for the margin. */
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
  // An alarm needs at least the confidence of the interval displayed beside it.
  const falseAlarms = Math.min(levelWithin(sizes, pairs, alarms), levels.misses);
  return { ...levels, falseAlarms };
}

/** True for a significant change that is greater than usual habits. */
function isGreat(evidence: Evidence, level: number): boolean {
  const { low, high } = boundsOf(evidence, level);
  return Math.abs(evidence.effect) >= greatEffect && (low > 0 || high < 0);
}

/** Level of the look at `pairs`, in an experiment that would end with the last of these sizes. */
function levelWithin(sizes: readonly number[], pairs: number, alarms: Alarms): number {
  const known = knownLevels.get(alarms) ?? new Map<number, number[]>();
  knownLevels.set(alarms, known);
  const rate = alarms.rates.falseAlarms * alarms.share;
  const levels = known.get(sizes.length) ?? fallingLevels(sizes, rate);
  known.set(sizes.length, levels);
  return levels[sizes.indexOf(pairs)] ?? 0;
}

/** By number of looks; slow to compute and often needed. */
const knownLevels = new WeakMap<Alarms, Map<number, number[]>>();

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

/** A single run never raises an alarm: one in a hundred is a far outlier. Habits may take half of the alarms. */
const firstAlarm = (design: Design, rate: number): number =>
  Math.max(2, pairsThatTell(design, rate / 2));

/** Of 1,818 cells on many testbeds, one in eight has runs 8 % or more apart from all others. */
const greatHabits = 1 / 8;

/** Four runs alone are too few to estimate a cell's noise. */
const firstGreatAlarm = (design: Design, rate: number): number =>
  Math.max(design.earlierDegreesOfFreedom >= 4 ? 2 : 3, firstAlarm(design, rate / greatHabits));

const greatEffect = -Math.log1p(-0.08);

/**
 * Pairs after which habits imitate a change no more often than at `rate`. Many testbeds have two habits; the model is
 * one run in five that follows the other: all of patched, none of base and of earlier runs.
 */
function pairsThatTell({ earlierDegreesOfFreedom }: Design, rate: number): number {
  const earlierRuns = earlierDegreesOfFreedom === 0 ? 0 : earlierDegreesOfFreedom + 1;
  const unseen = 0.8 ** earlierRuns;
  return Math.max(1, Math.ceil(Math.log(rate / unseen) / Math.log(0.2 * 0.8)));
}

/** Looks follow every step; when there are many pairs, every further twentieth. */
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
