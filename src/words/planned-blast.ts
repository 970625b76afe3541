// A blast before it is sent: its cell, and which variants are laid in which order.
import { z } from 'zod';
import { cellSchema } from './scenario.ts';

const plannedRunSchema = z.object({
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
