import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ReservationsConfig } from '../../../src/config/reservations.ts';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { openStore } from '../../../src/gate/reserve/store/open.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { releases, says, startHolder } from '../../fakes/holders.ts';
import { describeWith } from '../../needs.ts';

/** Longer than any test. */
const leaseSeconds = 600;

async function aPlace() {
  const path = join(temporaryFolder(), 'reservations.sqlite');
  const reservations: ReservationsConfig = { store: 'sqlite', path, leaseSeconds };
  const store = await openStore(reservations);
  onTestFinished(() => store.close());
  const start = (name: string) => startHolder({ name, reservations, testbed: 'shelf' });
  return { store, start };
}

describeWith(['setpriv'], 'a process of this host that was killed', () => {
  test('leaves its testbed to the waiting gate long before the lease ends, which is logged', async () => {
    const { store, start } = await aPlace();
    const killed = start('killed');
    const { token } = await says(killed, 'holds');
    const waiter = start('waiter');
    await says(waiter, 'waits');
    killed.signal('SIGKILL');
    const taken = await says(waiter, 'holds');
    expect(taken.token).toBeGreaterThan(token);
    const [lost] = await readLog(store);
    expect(lost).toMatchObject({
      holder: { who: 'killed' },
      outcome: 'ended: its process ended without releasing the testbed',
    });
    const { held } = await readLab(store);
    expect(held.get('shelf')?.leftBy).toMatchObject([{ holder: { who: 'killed' } }]);
    await releases(waiter);
  });

  test('leaves the queue, and who came after it is next', async () => {
    const { store, start } = await aPlace();
    const holder = start('holder');
    await says(holder, 'holds');
    const killed = start('killed');
    await says(killed, 'waits');
    const waiter = start('waiter');
    await says(waiter, 'waits');
    killed.signal('SIGKILL');
    await killed.ended;
    await releases(holder);
    await says(waiter, 'holds');
    const log = await readLog(store);
    expect(log.find(({ holder }) => holder.who === 'killed')).toMatchObject({
      testbed: '',
      outcome: 'ended: its process ended while it waited',
    });
    await releases(waiter);
  });
});

describeWith(['setpriv'], 'a process of another boot, or in another container,', () => {
  test('keeps its testbed, though no process here has its number', async () => {
    const { store, start } = await aPlace();
    const holder = start('holder');
    await says(holder, 'holds');
    const { entries } = await store.read('lab/held/');
    const put = entries.map(({ key, value }) => {
      const record = JSON.parse(value);
      const process = { ...record.process, pid: 2 ** 31 - 1, view: 'another' };
      return { key, value: JSON.stringify({ ...record, process }) };
    });
    await store.commit({ conditions: [], put, remove: [] });
    const next = start('next');
    await says(next, 'waits');
    expect((await readLab(store)).held.get('shelf')?.holder.who).toBe('holder');
  });
});
