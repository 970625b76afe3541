// Defines the outcome of a gate or a bisection that reporters show, and its conclusion.
import { z } from 'zod';
import type { BisectOverrides } from '../../forge/patch/bisect-command.ts';
import { PatchError } from '../../forge/patch/patch-error.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import {
  type Conclusion,
  conclusionOfBisection,
  conclusionOfError,
  conclusionOfResult,
} from '../../model/conclusion.ts';
import type { Result } from '../../model/result.ts';
import { withoutPaths } from '../../model/without-paths.ts';
import type { ReportLinks } from '../../report/reports.ts';

export type ReportedOutcome = MeasuredOutcome | BisectedOutcome | UnmeasuredOutcome | UncountedOutcome;

export type MeasuredOutcome = { kind: 'measured'; result: Result; links: ReportLinks };

/** `request` has ids in place of commit names. */
export type BisectedOutcome = {
  kind: 'bisected';
  result: BisectResult;
  request: BisectOverrides;
  links: ReportLinks;
};

/** `message` is the failure's sentence without paths; it may contain foreign text. */
export type UnmeasuredOutcome = { kind: 'unmeasured'; reason: FailureReason; message: string };

/** The gate was measured, but must not pass the commit that it is reported on; `why` is Markdown. */
type UncountedOutcome = {
  kind: 'uncounted';
  measured: MeasuredOutcome;
  title: string;
  why: string;
};

export const failureReasonSchema = z.enum([
  'cancelled',
  'usage',
  'patchAtFault',
  'binary-file',
  'without-prefixes',
  'unusable-diff',
  'infrastructure',
  'waits-for-approval',
  /** Not requested: the merge queue measures it before the merge. */
  'left-to-merge-queue',
]);

export type FailureReason = z.infer<typeof failureReasonSchema>;

export const cancelledOutcome: UnmeasuredOutcome = {
  kind: 'unmeasured',
  reason: 'cancelled',
  message: 'The job was cancelled before there was a verdict: run it again for one.',
};

export const outcomeOfResult = (result: Result, links: ReportLinks): MeasuredOutcome => ({
  kind: 'measured',
  result,
  links,
});

export function outcomeOfError(error: unknown): UnmeasuredOutcome {
  return outcomeOfFailure(reasonOfError(error), error instanceof Error ? error.message : String(error));
}

function reasonOfError(error: unknown): FailureReason {
  const conclusion = conclusionOfError(error);
  if (conclusion === 'usage') return conclusion;
  if (conclusion !== 'patchAtFault') return 'infrastructure';
  const hasFault = error instanceof PatchError && error.fault !== 'does-not-apply';
  return hasFault ? error.fault : conclusion;
}

/** Removes paths from the error's sentence; they belong in the log. */
export const outcomeOfFailure = (reason: FailureReason, sentence: string): UnmeasuredOutcome => ({
  kind: 'unmeasured',
  reason,
  message: withoutPaths(sentence),
});

export function conclusionOf(outcome: ReportedOutcome): Conclusion {
  switch (outcome.kind) {
    case 'measured':
      return conclusionOfResult(outcome.result);
    case 'bisected':
      return conclusionOfBisection(outcome.result);
    case 'unmeasured':
      return conclusions[outcome.reason];
    case 'uncounted':
      return 'usage';
  }
}

const conclusions: Readonly<Record<FailureReason, Conclusion>> = {
  cancelled: 'cancelled',
  usage: 'usage',
  patchAtFault: 'patchAtFault',
  'binary-file': 'patchAtFault',
  'without-prefixes': 'patchAtFault',
  'unusable-diff': 'patchAtFault',
  infrastructure: 'infrastructure',
  'waits-for-approval': 'usage',
  'left-to-merge-queue': 'pass',
};

export function resultOf(outcome: MeasuredOutcome | UncountedOutcome): Result;
export function resultOf(outcome: ReportedOutcome): Result | undefined;
export function resultOf(outcome: ReportedOutcome): Result | undefined {
  switch (outcome.kind) {
    case 'measured':
      return outcome.result;
    case 'bisected':
    case 'unmeasured':
      return undefined;
    case 'uncounted':
      return outcome.measured.result;
  }
}
