// Estimates the wait for a testbed: each request in its turn takes the testbed that is free first.
import { median } from '../../analysis/stats/summary.ts';
import { isCompleted } from '../../model/lease-outcome.ts';
import { byTurn } from '../reserve/queue.ts';
import { type LabState, type LoggedReservation, type QueueTicket, readLog, rivalsOf } from '../reserve/records.ts';
import { lostOutcome, type ReservationRequest } from '../reserve/reservation.ts';
import type { Store } from '../reserve/store/store.ts';

export type UsualSeconds = (testbed: string) => number;

/** Leases with this purpose only check a testbed, and last a moment. */
export const healthPurpose = 'health';

export type WaitEstimate = {
  /** Position in the queue, from 1. */
  place: number;
  of: number;
  /** Absent if no suitable testbed is healthy. */
  expectedSeconds?: number;
};

export function estimateWaits(lab: LabState, usualSeconds: UsualSeconds, now: Date): ReadonlyMap<string, WaitEstimate> {
  const starts = startsOf(lab, usualSeconds, now);
  return new Map(
    lab.tickets.map((ticket) => {
      const rivals = rivalsOf(lab, ticket);
      const start = starts.get(ticket.id);
      const expected = start !== undefined && { expectedSeconds: start.afterSeconds };
      return [ticket.id, { place: rivals.indexOf(ticket) + 1, of: rivals.length, ...expected }];
    }),
  );
}

/** Testbed that a new request would get, and its wait; undefined if no suitable testbed is healthy. */
export function estimateStart(
  lab: LabState,
  { priority, testbeds }: Pick<ReservationRequest, 'priority' | 'testbeds'>,
  usualSeconds: UsualSeconds,
  now: Date,
): ExpectedStart | undefined {
  const newcomer = { id: '', order: Number.POSITIVE_INFINITY, priority, wants: testbeds };
  const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
  return startsOf({ ...lab, tickets }, usualSeconds, now).get(newcomer.id);
}

type ExpectedStart = { testbed: string; afterSeconds: number };

type Queued = Pick<QueueTicket, 'id' | 'wants'>;

/** Starts by ticket. Tickets are in the order of turns, and wait for testbeds in quarantine in vain. */
function startsOf(
  { tickets, held, quarantines }: Pick<LabState, 'held' | 'quarantines'> & { tickets: readonly Queued[] },
  usualSeconds: UsualSeconds,
  now: Date,
): Map<string, ExpectedStart> {
  const freeAfter = new Map<string, number>();
  for (const [machine, { testbed, since }] of held) {
    // The holder's clock may be ahead.
    const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1000);
    freeAfter.set(machine, Math.max(usualSeconds(testbed) - elapsed, minSeconds));
  }
  const starts = new Map<string, ExpectedStart>();
  for (const { id, wants } of tickets) {
    let start: ExpectedStart | undefined;
    for (const [testbed, machines] of wants) {
      if (quarantines.has(testbed)) continue;
      const afterSeconds = Math.max(0, ...machines.map((machine) => freeAfter.get(machine) ?? 0));
      if (start === undefined || afterSeconds < start.afterSeconds) start = { testbed, afterSeconds };
    }
    if (start === undefined) continue;
    starts.set(id, start);
    const until = start.afterSeconds + usualSeconds(start.testbed);
    for (const machine of wants.get(start.testbed) ?? []) freeAfter.set(machine, until);
  }
  return starts;
}

/** Minimum if a holder exceeds the usual duration. */
const minSeconds = 60;

/** Guess without any log: a gate of one or two cells. */
const firstGuessSeconds = 30 * 60;

export async function readUsualSeconds(store: Store, now: Date): Promise<UsualSeconds> {
  const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1));
  const months = [lastMonth, now].map((date) => date.toISOString().slice(0, 'YYYY-MM'.length));
  const logs = await Promise.all(months.map((month) => readLog(store, month)));
  return usualSecondsOf(logs.flat());
}

export function usualSecondsOf(log: readonly LoggedReservation[]): UsualSeconds {
  const held = log.flatMap(({ testbed, holder, since, until, outcome }) =>
    since === undefined ||
    until === undefined ||
    outcome === lostOutcome ||
    !isCompleted(outcome) ||
    holder.purpose === healthPurpose
      ? []
      : [{ testbed, seconds: (Date.parse(until) - Date.parse(since)) / 1000 }],
  );
  const byTestbed = Map.groupBy(held, ({ testbed }) => testbed);
  return (testbed) => {
    const known = (byTestbed.get(testbed) ?? held).slice(-20).map(({ seconds }) => seconds);
    return known.length === 0 ? firstGuessSeconds : median(known);
  };
}
