// Defines the lines of a recording, and the version of that format.
import { z } from 'zod';

export const recordingVersion = 2;

export const recordingFormat = 'ppsgate recording';

export const headSchema = z.object({
  kind: z.literal('head'),
  format: z.literal(recordingFormat),
  version: z.literal([1, recordingVersion]),
  ppsgate: z.string(),
  command: z.string(),
  date: z.string(),
});

export type RecordingHead = z.infer<typeof headSchema>;

const at = z.number();
const stream = z.enum(['stdout', 'stderr']);

const asked = z.discriminatedUnion('what', [
  z.object({ what: z.literal('connect') }),
  /** `shown` is the command without the fence around it. */
  z.object({ what: z.literal('run'), command: z.string(), shown: z.string().optional() }),
  z.object({
    what: z.literal('upload'),
    path: z.string(),
    mode: z.number(),
    bytes: z.number(),
    sha256: z.string(),
  }),
  z.object({ what: z.literal('power'), order: z.enum(['open', 'state', 'cycle']) }),
  /** `hear` covers the output of a console, from before it opens until it closes. */
  z.object({ what: z.literal('console'), order: z.enum(['open', 'hear']) }),
  z.object({ what: z.literal('sleep'), seconds: z.number() }),
]);

export type RecordedCall = z.infer<typeof asked>;

const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('exited'), code: z.number() }),
  z.object({ kind: z.literal('signaled'), signal: z.string() }),
  /** Covers all other calls; `said` is the state of the power. */
  z.object({ kind: z.literal('done'), said: z.string().optional() }),
  /** `failure` is the kind of a HostError, or the name of another error. */
  z.object({ kind: z.literal('failed'), failure: z.string(), message: z.string() }),
]);

export type RecordedOutcome = z.infer<typeof answer>;

/** Times are in seconds since 1970, by the clock of the machine that recorded. */
export const entrySchema = z.discriminatedUnion('kind', [
  /** A part begins; `request` is enough to repeat it. */
  z.object({ kind: z.literal('begins'), at, part: z.string(), request: z.unknown() }),
  /** Each diagnostic has its own entry. */
  z.object({ kind: z.literal('tells'), at, part: z.string(), outcome: z.unknown() }),
  z.object({ kind: z.literal('asks'), at, id: z.number(), host: z.string(), asked }),
  /**
   * Output in whole lines; a partial line only at the end of a stream, or if a line is too long. Entries of one
   * datagram share a turn: the recorded code could not react to the first before the second was there.
   */
  z.object({
    kind: z.literal('hears'),
    at,
    id: z.number(),
    stream,
    text: z.string(),
    isOfSameTurn: z.literal(true).exactOptional(),
  }),
  z.object({
    kind: z.literal('cut'),
    at,
    id: z.number(),
    stream,
    bytes: z.number(),
    sha256: z.string(),
  }),
  z.object({ kind: z.literal('ends'), at, id: z.number(), answer }),
]);

export type RecordingEntry = z.infer<typeof entrySchema>;
