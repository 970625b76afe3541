// Measured together: who waits offers what is to be measured, and who has the testbed takes it aboard.
import type { Lease } from './lease.ts';
import {
  type Holder,
  type Holding,
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

/** The most bytes of an offer as it is written: etcd takes requests of 1.5 MiB, in which they are in base64. */
const mostOfferBytes = 2 ** 20;

/** Offers what a ticket waits for on each of its testbeds, to whoever has it. */
export async function offer(
  store: Store,
  ticket: Ticket,
  session: string,
  passenger: Passenger,
): Promise<void> {
  const offers = [...passenger.offers()]
    .filter(([testbed]) => ticket.wants.has(testbed))
    .map(([testbed, { base, text }]) =>
      putOffer(keys.offers(testbed, base) + ticket.id, { session, text }, session),
    );
  // Each in a request of its own, for the same reason.
  for (const one of offers.filter(({ value }) => Buffer.byteLength(value) < mostOfferBytes)) {
    await store.commit({ conditions: [], put: [one], remove: [] });
  }
}

/** How much of what is measured for a ticket was taken: also what could not be taken away from the store in time. */
export type Received = { revision: number; isAll: boolean };

/**
 * Takes what somebody measures for a ticket, for as long as he does. Answers whether that was all of it; the ticket
 * has its place in the queue if not.
 */
export async function ride(
  store: Store,
  ticket: Pick<Ticket, 'id' | 'holder' | 'priority' | 'since'>,
  passenger: Passenger,
  received: Received,
  { date, signal }: { date(): Date; signal: AbortSignal },
): Promise<boolean> {
  const { id } = ticket;
  let isAboard = false;
  for (;;) {
    const { ride, items, revision } = await readRide(store, id);
    if (ride === undefined) return received.isAll;
    if (!isAboard) await passenger.boarded(ride.testbed, ride.by);
    isAboard = true;
    for (const { key, value, revision } of items) {
      // Items come one commit after the other, so that their revisions ascend.
      if (revision > received.revision) {
        received.isAll = await passenger.receive(value);
        received.revision = revision;
      }
      const put = received.isAll ? [putLogged(riddenOf(ticket, ride, date()))] : [];
      // Only what is kept here is taken away: whoever measured waits for that.
      await store.commit({ conditions: [], put, remove: [key] });
      if (received.isAll) return true;
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
type OfferFound =
  Awaited<ReturnType<typeof readOffers>> extends ReadonlyMap<string, infer Found> ? Found : never;

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
  { base, most, except }: { base: string; most: number; except: ReadonlySet<string> },
  world: SessionWorld,
): Promise<Aboard[]> {
  const { store } = world;
  const { testbed, holding, session } = lease;
  const taken: Aboard[] = [];
  if (most < 1) return taken;
  const offers = await readOffers(store, testbed, base);
  if (offers.size === 0) return taken;
  const lab = await readLab(store);
  // Whoever has it keeps it, and nobody else gets it.
  if (lab.quarantines.has(testbed)) return taken;
  for (const ticket of mayBoard(lab, holding)) {
    const offered = offers.get(ticket.id);
    if (offered === undefined || except.has(ticket.id) || taken.length === most) continue;
    const revision = await boarded(ticket, offered);
    if (revision === undefined) continue;
    taken.push(aboard({ ...ticket, revision }, offered.text, lease, world));
  }
  return taken;

  async function boarded(ticket: Ticket, offered: OfferFound): Promise<number | undefined> {
    try {
      return await store.commit({
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
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // A commit whose answer was lost may have been done, and nobody would measure for the ticket.
      const remove = [keys.ride(ticket.id)];
      await store.commit({ conditions: [], put: [], remove }).catch(() => {});
      return undefined;
    }
  }
}

/** Nobody of a higher priority is made to wait longer; those of the same who came before are, by as many as are taken. */
function mayBoard({ tickets }: LabState, { testbed, machines }: Holding): Ticket[] {
  const first = tickets.find(({ wants }) =>
    [...wants.values()].flat().some((machine) => machines.includes(machine)),
  );
  return tickets.filter(
    ({ wants, priority }) => wants.has(testbed) && priority === first?.priority,
  );
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
          try {
            const { items, revision } = await readRide(store, id);
            if (items.length === 0) return;
            await store.changed(revision, until, keys.ride(id));
          } catch (error) {
            if (!(error instanceof StoreError)) throw error;
            await sleep(leaseSeconds / 10, until);
          }
        }
      };
      const late = async () => {
        await sleep(patienceInLeases * leaseSeconds, until);
        throw new StoreError(`${holder.who} does not take what was measured for it.`);
      };
      try {
        await Promise.race([taken(), late()]);
      } catch (error) {
        // Whoever has taken the last of it leaves at once.
        const hasTaken = async () => (await readRide(store, id)).items.length === 0;
        if (!left.signal.aborted || !(await hasTaken())) throw error;
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

/** A process that renews its session, and takes nothing for so many leases, is stuck: the DUT stands still meanwhile. */
const patienceInLeases = 1;
