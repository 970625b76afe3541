// Processes that reserve testbeds, and can be suspended, killed and cut off, in virtual time.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { acquireLease, type Lease, type LeaseDeps, type QueueWait } from '../../src/gate/reserve/lease.ts';
import { type HeldTestbed, readLab } from '../../src/gate/reserve/records.ts';
import { giveBack, type ReservationRequest } from '../../src/gate/reserve/reservation.ts';
import { openSqlite } from '../../src/gate/reserve/store/sqlite.ts';
import { type Store, type StoreChange, StoreError, type StoreSnapshot } from '../../src/gate/reserve/store/store.ts';
import { temporaryFolder } from './folder.ts';
import { storeWith } from './store-with.ts';

export type ReservationLab = {
  leaseSeconds: number;
  /** Never cut off; its turn is always immediate. */
  onlooker: Store;
  now(): number;
  /** The wall clock, which may also go back. */
  date(): Date;
  jump(seconds: number): void;
  /** Passes each commit to `onCommit` when it reaches the store. */
  start(name: string, onCommit?: OnCommit): Promise<Process>;
  /** Performs this many of the possible acts. */
  step(count: number): Promise<void>;
  /** Performs all possible acts. */
  settle(): Promise<void>;
  elapse(seconds: number): Promise<void>;
  /** Lets time pass without any act. */
  lag(seconds: number): Promise<void>;
  close(): Promise<void>;
};

export type OnCommit = (change: StoreChange, commit: Store['commit']) => ReturnType<Store['commit']>;

export type Process = {
  name: string;
  store: Store;
  deps: LeaseDeps;
  waits: readonly QueueWait[];
  isRunning(): boolean;
  /** Suspends and resumes, like SIGSTOP and SIGCONT. */
  stop(): void;
  goOn(): void;
  /** Dies, like SIGKILL. */
  kill(): void;
  /** Until `fix`, its requests to the store are lost, or the store's responses. */
  cut(lost: 'requests' | 'answers'): void;
  fix(): void;
  cancel(reason: Error): void;
  /** End of its last session as far as it knows, by `lab.now()`. */
  aliveUntil(): number;
  /** True if the session expired before it was confirmed alive, so it may have given up. */
  wasLate(): boolean;
  /** Resolves when it may continue. */
  turn(): Promise<void>;
};

/** Two of the three testbeds share their sender. */
const machines: Record<string, readonly string[]> = {
  x: ['dut-x', 'sender'],
  y: ['dut-y', 'sender'],
  z: ['dut-z'],
};

/** A request for any of the testbeds x, y and z; x and y share a machine. */
export const aRequest = (
  who: string,
  names: readonly string[],
  changes: Partial<ReservationRequest> = {},
): ReservationRequest => ({
  testbeds: new Map(names.map((name) => [name, machines[name] ?? []])),
  priority: 'patch',
  holder: { who, purpose: `${who}'s gate` },
  ...changes,
});

/** A virtual lab of the test's own. */
export async function aLab(): Promise<ReservationLab> {
  const lab = await virtualLab(join(temporaryFolder(), 'reservations'));
  onTestFinished(() => lab.close());
  return lab;
}

export type Claim = {
  lease?: Lease;
  error?: unknown;
};

/** Starts to reserve; the outcome is known only after a step. */
export function claim(process: Process, request: ReservationRequest, { order }: { order?: number } = {}): Claim {
  const claim: Claim = {};
  acquireLease(request, process.deps, order).then(
    (lease) => Object.assign(claim, { lease }),
    (error: unknown) => Object.assign(claim, { error }),
  );
  return claim;
}

type Actor = {
  state: 'running' | 'stopped' | 'dead';
  lost: 'nothing' | 'requests' | 'answers';
};

/** Timing, and order of arrival. */
type Stage = Omit<ReservationLab, 'onlooker' | 'date' | 'jump' | 'start' | 'close'> & {
  open(): Promise<Store>;
  turn(actor: Actor): Promise<void>;
  sleep(actor: Actor, seconds: number, signal: AbortSignal): Promise<void>;
  changed(actor: Actor, ...wanted: Parameters<Store['changed']>): Promise<void>;
};

/**
 * One SQLite file for all. Only `step`, `settle` and `elapse` cause events and let time pass; `pick` chooses the next
 * of the possible events.
 */
export async function virtualLab(path: string, pick: (count: number) => number = () => 0): Promise<ReservationLab> {
  let seconds = 1e5;
  const now = () => seconds;
  const open = () => openSqlite(path, { now });
  const onlooker = await open();
  const changes = noteChanges(onlooker);
  const tasks = new Set<Task>();
  const running = () => [...tasks].filter(({ actor }) => actor.state === 'running');

  const step = async (count: number): Promise<number> => {
    for (let done = 0; done < count; done += 1) {
      // Started work runs as far as it can, as SQLite never blocks here.
      await setImmediate();
      await changes.note();
      const due = running().filter(({ at, isDue }) => at <= seconds && isDue());
      const task = due[due.length < 2 ? 0 : pick(due.length)];
      if (task === undefined) return done;
      task.begin();
    }
    await setImmediate();
    return count;
  };
  const settle = async () => {
    if ((await step(endless)) === endless) throw new Error('The processes never come to rest.');
  };

  return labOn(onlooker, {
    leaseSeconds: 30,
    now,
    open,
    settle,
    async step(count) {
      await step(count);
    },
    async elapse(more) {
      const until = seconds + more;
      for (;;) {
        await settle();
        if (seconds === until) return;
        const next = running().filter(({ at }) => at > seconds);
        seconds = Math.min(until, ...next.map(({ at }) => at));
      }
    },
    async lag(more) {
      seconds += more;
    },
    turn: (actor) => addTask(tasks, { actor, at: seconds, isDue: () => true }),
    sleep: (actor, duration, signal) => addTask(tasks, { actor, at: seconds + duration, isDue: () => true }, signal),
    changed: (actor, since, signal, prefix = '') => {
      const isDue = () => changes.since(since, prefix) || actor.lost !== 'nothing';
      return addTask(tasks, { actor, at: seconds, isDue }, signal);
    },
  });
}

