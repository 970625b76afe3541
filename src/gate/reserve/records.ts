// Defines the reservation records and their keys in the store.

import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { parseJson } from '../../model/json.ts';
import { priorities } from '../../model/priority.ts';
import { type ProcessMark, processMarkSchema } from '../../system/process.ts';
import { byTurn, type QueueLine, type QueuePlace } from './queue.ts';
import { type Store, type StoreChange, type StoreEntry, StoreError } from './store/store.ts';

const holder = z.object({
  who: bounded.line,
  purpose: bounded.line,
  /** Subject of the test, for example `o/r#12 at 1a2b3c4`. */
  patch: bounded.line.optional(),
  url: bounded.path.optional(),
});
export type Holder = z.output<typeof holder>;

const priority = z.enum(priorities);
const time = bounded.time;
/** Process that waits or holds; absent if this host could not see its end. */
const mark = processMarkSchema.optional();

const ticket = z.object({
  priority,
  /** Order of the request that this one replaced; absent: its own revision. */
  order: bounded.total.optional(),
  /** Only the newest request of a subject waits. */
  subject: bounded.path.optional(),
  holder,
  process: mark,
  since: time,
  /** Testbeds with their machines, preferred first. */
  wants: bounded.list(z.tuple([bounded.name, bounded.list(bounded.path, 1000)]), 1000),
});

const use = z.object({ id: bounded.name, testbed: bounded.name, holder, since: time });

const holding = z.object({
  id: bounded.name,
  testbed: bounded.name,
  machines: bounded.list(bounded.path, 1000),
  priority,
  order: bounded.total,
  holder,
  process: mark,
  waitingSince: time,
  since: time,
  /** Holders that did not restore the base of its machines. */
  leftBy: bounded.list(use, 1000),
});

const quarantine = z.object({ reason: bounded.prose(), by: bounded.line, since: time });

const logged = z.object({
  testbed: bounded.name,
  holder,
  priority,
  waitingSince: time,
  since: time.optional(),
  until: time.optional(),
  /** Absent while held. */
  outcome: bounded.prose().optional(),
});

export type QueueTicket = QueuePlace & {
  holder: Holder;
  process?: ProcessMark | undefined;
  since: string;
  subject: string | undefined;
  wants: ReadonlyMap<string, readonly string[]>;
  revision: number;
};
export type HeldTestbed = z.output<typeof holding> & { token: number };
/** A use whose holder did not restore the testbed's base. */
export type TestbedUse = z.output<typeof use>;
export type Quarantine = z.output<typeof quarantine>;
export type LoggedReservation = z.output<typeof logged> & { id: string };

/** Snapshot of everything but the log. */
export type LabState = {
  revision: number;
  /** In the order of turns. */
  tickets: readonly QueueTicket[];
  held: ReadonlyMap<string, HeldTestbed>;
  used: ReadonlyMap<string, TestbedUse & { revision: number }>;
  quarantines: ReadonlyMap<string, Quarantine>;
};

const folders = { ticket: 'lab/wait/', held: 'lab/held/', used: 'lab/used/', log: 'log/' } as const;
const quarantines = 'lab/quarantine/';

export const keys = {
  ticket: (id: string) => folders.ticket + id,
  held: (machine: string) => folders.held + machine,
  used: (machine: string) => folders.used + machine,
  quarantine: (testbed: string) => quarantines + testbed,
  log: (id: string) => folders.log + id,
};

type Put = StoreChange['put'][number];

const text = (record: object): string => JSON.stringify(record);

export const putTicket = (id: string, record: z.input<typeof ticket>, session: string): Put => ({
  key: keys.ticket(id),
  value: text(record),
  session,
});

export const putHolding = (record: z.input<typeof holding>, session: string): Put[] =>
  record.machines.map((machine) => ({ key: keys.held(machine), value: text(record), session }));

export const putUse = (record: TestbedUse, machines: readonly string[]): Put[] =>
  machines.map((machine) => ({ key: keys.used(machine), value: text(record) }));

