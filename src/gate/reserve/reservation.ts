// Performs the steps of a reservation as one atomic commit each: enter the queue, take a testbed, release it.

import type { Priority } from '../../model/priority.ts';
import type { ProcessMark } from '../../system/process.ts';
import { assign, byTurn, type Testbeds, testbedsOf } from './queue.ts';
import {
  type HeldTestbed,
  type Holder,
  keys,
  type LabState,
  type LoggedReservation,
  linesOf,
  putHolding,
  putLogged,
  putQuarantine,
  putTicket,
  putUse,
  type Quarantine,
  type QueueTicket,
  readLab,
  readLog,
  type TestbedUse,
} from './records.ts';
import type { Store, StoreChange } from './store/store.ts';

export type ReservationRequest = {
  /** Any of them, preferred first. */
  testbeds: Testbeds;
  priority: Priority;
  holder: Holder;
  /** A request replaces an older one that waits for the same subject and testbeds. */
  subject?: string | undefined;
};

/** Part of a request that is new for each process. */
type Entrance = {
  id: string;
  session: string;
  process?: ProcessMark | undefined;
  at: Date;
  order?: number;
};

type EnterResult =
  /** Or it has its testbed already. */
  | { kind: 'waiting' }
  /** With `why`, a newer request replaced this one; otherwise the session is over. */
  | { kind: 'gone'; why: string | undefined };

export async function enter(store: Store, request: ReservationRequest, entrance: Entrance): Promise<EnterResult> {
  const { id, session, order } = entrance;
  for (let isIn = false; ; ) {
    const lab = await readLab(store);
    if (holdingOf(lab, id) !== undefined) return { kind: 'waiting' };
    const own = lab.tickets.find((ticket) => ticket.id === id);
    const older = olderOf(lab, request, own);
    if (isIn && (own === undefined || older === undefined)) return { kind: 'waiting' };
    // A request that returns to its place is not the newest.
    if (order !== undefined && older !== undefined) {
      return { kind: 'gone', why: gaveWayTo(older.holder) };
    }
    const revision = await store.commit(entryOf(request, entrance, own, older));
    if (revision !== undefined) {
      if (request.subject === undefined) return { kind: 'waiting' };
      // Two requests that arrive together see each other only after both have entered.
      isIn = true;
    } else if (!(await store.renew(session))) {
      return { kind: 'gone', why: undefined };
    }
  }
}

/** Finds an earlier request that waits for the same subject and testbeds. */
function olderOf(
  { tickets }: LabState,
  { subject, testbeds }: ReservationRequest,
  own?: QueueTicket,
): QueueTicket | undefined {
  if (subject === undefined) return undefined;
  const names = [...testbeds.keys()].join();
  return tickets.find(
    (ticket) =>
      ticket.subject === subject &&
      [...ticket.wants.keys()].join() === names &&
      (own === undefined || ticket.revision < own.revision),
  );
}

function entryOf(request: ReservationRequest, entrance: Entrance, own?: QueueTicket, older?: QueueTicket): StoreChange {
  const { testbeds, priority, holder, subject } = request;
  const { id, session, process, at } = entrance;
  const inherited = older && Math.min(older.order, own?.order ?? older.order);
  const order = inherited ?? entrance.order;
  const ticket = {
    priority,
    ...(order !== undefined && { order }),
    ...(subject !== undefined && { subject }),
    holder,
    process,
    since: at.toISOString(),
    wants: [...testbeds].map(([name, machines]): [string, string[]] => [name, [...machines]]),
  };
  const replaced = older === undefined ? [] : [older];
  const seen = [{ id, revision: own?.revision ?? 0 }, ...replaced];
  return {
    conditions: seen.map(({ id, revision }) => ({ key: keys.ticket(id), revision })),
    put: [putTicket(id, ticket, session), ...replaced.map((one) => putLogged(superseded(one, holder, at)))],
    remove: replaced.map((one) => keys.ticket(one.id)),
  };
}

const superseded = (ticket: QueueTicket, by: Holder, at: Date): LoggedReservation => ({
  id: ticket.id,
  testbed: '',
  holder: ticket.holder,
  priority: ticket.priority,
  waitingSince: ticket.since,
  until: at.toISOString(),
  outcome: gaveWayTo(by),
});

const gaveWayTo = (by: Holder): string => `its place in the queue went to ${by.patch ?? by.purpose}`;

export type ReserveAttempt =
  | { kind: 'taken'; holding: HeldTestbed }
  | { kind: 'waiting'; ticket: QueueTicket; lab: LabState }
  | { kind: 'none-healthy'; quarantines: ReadonlyMap<string, Quarantine> }
  /** The ticket left the queue; `why` if another request removed it. */
  | { kind: 'gone'; why: string | undefined };

export async function tryReserve(store: Store, id: string, session: string, at: Date): Promise<ReserveAttempt> {
  for (;;) {
    const lab = await readLab(store);
    const ticket = lab.tickets.find((one) => one.id === id);
    if (ticket === undefined) {
      // A commit without a response may have been applied.
      const holding = holdingOf(lab, id);
      if (holding !== undefined) return { kind: 'taken', holding };
      return { kind: 'gone', why: (await readLog(store, id))[0]?.outcome };
    }
    const sick = [...lab.quarantines].filter(([testbed]) => ticket.wants.has(testbed));
    if (sick.length === ticket.wants.size) {
      return { kind: 'none-healthy', quarantines: new Map(sick) };
    }
    const testbed = grantedTo(ticket, lab);
    if (testbed === undefined) return { kind: 'waiting', ticket, lab };
    const holding = await take(store, lab, ticket, { testbed, session, at });
    if (holding !== undefined) return { kind: 'taken', holding };
  }
}

