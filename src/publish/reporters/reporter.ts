// How people at a patch see its gate while it lasts: the place in the queue, what is measured, and how it ended.

import type { WaitEstimate } from '../../gate/estimate/queue.ts';
import { formatEstimate } from '../../model/format.ts';
import { reasonOf } from '../../model/one-line.ts';
import { withoutPaths } from '../../model/without-paths.ts';
import type { ReportLinks } from '../../report/reports.ts';
import {
  type Bisected,
  cancelled,
  conclusionOf,
  type Ending,
  endingOfError,
  type Measured,
} from './outcome-text.ts';
import type { Given } from './throttled-updates.ts';

/** None of its functions throws or rejects: what GitHub or the network did is one line in the log. */
export type Answer = {
  /** Shows, in a sentence of our own, what it waits for before it waits for a testbed. */
  queued(text: string): void;
  /** Shows the place in the queue; `text` is the sentence that the log has of it. */
  waiting(estimate: WaitEstimate, text: string): void;
  /** `line` is the newest of the log: the run, the numbers so far, the time that is left. */
  measuring(testbed: string, line?: string): void;
  /** Completes the answer; only the first call counts. Resolves when the forge knows of it, or cannot be told in time. */
  ended(ending: Ending): Promise<Given>;
  /** The same end again, with links to what has come since; nothing where an answer is given once and for all. */
  linked(ending: Ending): Promise<void>;
  /** Leaves it as it is, for another job to go on with. */
  left(): Promise<void>;
};

/** Several answers as one: a comment, a check, a status. What they are told of the log is told without its paths. */
export const together = (answers: readonly Answer[]): Answer => ({
  queued(text) {
    for (const answer of answers) answer.queued(withoutPaths(text));
  },
  waiting(estimate, text) {
    for (const answer of answers) answer.waiting(estimate, withoutPaths(text));
  },
  measuring(testbed, line) {
    const shown = line === undefined ? [] : [withoutPaths(line)];
    for (const answer of answers) answer.measuring(testbed, ...shown);
  },
  async ended(ending) {
    const given = await Promise.all(answers.map((answer) => answer.ended(ending)));
    return worstFirst.find((one) => given.includes(one)) ?? 'given';
  },
  async linked(ending) {
    await Promise.all(answers.map((answer) => answer.linked(ending)));
  },
  async left() {
    await Promise.all(answers.map((answer) => answer.left()));
  },
});

const worstFirst: readonly Given[] = ['untaken', 'refused'];

/**
 * Does the work of a gate and completes its answer as it ends, also where it throws. When it is cancelled the answer
 * says so at once, because a job that is cancelled has only seconds left and a testbed may need minutes to be given back.
 */
export async function answering<Ended extends Ending>(
  answer: Answer,
  signal: AbortSignal,
  work: () => Promise<Ended>,
): Promise<Ended> {
  const onCancelled = () => void answer.ended(cancelled);
  signal.addEventListener('abort', onCancelled, { once: true });
  try {
    const ending = await work();
    await answer.ended(ending);
    return ending;
  } catch (error) {
    await answer.ended(signal.aborted ? cancelled : endingOfError(error));
    throw error;
  } finally {
    signal.removeEventListener('abort', onCancelled);
  }
}

/**
 * Answers with the result, and only then has made what there is to be linked to: whatever becomes of that, the verdict
 * is known. Never throws for it; `warn` hears why there are no links.
 */
export async function linkedAfterwards(
  answer: Answer,
  ending: Measured,
  make: () => Promise<ReportLinks>,
  warn: (why: string) => void,
): Promise<Ending> {
  await answer.ended(ending);
  return linkedNow(answer, ending, make, warn);
}

/** The same for an ending that was told already. */
export async function linkedNow(
  answer: Answer,
  ending: Measured | Bisected,
  make: () => Promise<ReportLinks>,
  warn: (why: string) => void,
): Promise<Measured | Bisected> {
  try {
    const linked = { ...ending, links: await make() };
    await answer.linked(linked);
    return linked;
  } catch (error) {
    warn(`The answer has no links, because the report was not kept (${reasonOf(error)}).`);
    return ending;
  }
}

/**
 * How long an end is tried: a job that is cancelled is killed soon, and one that does nothing but answer has `patience`.
 */
export const secondsFor = (ending: Ending, patienceSeconds?: number): number =>
  patienceSeconds ?? (conclusionOf(ending) === 'cancelled' ? 30 : 300);

/** `2 of 3 in line, some 40 min`. */
export function placeInLine({ place, of, expectedSeconds }: WaitEstimate): string {
  const line = `${place} of ${of} in line`;
  return expectedSeconds === undefined ? line : `${line}, ${formatEstimate(expectedSeconds)}`;
}

/** Tells by the clock when it begins, for that is read later than it is written. */
export function expectation({ expectedSeconds }: WaitEstimate, now: Date): string {
  const asOf = `as of ${timeText(now)}`;
  if (expectedSeconds === undefined) {
    return `Nobody can say when it begins, ${asOf}: nothing that would do is healthy.`;
  }
  const begin = new Date(now.getTime() + expectedSeconds * 1000);
  return `Expected to begin at about ${timeText(begin)}, ${asOf}.`;
}

export const timeText = (date: Date): string =>
  `${date.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
