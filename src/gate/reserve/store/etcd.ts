// The store of a lab with several controllers: an etcd cluster, asked through its JSON gateway.
import type { EtcdConfig } from './etcd-files.ts';
import { openGateway, UnconfirmedError } from './etcd-gateway.ts';
import { committed, granted, keepAliveAnswer, range, revoked } from './etcd-schema.ts';
import { openWatch } from './etcd-watch.ts';
import type { Change, Store } from './store.ts';

export type { EtcdConfig } from './etcd-files.ts';

export type EtcdOptions = {
  /** The time in seconds of a clock that only goes forward. */
  now(): number;
  /** So long nobody knows of a stream that is dead. */
  wakeSeconds?: number;
};

/**
 * Reads the files that the config names, and asks nobody yet. What can be tried again is tried for 10 s, and at every
 * endpoint. A key cannot be both put and removed in one change, and a change that finds nothing to do answers the
 * revision that the store has already.
 */
export async function openEtcd(
  config: EtcdConfig,
  { now, wakeSeconds = 5 }: EtcdOptions,
): Promise<Store> {
  const { prefix } = config;
  const gateway = await openGateway(config, now);
  const watch = openWatch(gateway, prefix, rangeOf(prefix), wakeSeconds);

  /** Linearizable, as etcd's ranges are unless one asks for less. */
  const read = (keys: Keys) =>
    gateway.ask({ path: '/v3/kv/range', body: keys, answer: range, isRepeatable: true });

  async function keepAlive(ID: string): Promise<boolean> {
    const { result } = await gateway.ask({
      path: '/v3/lease/keepalive',
      body: { ID },
      answer: keepAliveAnswer,
      isRepeatable: true,
    });
    return result.TTL > 0;
  }

  async function commit(change: Change): Promise<number | undefined> {
    const { succeeded, header } = await gateway.ask({
      path: '/v3/kv/txn',
      body: transactionOf(change, prefix),
      answer: committed,
      isRepeatable: false,
      ifLeaseIsGone: { succeeded: false, header: { revision: 0 } },
    });
    return succeeded ? header.revision : undefined;
  }

  return {
    async openSession(seconds) {
      const { ID } = await gateway.ask({
        path: '/v3/lease/grant',
        body: { TTL: String(Math.ceil(seconds)) },
        answer: granted,
        // If one is granted twice, the first expires, and nobody knows of it.
        isRepeatable: true,
      });
      return ID;
    },

    async renew(session) {
      if (await keepAlive(session)) return true;
      // A leader of this moment may not know of a lease that is new; it does once it has answered a read.
      await read({ key: encode(prefix) });
      return keepAlive(session);
    },

    async endSession(session) {
      await gateway.ask({
        path: '/v3/lease/revoke',
        body: { ID: session },
        answer: revoked,
        isRepeatable: true,
        ifLeaseIsGone: {},
      });
    },

    async read(begin) {
      const { kvs, header } = await read(rangeOf(prefix + begin));
      const entries = kvs.map(({ key, value, mod_revision: revision }) => ({
        key: key.slice(prefix.length),
        value,
        revision,
      }));
      return { entries, revision: header.revision };
    },

    async commit(change) {
      try {
        return await commit(change);
      } catch (error) {
        if (!(error instanceof UnconfirmedError) || !canBeMadeOnlyOnce(change)) throw error;
        const revision = await commit(change);
        // Either it was made the first time, or somebody else's was.
        if (revision === undefined) throw error;
        return revision;
      }
    },

    changed: watch.changed,

    async close() {
      watch.close();
      gateway.close();
    },
  };
}

type Keys = { key: string; range_end?: string };

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** All keys that begin so; etcd has them in the order of their bytes. */
function rangeOf(begin: string): Required<Keys> {
  const end = Buffer.from(begin);
  // No byte of UTF-8 is the highest.
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return { key: encode(begin), range_end: end.toString('base64') };
}

function transactionOf({ conditions, put, remove }: Change, prefix: string): object {
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

/** It takes the revision away that is its own condition. A key that must not exist could be gone again. */
function canBeMadeOnlyOnce({ conditions, put, remove }: Change): boolean {
  const changed = new Set([...put.map(({ key }) => key), ...remove]);
  return conditions.some(({ key, revision }) => revision > 0 && changed.has(key));
}
