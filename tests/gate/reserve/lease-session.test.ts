import { expect, test } from 'vitest';
import { openSession, type StoreSession } from '../../../src/gate/reserve/lease-session.ts';
import { aLab, type Process, type ReservationLab } from '../../fakes/reservation-lab.ts';

test('lives as long as its process', async () => {
  const { lab, session, keys } = await aSession();
  await lab.elapse(20 * lab.leaseSeconds);
  session.assertAlive();
  expect(session.signal.aborted).toBe(false);
  expect(await keys()).toEqual(['ours']);
});

test('a store that is unreachable for less than a lease has no effect', async () => {
  for (const lost of ['requests', 'answers'] as const) {
    const { lab, process, session, keys } = await aSession();
    process.cut(lost);
    await lab.elapse(0.85 * lab.leaseSeconds);
    process.fix();
    await lab.elapse(5 * lab.leaseSeconds);
    session.assertAlive();
    expect(session.signal.aborted).toBe(false);
    expect(await keys()).toEqual(['ours']);
  }
});

test('a store that is unreachable for longer ends it just in time, with the reason', async () => {
  for (const lost of ['requests', 'answers'] as const) {
    const { lab, process, session, openedAt } = await aSession();
    process.cut(lost);
    await lab.elapse(openedAt + lab.leaseSeconds - 0.001 - lab.now());
    expect(session.signal.aborted).toBe(false);
    session.assertAlive();
    await lab.elapse(0.001);
    expect(session.signal.aborted).toBe(true);
    expect(() => session.assertAlive()).toThrow(`it was not renewed for 30 s (the ${lost.slice(0, -1)} was lost)`);
  }
});

test('counts from the request of a renewal, not from its response', async () => {
  const { lab, process, session, openedAt } = await aSession({ answerSeconds: 5 });
  const askedAt = openedAt + lab.leaseSeconds / 3;
  await lab.elapse(askedAt + 5 - lab.now());
  process.cut('requests');
  await lab.elapse(askedAt + lab.leaseSeconds - 0.001 - lab.now());
  session.assertAlive();
  await lab.elapse(0.001);
  expect(session.signal.aborted).toBe(true);
});

test('a process that was suspended for too long detects that first', async () => {
  const { lab, process, session } = await aSession();
  process.stop();
  await lab.elapse(lab.leaseSeconds);
  process.goOn();
  expect(() => session.assertAlive()).toThrow('it was not renewed for 30 s (this process was stopped, or very slow)');
  expect(session.signal.aborted).toBe(true);
});

test('a process that was stopped for too long loses its lease without a request', async () => {
  const { lab, process, session } = await aSession();
  process.stop();
  await lab.elapse(lab.leaseSeconds);
  expect(session.signal.aborted).toBe(false);
  process.goOn();
  await lab.settle();
  expect(session.signal.aborted).toBe(true);
});

test('ends at the next renewal after another client ended it', async () => {
  const { lab, session } = await aSession();
  await lab.onlooker.endSession(session.id);
  await lab.elapse(lab.leaseSeconds / 3);
  expect(session.signal.aborted).toBe(true);
});

test('removes its keys when it is ended, and is not renewed any more', async () => {
  const { lab, process, session, keys } = await aSession();
  const ending = session.end();
  await lab.settle();
  await ending;
  expect(await keys()).toEqual([]);
  const until = process.aliveUntil();
  await lab.elapse(3 * lab.leaseSeconds);
  expect(process.aliveUntil()).toBe(until);
  expect(session.signal.aborted).toBe(false);
});

/** A session with one key, of a process whose renewals may be answered slowly. */
async function aSession({ answerSeconds = 0 } = {}): Promise<{
  lab: ReservationLab;
  process: Process;
  session: StoreSession;
  openedAt: number;
  keys(): Promise<string[]>;
}> {
  const lab = await aLab();
  const process = await lab.start('alice');
  const { deps } = process;
  const openedAt = lab.now();
  const opening = openSession({
    ...deps,
    store: {
      ...deps.store,
      async renew(session) {
        const isAlive = await deps.store.renew(session);
        if (answerSeconds > 0) await deps.sleep(answerSeconds, deps.signal);
        return isAlive;
      },
    },
  });
  await lab.settle();
  const session = await opening;
  const put = [{ key: 'ours', value: '', session: session.id }];
  await lab.onlooker.commit({ conditions: [], put, remove: [] });
  const keys = async () => (await lab.onlooker.read('')).entries.map(({ key }) => key);
  return { lab, process, session, openedAt, keys };
}
