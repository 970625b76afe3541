// Defines the lines of a recording, and the version of that format.
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';

export const recordingVersion = 2;

export const recordingFormat = 'ppsgate recording';

export const headSchema = z.object({
  kind: z.literal('head'),
  format: z.literal(recordingFormat),
  version: z.literal([1, recordingVersion]),
  ppsgate: bounded.name,
  command: bounded.document,
  date: bounded.name,
});

export type RecordingHead = z.infer<typeof headSchema>;

/** Bounds an exit code, or an error of the system. */
const maxExitCode = 2 ** 32;
const at = z.number().min(-1e12).max(1e12);
const stream = z.enum(['stdout', 'stderr']);

const callSchema = z.discriminatedUnion('what', [
  z.object({ what: z.literal('connect') }),
  /** `shown` is the command without the fence around it. */
  z.object({
    what: z.literal('run'),
    command: bounded.document,
    shown: bounded.document.optional(),
  }),
  z.object({
    what: z.literal('upload'),
    path: bounded.path,
    mode: bounded.count,
    bytes: bounded.total,
    sha256: bounded.name,
  }),
  z.object({ what: z.literal('power'), order: z.enum(['open', 'state', 'cycle']) }),
  /** `hear` covers the output of a console, from before it opens until it closes. */
  z.object({ what: z.literal('console'), order: z.enum(['open', 'hear']) }),
  z.object({ what: z.literal('sleep'), seconds: bounded.seconds }),
  /** Concerns guests, or the machine that carries them; its end has the result as JSON. */
  z.object({
    what: z.literal('guest'),
    order: z.enum(['boot', 'up', 'kernel', 'facts', 'windows', 'interrupt', 'reset']),
  }),
]);

export type RecordedCall = z.infer<typeof callSchema>;

const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('exited'), code: z.number().min(-maxExitCode).max(maxExitCode) }),
  z.object({ kind: z.literal('signaled'), signal: bounded.name }),
  /** Covers all other calls; `said` is the state of the power. */
  z.object({ kind: z.literal('done'), said: bounded.document.optional() }),
  /** `failure` is the kind of a HostError, or the name of another error. */
  z.object({ kind: z.literal('failed'), failure: bounded.name, message: bounded.document }),
]);

export type RecordedOutcome = z.infer<typeof answer>;

/** Times are in seconds since 1970, by the clock of the machine that recorded. */
export const entrySchema = z.discriminatedUnion('kind', [
  /** A part begins; `request` suffices to repeat it. */
  z.object({ kind: z.literal('begins'), at, part: bounded.name, request: z.unknown() }),
  /** Each diagnostic has its own entry. */
  z.object({ kind: z.literal('tells'), at, part: bounded.name, outcome: z.unknown() }),
  z.object({
    kind: z.literal('asks'),
    at,
    id: bounded.total,
    host: bounded.name,
    asked: callSchema,
  }),
  /**
   * Output in whole lines; a partial line only at the end of a stream, or if a line is too long. Entries of one
   * datagram share a turn: the recorded code could not react to the first before the second arrived.
   */
  z.object({
    kind: z.literal('hears'),
    at,
    id: bounded.total,
    stream,
    text: bounded.document,
    isOfSameTurn: z.literal(true).exactOptional(),
  }),
  z.object({
    kind: z.literal('cut'),
    at,
    id: bounded.total,
    stream,
    bytes: bounded.total,
    sha256: bounded.name,
  }),
  z.object({ kind: z.literal('ends'), at, id: bounded.total, answer }),
]);

export type RecordingEntry = z.infer<typeof entrySchema>;
