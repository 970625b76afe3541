// What a job was given leave to judge, or to bisect, as one job hands it to the next.

import { z } from 'zod';
import { parseSwitch } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import { bisectAskSchema } from '../forge/patch/bisect-command.ts';
import { type Ask, askSchema } from '../forge/patch/command.ts';
import { jobSchema } from '../forge/patch/job-key.ts';
import { exitCodes } from '../model/conclusion.ts';
import { parseJson } from '../model/json.ts';
import { commitId, patchName, patchSchema } from '../model/patch.ts';
import { priorities } from '../model/priority.ts';
import { cellSchema } from '../model/scenario.ts';
import { UsageError } from '../model/usage-error.ts';
import { conclusionOf, endingOfError } from '../publish/reporters/outcome-text.ts';

export const purposes = ['patch', 'history', 'nightly'] as const;

export const requestSchema = z.object({
  /** The patch, with both commits as they were fixed when leave was given. */
  patch: patchSchema,
  ask: askSchema,
  priority: z.enum(priorities),
  /** `history` is what was pushed to the default branch, `nightly` its head against itself. */
  purpose: z.enum(purposes),
  /** The branch of a merge queue that waits for it, like `gh-readonly-queue/main/pr-7-1a2b…`. */
  queue: z.string().max(400).optional(),
  /** Where a revision is answered besides its comment: the run of whoever asked, and the build that waits. */
  revisionAnswer: jobSchema.pick({ key: true, build: true }).partial().optional(),
  /** The workflow run whose experiment is to go on, for so many runs. */
  extend: z.object({ run: z.int().positive(), maxRuns: z.string().max(20).optional() }).optional(),
});

export type AdmittedRequest = z.infer<typeof requestSchema>;

/** A bisection that there is leave for. */
const bisectRequestSchema = z.object({
  command: z.literal('bisect'),
  /** Where it was asked for and is answered; a range of commits where nobody was at a patch. */
  patch: patchSchema,
  /** Both ends, as they were fixed when leave was given. */
  good: commitId,
  bad: commitId,
  /** The commits are those of the patch, which of a revision are its diffs, one on top of the other. */
  isOwn: z.boolean(),
  cell: cellSchema,
  /** The rest of what was asked; commits in it are full ids. */
  ask: bisectAskSchema.omit({ good: true, bad: true, scenarios: true, families: true }),
  priority: z.enum(priorities),
  revisionAnswer: requestSchema.shape.revisionAnswer,
});

export type BisectRequest = z.infer<typeof bisectRequestSchema>;

export const anyRequestSchema = z.union([bisectRequestSchema, requestSchema]);

export type AnyRequest = z.infer<typeof anyRequestSchema>;

export const isBisection = (request: AnyRequest): request is BisectRequest => 'command' in request;

export const requestText = (request: AnyRequest): string => JSON.stringify(request);

/** Throws a `UsageError` for a text that `requestText` did not write. */
export function readRequest(text: string): AnyRequest {
  try {
    return anyRequestSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(
      'request: expected the output `request` of a step with `command: admit`, found something else.',
    );
  }
}

/** Names the patch among all that are judged, or bisected, for a workflow's `concurrency` and for the queue. */
export function subjectOf(request: AnyRequest): string {
  if (isBisection(request)) return patchName(request.patch);
  const { patch, purpose, queue } = request;
  if (queue !== undefined) return placeInQueue(queue);
  return purpose === 'patch' ? patchName(patch) : purpose;
}

/** A queue makes a new branch for the same pull request when one before it has failed: what it was based on ends the name. */
const placeInQueue = (branch: string): string => branch.replace(/-[0-9a-f]{40,64}$/, '');

/**
 * Whether also what changes nothing is measured, as the request or the job's own inputs want it: at night it is the point
 * to measure the base against itself. Throws a `UsageError` for what is no switch.
 */
export const isMeasuredAnyway = ({ purpose, ask }: AdmittedRequest, inputs: Ask): boolean =>
  [
    purpose === 'nightly',
    parseSwitch(inputs.measureAnyway, calledAs.input('measureAnyway')),
    parseSwitch(ask.measureAnyway, calledAs.comment('measureAnyway')),
  ].includes(true);

/** What the files of one of several gates are called that the job which publishes looks for. */
export const fileOf = (base: OutputName, index: number, of: number): string =>
  of === 1 ? `${base}.json` : `${base}-${index + 1}.json`;

/** The folder of one of several gates in what is uploaded: empty, or `1/`, `2/`. */
export const gateFolder = (index: number, of: number): string => (of === 1 ? '' : `${index + 1}/`);

/** What a gate leaves, and what a nightly run does besides. */
export type OutputName = 'result' | 'failure' | `nightly-${number}`;

/** The name of what a nightly run has measured besides the commit against itself, counted from 1. */
export const partName = (part: number): OutputName => `nightly-${part}`;

/** More are not looked for. */
export const mostParts = 20;

/** What a gate leaves that came to no result. */
const failureSchema = z.object({
  exitCode: z.int(),
  /** What went wrong, in a sentence that may hold anybody's text. */
  said: z.string().max(20_000),
  /** Whether nothing was measured for lack of leave. */
  isRefused: z.boolean(),
});

export type Failure = z.infer<typeof failureSchema>;

/** The artifact it lies in is for everybody who sees the repository. */
export function failureOf(error: unknown): Failure {
  const ending = endingOfError(error);
  return { exitCode: exitCodes[conclusionOf(ending)], said: ending.said, isRefused: false };
}

/** What kept a job from a result, of the text that it left; undefined for one that was cut short, and left none. */
export function failureOfText(
  text: string | undefined,
): { why: 'usage' | 'infrastructure'; said: string; isRefused: boolean } | undefined {
  const failure = failureSchema.safeParse(parseJson(text ?? '')).data;
  if (failure === undefined) return undefined;
  const { exitCode, said, isRefused } = failure;
  return { why: exitCode === exitCodes.usage ? 'usage' : 'infrastructure', said, isRefused };
}
