// How a gate or a bisection ended, and what is said of that wherever it is told.
import { z } from 'zod';
import { usualMostBoots } from '../../config/overrides.ts';
import { type BisectAsk, bisectWords } from '../../forge/patch/bisect-command.ts';
import { type Call, callOnGithub } from '../../forge/patch/command.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import {
  type Conclusion,
  conclusionOfBisection,
  conclusionOfError,
  conclusionOfResult,
} from '../../model/conclusion.ts';
import { codeBlock } from '../../model/escape.ts';
import type { Result } from '../../model/result.ts';
import { withoutPaths } from '../../model/without-paths.ts';
import { type BisectWays, bisectHeadline, bisectSymbol } from '../../report/bisect-headline.ts';
import { verdictLine } from '../../report/headline.ts';
import { type ReportLinks, renderMarkdown } from '../../report/reports.ts';

export type Ending = Measured | Bisected | Unmeasured | Uncounted;

export type Measured = { kind: 'measured'; result: Result; links: ReportLinks };

/** `asked` is what was asked for, with ids in place of the names of commits. */
export type Bisected = {
  kind: 'bisected';
  result: BisectResult;
  asked: BisectAsk;
  links: ReportLinks;
};

/** `said` is the sentence of what went wrong as it was said, in which anybody's text may be; it has no paths. */
export type Unmeasured = { kind: 'unmeasured'; why: Failure; said: string };

/** It was measured, and that may not pass the commit on which it is told; `why` is Markdown. */
type Uncounted = { kind: 'uncounted'; measured: Measured; title: string; why: string };

export const failureSchema = z.enum([
  'cancelled',
  'usage',
  'patchAtFault',
  'infrastructure',
  'waits-for-leave',
  /** Nobody has asked for it, and a merge queue measures it all the same before it is merged. */
  'left-to-queue',
]);

type Failure = z.infer<typeof failureSchema>;

const cutShort = 'The job was cancelled before there was a verdict: run it again for one.';

export const cancelled: Unmeasured = { kind: 'unmeasured', why: 'cancelled', said: cutShort };

export const endingOfResult = (result: Result, links: ReportLinks): Measured => ({
  kind: 'measured',
  result,
  links,
});

export function endingOfError(error: unknown): Unmeasured {
  const said = error instanceof Error ? error.message : String(error);
  const conclusion = conclusionOfError(error);
  return endingOfFailure(
    conclusion === 'usage' || conclusion === 'patchAtFault' ? conclusion : 'infrastructure',
    said,
  );
}

/** `sentence` is that of an error, which may hold anybody's text; the paths in it are for the log alone. */
export const endingOfFailure = (why: Failure, sentence: string): Unmeasured => ({
  kind: 'unmeasured',
  why,
  said: withoutPaths(sentence),
});

export function conclusionOf(ending: Ending): Conclusion {
  switch (ending.kind) {
    case 'measured':
      return conclusionOfResult(ending.result);
    case 'bisected':
      return conclusionOfBisection(ending.result);
    case 'unmeasured':
      return conclusions[ending.why];
    case 'uncounted':
      return 'usage';
  }
}

const conclusions: Readonly<Record<Failure, Conclusion>> = {
  cancelled: 'cancelled',
  usage: 'usage',
  patchAtFault: 'patchAtFault',
  infrastructure: 'infrastructure',
  'waits-for-leave': 'usage',
  'left-to-queue': 'pass',
};

/** That of a gate; undefined where there is none. */
export function resultOf(ending: Ending): Result | undefined {
  switch (ending.kind) {
    case 'measured':
      return ending.result;
    case 'bisected':
    case 'unmeasured':
      return undefined;
    case 'uncounted':
      return ending.measured.result;
  }
}

/** One line of plain text of our own making: `🔴 #7 loses 10.4 % (forwarding inet4)`, `⚪ not measured: cancelled`. */
export function titleOf(ending: Ending): string {
  switch (ending.kind) {
    case 'measured':
      return verdictLine(ending.result);
    case 'bisected':
      return `${bisectSymbol(ending.result)} ${bisectHeadline(ending.result)}`;
    case 'unmeasured': {
      const { symbol, text } = failures[ending.why];
      return `${symbol} ${text}`;
    }
    case 'uncounted':
      return `⚪ does not count: ${ending.title}`;
  }
}

/** What came of a gate, in Markdown. */
export function summaryOf(ending: Ending): string {
  switch (ending.kind) {
    case 'measured':
      return renderMarkdown(ending.result, ending.links);
    case 'bisected': {
      const { result, asked, links } = ending;
      return renderMarkdown(result, { ...links, ways: waysOf(callOnGithub, asked) });
    }
    case 'unmeasured':
      return ending.why === 'cancelled' ? ending.said : codeBlock(ending.said);
    case 'uncounted':
      return `${ending.why}\n\n${summaryOf(ending.measured)}`;
  }
}

/** How a comment asks for what a bisection proposes. */
export function waysOf(call: Call, asked: BisectAsk): BisectWays {
  const command = (more: BisectAsk) => `\`${call} ${bisectWords({ ...asked, ...more })}\``;
  const { fixUp, maxBoots = usualMostBoots } = asked;
  return {
    fixUp: (commit) => command({ fixUp: [fixUp, commit].filter(Boolean).join(',') }),
    goOn: command({ maxBoots: String(2 * Number(maxBoots)) }),
    verifyRevert: command({ verifyRevert: 'true' }),
  };
}

/** What stands in a heading where there is no verdict. */
export const failures: Readonly<Record<Failure, { symbol: string; text: string }>> = {
  cancelled: { symbol: '⚪', text: 'not measured: cancelled' },
  usage: { symbol: '⚪', text: 'not measured: what was asked for cannot be done' },
  patchAtFault: { symbol: '🔴', text: 'not measured: the patch does not apply' },
  infrastructure: { symbol: '⚪', text: 'not measured: something failed that is not the patch' },
  'waits-for-leave': { symbol: '⏸️', text: 'waits for a maintainer' },
  'left-to-queue': { symbol: '⏸️', text: 'not measured yet: the merge queue does that' },
};
