// The order of runs: variants alternate within a blast, cells alternate between blasts, chance decides the rest.
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { z } from 'zod';
import { type Cell, cellSchema } from '../scenario/scenario.ts';

export const plannedRunSchema = z.object({
  number: z.int().positive(),
  variant: z.string(),
  pair: z.int().positive(),
});

export const plannedBlastSchema = z.object({
  number: z.int().positive(),
  cell: cellSchema,
  runs: z.array(plannedRunSchema).min(1),
});

export type PlannedRun = z.infer<typeof plannedRunSchema>;
export type PlannedBlast = z.infer<typeof plannedBlastSchema>;

export type ScheduleRequest = {
  cells: readonly Cell[];
  variants: readonly string[];
  runsPerVariant: number;
  runsPerBlast: number;
  seed: number;
};

/**
 * Pairs come as ABBA or BAAB, so that a drift within four runs cancels; each cell gets its share of every
 * round of blasts, in an order drawn anew. The same request gives the same schedule.
 */
export function schedule(request: ScheduleRequest): PlannedBlast[] {
  const random = xoroshiro128plus(request.seed);
  const pairsPerBlast = Math.max(1, Math.floor(request.runsPerBlast / request.variants.length));
  const blasts: PlannedBlast[] = [];
  let runNumber = 0;

  for (let done = 0; done < request.runsPerVariant; done += pairsPerBlast) {
    const pairs = Math.min(pairsPerBlast, request.runsPerVariant - done);
    for (const cell of shuffled(request.cells, random)) {
      const runs = alternate(request.variants, pairs, random).map(({ variant, pair }) => {
        runNumber += 1;
        return { number: runNumber, variant, pair: done + pair };
      });
      blasts.push({ number: blasts.length + 1, cell, runs });
    }
  }
  return blasts;
}

/** Pairs 1…n in order, each with one run of every variant; every second pair mirrors the one before. */
function alternate(variants: readonly string[], pairs: number, random: RandomGenerator) {
  const runs: { variant: string; pair: number }[] = [];
  let order: readonly string[] = variants;
  for (let pair = 1; pair <= pairs; pair++) {
    order = pair % 2 === 1 ? shuffled(variants, random) : order.toReversed();
    runs.push(...order.map((variant) => ({ variant, pair })));
  }
  return runs;
}

/** Fisher and Yates' shuffle, of a copy. */
function shuffled<T>(items: readonly T[], random: RandomGenerator): T[] {
  const rest = [...items];
  const taken: T[] = [];
  while (rest.length > 0) taken.push(...rest.splice(uniformInt(random, 0, rest.length - 1), 1));
  return taken;
}
