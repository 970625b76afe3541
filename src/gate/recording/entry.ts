// The lines of a recording: what they say, and the version of that.
import { z } from 'zod';

export const recordingVersion = 1;

/** What makes a file one of ours, in its first line. */
export const recordingFormat = 'ppsgate recording';

export const headSchema = z.object({
  kind: z.literal('head'),
  format: z.literal(recordingFormat),
  version: z.literal(recordingVersion),
  /** Version of what recorded. */
  ppsgate: z.string(),
  /** `testbeds check`. */
  command: z.string(),
  date: z.string(),
});

export type Head = z.infer<typeof headSchema>;

const at = z.number();
const stream = z.enum(['stdout', 'stderr']);

/** What was asked of the world: by a connection of that label, of the power, or of the console. */
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
  /** `hear` is all that a console prints, from before it is open until it ends. */
  z.object({ what: z.literal('console'), order: z.enum(['open', 'hear']) }),
  z.object({ what: z.literal('sleep'), seconds: z.number() }),
]);

export type Asked = z.infer<typeof asked>;

const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('exited'), code: z.number() }),
  z.object({ kind: z.literal('signaled'), signal: z.string() }),
  /** No command, and it was done; `said` is what the power says of itself. */
  z.object({ kind: z.literal('done'), said: z.string().optional() }),
  /** `failure` is the kind of a HostError, or the name of another error. */
  z.object({ kind: z.literal('failed'), failure: z.string(), message: z.string() }),
]);

export type Answer = z.infer<typeof answer>;

/** Times are in seconds since 1970, by the clock of the machine that recorded. */
export const entrySchema = z.discriminatedUnion('kind', [
  /** What begins, with all that is needed to do it again. */
  z.object({ kind: z.literal('begins'), at, part: z.string(), request: z.unknown() }),
  /** What came of it; diagnostics are told one by one. */
  z.object({ kind: z.literal('tells'), at, part: z.string(), outcome: z.unknown() }),
  z.object({ kind: z.literal('asks'), at, id: z.number(), host: z.string(), asked }),
  /**
   * Whole lines, when the last of them was complete; a part of one only at the end, or where it is too long. Two that one
   * datagram brought are of the same turn: nobody could do anything about the first before the second was there.
   */
  z.object({
    kind: z.literal('hears'),
    at,
    id: z.number(),
    stream,
    text: z.string(),
    isOfSameTurn: z.literal(true).exactOptional(),
  }),
  /** What is left out of a stream: it was no text, or too much. */
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

export type Entry = z.infer<typeof entrySchema>;
