// Shows a patch's authors the state of its gate: the place in the queue, the measurement, and the outcome.

import type { WaitEstimate } from '../../gate/estimate/queue.ts';
import { formatEstimate } from '../../model/format.ts';
import { reasonOf } from '../../model/one-line.ts';
import { withoutPaths } from '../../model/without-paths.ts';
import type { ReportLinks } from '../../report/reports.ts';
import {
  type BisectedOutcome,
  cancelledOutcome,
  conclusionOf,
  type MeasuredOutcome,
  outcomeOfError,
  type ReportedOutcome,
} from './outcome.ts';
import type { Delivery } from './throttled-updates.ts';

/** Never throws or rejects. A failure of the forge or the network is one line in the log. */
export type Reporter = {
  /** Shows the reason to wait before the queue, in a sentence of our own. */
  queued(text: string): void;
  /** Shows the place in the queue; `text` is the log's sentence. */
  waiting(estimate: WaitEstimate, text: string): void;
  /** `line` is the log's newest line: the run, the numbers so far, the remaining time. */
  measuring(testbed: string, line?: string): void;
  /** Only the first call has an effect. */
  conclude(outcome: ReportedOutcome): Promise<Delivery>;
  /** Shows the same outcome again with more links, if the forge allows edits. */
  addLinks(outcome: ReportedOutcome): Promise<void>;
  /** Stops without an outcome, as another job continues. */
  leaveOpen(): Promise<void>;
};

/** Combines reporters, and removes paths from all log text that they show. */
export const combineReporters = (reporters: readonly Reporter[]): Reporter => ({
  queued(text) {
    for (const reporter of reporters) reporter.queued(withoutPaths(text));
  },
  waiting(estimate, text) {
    for (const reporter of reporters) reporter.waiting(estimate, withoutPaths(text));
  },
  measuring(testbed, line) {
    const lines = line === undefined ? [] : [withoutPaths(line)];
    for (const reporter of reporters) reporter.measuring(testbed, ...lines);
  },
  async conclude(outcome) {
    const deliveries = await Promise.all(reporters.map((reporter) => reporter.conclude(outcome)));
    return worstFirst.find((one) => deliveries.includes(one)) ?? 'delivered';
  },
  async addLinks(outcome) {
    await Promise.all(reporters.map((reporter) => reporter.addLinks(outcome)));
  },
  async leaveOpen() {
    await Promise.all(reporters.map((reporter) => reporter.leaveOpen()));
  },
});

const worstFirst: readonly Delivery[] = ['undelivered', 'refused'];

/** Also reports errors. Reports a cancellation at once, as the job has only seconds left. */
export async function reportOutcome<Outcome extends ReportedOutcome>(
  reporter: Reporter,
  signal: AbortSignal,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const onCancelled = () => void reporter.conclude(cancelledOutcome);
  signal.addEventListener('abort', onCancelled, { once: true });
  try {
    const outcome = await work();
    await reporter.conclude(outcome);
    return outcome;
  } catch (error) {
    await reporter.conclude(signal.aborted ? cancelledOutcome : outcomeOfError(error));
    throw error;
  } finally {
    signal.removeEventListener('abort', onCancelled);
  }
}

/** Reports the outcome before it writes the linked reports, so that a failure there cannot hide the verdict. */
export async function reportThenLink(
  reporter: Reporter,
  outcome: MeasuredOutcome | BisectedOutcome,
  make: () => Promise<ReportLinks>,
  warn: (why: string) => void,
): Promise<MeasuredOutcome | BisectedOutcome> {
  await reporter.conclude(outcome);
  return addReportLinks(reporter, outcome, make, warn);
}

/** Adds links to an outcome that was already reported. A failure is only a warning. */
export async function addReportLinks(
  reporter: Reporter,
  outcome: MeasuredOutcome | BisectedOutcome,
  make: () => Promise<ReportLinks>,
  warn: (why: string) => void,
): Promise<MeasuredOutcome | BisectedOutcome> {
  try {
    const linked = { ...outcome, links: await make() };
    await reporter.addLinks(linked);
    return linked;
  } catch (error) {
    warn(`The comment has no links, because the report was not stored (${reasonOf(error)}).`);
    return outcome;
  }
}

export const deliverySeconds = (outcome: ReportedOutcome, patienceSeconds?: number): number =>
  patienceSeconds ?? (conclusionOf(outcome) === 'cancelled' ? 30 : 300);

/** `2 of 3 in line, about 40 min`. */
export function queuePosition({ place, of, expectedSeconds }: WaitEstimate): string {
  const line = `${place} of ${of} in line`;
  return expectedSeconds === undefined ? line : `${line}, ${formatEstimate(expectedSeconds)}`;
}

/** Formats the start as a time of day, as it is read later than written. */
export function expectedStart({ expectedSeconds }: WaitEstimate, now: Date): string {
  const asOf = `as of ${timeText(now)}`;
  if (expectedSeconds === undefined) {
    return `No start can be estimated, ${asOf}: no suitable testbed is healthy.`;
  }
  const begin = new Date(now.getTime() + expectedSeconds * 1000);
  return `Expected to begin at about ${timeText(begin)}, ${asOf}.`;
}

export const timeText = (date: Date): string =>
  `${date.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
