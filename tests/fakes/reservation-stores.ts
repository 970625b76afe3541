// Stores for tests, each with a way to let time pass.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openEtcd } from '../../src/gate/reserve/store/etcd.ts';
import { openSqlite } from '../../src/gate/reserve/store/sqlite.ts';
import type { Store } from '../../src/gate/reserve/store/store.ts';
import { temporaryFolder } from './folder.ts';

export type Stores = {
  /** Opens another connection to the same store, closed when the test ends. */
  open(): Promise<Store>;
  /** Returns when the store's clock has advanced by this much. */
  elapse(seconds: number): Promise<void>;
};

/** An SQLite file for the test, and a clock that only `elapse` advances. */
export function sqliteStores(): Stores {
  const path = join(temporaryFolder(), 'reservations');
  let seconds = 1e5;
  return {
    open: () => closedAtEnd(openSqlite(path, { now: () => seconds, pollSeconds: 0.05 })),
    async elapse(more) {
      seconds += more;
    },
  };
}

/** A part of the cluster for the test, and the real clock. */
export function etcdStores(endpoints: readonly string[]): Stores {
  const prefix = `/${randomUUID()}/`;
  const now = () => performance.now() / 1000;
  return {
    open: () => closedAtEnd(openEtcd({ endpoints: [...endpoints], prefix }, { now })),
    async elapse(more) {
      await setTimeout(more * 1000);
    },
  };
}

async function closedAtEnd(opening: Promise<Store>): Promise<Store> {
  const store = await opening;
  onTestFinished(() => store.close());
  return store;
}
