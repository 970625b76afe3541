// Wakes all callers that wait for a change in etcd, through a single stream.
import { setTimeout as wait } from 'node:timers/promises';
import { parseJson } from '../../../model/json.ts';
import type { EtcdGateway } from './etcd-gateway.ts';
import { watchSchema } from './etcd-schema.ts';

/** Seconds between streams that end; doubles for each in a row. */
const pauseSeconds = { min: 0.1, max: 5 };

/** Number of changes kept for callers that start to wait after them. */
const maxRecent = 1000;

type KeyChange = { key: string; revision: number };
/** Matches keys with this prefix that change after a revision. */
type ChangeFilter = { since: number; prefix: string };
type WaitingCaller = ChangeFilter & { wake(): void };

/** Opens the stream for the first caller. It may die unnoticed, so each caller wakes after `wakeSeconds`. */
export class EtcdWatch {
  readonly #gateway: EtcdGateway;
  readonly #prefix: string;
  readonly #range: { key: string; range_end: string };
  readonly #wakeSeconds: number;
  readonly #callers = new Set<WaitingCaller>();
  readonly #closing = new AbortController();
  #isFollowing = false;
  /** The stream reports all changes from this revision on. */
  #from = 0;
  #latest = 0;
  #recent: KeyChange[] = [];

  constructor(
    gateway: EtcdGateway,
    prefix: string,
    range: { key: string; range_end: string },
    wakeSeconds: number,
  ) {
    this.#gateway = gateway;
    this.#prefix = prefix;
    this.#range = range;
    this.#wakeSeconds = wakeSeconds;
  }

  /** See Store. */
  async changed(since: number, signal: AbortSignal, prefix = ''): Promise<void> {
    signal.throwIfAborted();
    if (!this.#isFollowing) {
      this.#isFollowing = true;
      this.#from = since + 1;
      void this.#follow();
    }
    const filter = { since, prefix: this.#prefix + prefix };
    const mayHaveMissed = since + 1 < this.#from;
    if (mayHaveMissed || this.#closing.signal.aborted) return;
    if (this.#recent.some((change) => matches(change, filter))) return;
    await this.#waitFor(filter, signal);
  }

  close(): void {
    this.#closing.abort();
    this.#wakeUpTo(Number.POSITIVE_INFINITY);
  }

  async #follow(): Promise<void> {
    let pause = pauseSeconds.min;
    while (!this.#closing.signal.aborted) {
      const start = Math.max(this.#from, this.#latest + 1);
      const body = { create_request: { ...this.#range, start_revision: String(start) } };
      const ending = new AbortController();
      await this.#gateway.follow('/v3/watch', body, {
        signal: AbortSignal.any([this.#closing.signal, ending.signal]),
        onLine: (line) => {
          if (this.#read(line)) pause = pauseSeconds.min;
          else ending.abort();
        },
      });
      await wait(pause * 1000, undefined, { signal: this.#closing.signal }).catch(() => {});
      pause = Math.min(2 * pause, pauseSeconds.max);
    }
  }

  /** Returns false at the end of the stream. */
  #read(line: string): boolean {
    const result = watchSchema.safeParse(parseJson(line)).data?.result;
    if (result === undefined) return false;
    this.#add(result.events.map(({ kv }) => ({ key: kv.key, revision: kv.mod_revision })));
    if (!result.canceled) return true;
    if (result.compact_revision > 0) {
      this.#from = result.compact_revision;
      this.#wakeUpTo(this.#from - 1);
    }
    return false;
  }

  #add(changes: readonly KeyChange[]): void {
    if (changes.length === 0) return;
    this.#latest = Math.max(this.#latest, ...changes.map(({ revision }) => revision));
    this.#recent.push(...changes);
    if (this.#recent.length > maxRecent) {
      this.#from = Math.max(this.#from, (this.#recent.at(-maxRecent)?.revision ?? 0) + 1);
      this.#recent = this.#recent.filter(({ revision }) => revision >= this.#from);
    }
    for (const caller of this.#callers) {
      if (changes.some((change) => matches(change, caller))) caller.wake();
    }
  }

  #wakeUpTo(revision: number): void {
    for (const caller of this.#callers) if (caller.since < revision) caller.wake();
  }

  #waitFor(filter: ChangeFilter, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#callers.delete(caller);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        settle();
      };
      const abort = () => end(() => reject(signal.reason));
      const caller = { ...filter, wake: () => end(resolve) };
      const timer = setTimeout(caller.wake, this.#wakeSeconds * 1000);
      signal.addEventListener('abort', abort);
      this.#callers.add(caller);
    });
  }
}

const matches = ({ key, revision }: KeyChange, { since, prefix }: ChangeFilter): boolean =>
  revision > since && key.startsWith(prefix);
