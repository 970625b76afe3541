// Gives test programs that reserve testbeds their dependencies, all real, and their output of events.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { ReservationsConfig } from '../../src/config/reservations.ts';
import type { LeaseDeps } from '../../src/gate/reserve/lease.ts';
import { openProcessesOf, openStore, steadySeconds } from '../../src/gate/reserve/store/open.ts';
import type { Store } from '../../src/gate/reserve/store/store.ts';
import { storeWith } from './store-with.ts';

/** Each event has its time, by `steadySeconds`. */
export type Timed<Saying> = Saying & { at: number };

/** Writes a line of JSON to stdout before it returns. */
export function say(saying: object): void {
  process.stdout.write(`${JSON.stringify({ at: steadySeconds(), ...saying })}\n`);
}

export type Sign =
  /** Waits in the queue; repeated whenever the lab changes. */
  | { kind: 'waits' }
  /** Is about to commit. */
  | { kind: 'commits' }
  /** The store confirmed its session; the request was sent at that time. */
  | { kind: 'renewed'; askedAt: number };

export type Contending = AsyncDisposable & {
  deps: LeaseDeps;
  /**
   * Time of the last renewal that the store accepted; it promises `leaseSeconds` from then on. A renewal that is
   * confirmed after the previous promise lapsed is too late: the session may have been given up.
   */
  renewedAt(): number;
};

export async function openContending(
  reservations: ReservationsConfig,
  onSign: (sign: Sign) => void,
): Promise<Contending> {
  const store = await openStore(reservations);
  const processes = await openProcessesOf(reservations);
  let renewedAt = 0;
  const watched: Store = storeWith(store, {
    async openSession(seconds) {
      const askedAt = steadySeconds();
      const session = await store.openSession(seconds);
      renewedAt = askedAt;
      return session;
    },
    async renew(session) {
      const askedAt = steadySeconds();
      const isAlive = await store.renew(session);
      if (isAlive) {
        const hasLapsed = steadySeconds() - renewedAt >= reservations.leaseSeconds;
        if (!hasLapsed) renewedAt = askedAt;
        onSign({ kind: 'renewed', askedAt });
      }
      return isAlive;
    },
    commit(change) {
      onSign({ kind: 'commits' });
      return store.commit(change);
    },
  });
  return {
    renewedAt: () => renewedAt,
    deps: {
      store: watched,
      leaseSeconds: reservations.leaseSeconds,
      now: steadySeconds,
      sleep: async (seconds, until) => setTimeout(seconds * 1000, undefined, { signal: until }),
      date: () => new Date(),
      randomId: () => randomBytes(4).toString('hex'),
      processes,
      signal: new AbortController().signal,
      onWait: () => onSign({ kind: 'waits' }),
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}
