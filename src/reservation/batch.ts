// Measured together: who waits offers what is to be measured, and who has the testbed takes it aboard.
import type { Lease } from './lease.ts';
import {
  type Holder,
  keys,
  type LabState,
  type Logged,
  putAboard,
  putLogged,
  putOffer,
  putRide,
  readLab,
  readOffers,
  readRide,
  type Ticket,
} from './records.ts';
import type { SessionWorld } from './session.ts';
import { type Store, StoreError } from './store.ts';

/** What somebody who waits would have measured on one testbed. */
export type Offer = {
  /** Only what has the same base is measured together: a name of it, of letters and digits. */
  base: string;
  /** What is to be measured, in the words of those who measure. */
  text: string;
};

export type Passenger = {
  /** What is lacking now, by testbed; none where it is to be measured by itself. */
  offers(): ReadonlyMap<string, Offer>;
  /** The testbed on which some of it was measured already, and the rest must be. */
  boundTo(): string | undefined;
  /** Somebody who has that testbed measures it from now on. */
  boarded(testbed: string, by: Holder): Promise<void>;
  /** Keeps what was measured; answers whether nothing is lacking any more. */
  receive(item: string): Promise<boolean>;
};

/** The most characters of an offer: etcd takes requests of 1.5 MiB, in which they are written in base64. */
const mostOfferCharacters = 2 ** 19;

/** Offers what a ticket waits for on each of its testbeds, to whoever has it. */
export async function offer(
  store: Store,
  ticket: Ticket,
  session: string,
  passenger: Passenger,
): Promise<void> {
  const put = [...passenger.offers()]
    .filter(([testbed, { text }]) => ticket.wants.has(testbed) && text.length < mostOfferCharacters)
    .map(([testbed, { base, text }]) =>
      putOffer(keys.offers(testbed, base) + ticket.id, { session, text }, session),
    );
  if (put.length > 0) await store.commit({ conditions: [], put, remove: [] });
}

/**
 * Takes what somebody measures for a ticket, for as long as he does. Answers whether that was all of it; the ticket
 * has its place in the queue if not.
 */
