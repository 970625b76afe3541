// Defines the outcome of a gate or a bisection as reporters need it: conclusion, title and Markdown.
import { usualMostBoots } from '../../config/parameters.ts';
import { type BisectOverrides, bisectWords } from '../../forge/patch/bisect-command.ts';
import { codeBlock } from '../../model/escape.ts';
import { type CommandPrefix, callOnGithub } from '../../model/patch.ts';
import { type BisectWays, bisectHeadline, bisectSymbol } from '../../report/bisect-headline.ts';
import { verdictLine } from '../../report/headline.ts';
import { renderMarkdown } from '../../report/reports.ts';
import type { FailureReason, ReportedOutcome } from './outcome.ts';

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
export const bisectCommand = (call: CommandPrefix, request: BisectOverrides, diff?: number): string =>
  `${call} ${bisectWords(request, diff)}`;

/** Commands for a comment that request the bisections proposed by a result. */
export function bisectCommands(call: CommandPrefix, request: BisectOverrides, diff?: number): BisectWays {
  const command = (more: BisectOverrides) => `\`${bisectCommand(call, { ...request, ...more }, diff)}\``;
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
