// Replaces methods of a store.
import type { Store } from '../../src/gate/reserve/store/store.ts';

export const storeWith = (store: Store, changes: Partial<Store>): Store => ({
  openSession: (...args) => store.openSession(...args),
  renew: (...args) => store.renew(...args),
  endSession: (...args) => store.endSession(...args),
  read: (...args) => store.read(...args),
  commit: (...args) => store.commit(...args),
  changed: (...args) => store.changed(...args),
  close: () => store.close(),
  ...changes,
});
