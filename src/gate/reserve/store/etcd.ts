// Stores the reservations of a lab with several controllers in an etcd cluster.
import { z } from 'zod';
import * as bounded from '../../../model/bounds.ts';
import { type EtcdConfig, type EtcdGateway, openGateway, UnconfirmedError } from './etcd-gateway.ts';
import { base64, EtcdWatch, int64, maxEntries } from './etcd-watch.ts';
import type { Store, StoreChange, StoreSnapshot } from './store.ts';

export type { EtcdConfig } from './etcd-gateway.ts';

type EtcdOptions = {
  /** Seconds of a monotonic clock. */
  now(): number;
  /** A dead watch stream may delay a change by this time. */
  wakeSeconds?: number;
};

/**
 * Reads the files that the configuration names, and sends no request yet. Tries repeatable requests for 10 s and at
 * every endpoint. A change cannot both put and remove a key; one without effect returns the current revision.
 */
export async function openEtcd(config: EtcdConfig, { now, wakeSeconds = 5 }: EtcdOptions): Promise<Store> {
  return new EtcdStore(config.prefix, await openGateway(config, now), wakeSeconds);
}

// etcd's JSON gateway omits zero, empty and false.
const header = z.object({ revision: int64 });
const commitSchema = z.object({ header, succeeded: z.boolean().default(false) });
const rangeSchema = z.object({
  header,
  kvs: bounded.list(z.object({ key: base64, value: base64.default(''), mod_revision: int64 }), maxEntries).default([]),
});

class EtcdStore implements Store {
  readonly #prefix: string;
  readonly #gateway: EtcdGateway;
  readonly #wakeSeconds: number;
  /** By prefix: etcd then wakes no process for changes of other keys. */
  readonly #watches = new Map<string, EtcdWatch>();

  constructor(prefix: string, gateway: EtcdGateway, wakeSeconds: number) {
    this.#prefix = prefix;
    this.#gateway = gateway;
    this.#wakeSeconds = wakeSeconds;
  }

  async openSession(seconds: number): Promise<string> {
    const { ID } = await this.#gateway.send({
      path: '/v3/lease/grant',
      body: { TTL: String(Math.ceil(seconds)) },
      // A string, as it may exceed a number's precision.
      schema: z.object({ ID: bounded.word }),
      // A second lease would expire unused.
      isRepeatable: true,
    });
    return ID;
  }

  async renew(session: string): Promise<boolean> {
    if (await this.#keepAlive(session)) return true;
    // A new leader may not know a new lease before it has served a read.
    await this.#read({ key: encode(this.#prefix) });
    return this.#keepAlive(session);
  }

  async endSession(session: string): Promise<void> {
    await this.#gateway.send({
      path: '/v3/lease/revoke',
      body: { ID: session },
      schema: z.object({}),
      isRepeatable: true,
      ifLeaseIsGone: {},
    });
  }

  async read(prefix: string): Promise<StoreSnapshot> {
    const { kvs, header } = await this.#read(rangeOf(this.#prefix + prefix));
    const entries = kvs.map(({ key, value, mod_revision: revision }) => ({
      key: key.slice(this.#prefix.length),
      value,
      revision,
    }));
    return { entries, revision: header.revision };
  }

  async commit(change: StoreChange): Promise<number | undefined> {
    try {
      return await this.#commit(change);
    } catch (error) {
      if (!(error instanceof UnconfirmedError) || !appliesOnce(change)) throw error;
      const revision = await this.#commit(change);
      // The condition fails after the first try, or after another process's change.
      if (revision === undefined) throw error;
      return revision;
    }
  }

  changed(since: number, signal: AbortSignal, prefix = ''): Promise<void> {
    const range = rangeOf(this.#prefix + prefix);
    const watch = this.#watches.get(prefix) ?? new EtcdWatch(this.#gateway, range, this.#wakeSeconds);
    this.#watches.set(prefix, watch);
    return watch.changed(since, signal);
  }

  async close(): Promise<void> {
    for (const watch of this.#watches.values()) watch.close();
    this.#gateway.close();
  }

  /** Linearizable, which is etcd's default. */
  #read(keys: EtcdRange) {
    return this.#gateway.send({
      path: '/v3/kv/range',
      body: keys,
      schema: rangeSchema,
      isRepeatable: true,
    });
  }

  async #keepAlive(ID: string): Promise<boolean> {
    const { result } = await this.#gateway.send({
      path: '/v3/lease/keepalive',
      body: { ID },
      // An expired lease has no TTL.
      schema: z.object({ result: z.object({ TTL: int64.default(0) }) }),
      isRepeatable: true,
    });
    return result.TTL > 0;
  }

  async #commit(change: StoreChange): Promise<number | undefined> {
    const { succeeded, header } = await this.#gateway.send({
      path: '/v3/kv/txn',
      body: transactionOf(change, this.#prefix),
      schema: commitSchema,
      isRepeatable: false,
      ifLeaseIsGone: { succeeded: false, header: { revision: 0 } },
    });
    return succeeded ? header.revision : undefined;
  }
}

type EtcdRange = { key: string; range_end?: string };

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Selects all keys with a prefix, in the order of their bytes. */
function rangeOf(prefix: string): Required<EtcdRange> {
  const end = Buffer.from(prefix);
  // UTF-8 has no byte 0xff, so this does not overflow.
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return { key: encode(prefix), range_end: end.toString('base64') };
}

function transactionOf({ conditions, put, remove }: StoreChange, prefix: string): object {
  const keyOf = (key: string) => encode(prefix + key);
  return {
    compare: conditions.map(({ key, revision }) => ({
      key: keyOf(key),
      target: 'MOD',
      result: 'EQUAL',
      mod_revision: String(revision),
    })),
    success: [
      ...put.map(({ key, value, session }) => ({
        request_put: {
          key: keyOf(key),
          value: encode(value),
          ...(session !== undefined && { lease: session }),
        },
      })),
      ...remove.map((key) => ({ request_delete_range: { key: keyOf(key) } })),
    ],
  };
}

/** True if the change invalidates its own condition; a key that must not exist could be gone again. */
function appliesOnce({ conditions, put, remove }: StoreChange): boolean {
  const changed = new Set([...put.map(({ key }) => key), ...remove]);
  return conditions.some(({ key, revision }) => revision > 0 && changed.has(key));
}