export const putQuarantine = (testbed: string, record: Quarantine): Put => ({
  key: keys.quarantine(testbed),
  value: text(record),
});

export const putLogged = ({ id, ...record }: LoggedReservation): Put => ({
  key: keys.log(id),
  value: text(record),
});

export async function readLab(store: Store): Promise<LabState> {
  const { entries, revision } = await store.read('lab/');
  const under = (folder: string) => entries.filter(({ key }) => key.startsWith(folder));
  return {
    revision,
    tickets: under(folders.ticket).map(ticketOf).toSorted(byTurn),
    held: byName(under(folders.held), folders.held, holdingIn),
    used: byName(under(folders.used), folders.used, (entry) => ({
      ...parsed(use, entry),
      revision: entry.revision,
    })),
    quarantines: byName(under(quarantines), quarantines, (entry) => parsed(quarantine, entry)),
  };
}

/** Returns the holder of a machine, and the revision of the store at that moment. */
export async function readHolding(
  store: Store,
  machine: string,
): Promise<{ holding: HeldTestbed | undefined; revision: number }> {
  const key = keys.held(machine);
  const { entries, revision } = await store.read(key);
  const entry = entries.find((one) => one.key === key);
  return { holding: entry && holdingIn(entry), revision };
}

/** Returns the logged reservations, oldest first; with `id`, only those of that id. */
export async function readLog(store: Store, id = ''): Promise<LoggedReservation[]> {
  const { entries } = await store.read(keys.log(id));
  return entries.map((entry) => ({
    id: entry.key.slice(folders.log.length),
    ...parsed(logged, entry),
  }));
}

const holdingIn = (entry: StoreEntry): HeldTestbed => ({
  ...parsed(holding, entry),
  token: entry.revision,
});

function ticketOf(entry: StoreEntry): QueueTicket {
  const { order, wants, subject, ...rest } = parsed(ticket, entry);
  return {
    ...rest,
    id: entry.key.slice(folders.ticket.length),
    order: order ?? entry.revision,
    subject,
    wants: new Map(wants),
    revision: entry.revision,
  };
}

function byName<Record>(
  entries: readonly StoreEntry[],
  folder: string,
  read: (entry: StoreEntry) => Record,
): ReadonlyMap<string, Record> {
  return new Map(entries.map((entry) => [entry.key.slice(folder.length), read(entry)]));
}

function parsed<Schema extends z.ZodType>(schema: Schema, { key, value }: StoreEntry): z.output<Schema> {
  const record = schema.safeParse(parseJson(value));
  if (record.success) return record.data;
  throw new StoreError(
    `The reservation store has a value under "${key}" that this version of ppsgate cannot read; use the same version for all clients of a store, or remove that key.`,
  );
}

/** Returns all tickets that compete for a machine with this one, including itself, in order of turns. */
export function rivalsOf({ tickets }: Pick<LabState, 'tickets'>, { wants }: QueueTicket): QueueTicket[] {
  const machines = new Set([...wants.values()].flat());
  return tickets.filter((other) => [...other.wants.values()].flat().some((machine) => machines.has(machine)));
}

/** True if others come first for each machine: the turn then comes with a change of the queue. */
export function isPreceded(lab: Pick<LabState, 'tickets'>, ticket: QueueTicket): boolean {
  const rivals = rivalsOf(lab, ticket);
  const before = rivals.slice(0, rivals.indexOf(ticket));
  const machines = new Set(before.flatMap(({ wants }) => [...wants.values()].flat()));
  return [...ticket.wants.values()].flat().every((machine) => machines.has(machine));
}

export function linesOf({ tickets, quarantines }: LabState): QueueLine[] {
  const isHealthy = ([testbed]: readonly [string, unknown]) => !quarantines.has(testbed);
  const healthy = tickets.map((one) => ({ ...one, wants: [...one.wants].filter(isHealthy) }));
  const lines = Map.groupBy(healthy, ({ wants }) => JSON.stringify(wants));
  return [...lines.values()].map((waiting) => ({ wants: new Map(waiting[0]?.wants), waiting }));
}
