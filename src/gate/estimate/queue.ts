// Estimates the wait for a testbed by simulating the queue.
import { median } from '../../analysis/stats/summary.ts';
import { isCompleted } from '../../model/lease-outcome.ts';
import {
  assign,
  byTurn,
  type Grant,
  insertInOrder,
  type QueueLine,
  type Testbeds,
  testbedsOf,
} from '../reserve/queue.ts';
import {
  type LabState,
  type LoggedReservation,
  linesOf,
  type QueueTicket,
  readLog,
  rivalsOf,
} from '../reserve/records.ts';
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

export function estimateWait(lab: LabState, ticket: QueueTicket, usualSeconds: UsualSeconds, now: Date): WaitEstimate {
  const expectedSeconds = expectedWait(loadOf(lab, usualSeconds, now), ticket.id);
  return { ...placeOf(lab, ticket), ...(expectedSeconds !== undefined && { expectedSeconds }) };
}

export function estimateWaits(lab: LabState, usualSeconds: UsualSeconds, now: Date): ReadonlyMap<string, WaitEstimate> {
  const starts = [...simulateQueue(loadOf(lab, usualSeconds, now))];
  const waits = new Map(starts.map(({ place, afterSeconds }) => [place.id, afterSeconds]));
  return new Map(
    lab.tickets.map((ticket) => {
      const expectedSeconds = waits.get(ticket.id);
      const expected = expectedSeconds !== undefined && { expectedSeconds };
      return [ticket.id, { ...placeOf(lab, ticket), ...expected }];
    }),
  );
}

/** Testbed that a new request would get, and its wait; undefined if no suitable testbed is healthy. */
export function estimateStart(
  lab: LabState,
  { priority, testbeds }: Pick<ReservationRequest, 'priority' | 'testbeds'>,
  usualSeconds: UsualSeconds,
  now: Date,
): { testbed: string; afterSeconds: number } | undefined {
  const newcomer: QueueTicket = {
    id: '',
    order: Number.POSITIVE_INFINITY,
    priority,
    revision: 0,
    wants: testbeds,
    holder: { who: '', purpose: '' },
    since: now.toISOString(),
    subject: undefined,
  };
  const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
  const start = simulateQueue(loadOf({ ...lab, tickets }, usualSeconds, now)).find(
    ({ place }) => place.id === newcomer.id,
  );
  return start && { testbed: start.testbed, afterSeconds: start.afterSeconds };
}

function placeOf(lab: LabState, ticket: QueueTicket): Pick<WaitEstimate, 'place' | 'of'> {
  const rivals = rivalsOf(lab, ticket);
  return { place: rivals.indexOf(ticket) + 1, of: rivals.length };
}

function loadOf(lab: LabState, usualSeconds: UsualSeconds, now: Date): QueueLoad {
  const lines = linesOf(lab);
  const holdings = new Map([...lab.held.values()].map((holding) => [holding.id, holding]));
  return {
    lines,
    testbeds: testbedsOf(lines),
    held: [...holdings.values()].map(({ machines, testbed, since }) => {
      // The holder's clock may be ahead.
      const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1000);
      return { machines, secondsLeft: Math.max(usualSeconds(testbed) - elapsed, minSeconds) };
    }),
    usualSeconds,
  };
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

export type QueueLoad = {
  lines: readonly QueueLine[];
  held: readonly { machines: readonly string[]; secondsLeft: number }[];
  testbeds: Testbeds;
  usualSeconds: UsualSeconds;
};

type ExpectedStart = Grant & { afterSeconds: number };

/** Yields starts in order of time, until no remaining ticket can be served. */
export function* simulateQueue({ lines, held, testbeds, usualSeconds }: QueueLoad): Generator<ExpectedStart> {
  const queue = lines.map(({ wants, waiting }) => ({ wants, waiting: [...waiting] }));
  const lineOf = new Map(queue.flatMap((line) => line.waiting.map((place) => [place, line])));
  const machines = openMachines(testbeds);
  const ends = held.map(({ machines, secondsLeft }) => ({ machines, at: secondsLeft }));
  ends.sort(lastToEnd);
  for (const end of ends) machines.take(end.machines);

  for (let now = 0; ; ) {
    for (const grant of assign(queue, machines.free)) {
      yield { ...grant, afterSeconds: now };
      lineOf.get(grant.place)?.waiting.shift();
      const taken = testbeds.get(grant.testbed) ?? [];
      machines.take(taken);
      insertInOrder(ends, { machines: taken, at: now + usualSeconds(grant.testbed) }, lastToEnd);
    }
    let next = ends.at(-1);
    if (next === undefined) return;
    now = Math.max(now, next.at);
    // Frees all ended holders first; otherwise a ticket would start on its second choice.
    for (; next !== undefined && next.at <= now; next = ends.at(-1)) {
      machines.giveBack(next.machines);
      ends.pop();
    }
  }
}

type HoldingEnd = { machines: readonly string[]; at: number };

const lastToEnd = (a: HoldingEnd, b: HoldingEnd): number => b.at - a.at;

/** Wait in seconds; undefined if the turn never comes. */
export function expectedWait(load: QueueLoad, id: string): number | undefined {
  return simulateQueue(load).find(({ place }) => place.id === id)?.afterSeconds;
}

/** Tracks which testbeds are free while machines are taken and released. */
function openMachines(testbeds: Testbeds) {
  const uses = [...testbeds].flatMap(([testbed, machines]) => machines.map((machine) => ({ testbed, machine })));
  const users = Map.groupBy(uses, ({ machine }) => machine);
  const testbedsOn = (machine: string) => (users.get(machine) ?? []).map(({ testbed }) => testbed);
  const taken = new Set<string>();
  const free = new Map(testbeds);
  return {
    free,
    take(machines: readonly string[]): void {
      for (const machine of machines) {
        taken.add(machine);
        for (const testbed of testbedsOn(machine)) free.delete(testbed);
      }
    },
    giveBack(machines: readonly string[]): void {
      for (const machine of machines) taken.delete(machine);
      for (const testbed of new Set(machines.flatMap(testbedsOn))) {
        const own = testbeds.get(testbed) ?? [];
        if (!own.some((machine) => taken.has(machine))) free.set(testbed, own);
      }
    },
  };
}
