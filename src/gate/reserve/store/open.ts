// Opens the store that ppsgate.yml names, with the clock that its leases run by.

import type { ReservationsConfig } from '../../../config/reservations.ts';
import { openEtcd } from './etcd.ts';
import { openSqlite } from './sqlite.ts';
import type { Store } from './store.ts';

/** Throws a StoreError where it cannot be used. */
export const openStore = (config: ReservationsConfig): Promise<Store> =>
  config.store === 'etcd'
    ? openEtcd(config, { now: steadySeconds })
    : openSqlite(config.path, { now: steadySeconds });

/** The same for all processes of this machine, whatever is done to its clock. */
export const steadySeconds = (): number => Number(process.hrtime.bigint()) / 1e9;
