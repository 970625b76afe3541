// Why nothing can be measured with a variant, and that one was found to be so.
import { z } from 'zod';
import { scenarioSchema } from './scenario.ts';

const message = z.string();

/** Each by itself, for a larger union. */
export const rejections = [
  z.object({ kind: z.literal('does-not-apply'), message }),
  /** The message holds the first lines that say why. */
  z.object({ kind: z.literal('build-failed'), message }),
  /** No space on the builder or the DUT: nobody's fault but the lab's, and the author should know. */
  z.object({ kind: z.literal('out-of-disk'), message }),
  z.object({ kind: z.literal('does-not-load'), scenario: scenarioSchema, message }),
  /** `panic` is what the kernel died of, where that is known. */
  z.object({ kind: z.literal('boot-failed'), message, panic: z.string().optional() }),
  /** Twice in the same blast. */
  z.object({ kind: z.literal('panics-under-load'), message, panic: z.string().optional() }),
] as const;

export const rejectionSchema = z.discriminatedUnion('kind', rejections);

export type Rejection = z.infer<typeof rejectionSchema>;

/** A variant with which nothing can be measured. */
export type Rejected = { kind: 'rejected'; variant: string; rejection: Rejection };

/** Whether a variant is laid, or booted. */
export type Prepared = { kind: 'ready' } | Rejected;
