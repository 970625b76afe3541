// Defines a planned trial: its cell, and the variants in order.
import { z } from 'zod';
import { cellSchema } from './scenario.ts';

const plannedRunSchema = z.object({
  number: z.int().positive(),
  variant: z.string(),
  pair: z.int().positive(),
  layout: z.int().positive().optional(),
});

export const plannedTrialSchema = z.object({
  number: z.int().positive(),
  cell: cellSchema,
  runs: z.array(plannedRunSchema).min(1),
});

export type PlannedRun = z.infer<typeof plannedRunSchema>;
export type PlannedTrial = z.infer<typeof plannedTrialSchema>;

/** Pairs rotate through the layouts, both counted from 1. */
export const layoutOfPair = (pair: number, layouts: number): number => ((pair - 1) % layouts) + 1;
