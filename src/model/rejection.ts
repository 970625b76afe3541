// Defines why a variant cannot be measured.
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { scenarioSchema } from './scenario.ts';

const message = bounded.prose();

const crashEvidence = {
  panic: bounded.prose().optional(),
  /** Up to 20 lines of the DUT's console, if recorded: from a panic on, or the last ones. */
  console: bounded.prose().optional(),
  /** Lines with text of the whole console, where `console` leaves out some. */
  consoleLines: bounded.count.optional(),
  /** Log of the whole console of a guest, which was thrown away; absent: a machine, which is back on its own kernel. */
  guestConsole: bounded.name.exactOptional(),
};

/** Separate, for a larger union. */
export const rejections = [
  z.object({ kind: z.literal('does-not-apply'), message }),
  /** The message holds the first lines of the error. */
  z.object({ kind: z.literal('build-failed'), message }),
  /** On the builder or the DUT: the lab's fault, which the author should know. */
  z.object({ kind: z.literal('out-of-disk'), message }),
  z.object({ kind: z.literal('does-not-load'), scenario: scenarioSchema, message }),
  z.object({ kind: z.literal('boot-failed'), message, ...crashEvidence }),
  /** Twice in the same trial. */
  z.object({ kind: z.literal('panics-under-load'), message, ...crashEvidence }),
] as const;

export const rejectionSchema = z.discriminatedUnion('kind', rejections);

export type Rejection = z.infer<typeof rejectionSchema>;

export type Rejected = { kind: 'rejected'; variant: string; rejection: Rejection };

export type PrepareOutcome = { kind: 'ready' } | Rejected;
