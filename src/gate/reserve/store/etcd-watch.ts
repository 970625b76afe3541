// Wakes those who wait for a change in etcd: one stream for all of them.

import { setTimeout as wait } from 'node:timers/promises';
import { parseJson } from '../../../model/json.ts';
import type { Gateway } from './etcd-gateway.ts';
import { watched } from './etcd-schema.ts';
import type { Store } from './store.ts';

type Watch = {
  changed: Store['changed'];
  /** Everybody is woken. */
  close(): void;
};

/** Between streams that end: the more in a row, the longer. */
const pauseSeconds = { least: 0.1, most: 5 };

/** So many changes are remembered for those who begin to wait after them. */
const mostRecent = 1000;

/**
 * Watches the keys of that prefix, and range as etcd has it, from the first who waits until it is closed. Whoever was told
 * nothing for `wakeSeconds` is woken to look: a stream may be dead.
 */
export function openWatch(
  gateway: Gateway,
  prefix: string,
  range: { key: string; range_end: string },
  wakeSeconds: number,
): Watch {
  const waiters = new Set<Waiter>();
  const closing = new AbortController();
  let isFollowing = false;
  /** All changes from this revision on are told. */
  let from = 0;
  /** The last that was told. */
  let latest = 0;
  let recent: Event[] = [];

  function wakeUpTo(revision: number): void {
    for (const waiter of waiters) if (waiter.since < revision) waiter.wake();
  }

  function hear(events: readonly Event[]): void {
    if (events.length === 0) return;
    latest = Math.max(latest, ...events.map(({ revision }) => revision));
    recent = [...recent, ...events];
    if (recent.length > mostRecent) {
      // All changes from the next revision on are remembered.
      from = Math.max(from, (recent.at(-mostRecent)?.revision ?? 0) + 1);
      recent = recent.filter(({ revision }) => revision >= from);
    }
    for (const waiter of waiters)
      if (events.some((event) => concerns(event, waiter))) waiter.wake();
  }

  async function follow(): Promise<void> {
    let pause = pauseSeconds.least;
    while (!closing.signal.aborted) {
      const start = Math.max(from, latest + 1);
      const body = { create_request: { ...range, start_revision: String(start) } };
      const ending = new AbortController();
      const signal = AbortSignal.any([closing.signal, ending.signal]);
      await gateway.follow('/v3/watch', body, {
        signal,
        onLine(line) {
          if (take(line)) pause = pauseSeconds.least;
          else ending.abort();
        },
      });
      await wait(pause * 1000, undefined, { signal: closing.signal }).catch(() => {});
      pause = Math.min(2 * pause, pauseSeconds.most);
    }
  }

  /** False where nothing more will come. */
  function take(line: string): boolean {
    const told = watched.safeParse(parseJson(line)).data?.result;
    if (told === undefined) return false;
    hear(told.events.map(({ kv }) => ({ key: kv.key, revision: kv.mod_revision })));
    if (!told.canceled) return true;
    if (told.compact_revision > 0) {
      // What came before is not told any more.
      from = told.compact_revision;
      wakeUpTo(from - 1);
    }
    return false;
  }

  return {
    async changed(since, signal, begin = '') {
      signal.throwIfAborted();
      if (!isFollowing) {
        isFollowing = true;
        from = since + 1;
        void follow();
      }
      const wanted = { since, begin: prefix + begin };
      const mayHaveMissed = since + 1 < from;
      if (mayHaveMissed || closing.signal.aborted) return;
      if (recent.some((event) => concerns(event, wanted))) return;
      await waitIn(waiters, wanted, wakeSeconds, signal);
    },
    close() {
      closing.abort();
      wakeUpTo(Number.POSITIVE_INFINITY);
    },
  };
}

type Event = { key: string; revision: number };
/** All keys that begin so, after that revision. */
type Wanted = { since: number; begin: string };
type Waiter = Wanted & { wake(): void };

const concerns = ({ key, revision }: Event, { since, begin }: Wanted): boolean =>
  revision > since && key.startsWith(begin);

function waitIn(
  waiters: Set<Waiter>,
  wanted: Wanted,
  wakeSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      waiters.delete(waiter);
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      settle();
    };
    const abort = () => end(() => reject(signal.reason));
    const waiter = { ...wanted, wake: () => end(resolve) };
    const timer = setTimeout(waiter.wake, wakeSeconds * 1000);
    signal.addEventListener('abort', abort);
    waiters.add(waiter);
  });
}
