// What somebody who waits can expect: the place in the queue, and when it will be their turn.
import { median } from '../../analysis/stats/summary.ts';
import { isCarriedThrough } from '../../model/lease-outcome.ts';
import { byTurn, testbedsOf } from '../reserve/queue.ts';
import {
  type LabState,
  type Logged,
  linesOf,
  readLog,
  rivalsOf,
  type Ticket,
} from '../reserve/records.ts';
import { lostOutcome, type Request } from '../reserve/reservation.ts';
import type { Store } from '../reserve/store/store.ts';
import { expectedWait, type Load, simulate } from './queue-forecast.ts';

/** How long a testbed is usually held, in seconds. */
export type UsualSeconds = (testbed: string) => number;

/** Purpose of one who only looks whether a testbed is well, which is over in moments. */
export const lookPurpose = 'health';

export type Estimate = {
  /** 1 is next. */
  place: number;
  /** Number of all who wait for what this one waits for. */
  of: number;
  /** Absent where nothing that would do is healthy. */
  expectedSeconds?: number;
};

export function estimateOf(
  lab: LabState,
  ticket: Ticket,
  usualSeconds: UsualSeconds,
  now: Date,
): Estimate {
  const expectedSeconds = expectedWait(loadOf(lab, usualSeconds, now), ticket.id);
  return { ...placeOf(lab, ticket), ...(expectedSeconds !== undefined && { expectedSeconds }) };
}

/** The same of all who wait, by the ids of their tickets, with the queue played on only once. */
export function estimatesOf(
  lab: LabState,
  usualSeconds: UsualSeconds,
  now: Date,
): ReadonlyMap<string, Estimate> {
  const starts = [...simulate(loadOf(lab, usualSeconds, now))];
  const waits = new Map(starts.map(({ place, afterSeconds }) => [place.id, afterSeconds]));
  return new Map(
    lab.tickets.map((ticket) => {
      const expectedSeconds = waits.get(ticket.id);
      const expected = expectedSeconds !== undefined && { expectedSeconds };
      return [ticket.id, { ...placeOf(lab, ticket), ...expected }];
    }),
  );
}

/** Which testbed somebody would get who came now, and after how many seconds; undefined where nothing that would do is healthy. */
export function startOf(
  lab: LabState,
  { priority, testbeds }: Pick<Request, 'priority' | 'testbeds'>,
  usualSeconds: UsualSeconds,
  now: Date,
): { testbed: string; afterSeconds: number } | undefined {
  const newcomer: Ticket = {
    ...{ id: '', order: Number.POSITIVE_INFINITY, priority, revision: 0 },
    wants: testbeds,
    ...{ holder: { who: '', purpose: '' }, since: now.toISOString(), subject: undefined },
  };
  const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
  const start = simulate(loadOf({ ...lab, tickets }, usualSeconds, now)).find(
    ({ place }) => place.id === newcomer.id,
  );
  return start && { testbed: start.testbed, afterSeconds: start.afterSeconds };
}

function placeOf(lab: LabState, ticket: Ticket): Pick<Estimate, 'place' | 'of'> {
  const rivals = rivalsOf(lab, ticket);
  return { place: rivals.indexOf(ticket) + 1, of: rivals.length };
}

function loadOf(lab: LabState, usualSeconds: UsualSeconds, now: Date): Load {
  const lines = linesOf(lab);
  const holdings = new Map([...lab.held.values()].map((holding) => [holding.id, holding]));
  return {
    lines,
    testbeds: testbedsOf(lines),
    held: [...holdings.values()].map(({ machines, testbed, since }) => {
      // The clock of whoever wrote that may be ahead.
      const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1000);
      return { machines, secondsLeft: Math.max(usualSeconds(testbed) - elapsed, leastSeconds) };
    }),
    usualSeconds,
  };
}

/** Nobody knows more of a holder that has been there longer than usual. */
const leastSeconds = 60;

/** Where nothing is known yet: a cell or two. */
const firstGuessSeconds = 30 * 60;

/** Goes by what the log has of this month and the last one. */
export async function readUsualSeconds(store: Store, now: Date): Promise<UsualSeconds> {
  const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1));
  const months = [lastMonth, now].map((date) => date.toISOString().slice(0, 'YYYY-MM'.length));
  const logs = await Promise.all(months.map((month) => readLog(store, month)));
  return usualSecondsOf(logs.flat());
}

export function usualSecondsOf(log: readonly Logged[]): UsualSeconds {
  const held = log.flatMap(({ testbed, holder, since, until, outcome }) =>
    since === undefined ||
    until === undefined ||
    outcome === lostOutcome ||
    !isCarriedThrough(outcome) ||
    holder.purpose === lookPurpose
      ? []
      : [{ testbed, seconds: (Date.parse(until) - Date.parse(since)) / 1000 }],
  );
  const byTestbed = Map.groupBy(held, ({ testbed }) => testbed);
  return (testbed) => {
    const known = (byTestbed.get(testbed) ?? held).slice(-20).map(({ seconds }) => seconds);
    return known.length === 0 ? firstGuessSeconds : median(known);
  };
}
