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

/** What was asked of the world: by a connection of that label, or of the power by its name. */
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
  z.object({ what: z.literal('sleep'), seconds: z.number() }),
]);

export type Asked = z.infer<typeof asked>;

const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('exited'), code: z.number() }),
  z.object({ kind: z.literal('signaled'), signal: z.string() }),
  /** No command, and it was done; `said` is what the power says of itself. */
  z.object({ kind: z.literal('done'), said: z.string().optional() }),
  /** `failure` is the kind of a HostError; `power` is a PowerError. */
  z.object({ kind: z.literal('failed'), failure: z.string(), message: z.string() }),
]);

export type Answer = z.infer<typeof answer>;

/** Times are in seconds since 1970, by the clock of the machine that recorded. */
export const entrySchema = z.discriminatedUnion('kind', [
  /** What begins, with all that is needed to do it again. */
  z.object({ kind: z.literal('begins'), at, part: z.string(), request: z.unknown() }),
  /** What came of it; findings are told one by one. */
  z.object({ kind: z.literal('tells'), at, part: z.string(), outcome: z.unknown() }),
  z.object({ kind: z.literal('asks'), at, id: z.number(), host: z.string(), asked }),
  /** Whole lines, when the last of them was complete; a part of one only at the end, or where it is too long. */
  z.object({ kind: z.literal('hears'), at, id: z.number(), stream, text: z.string() }),
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
  /** A serial console, by the name of its machine. */
  z.object({ kind: z.literal('console'), at, host: z.string(), text: z.string() }),
]);

export type Entry = z.infer<typeof entrySchema>;
