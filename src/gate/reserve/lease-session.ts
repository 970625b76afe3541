// Keeps a session of the store alive: its keys are ours while it is renewed in time.
import { reasonOf } from '../../model/one-line.ts';
import type { Store } from './store/store.ts';

export type SessionDeps = {
  store: Store;
  /** Seconds until the store drops a session that is not renewed. */
  leaseSeconds: number;
  /** Seconds of a monotonic clock. */
  now(): number;
  sleep(seconds: number, signal: AbortSignal): Promise<void>;
};

export type StoreSession = {
  id: string;
  /** Aborted when the session is over, or may be. Its reason is an Error with an explanation. */
  signal: AbortSignal;
  assertAlive(): void;
  end(): Promise<void>;
};

export async function openSession(deps: SessionDeps): Promise<StoreSession> {
  const { store, leaseSeconds, now, sleep } = deps;
  const stopped = new AbortController();
  const over = new AbortController();
  // Counts from before the request: the store starts later, so it never ends a session that counts as alive here.
  let aliveUntil = now() + leaseSeconds;
  let trouble: unknown;
  const id = await store.openSession(leaseSeconds);

  const end = (why: string) => {
    stopped.abort();
    over.abort(new Error(why));
  };
  const assertAlive = () => {
    if (now() >= aliveUntil) end(whyNotRenewed(leaseSeconds, trouble));
    over.signal.throwIfAborted();
  };
  const renew = async () => {
    for (;;) {
      await sleep(leaseSeconds / (trouble === undefined ? 3 : 10), stopped.signal);
      const requestedAt = now();
      try {
        if (!(await store.renew(id))) return end(endedByStore(leaseSeconds));
        aliveUntil = requestedAt + leaseSeconds;
        trouble = undefined;
      } catch (error) {
        trouble = error;
      }
    }
  };
  const watchTime = async () => {
    for (let left = aliveUntil - now(); left > 0; left = aliveUntil - now()) {
      await sleep(left, stopped.signal);
    }
    end(whyNotRenewed(leaseSeconds, trouble));
  };
  for (const loop of [renew, watchTime]) void loop().catch(ifStopped(stopped.signal, end));

  return {
    id,
    signal: over.signal,
    assertAlive,
    async end() {
      stopped.abort();
      await store.endSession(id);
    },
  };
}

const endedByStore = (leaseSeconds: number): string =>
  `the store ended it, because it received no renewal for ${leaseSeconds} s`;

function whyNotRenewed(leaseSeconds: number, trouble: unknown): string {
  const why = trouble === undefined ? 'this process was stopped, or very slow' : reasonOf(trouble);
  return `it was not renewed for ${leaseSeconds} s (${why})`;
}

const ifStopped = (stopped: AbortSignal, end: (why: string) => void) => (error: unknown) => {
  if (!stopped.aborted) end(reasonOf(error));
};
