// Opens the reservation store of ppsgate.yml, with the machine's monotonic clock.
import type { ReservationsConfig } from '../../../config/reservations.ts';
import { openProcessView, type ProcessView } from '../../../system/process.ts';
import type { Store } from './store.ts';

/** Throws a StoreError if the store cannot be used. */
export async function openStore(config: ReservationsConfig): Promise<Store> {
  if (config.store === 'etcd') {
    const { openEtcd } = await import('./etcd.ts');
    return openEtcd(config, { now: steadySeconds });
  }
  const { openSqlite } = await import('./sqlite.ts');
  return openSqlite(config.path, { now: steadySeconds });
}

/** Seconds of a clock shared by all processes of this machine, which setting the time does not change. */
export const steadySeconds = (): number => Number(process.hrtime.bigint()) / 1e9;

/** Only processes that share a file certainly share a kernel: a machine and its copy have the same boot id. */
export const openProcessesOf = async ({ store }: ReservationsConfig): Promise<ProcessView | undefined> =>
  store === 'sqlite' ? await openProcessView() : undefined;
