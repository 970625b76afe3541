// Reserves a testbed: waits for it, keeps the lease alive, and reports a loss at once.
import { reasonOf } from '../../model/one-line.ts';
import type { ProcessView } from '../../system/process.ts';
import { freeEnded, hasAnyEnded, isAnyHere } from './ended-holders.ts';
import { openSession, type SessionDeps, type StoreSession } from './lease-session.ts';
import {
  type HeldTestbed,
  isPreceded,
  keys,
  type LabState,
  type QueueTicket,
  readHolding,
  readLab,
  readLog,
  rivalsOf,
} from './records.ts';
import {
  enter,
  giveBack,
  type LeaseEnd,
  type ReservationRequest,
  type ReserveAttempt,
  takeAtOnce,
  tryReserve,
} from './reservation.ts';
import { StoreError } from './store/store.ts';

export type LeaseDeps = SessionDeps & {
  date(): Date;
  /** Distinguishes two requests of the same moment. Has constant length. */
  randomId(): string;
  /** Absent if the end of another holder's process is never certain. */
  processes?: ProcessView | undefined;
  /** An abort leaves the queue. */
  signal: AbortSignal;
  /** Called when the wait begins, and whenever the lab changes. */
  onWait(waiting: QueueWait): void;
};

export type QueueWait = { ticket: QueueTicket; lab: LabState };

export type Lease = {
  testbed: string;
  /** Higher than any earlier token of these machines. */
  token: number;
  holding: HeldTestbed;
  session: string;
  /** Aborted with a LeaseLostError when the testbed is lost. */
  signal: AbortSignal;
  /** Throws a LeaseLostError if this process already knows of the loss; see `prove`. */
  assertHeld(): void;
  /** Checks with the store. */
  prove(): Promise<void>;
  /** Has no effect if the lease was released or lost before. */
  release(ending: LeaseEnd): Promise<void>;
};

/** Reports that the testbed belongs, or may belong, to another holder. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';

  constructor(testbed: string, why: string) {
    super(
      `The lease of ${testbed} was lost: ${why}; work on it has stopped. Continue an interrupted gate with --resume.`,
    );
  }
}

/** Reports that nothing was reserved, and that waiting longer would not help. */
export class NotReservedError extends Error {
  override readonly name = 'NotReservedError';
}

/**
 * Waits for one of the testbeds, without a time limit. `order` is the place in the queue of an earlier request that
 * this one continues. Rejects with the signal's reason, a NotReservedError or a StoreError.
 */
export async function acquireLease(request: ReservationRequest, deps: LeaseDeps, order?: number): Promise<Lease> {
  const { store, date } = deps;
  const reading = readLab(store);
  // The `try` below reports a failure, after it has ended the session.
  reading.catch(() => {});
  const session = await openSession(deps);
  try {
    const at = date();
    const id = `${at.toISOString()}-${deps.randomId()}`;
    const entrance = {
      id,
      session: session.id,
      process: deps.processes?.own,
      at,
      ...(order !== undefined && { order }),
    };
    const lab = await reading;
    deps.signal.throwIfAborted();
    const holding = await takeAtOnce(store, lab, request, entrance).catch(foundLater);
    if (holding !== undefined) return leaseOf(holding, session, deps);
    const entry = await enter(store, request, entrance);
    if (entry.kind === 'gone') throw new NotReservedError(whyNone(entry));
    return leaseOf(await waitForTurn(id, session, deps), session, deps);
  } catch (error) {
    await session.end().catch(() => {});
    throw error;
  }
}

/** A commit without a response may stand: `enter` and `tryReserve` find it. */
function foundLater(error: unknown): undefined {
  if (!(error instanceof StoreError)) throw error;
}

const tooSlow =
  'No testbed was reserved: this process was stopped, or lost the reservation store, for longer than a lease lasts; start it again.';

async function waitForTurn(id: string, session: StoreSession, deps: LeaseDeps): Promise<HeldTestbed> {
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
      if (await freeEnded(store, attempt.lab, deps.processes, date())) continue;
      onWait(attempt);
      await changeOrEnd(attempt, signal, deps).catch(unlessAborted(signal));
      await sleep(secondsToYield(attempt), signal).catch(unlessAborted(signal));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // The session keeps the place in the queue, and may be renewed between two tries.
      troubledSince ??= now();
      if (now() - troubledSince >= maxLeasesOfTrouble * leaseSeconds) throw error;
      await sleep(leaseSeconds / 10, signal).catch(unlessAborted(signal));
    }
  }
}

/**
 * Waits for a change of the store, or for the end of a process on this host that holds or waits, as that changes
 * nothing.
 */
async function changeOrEnd(
  { lab, ticket }: QueueWait,
  signal: AbortSignal,
  { store, sleep, processes }: LeaseDeps,
): Promise<void> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const endOfAny = async () => {
    do await sleep(secondsBetweenPolls, until);
    while (!(await hasAnyEnded(lab, processes)));
  };
  const ends = isAnyHere(lab, processes) ? [endOfAny()] : [];
  try {
    // Waking every waiting process at a release would delay the next in line.
    const followed = isPreceded(lab, ticket) ? keys.ticket('') : '';
    await Promise.race([store.changed(lab.revision, until, followed), ...ends]);
  } finally {
    over.abort();
  }
}

const secondsBetweenPolls = 1;

/** Lease periods for which trouble with the store is tolerated: it may renew a session but fail everything else. */
const maxLeasesOfTrouble = 5;

/** The next in line checks at once; others wait different times, to keep the store free for it. */
const secondsToYield = ({ lab, ticket }: QueueWait): number =>
  Math.min(rivalsOf(lab, ticket).indexOf(ticket) / 10, maxSecondsToYield);

const maxSecondsToYield = 5;

/** The caller checks for an abort. */
const unlessAborted = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error;
};

function whyNone(attempt: Exclude<ReserveAttempt, { kind: 'taken' | 'waiting' }>): string {
  if (attempt.kind === 'gone') {
    return attempt.why === undefined ? tooSlow : `No testbed was reserved: ${attempt.why}.`;
  }
  const all = [...attempt.quarantines].map(([testbed, { reason, since }]) => `${testbed} since ${since} (${reason})`);
  return `No testbed is available: every match is quarantined, ${all.join(', ')}; fix one, then lift its quarantine with \`ppsgate quarantine NAME --lift\`.`;
}

function leaseOf(holding: HeldTestbed, session: StoreSession, deps: LeaseDeps): Lease {
  const { store, leaseSeconds, date, sleep } = deps;
  const { testbed, token, machines } = holding;
  // A single commit takes or releases all machines of a testbed.
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
    if (ended.signal.aborted) throw new LeaseLostError(testbed, 'it was released');
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
        // If the store is unreachable, the session decides whether the lease is lost.
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
        // If this fails, the session expires; nothing is bound to it any more.
        await session.end().catch(() => {});
      }
    },
  };
}
