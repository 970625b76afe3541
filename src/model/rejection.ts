// Defines the reasons why a variant cannot be measured.
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { scenarioSchema } from './scenario.ts';

const message = bounded.prose();

const crashEvidence = {
  panic: bounded.prose().optional(),
  /** Up to 20 lines of the DUT's console, if recorded: from the panic on, or the last ones. */
  console: bounded.prose().optional(),
  /** Number of non-empty lines on the whole console; present if `console` omits some. */
  consoleLines: bounded.count.optional(),
  /** Log of a deleted guest's whole console. Absent for a machine, which is back on its own kernel. */
  guestConsole: bounded.name.exactOptional(),
};

/** Exported as a list for use in a larger union. */
export const rejections = [
  z.object({ kind: z.literal('does-not-apply'), message }),
  /** The message holds the first lines of the compiler's error. */
  z.object({ kind: z.literal('build-failed'), message }),
  /** On the builder or the DUT. The lab is at fault, but the author should know. */
  z.object({ kind: z.literal('out-of-disk'), message }),
  z.object({ kind: z.literal('does-not-load'), scenario: scenarioSchema, message }),
  z.object({ kind: z.literal('boot-failed'), message, ...crashEvidence }),
  /** Seen twice in the same trial. */
  z.object({ kind: z.literal('panics-under-load'), message, ...crashEvidence }),
] as const;

export const rejectionSchema = z.discriminatedUnion('kind', rejections);

export type Rejection = z.infer<typeof rejectionSchema>;

export type Rejected = { kind: 'rejected'; variant: string; rejection: Rejection };

export type PrepareOutcome = { kind: 'ready' } | Rejected;
