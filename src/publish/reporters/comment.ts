// The comment on the pull request, live while its gate lasts: at most one edit a minute, and one comment for all pushes.

import type { Octokit } from '../../forge/github/client.ts';
import { publishComment } from '../../forge/github/comment.ts';
import { codeSpan } from '../../model/escape.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type PullRequest, patchName } from '../../model/patch.ts';
import type { Pause } from '../../model/pause.ts';
import { composeComment, markerOf, type Writing } from './comment-text.ts';
import { type Ending, failures, summaryOf, titleOf, type Unmeasured } from './outcome-text.ts';
import { type Answer, expectation, placeInLine, secondsFor, timeText } from './reporter.ts';
import { type Told, throttledUpdates } from './throttled-updates.ts';

export type CommentOptions = Pick<Writing, 'name' | 'run' | 'ask'> & {
  /** What it is about, where that is not the pull request as a whole. */
  subject?: string;
  /** Page of the job. */
  detailsUrl: string;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  now(): Date;
  pause?: Pause;
  /** How long the end is tried, where that is longer than usual. */
  patienceSeconds?: number;
  /** Hears where the comment is. */
  keep?: (url: string) => void;
};

/** Where GitHub refuses, as it does a token that may only read, that is said once and not tried again. */
export function openComment(
  octokit: Octokit,
  pullRequest: PullRequest,
  options: CommentOptions,
): Answer {
  const { name, run, ask, detailsUrl, log, now, pause, patienceSeconds, keep = () => {} } = options;
  const { headCommit } = pullRequest;
  const { subject = patchName(pullRequest) } = options;
  const put = async ({ body, title }: View): Promise<Told> => {
    const writing = { name, run, headCommit, ask, at: now(), ...(title && { title }) };
    try {
      const published = await publishComment(
        octokit,
        pullRequest,
        (before) => composeComment(before, body, writing),
        { marker: markerOf(name), ...(pause && { pause: (seconds) => pause(seconds, never) }) },
      );
      if (published.kind === 'left') return { kind: 'refused', why: superseded };
      if (published.kind !== 'not-published') {
        keep(published.url);
        return { kind: 'told' };
      }
      return { kind: published.isFinal ? 'refused' : 'failed', why: published.why };
    } catch (error) {
      const why = `The comment on ${patchName(pullRequest)} was not written (${reasonOf(error)}).`;
      return { kind: 'refused', why };
    }
  };
  const updates = throttledUpdates(put, {
    // What a reader misses is worth a warning, once.
    log: { ...log, info: (sentence) => (sentence === superseded ? log.info : log.warn)(sentence) },
    secondsBetween: 60,
    tooSlow,
    ...(pause && { pause }),
  });
  const heading = (text: string) => `### ⏳ ppsgate: ${subject} ${text}`;
  const job = `<sub>[the job](${detailsUrl}) · commit ${codeSpan(headCommit)}</sub>`;
  const said = (...parts: string[]) => ({ body: parts.filter(Boolean).join('\n\n') });
  const ended = (ending: Ending): View =>
    ending.kind === 'unmeasured'
      ? said(unmeasured(subject, ending), job)
      : { body: summaryOf(ending), title: titleOf(ending) };
  let since: Date | undefined;

  return {
    queued(text) {
      updates.notify(said(heading(text), job));
    },
    waiting(estimate, text) {
      const title = heading(`waits for a testbed: ${placeInLine(estimate)}`);
      updates.notify(
        said(title, `${codeSpan(text, 1000)}\n\n${expectation(estimate, now())}`, job),
      );
    },
    measuring(testbed, line = '') {
      since ??= now();
      const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
      updates.notify(said(heading('is being measured'), where, codeSpan(line), job));
    },
    ended: (ending) => updates.tellLast(ended(ending), secondsFor(ending, patienceSeconds)),
    linked: (ending) => updates.tellInstead(ended(ending), secondsFor(ending, patienceSeconds)),
    left: updates.left,
  };
}

/** `title` is that of a verdict. */
type View = { body: string; title?: string };

const never = new AbortController().signal;

const superseded = 'The comment is left to a later run for the same pull request.';

const tooSlow = (seconds: number): string =>
  `The comment on the pull request may not show how the gate ended, because GitHub did not answer within ${seconds} s; the result is in the job's summary.`;

function unmeasured(subject: string, ending: Unmeasured): string {
  const { symbol, text } = failures[ending.why];
  return `### ${symbol} ppsgate: ${subject} ${text}\n\n${summaryOf(ending)}`;
}
