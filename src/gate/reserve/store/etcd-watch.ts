// Wakes all callers that wait for a change of keys with one prefix in etcd, through a single stream.
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import * as bounded from '../../../model/bounds.ts';
import { parseJson } from '../../../model/json.ts';
import type { EtcdGateway } from './etcd-gateway.ts';

export const maxEntries = 100_000;

/** A decimal number, in a string. */
export const int64 = z.coerce.number().int();

export const base64 = bounded.document.transform((text) => Buffer.from(text, 'base64').toString());

const watchSchema = z.object({
  result: z.object({
    created: z.boolean().default(false),
    canceled: z.boolean().default(false),
    /** Oldest revision that can be watched, if the requested one was compacted. */
    compact_revision: int64.default(0),
    events: bounded.list(z.object({ kv: z.object({ key: base64, mod_revision: int64 }) }), maxEntries).default([]),
  }),
});

/** Seconds between streams that end; doubles for each in a row. */
const pauseSeconds = { min: 0.1, max: 5 };

/** A stream ends after this time without a caller, as it would wake this process for each change. */
const idleSeconds = 1;

type WaitingCaller = { since: number; wake(): void };

/** Opens the stream for the first caller. It may die unnoticed, so each caller wakes after `wakeSeconds`. */
export class EtcdWatch {
  readonly #gateway: EtcdGateway;
  readonly #range: { key: string; range_end: string };
  readonly #wakeSeconds: number;
  readonly #callers = new Set<WaitingCaller>();
  #stream: AbortController | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The stream reports all changes from this revision on. */
  #from = 0;
  #latest = 0;

  constructor(gateway: EtcdGateway, range: { key: string; range_end: string }, wakeSeconds: number) {
    this.#gateway = gateway;
    this.#range = range;
    this.#wakeSeconds = wakeSeconds;
  }

  /** See Store. */
  async changed(since: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isClosed || this.#latest > since) return;
    if (this.#stream === undefined) {
      this.#stream = new AbortController();
      this.#from = since + 1;
      void this.#follow(this.#stream.signal);
    }
    const mayHaveMissed = since + 1 < this.#from;
    if (!mayHaveMissed) await this.#waitFor(since, signal);
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeUpTo(Number.POSITIVE_INFINITY);
    this.#end();
  }

  #end(): void {
    clearTimeout(this.#idleTimer);
    this.#stream?.abort();
    this.#stream = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let pause = pauseSeconds.min;
    while (!signal.aborted) {
      const start = Math.max(this.#from, this.#latest + 1);
      const body = { create_request: { ...this.#range, start_revision: String(start) } };
      const ending = new AbortController();
      await this.#gateway.follow('/v3/watch', body, {
        signal: AbortSignal.any([signal, ending.signal]),
        onLine: (line) => {
          if (signal.aborted) return;
          if (this.#read(line)) pause = pauseSeconds.min;
          else ending.abort();
        },
      });
      await wait(pause * 1000, undefined, { signal }).catch(() => {});
      pause = Math.min(2 * pause, pauseSeconds.max);
    }
  }

  /** Returns false at the end of the stream. */
  #read(line: string): boolean {
    const result = watchSchema.safeParse(parseJson(line)).data?.result;
    if (result === undefined) return false;
    this.#latest = Math.max(this.#latest, ...result.events.map(({ kv }) => kv.mod_revision));
    this.#wakeUpTo(this.#latest);
    if (!result.canceled) return true;
    if (result.compact_revision > 0) {
      this.#from = result.compact_revision;
      this.#wakeUpTo(this.#from - 1);
    }
    return false;
  }

  #wakeUpTo(revision: number): void {
    for (const caller of this.#callers) if (caller.since < revision) caller.wake();
  }

  #waitFor(since: number, signal: AbortSignal): Promise<void> {
    clearTimeout(this.#idleTimer);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#callers.delete(caller);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        if (this.#callers.size === 0) {
          this.#idleTimer = setTimeout(() => this.#end(), idleSeconds * 1000);
        }
        settle();
      };
      const abort = () => end(() => reject(signal.reason));
      const caller = { since, wake: () => end(resolve) };
      const timer = setTimeout(caller.wake, this.#wakeSeconds * 1000);
      signal.addEventListener('abort', abort);
      this.#callers.add(caller);
    });
  }
}
