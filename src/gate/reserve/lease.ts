// A testbed for as long as one needs it: waits for it, keeps it while alive, and tells at once when it is lost.
import { reasonOf } from '../../model/one-line.ts';
import { openSession, type SessionDeps, type StoreSession } from './lease-session.ts';
import {
  type HeldTestbed,
  keys,
  type LabState,
  type QueueTicket,
  readHolding,
  readLog,
  rivalsOf,
} from './records.ts';
import {
  enter,
  giveBack,
  type LeaseEnd,
  type ReservationRequest,
  type ReserveAttempt,
  tryReserve,
} from './reservation.ts';
import { StoreError } from './store/store.ts';

export type LeaseDeps = SessionDeps & {
  date(): Date;
  /** Tells two requests of one moment apart; always of one length. */
  randomId(): string;
  /** Whoever waits leaves the queue. */
  signal: AbortSignal;
  /** Hears what one waits for, now and whenever the lab changes. */
  onWait(waiting: QueueWait): void;
};

export type QueueWait = { ticket: QueueTicket; lab: LabState };

export type Lease = {
  testbed: string;
  /** Higher than that of any lease of these machines before. */
  token: number;
  holding: HeldTestbed;
  /** That it lives and ends with. */
  session: string;
  /** Aborted with a LeaseLostError when the testbed is not ours any more. */
  signal: AbortSignal;
  /** Throws a LeaseLostError where this side knows that it is not ours any more. */
  assertHeld(): void;
  /** The same, having asked the store. */
  prove(): Promise<void>;
  /** Gives it back; a second time, or after it was lost, does nothing. */
  release(ending: LeaseEnd): Promise<void>;
};

/** The testbed is somebody else's by now, or may be. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(testbed: string, why: string) {
    super(
      `The lease of ${testbed} was lost: ${why}; nothing more is done on it, and a gate that was cut short goes on with --resume.`,
    );
  }
}

/** Nothing was reserved, and waiting on would not change that. */
export class NotReservedError extends Error {
  override readonly name = 'NotReservedError';
}

/**
 * Waits for one of the testbeds, for as long as it takes. With `order` the request has the place in the queue of one
 * that came earlier. Rejects with the signal's reason, with a NotReservedError, or with a StoreError.
 */
export async function reserve(
  request: ReservationRequest,
  deps: LeaseDeps,
  order?: number,
): Promise<Lease> {
  const { store, date } = deps;
  const session = await openSession(deps);
  try {
    const at = date();
    const id = `${at.toISOString()}-${deps.randomId()}`;
    const entrance = { id, session: session.id, at, ...(order !== undefined && { order }) };
    const entry = await enter(store, request, entrance);
    if (entry.kind === 'gone') throw new NotReservedError(whyNone(entry));
    return leaseOf(await waitForTurn(id, session, deps), session, deps);
  } catch (error) {
    await session.end().catch(() => {});
    throw error;
  }
}

const tooSlow =
  'Nothing was reserved: this process was stopped, or cut off from the reservation store, for longer than a lease lasts; start it again.';

async function waitForTurn(
  id: string,
  session: StoreSession,
  deps: LeaseDeps,
): Promise<HeldTestbed> {
  const { store, leaseSeconds, now, sleep, date, onWait } = deps;
  const signal = AbortSignal.any([deps.signal, session.signal]);
  let troubledSince: number | undefined;
  for (;;) {
    deps.signal.throwIfAborted();
    if (session.signal.aborted) throw new NotReservedError(tooSlow);
    try {
      const attempt = await tryReserve(store, id, session.id, date());
      troubledSince = undefined;
      if (attempt.kind === 'taken') return attempt.holding;
      if (attempt.kind !== 'waiting') throw new NotReservedError(whyNone(attempt));
      onWait(attempt);
      await store.changed(attempt.lab.revision, signal).catch(unlessAborted(signal));
      await sleep(secondsToYield(attempt), signal).catch(unlessAborted(signal));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // The place in the queue lasts as long as the session, which may be renewed between two of our tries.
      troubledSince ??= now();
      if (now() - troubledSince >= mostLeasesOfTrouble * leaseSeconds) throw error;
      await sleep(leaseSeconds / 10, signal).catch(unlessAborted(signal));
    }
  }
}

/** Trouble with the store is borne for so many leases: it may renew a session, and answer nothing else. */
const mostLeasesOfTrouble = 5;

/** Whoever is next looks at once; the others not all in the same moment, which would only hold him up. */
const secondsToYield = ({ lab, ticket }: QueueWait): number =>
  Math.min(rivalsOf(lab, ticket).indexOf(ticket) / 10, mostSecondsToYield);

const mostSecondsToYield = 5;

/** Who aborted is looked for where that is told. */
const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error;
};

function whyNone(attempt: Exclude<ReserveAttempt, { kind: 'taken' | 'waiting' }>): string {
  if (attempt.kind === 'gone') {
    return attempt.why === undefined ? tooSlow : `Nothing was reserved: ${attempt.why}.`;
  }
  const all = [...attempt.quarantines].map(
    ([testbed, { reason, since }]) => `${testbed} since ${since} (${reason})`,
  );
  return `Nothing was reserved: all that would do is in quarantine, ${all.join(', ')}; once it is fixed, lift it with \`ppsgate quarantine NAME --lift\`.`;
}

function leaseOf(holding: HeldTestbed, session: StoreSession, deps: LeaseDeps): Lease {
  const { store, leaseSeconds, date, sleep } = deps;
  const { testbed, token, machines } = holding;
  // They are taken and given back as one.
  const [machine = ''] = machines;
  const lost = new AbortController();
  const ended = new AbortController();
  const lose = (why: string) => {
    if (ended.signal.aborted) return;
    lost.abort(new LeaseLostError(testbed, why));
    ended.abort();
    void session.end().catch(() => {});
  };
  const assertHeld = () => {
    try {
      session.assertAlive();
    } catch (error) {
      lose(reasonOf(error));
    }
    lost.signal.throwIfAborted();
    if (ended.signal.aborted) throw new LeaseLostError(testbed, 'it was given back');
  };
  const look = async () => {
    const { holding: found, revision } = await readHolding(store, machine);
    if (found?.id !== holding.id) lose(await whyTaken());
    return revision;
  };
  const whyTaken = async () => {
    const [logged] = await readLog(store, holding.id);
    return logged?.outcome ?? `it was not renewed for ${leaseSeconds} s`;
  };
  const watch = async () => {
    for (let revision = token; !ended.signal.aborted; ) {
      try {
        await store.changed(revision, ended.signal, keys.held(machine));
        revision = await look();
      } catch {
        // Whether a store that cannot be asked ends the lease is for the session to say.
        await sleep(leaseSeconds / 10, ended.signal);
      }
    }
  };
  const onOver = () => lose(reasonOf(session.signal.reason));
  session.signal.addEventListener('abort', onOver, { signal: ended.signal });
  if (session.signal.aborted) onOver();
  void watch().catch(() => {});

  return {
    testbed,
    token,
    holding,
    session: session.id,
    signal: lost.signal,
    assertHeld,
    async prove() {
      assertHeld();
      await look();
      assertHeld();
    },
    async release(ending) {
      if (ended.signal.aborted) return;
      ended.abort();
      try {
        await giveBack(store, holding, ending, date());
      } finally {
        // The session may as well expire, with nothing bound to it any more.
        await session.end().catch(() => {});
      }
    },
  };
}
