// Why nothing can be measured with a variant, and that one was found to be so.
import { z } from 'zod';
import { scenarioSchema } from './scenario.ts';

const message = z.string();

const crashEvidence = {
  /** Panic message of the kernel, where it is known. */
  panic: z.string().optional(),
  /** Up to 20 lines of the DUT's console, where it is recorded: from a panic on, or the last ones. */
  console: z.string().optional(),
};

/** Each by itself, for a larger union. */
export const rejections = [
  z.object({ kind: z.literal('does-not-apply'), message }),
  /** The message holds the first lines that say why. */
  z.object({ kind: z.literal('build-failed'), message }),
  /** No space on the builder or the DUT: the lab's fault, and the author should know. */
  z.object({ kind: z.literal('out-of-disk'), message }),
  z.object({ kind: z.literal('does-not-load'), scenario: scenarioSchema, message }),
  z.object({ kind: z.literal('boot-failed'), message, ...crashEvidence }),
  /** Twice in the same trial. */
  z.object({ kind: z.literal('panics-under-load'), message, ...crashEvidence }),
] as const;

export const rejectionSchema = z.discriminatedUnion('kind', rejections);

export type Rejection = z.infer<typeof rejectionSchema>;

/** A variant with which nothing can be measured. */
export type Rejected = { kind: 'rejected'; variant: string; rejection: Rejection };

/** Outcome of installing or booting a variant. */
export type PrepareOutcome = { kind: 'ready' } | Rejected;
