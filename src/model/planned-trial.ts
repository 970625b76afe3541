// A trial before it is sent: its cell, and which variants are installed in which order.
import { z } from 'zod';
import { cellSchema } from './scenario.ts';

const plannedRunSchema = z.object({
  number: z.int().positive(),
  variant: z.string(),
  pair: z.int().positive(),
  /** See `Run`. */
  layout: z.int().positive().optional(),
});

export const plannedTrialSchema = z.object({
  number: z.int().positive(),
  cell: cellSchema,
  runs: z.array(plannedRunSchema).min(1),
});

export type PlannedRun = z.infer<typeof plannedRunSchema>;
export type PlannedTrial = z.infer<typeof plannedTrialSchema>;

/** Number of the layout of a variant's kernel that is booted for a pair, both from 1 on, in rotation. */
export const layoutOfPair = (pair: number, layouts: number): number => ((pair - 1) % layouts) + 1;
