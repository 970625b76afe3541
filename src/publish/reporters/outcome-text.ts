// Defines the outcome of a gate or a bisection as reporters need it: conclusion, title and Markdown.

import { z } from 'zod';
import { usualMostBoots } from '../../config/parameters.ts';
import { type BisectOverrides, bisectWords } from '../../forge/patch/bisect-command.ts';
import { PatchError } from '../../forge/patch/revision.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import {
  type Conclusion,
  conclusionOfBisection,
  conclusionOfError,
  conclusionOfResult,
} from '../../model/conclusion.ts';
import { codeBlock } from '../../model/escape.ts';
import { type CommandPrefix, callOnGithub } from '../../model/patch.ts';
import type { Result } from '../../model/result.ts';
import { withoutPaths } from '../../model/without-paths.ts';
import { type BisectWays, bisectHeadline, bisectSymbol } from '../../report/bisect-headline.ts';
import { verdictLine } from '../../report/headline.ts';
import { type ReportLinks, renderMarkdown } from '../../report/reports.ts';
import { sentenceOf } from '../../system/system-error.ts';

export type ReportedOutcome =
  | MeasuredOutcome
  | BisectedOutcome
  | UnmeasuredOutcome
  | UncountedOutcome;

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

type FailureReason = z.infer<typeof failureReasonSchema>;

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
  return outcomeOfFailure(reasonOfError(error), sentenceOf(error));
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

/** Returns one line of plain text: `🔴 #7 loses 10.4 % (forwarding inet4)`, `⚪ not measured: cancelled`. */
export function outcomeTitle(outcome: ReportedOutcome): string {
  switch (outcome.kind) {
    case 'measured':
      return verdictLine(outcome.result);
    case 'bisected':
      return `${bisectSymbol(outcome.result)} ${bisectHeadline(outcome.result)}`;
    case 'unmeasured': {
      const { symbol, text } = failureTexts[outcome.reason];
      return `${symbol} ${text}`;
    }
    case 'uncounted':
      return `⚪ does not count: ${outcome.title}`;
  }
}

export function outcomeMarkdown(outcome: ReportedOutcome): string {
  switch (outcome.kind) {
    case 'measured':
      return renderMarkdown(outcome.result, outcome.links);
    case 'bisected': {
      const { result, request, links } = outcome;
      return renderMarkdown(result, {
        ...links,
        ways: bisectCommands(callOnGithub, request),
      });
    }
    case 'unmeasured':
      return outcome.reason === 'cancelled' ? outcome.message : codeBlock(outcome.message);
    case 'uncounted':
      return `${outcome.why}\n\n${outcomeMarkdown(outcome.measured)}`;
  }
}

/** Command that repeats the bisection. Without named ends, `diff` is the last one of the search. */
export const bisectCommand = (
  call: CommandPrefix,
  request: BisectOverrides,
  diff?: number,
): string => `${call} ${bisectWords(request, diff)}`;

/** Commands for a comment that request the bisections proposed by a result. */
export function bisectCommands(
  call: CommandPrefix,
  request: BisectOverrides,
  diff?: number,
): BisectWays {
  const command = (more: BisectOverrides) =>
    `\`${bisectCommand(call, { ...request, ...more }, diff)}\``;
  const { fixUp, maxBoots = usualMostBoots } = request;
  return {
    fixUp: (commit) => command({ fixUp: [fixUp, commit].filter(Boolean).join(',') }),
    goOn: command({ maxBoots: String(2 * Number(maxBoots)) }),
    verifyRevert: command({ verifyRevert: 'true' }),
  };
}

export const failureTexts: Readonly<Record<FailureReason, { symbol: string; text: string }>> = {
  cancelled: { symbol: '⚪', text: 'not measured: cancelled' },
  usage: { symbol: '⚪', text: 'not measured: the request cannot be carried out' },
  patchAtFault: { symbol: '🔴', text: 'not measured: the patch does not apply' },
  'binary-file': { symbol: '🔴', text: 'not measured: the diff changes a binary file' },
  'without-prefixes': {
    symbol: '🔴',
    text: 'not measured: the diff was sent without the prefixes of git',
  },
  'unusable-diff': { symbol: '🔴', text: 'not measured: the diff cannot be used' },
  infrastructure: { symbol: '⚪', text: 'not measured: a failure outside the patch' },
  'waits-for-approval': { symbol: '⏸️', text: 'waits for a maintainer' },
  'left-to-merge-queue': { symbol: '⏸️', text: 'not measured yet: the merge queue measures it' },
};
