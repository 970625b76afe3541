// Defines a planned trial: its cell, and the variants in order.
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { cellSchema } from './scenario.ts';

const plannedRunSchema = z.object({
  number: bounded.ordinal,
  variant: bounded.variant,
  pair: bounded.ordinal,
  layout: bounded.ordinal.optional(),
});

export const plannedTrialSchema = z.object({
  number: bounded.ordinal,
  cell: cellSchema,
  runs: bounded.list(plannedRunSchema).min(1),
});

export type PlannedRun = z.infer<typeof plannedRunSchema>;
export type PlannedTrial = z.infer<typeof plannedTrialSchema>;

/** Rotates pairs through the layouts; both are counted from 1. */
export const layoutOfPair = (pair: number, layouts: number): number => ((pair - 1) % layouts) + 1;
