// Defines the approved request that one job passes to the next, and names of the files that come back.

import { z } from 'zod';
import { parseSwitch } from '../config/overrides.ts';
import { namingStyles } from '../config/parameters.ts';
import { bisectOverridesSchema } from '../forge/patch/bisect-command.ts';
import { type GateOverrides, gateOverridesSchema } from '../forge/patch/command.ts';
import { jobSchema } from '../forge/patch/job-key.ts';
import * as bounded from '../model/bounds.ts';
import { exitCodes } from '../model/conclusion.ts';
import { parseJson } from '../model/json.ts';
import { commitId, patchIdentity, patchSchema } from '../model/patch.ts';
import { priorities } from '../model/priority.ts';
import { cellSchema } from '../model/scenario.ts';
import { excerpt } from '../model/units.ts';
import { UsageError } from '../model/usage-error.ts';
import { conclusionOf, outcomeOfError } from '../publish/reporters/outcome.ts';

export const purposes = ['patch', 'history', 'nightly'] as const;

/** Relay run that requested a revision, and Harbormaster build that waits for it. */
const relaySchema = jobSchema.pick({ key: true, build: true }).partial();

const gateRequestSchema = z.object({
  /** Fixed at approval. */
  patch: patchSchema,
  overrides: gateOverridesSchema,
  priority: z.enum(priorities),
  /** `history` is a push to the default branch, `nightly` its head against itself. */
  purpose: z.enum(purposes),
  /** Branch of a merge queue that waits for it, such as `gh-readonly-queue/main/pr-7-1a2b…`. */
  queue: bounded.text(400).optional(),
  relay: relaySchema.optional(),
  /** Workflow run that has the experiment to extend, and the new maximum of runs. */
  extend: z.object({ run: bounded.id, maxRuns: bounded.text(20).optional() }).optional(),
});

export type GateRequest = z.infer<typeof gateRequestSchema>;

const bisectRequestSchema = z.object({
  command: z.literal('bisect'),
  /** Patch that gets the reply; a range of commits if there is no patch. */
  patch: patchSchema,
  good: commitId,
  bad: commitId,
  /** The commits are the patch's own; those of a revision are its diffs, each on top of the one before. */
  isOwn: z.boolean(),
  cell: cellSchema,
  overrides: bisectOverridesSchema.omit({ good: true, bad: true, scenarios: true, families: true }),
  priority: z.enum(priorities),
  relay: relaySchema.optional(),
});

export type BisectRequest = z.infer<typeof bisectRequestSchema>;

export const approvedRequestSchema = z.union([bisectRequestSchema, gateRequestSchema]);

export type ApprovedRequest = z.infer<typeof approvedRequestSchema>;

export const isBisection = (request: ApprovedRequest): request is BisectRequest => 'command' in request;

export const requestText = (request: ApprovedRequest): string => JSON.stringify(request);

export function readRequest(text: string): ApprovedRequest {
  try {
    return approvedRequestSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(
      `request: expected the output \`request\` of a step with \`command: admit\`, found "${excerpt(text)}".`,
    );
  }
}

export function relayOf({ key, build }: { key?: string; build?: string }): ApprovedRequest['relay'] {
  const { data, error } = relaySchema.safeParse({ key, build });
  if (error === undefined) return data;
  const names = error.issues.map(({ path }) => path.join('.')).join(' and ');
  throw new UsageError(`client_payload: ${names} is not sent by a relay.`);
}

/** Identifies the patch for a workflow's `concurrency` and for the testbeds' queue. */
export function subjectOf(request: ApprovedRequest): string {
  if (isBisection(request)) return patchIdentity(request.patch);
  const { patch, purpose, queue } = request;
  if (queue !== undefined) return pullRequestInQueue(queue);
  return purpose === 'patch' ? patchIdentity(patch) : purpose;
}

/** Drops the base commit at the end: a queue makes a new branch for a pull request after an earlier one's failure. */
const pullRequestInQueue = (branch: string): string => branch.replace(/-[0-9a-f]{40,64}$/, '');

/** Measures even a patch without changes, as in a nightly run. Throws a `UsageError` for an invalid switch. */
export const isMeasuredAnyway = ({ purpose, overrides }: GateRequest, inputs: GateOverrides): boolean =>
  [
    purpose === 'nightly',
    parseSwitch(inputs.measureAnyway, namingStyles.input('measureAnyway')),
    parseSwitch(overrides.measureAnyway, namingStyles.comment('measureAnyway')),
  ].includes(true);

export const outputFile = (base: OutputName, index: number, count: number): string =>
  count === 1 ? `${base}.json` : `${base}-${index + 1}.json`;

export const gateFolder = (index: number, count: number): string => (count === 1 ? '' : `${index + 1}/`);

export type OutputName = 'result' | 'failure' | `nightly-${number}`;

export const nightlyPart = (part: number): OutputName => `nightly-${part}`;

export const maxNightlyParts = 20;

const jobFailureSchema = z.object({
  exitCode: z.int(),
  /** A sentence that may contain text of the patch or the kernel. */
  said: bounded.text(20_000),
  isRefused: z.boolean(),
});

export type JobFailure = z.infer<typeof jobFailureSchema>;

/** Omits paths, as every user who sees the repository can read the artifact. */
export function failureOf(error: unknown): JobFailure {
  const reportedOutcome = outcomeOfError(error);
  return {
    exitCode: exitCodes[conclusionOf(reportedOutcome)],
    said: reportedOutcome.message,
    isRefused: false,
  };
}

/** Undefined for a job that was interrupted before it wrote a failure. */
export const readFailure = (text: string | undefined): JobFailure | undefined =>
  jobFailureSchema.safeParse(parseJson(text ?? '')).data;
