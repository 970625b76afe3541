// Keeps one live comment on the pull request for all pushes, with at most one edit per minute.

import type { Octokit } from '../../forge/github/client.ts';
import { publishComment } from '../../forge/github/comment.ts';
import { codeSpan } from '../../model/escape.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type PullRequest, patchName } from '../../model/patch.ts';
import type { Pause } from '../../model/pause.ts';
import { type CommentUpdate, composeComment, markerOf } from './comment-text.ts';
import type { ReportedOutcome, UnmeasuredOutcome } from './outcome.ts';
import { failureTexts, outcomeMarkdown, outcomeTitle } from './outcome-text.ts';
import { deliverySeconds, expectedStart, queuePosition, type Reporter, timeText } from './reporter.ts';
import { ThrottledUpdates, type UpdateAttempt } from './throttled-updates.ts';

export type CommentOptions = Pick<CommentUpdate, 'name' | 'run' | 'overrides'> & {
  /** Name of the subject, if it is not the whole pull request. */
  subject?: string;
  detailsUrl: string;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  now(): Date;
  pause?: Pause;
  /** Seconds to keep trying to deliver the outcome, if longer than usual. */
  patienceSeconds?: number;
  keep?: (url: string) => void;
};

/** A refusal of GitHub, such as for a read-only token, is logged once and not retried. */
export function openComment(octokit: Octokit, pullRequest: PullRequest, options: CommentOptions): Reporter {
  const { name, run, overrides, detailsUrl, log, now, pause, patienceSeconds, keep = () => {} } = options;
  const { headCommit } = pullRequest;
  const { subject = patchName(pullRequest) } = options;
  const post = async ({ body, title }: CommentView): Promise<UpdateAttempt> => {
    const writing = { name, run, headCommit, overrides, at: now(), ...(title && { title }) };
    try {
      const published = await publishComment(octokit, pullRequest, (before) => composeComment(before, body, writing), {
        marker: markerOf(name),
        ...(pause && { pause: (seconds) => pause(seconds, never) }),
      });
      if (published.kind === 'left') return { kind: 'refused', why: superseded };
      if (published.kind !== 'not-published') {
        keep(published.url);
        return { kind: 'delivered' };
      }
      return { kind: published.isFinal ? 'refused' : 'failed', why: published.why };
    } catch (error) {
      const why = `The comment on ${patchName(pullRequest)} was not written (${reasonOf(error)}).`;
      return { kind: 'refused', why };
    }
  };
  const updates = new ThrottledUpdates(post, {
    // A missing comment deserves a warning.
    log: { ...log, info: (sentence) => (sentence === superseded ? log.info : log.warn)(sentence) },
    secondsBetween: 60,
    tooSlow,
    ...(pause && { pause }),
  });
  const heading = (text: string) => `### ⏳ ppsgate: ${subject} ${text}`;
  const job = `<sub>[the job](${detailsUrl}) · commit ${codeSpan(headCommit)}</sub>`;
  const view = (...parts: string[]) => ({ body: parts.filter(Boolean).join('\n\n') });
  const viewOf = (outcome: ReportedOutcome): CommentView =>
    outcome.kind === 'unmeasured'
      ? view(unmeasured(subject, outcome), job)
      : { body: outcomeMarkdown(outcome), title: outcomeTitle(outcome) };
  let since: Date | undefined;

  return {
    queued(text) {
      updates.send(view(heading(text), job));
    },
    waiting(estimate, text) {
      const title = heading(`waits for a testbed: ${queuePosition(estimate)}`);
      updates.send(view(title, `${codeSpan(text, 1000)}\n\n${expectedStart(estimate, now())}`, job));
    },
    measuring(testbed, line = '') {
      since ??= now();
      const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
      updates.send(view(heading('is being measured'), where, codeSpan(line), job));
    },
    conclude: (outcome) => updates.sendLast(viewOf(outcome), deliverySeconds(outcome, patienceSeconds)),
    addLinks: (outcome) => updates.replaceLast(viewOf(outcome), deliverySeconds(outcome, patienceSeconds)),
    leaveOpen: () => updates.stop(),
  };
}

type CommentView = { body: string; title?: string };

const never = new AbortController().signal;

const superseded = 'A later run for the same pull request writes the comment.';

const tooSlow = (seconds: number): string =>
  `The comment on the pull request may not show the outcome, because GitHub did not respond within ${seconds} s; the result is in the job's summary.`;

function unmeasured(subject: string, outcome: UnmeasuredOutcome): string {
  const { symbol, text } = failureTexts[outcome.reason];
  return `### ${symbol} ppsgate: ${subject} ${text}\n\n${outcomeMarkdown(outcome)}`;
}