export async function ride(
  store: Store,
  ticket: Pick<Ticket, 'id' | 'holder' | 'priority' | 'since'>,
  passenger: Passenger,
  { date, signal }: { date(): Date; signal: AbortSignal },
): Promise<boolean> {
  const { id } = ticket;
  let isAboard = false;
  for (;;) {
    const { ride, items, revision } = await readRide(store, id);
    if (ride === undefined) return false;
    if (!isAboard) await passenger.boarded(ride.testbed, ride.by);
    isAboard = true;
    for (const { key, value } of items) {
      const isAll = await passenger.receive(value);
      const put = isAll ? [putLogged(riddenOf(ticket, ride, date()))] : [];
      // Only what is kept here is taken away: whoever measured waits for that.
      await store.commit({ conditions: [], put, remove: [key] });
      if (isAll) return true;
    }
    if ((await readLab(store)).tickets.every((one) => one.id !== id)) return false;
    await store.changed(revision, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return false;
  }
}

/** A passenger has never held the testbed, so that there is no time since which it did. */
const riddenOf = (
  { id, holder, priority, since }: Pick<Ticket, 'id' | 'holder' | 'priority' | 'since'>,
  { testbed, by }: { testbed: string; by: Holder },
  at: Date,
): Logged => ({
  ...{ id, testbed, holder, priority, waitingSince: since, until: at.toISOString() },
  outcome: `measured together with ${by.patch ?? by.purpose}`,
});

/** Somebody for whom we measure. */
export type Aboard = {
  id: string;
  holder: Holder;
  /** The text of the offer. */
  text: string;
  /** Aborted once nobody waits for it any more. */
  signal: AbortSignal;
  /** Sends what was measured, and goes on at once. Throws a StoreError where that cannot be. */
  send(item: string): Promise<void>;
  /** Resolves when all that was sent is kept by whoever waits; throws where nobody keeps it in time. */
  kept(): Promise<void>;
  /** Has it measured by somebody else: whoever waits goes on waiting for the testbed. */
  putAshore(): Promise<void>;
};

/**
 * Takes at most so many more of those aboard who offer what has this base, in the order of their turns; `except` are ids
 * of tickets that are left where they are.
 */
export async function takeAboard(
  lease: Pick<Lease, 'testbed' | 'holding' | 'session' | 'over'>,
  { base, most, except }: { base: string; most: number; except?: ReadonlySet<string> },
  world: SessionWorld,
): Promise<Aboard[]> {
  const { store } = world;
  const { testbed, holding, session } = lease;
  const taken: Aboard[] = [];
  if (most < 1) return taken;
  const offers = await readOffers(store, testbed, base);
  if (offers.size === 0) return taken;
  for (const ticket of mayBoard(await readLab(store), testbed)) {
    const offered = offers.get(ticket.id);
    if (offered === undefined || except?.has(ticket.id) || taken.length === most) continue;
    const revision = await store.commit({
      conditions: [
        { key: keys.ticket(ticket.id), revision: ticket.revision },
        { key: offered.key, revision: offered.revision },
      ],
      put: [
        putAboard(ticket, testbed, offered.session),
        putRide(ticket.id, { testbed, by: holding.holder }, session),
      ],
      // What it lacks will be less.
      remove: [offered.key],
    });
    if (revision === undefined) continue;
    taken.push(aboard({ ...ticket, revision }, offered.text, lease, world));
  }
  return taken;
}

/** Nobody of a higher priority is made to wait longer; those of the same who came before are, by as many as are taken. */
function mayBoard({ tickets }: LabState, testbed: string): Ticket[] {
  const waiting = tickets.filter(({ wants }) => wants.has(testbed));
  const [first] = waiting;
  return waiting.filter(({ priority }) => priority === first?.priority);
}

function aboard(
  { id, holder, revision }: Ticket,
  text: string,
  lease: Pick<Lease, 'session' | 'over'>,
  { store, leaseSeconds, sleep }: SessionWorld,
): Aboard {
  const { session } = lease;
  const left = new AbortController();
  const over = AbortSignal.any([lease.over, left.signal]);
  let sent = 0;
  const watch = async () => {
    for (let seen = revision; !over.aborted; ) {
      try {
        await store.changed(seen, over, keys.ticket(id));
        const found = await store.read(keys.ticket(id));
        if (found.entries.length === 0) left.abort(new Error(`nobody waits for ${id} any more`));
        seen = found.revision;
      } catch {
        await sleep(leaseSeconds / 10, over);
      }
    }
  };
  void watch().catch(() => {});

  return {
    id,
    holder,
    text,
    signal: left.signal,

    async send(item) {
      over.throwIfAborted();
      const key = `${keys.ride(id)}${String(sent).padStart(9, '0')}`;
      sent += 1;
      const put = [{ key, value: item, session }];
      if ((await store.commit({ conditions: [], put, remove: [] })) === undefined) {
        throw new StoreError(`What was measured for ${holder.who} cannot be sent any more.`);
      }
    },

    async kept() {
      const done = new AbortController();
      const until = AbortSignal.any([over, done.signal]);
      const taken = async () => {
        for (;;) {
          const { items, revision } = await readRide(store, id);
          if (items.length === 0) return;
          await store.changed(revision, until, keys.ride(id));
        }
      };
      const late = async () => {
        await sleep(patienceInLeases * leaseSeconds, until);
        throw new StoreError(`${holder.who} does not take what was measured for it.`);
      };
      try {
        await Promise.race([taken(), late()]);
      } finally {
        done.abort();
      }
    },

    async putAshore() {
      const { entries } = await store.read(keys.ride(id));
      await store.commit({ conditions: [], put: [], remove: entries.map(({ key }) => key) });
    },
  };
}

/** A process that renews its session, and takes nothing for so many leases, is stuck. */
const patienceInLeases = 3;