/**
 * Takes a testbed with one commit, without a place in the queue first. Returns undefined if the request has to wait, or
 * replaces another one.
 */
export async function takeAtOnce(
  store: Store,
  lab: LabState,
  request: ReservationRequest,
  { id, session, process, at, order = lab.revision + 1 }: Entrance,
): Promise<HeldTestbed | undefined> {
  const { testbeds, priority, holder, subject } = request;
  if (olderOf(lab, request) !== undefined) return undefined;
  const since = at.toISOString();
  const ticket = { id, priority, order, holder, process, since, subject, wants: testbeds, revision: 0 };
  const testbed = grantedTo(ticket, { ...lab, tickets: [...lab.tickets, ticket].toSorted(byTurn) });
  return testbed === undefined ? undefined : take(store, lab, ticket, { testbed, session, at });
}

function grantedTo({ id }: QueueTicket, lab: LabState): string | undefined {
  const lines = linesOf(lab);
  const isFree = ([, machines]: [string, readonly string[]]) => !machines.some((machine) => lab.held.has(machine));
  const free = new Map([...testbedsOf(lines)].filter(isFree));
  return assign(lines, free).find(({ place }) => place.id === id)?.testbed;
}

/** Returns undefined if the lab has changed since. */
async function take(
  store: Store,
  lab: LabState,
  ticket: QueueTicket,
  { testbed, session, at }: { testbed: string; session: string; at: Date },
): Promise<HeldTestbed | undefined> {
  const { holding, use, logged } = takingOf(lab, ticket, testbed, at);
  const lost = await lostUses(store, holding.leftBy, at);
  const token = await store.commit({
    conditions: [
      { key: keys.ticket(ticket.id), revision: ticket.revision },
      { key: keys.quarantine(testbed), revision: 0 },
      ...holding.machines.flatMap((machine) => [
        { key: keys.held(machine), revision: 0 },
        // Another holder may have come and gone since, and no other process would log its end.
        { key: keys.used(machine), revision: lab.used.get(machine)?.revision ?? 0 },
      ]),
    ],
    put: [...putHolding(holding, session), ...putUse(use, holding.machines), putLogged(logged), ...lost.map(putLogged)],
    remove: [keys.ticket(ticket.id)],
  });
  return token === undefined ? undefined : { ...holding, token };
}

function takingOf(lab: LabState, ticket: QueueTicket, testbed: string, at: Date) {
  const { id, priority, order, holder, process, wants } = ticket;
  const machines = [...(wants.get(testbed) ?? [])];
  const [waitingSince, since] = [ticket.since, at.toISOString()];
  const left = machines.flatMap((machine) => lab.used.get(machine) ?? []);
  const uses = left.map(({ revision: _, ...use }): [string, TestbedUse] => [use.id, use]);
  const leftBy = [...new Map(uses).values()];
  return {
    holding: { id, testbed, machines, priority, order, holder, process, waitingSince, since, leftBy },
    use: { id, testbed, holder, since },
    logged: { id, testbed, holder, priority, waitingSince, since },
  };
}

/** `until` is then the time of discovery. */
export const lostOutcome = 'it was not renewed in time';

/** Uses whose sessions expired without a reported outcome. */
async function lostUses(store: Store, uses: readonly TestbedUse[], at: Date): Promise<LoggedReservation[]> {
  const logs = await Promise.all(uses.map(({ id }) => readLog(store, id)));
  const open = logs.flat().filter(({ outcome }) => outcome === undefined);
  const until = at.toISOString();
  return open.map((logged) => ({ ...logged, until, outcome: lostOutcome }));
}

export function holdingOf({ held }: Pick<LabState, 'held'>, id: string): HeldTestbed | undefined {
  return held.values().find((holding) => holding.id === id);
}

export type LeaseEnd = {
  outcome: string;
  /** False if the next holder must restore the base. */
  isClean: boolean;
  /** Blocks new holders until lifted. An existing quarantine is kept. */
  quarantine?: Quarantine | undefined;
};

/** Returns false, and changes nothing, if the testbed was no longer held. */
export async function giveBack(
  store: Store,
  holding: HeldTestbed,
  { outcome, isClean, quarantine }: LeaseEnd,
  at: Date,
): Promise<boolean> {
  const { id, testbed, machines, token, holder, priority, waitingSince, since } = holding;
  const logged = { id, testbed, holder, priority, waitingSince, since };
  const isNew = quarantine !== undefined && !(await readLab(store)).quarantines.has(testbed);
  const revision = await store.commit({
    conditions: machines.map((machine) => ({ key: keys.held(machine), revision: token })),
    put: [
      putLogged({ ...logged, until: at.toISOString(), outcome }),
      ...(isNew ? [putQuarantine(testbed, quarantine)] : []),
    ],
    remove: [...machines.map(keys.held), ...(isClean ? machines.map(keys.used) : [])],
  });
  return revision !== undefined;
}

/** Blocks new holders; the current one keeps the testbed. */
export async function setQuarantine(store: Store, testbed: string, quarantine: Quarantine): Promise<void> {
  await store.commit({ conditions: [], put: [putQuarantine(testbed, quarantine)], remove: [] });
}

export async function liftQuarantine(store: Store, testbed: string): Promise<boolean> {
  const { quarantines } = await readLab(store);
  if (!quarantines.has(testbed)) return false;
  await store.commit({ conditions: [], put: [], remove: [keys.quarantine(testbed)] });
  return true;
}