/** Finds what has changed in the store between two reads. */
function noteChanges(store: Store) {
  let seen: StoreSnapshot = { entries: [], revision: 0 };
  /** Revision of the last change of each key, including removed ones. */
  const lastChanges = new Map<string, number>();
  return {
    async note(): Promise<void> {
      const { revision } = await store.read('nothing');
      if (revision === seen.revision) return;
      const found = await store.read('');
      for (const { key, revision } of found.entries) lastChanges.set(key, revision);
      const keys = new Set(found.entries.map(({ key }) => key));
      const gone = seen.entries.filter(({ key }) => !keys.has(key));
      for (const { key } of gone) lastChanges.set(key, found.revision);
      seen = found;
    },
    since: (revision: number, prefix: string): boolean =>
      lastChanges.entries().some(([key, at]) => at > revision && key.startsWith(prefix)),
  };
}

/** Limit on steps at one moment; more are a livelock. */
const endless = 20_000;

type Task = { actor: Actor; at: number; isDue(): boolean; begin(): void };

/** Resolves when the task begins. */
function addTask(tasks: Set<Task>, task: Omit<Task, 'begin'>, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      tasks.delete(added);
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const abort = () => end(() => reject(signal?.reason));
    const added = { ...task, begin: () => end(resolve) };
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', abort);
    tasks.add(added);
  });
}

function labOn(onlooker: Store, stage: Stage): ReservationLab {
  const { leaseSeconds, now, step, settle, elapse, lag } = stage;
  const stores = [onlooker];
  let ids = 0;
  let aheadSeconds = 0;
  const date = () => new Date(Date.UTC(2026, 10, 20) + (now() + aheadSeconds) * 1000);

  return {
    leaseSeconds,
    onlooker,
    now,
    date,
    step,
    settle,
    elapse,
    lag,
    jump(seconds) {
      aheadSeconds += seconds;
    },
    async start(name, onCommit = (change, commit) => commit(change)) {
      const actor: Actor = { state: 'running', lost: 'nothing' };
      const connection = await stage.open();
      stores.push(connection);
      const leaving = new AbortController();
      const waits: QueueWait[] = [];
      let aliveUntil = Number.POSITIVE_INFINITY;
      let wasLate = false;
      const turn = () => stage.turn(actor);
      const commit: Store['commit'] = (change) => onCommit(change, (change) => connection.commit(change));
      const store = lossy(storeWith(connection, { commit }), actor, stage, (askedAt) => {
        wasLate ||= now() >= aliveUntil;
        aliveUntil = askedAt + leaseSeconds;
      });
      // Unique to this process, as a clock that only goes forward may start anywhere.
      const zero = 1000 * stores.length;
      return {
        name,
        store,
        waits,
        turn,
        aliveUntil: () => aliveUntil,
        wasLate: () => wasLate,
        isRunning: () => actor.state === 'running',
        stop() {
          actor.state = 'stopped';
        },
        goOn() {
          actor.state = 'running';
        },
        kill() {
          actor.state = 'dead';
        },
        cut(lost) {
          actor.lost = lost;
        },
        fix() {
          actor.lost = 'nothing';
        },
        cancel: (reason) => leaving.abort(reason),
        deps: {
          store,
          leaseSeconds,
          date,
          signal: leaving.signal,
          now: () => now() + zero,
          sleep: (seconds, signal) => stage.sleep(actor, seconds, signal),
          randomId() {
            ids += 1;
            return String(ids).padStart(8, '0');
          },
          onWait: (waiting) => waits.push(waiting),
        },
      };
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

/** Each request and each response waits for its turn, and may be lost. */
function lossy(store: Store, actor: Actor, { now, turn, changed }: Stage, onRenewed: (askedAt: number) => void): Store {
  async function ask<T>(request: () => Promise<T>): Promise<T> {
    await turn(actor);
    if (actor.lost === 'requests') throw new StoreError('the request was lost');
    const answer = await request();
    await turn(actor);
    if (actor.lost !== 'nothing') throw new StoreError('the answer was lost');
    return answer;
  }
  return {
    async openSession(seconds) {
      const askedAt = now();
      const session = await ask(() => store.openSession(seconds));
      onRenewed(askedAt);
      return session;
    },
    async renew(session) {
      const askedAt = now();
      const isAlive = await ask(() => store.renew(session));
      if (isAlive) onRenewed(askedAt);
      return isAlive;
    },
    endSession: (session) => ask(() => store.endSession(session)),
    read: (prefix) => ask(() => store.read(prefix)),
    commit: (change) => ask(() => store.commit(change)),
    async changed(...wanted) {
      await changed(actor, ...wanted);
      if (actor.lost !== 'nothing') throw new StoreError('the connection was lost');
    },
    close: () => store.close(),
  };
}

/** Like `ppsgate release --force` for any holder; returns the holder, undefined if the testbed was free. */
export async function takeAway(store: Store, testbed: string, by: string, at: Date): Promise<HeldTestbed | undefined> {
  for (;;) {
    const { held } = await readLab(store);
    const holding = held.values().find((one) => one.testbed === testbed);
    if (holding === undefined) return undefined;
    const outcome = `taken away by ${by}`;
    if (await giveBack(store, holding, { outcome, isClean: false }, at)) return holding;
  }
}
