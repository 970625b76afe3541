// Orders the runs: variants alternate within a trial and cells between trials; the rest is random.
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { layoutOfPair, type PlannedRun, type PlannedTrial } from '../../model/planned-trial.ts';
import type { Cell } from '../../model/scenario.ts';

export type ScheduleRequest = {
  cells: readonly Cell[];
  first?: ReadonlySet<Cell>;
  variants: readonly string[];
  /** Rounded up to whole trials. */
  runsPerVariant: number;
  runsPerTrial: number;
  seed: number;
  /** Layouts of variants that have several; pairs rotate through them. */
  layouts?: ReadonlyMap<string, readonly number[]>;
};

/**
 * A pair has one run of each variant, even for more than two. Pairs alternate as ABBA or BAAB (or ABCCBA), so that a
 * drift within two pairs cancels. Each round draws a new order of cells. Deterministic by request: one with more runs
 * continues the schedule.
 */
export function schedule(request: ScheduleRequest): PlannedTrial[] {
  const random = xoroshiro128plus(request.seed);
  const next = request.runsPerTrial > 1 ? sharedTrials : singleRuns;
  let runNumber = 0;
  return next(request, random).map(({ cell, runs }, index) => ({
    number: index + 1,
    cell,
    runs: runs.map((run) => ({ number: ++runNumber, ...run, ...layoutOf(run, request) })),
  }));
}

function layoutOf({ variant, pair }: DraftTrial['runs'][number], { layouts }: ScheduleRequest) {
  const own = layouts?.get(variant);
  const layout = own?.[layoutOfPair(pair, own.length) - 1];
  return layout === undefined ? {} : { layout };
}

type DraftTrial = { cell: Cell; runs: Omit<PlannedRun, 'number'>[] };

/** Each trial has one cell's share of a round, with alternating variants. */
function sharedTrials(request: ScheduleRequest, random: RandomGenerator): DraftTrial[] {
  const { cells, variants, runsPerVariant } = request;
  const pairsPerRound = pairsPerTrial(request.runsPerTrial, variants.length);
  const orders = new Map(cells.map((cell) => [cell, variants]));
  const trials: DraftTrial[] = [];
  for (let done = 0; done < runsPerVariant; done += pairsPerRound) {
    for (const cell of inOrder(cells, request, random)) {
      const runs: DraftTrial['runs'] = [];
      for (let pair = done + 1; pair <= done + pairsPerRound; pair++) {
        const order = nextOrder(pair, orders.get(cell) ?? [], random);
        orders.set(cell, order);
        runs.push(...order.map((variant) => ({ variant, pair })));
      }
      trials.push({ cell, runs });
    }
  }
  return trials;
}

/**
 * Gives every run its own trial, and boots a variant once for all cells. The order of the first pair is random, too, as
 * a first run that differs from all others must not always be base's.
 */
function singleRuns(request: ScheduleRequest, random: RandomGenerator): DraftTrial[] {
  const { cells, variants, runsPerVariant } = request;
  const trials: DraftTrial[] = [];
  let order = variants;
  for (let pair = 1; pair <= runsPerVariant; pair++) {
    order = nextOrder(pair, order, random);
    for (const variant of order) {
      for (const cell of inOrder(cells, request, random)) {
        trials.push({ cell, runs: [{ variant, pair }] });
      }
    }
  }
  return trials;
}

/**
 * Returns the pairs in a step, at least one; several trials may share a step. With more than two variants in a trial
 * the number is even, so that a pair shares the step with its mirror image: one random draw instead of two.
 */
export function pairsPerTrial(runsPerTrial: number, variants: number): number {
  const fitting = Math.floor(runsPerTrial / variants);
  if (variants === 2 || runsPerTrial === 1) return Math.max(1, fitting);
  return Math.max(2, fitting - (fitting % 2));
}

/** Mirrors the previous pair in every second pair. */
const nextOrder = (pair: number, last: readonly string[], random: RandomGenerator) =>
  pair % 2 === 1 ? shuffled(last, random) : last.toReversed();

function inOrder(cells: readonly Cell[], { first = new Set() }: ScheduleRequest, random: RandomGenerator): Cell[] {
  const [ones, others] = [true, false].map((is) => cells.filter((cell) => first.has(cell) === is));
  return [...shuffled(ones ?? [], random), ...shuffled(others ?? [], random)];
}

function shuffled<T>(items: readonly T[], random: RandomGenerator): T[] {
  const rest = [...items];
  const taken: T[] = [];
  while (rest.length > 0) taken.push(...rest.splice(uniformInt(random, 0, rest.length - 1), 1));
  return taken;
}
