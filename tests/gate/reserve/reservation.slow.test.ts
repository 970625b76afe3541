// Tests each step alone; lease.slow.test.ts tests them together.
import { expect, test } from 'vitest';
import { type HeldTestbed, keys, readLab, readLog } from '../../../src/gate/reserve/records.ts';
import {
  enter,
  giveBack,
  liftQuarantine,
  type ReserveAttempt,
  setQuarantine,
  takeAtOnce,
  tryReserve,
} from '../../../src/gate/reserve/reservation.ts';
import { StoreError } from '../../../src/gate/reserve/store/store.ts';
import { aLab, aRequest, type ReservationLab, takeAway } from '../../fakes/reservation-lab.ts';
import { storeWith } from '../../fakes/store-with.ts';

const clean = { outcome: 'pass', isClean: true };
const dirty = { outcome: 'fail', isClean: false };
const broken = { reason: 'no link', by: 'eve', since: '2026-11-20T12:00:00.000Z' };

test('a gate that no other precedes takes a free testbed at once', async () => {
  const steps = await aStage();
  const holding = await steps.takeAtOnce('a', ['x', 'z']);
  expect(holding).toMatchObject({ id: 'a', testbed: 'x' });
  const { held, tickets } = await readLab(steps.lab.onlooker);
  expect(held.get('dut-x')).toEqual(holding);
  expect(tickets).toEqual([]);
  expect(await readLog(steps.lab.onlooker)).toMatchObject([{ id: 'a', testbed: 'x' }]);
});

test('a gate takes nothing at once that is in use, wanted by another before it, or in quarantine', async () => {
  const steps = await aStage();
  await steps.enter('a', ['z']);
  await setQuarantine(steps.lab.onlooker, 'x', broken);
  expect(await steps.takeAtOnce('b', ['x'])).toBeUndefined();
  expect(await steps.takeAtOnce('b', ['z'])).toBeUndefined();
  taken(await steps.tryTake('a'));
  expect(await steps.takeAtOnce('b', ['z'])).toBeUndefined();
});

test('a gate that would replace an older one takes nothing at once', async () => {
  const steps = await aStage();
  await steps.enter('older', ['x', 'z'], { subject: 'o/r#12' });
  const changes = { subject: 'o/r#12', priority: 'release' } as const;
  expect(await steps.takeAtOnce('newer', ['x', 'z'], changes)).toBeUndefined();
});

test('a gate that is overtaken between read and commit takes nothing that is in use by now', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  const overtake = async () => {
    await steps.meanwhile.enter('release', ['y'], { priority: 'release' });
    await steps.meanwhile.tryTake('release');
  };
  expect(await steps.tryTake('a', beforeCommit(overtake))).toMatchObject({ kind: 'waiting' });
  const { held } = await readLab(steps.lab.onlooker);
  expect([...held].map(([machine, { id }]) => [machine, id])).toEqual([
    ['dut-y', 'release'],
    ['sender', 'release'],
  ]);
});

test('a gate that read the lab before a quarantine takes nothing that is in it by now', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  const quarantine = () => setQuarantine(steps.lab.onlooker, 'x', broken);
  expect(await steps.tryTake('a', beforeCommit(quarantine))).toMatchObject({ kind: 'none-healthy' });
});

test('a gate that left the queue while it waited gets an error', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.endSession();
  expect(await steps.tryTake('a')).toEqual({ kind: 'gone', why: undefined });
});

test('refuses a request on an expired session', async () => {
  const steps = await aStage();
  await steps.endSession();
  expect(await steps.enter('a', ['x'])).toEqual({ kind: 'gone', why: undefined });
  expect(await steps.waiting()).toEqual([]);
});

test('the newer request of a subject replaces the older one, which is notified', async () => {
  const steps = await aStage();
  await steps.enter('older', ['x'], { subject: 'o/r#12' });
  await steps.enter('other', ['x']);
  const holder = { who: 'carol', purpose: 'gate', patch: 'o/r#12 at 2b' };
  await steps.enter('newer', ['x'], { subject: 'o/r#12', holder });
  expect(await steps.waiting()).toEqual(['newer', 'other']);
  const why = 'its place in the queue went to o/r#12 at 2b';
  expect(await steps.tryTake('older')).toEqual({ kind: 'gone', why });
  expect(await readLog(steps.lab.onlooker, 'older')).toMatchObject([{ outcome: why }]);
});

test('requests of one subject for different testbeds, and of different subjects, all wait', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x'], { subject: 'o/r#12' });
  await steps.enter('b', ['y'], { subject: 'o/r#12' });
  await steps.enter('c', ['x'], { subject: 'o/r#13' });
  await steps.enter('d', ['x']);
  await steps.enter('e', ['x']);
  expect(await steps.waiting()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('requests of one subject that do not see each other before they are in leave one of them there', async () => {
  const steps = await aStage();
  await steps.enterTogether(['a', 'b', 'c'], ['x'], { subject: 'o/r#12' });
  expect(await steps.waiting()).toHaveLength(1);
});

test('a request whose older one is served before its replacement waits behind all others', async () => {
  const steps = await aStage();
  await steps.enter('older', ['x'], { subject: 'o/r#12' });
  await steps.enter('other', ['x']);
  const serve = beforeCommit(() => steps.meanwhile.tryTake('older'));
  await steps.enter('newer', ['x'], { subject: 'o/r#12' }, undefined, serve);
  expect(await steps.waiting()).toEqual(['other', 'newer']);
  const [logged] = await readLog(steps.lab.onlooker, 'older');
  expect(logged).toMatchObject({ testbed: 'x' });
  expect(logged?.outcome).toBeUndefined();
});

test('a gate that returns to its place yields to a newer request of the subject', async () => {
  const steps = await aStage();
  await steps.enter('older', ['x'], { subject: 'o/r#12' });
  const { holding } = taken(await steps.tryTake('older'));
  await steps.enter('newer', ['x'], { subject: 'o/r#12' });
  await steps.giveBack(holding, dirty);
  expect(await steps.enter('again', ['x'], { subject: 'o/r#12' }, holding.order)).toEqual({
    kind: 'gone',
    why: "its place in the queue went to newer's gate",
  });
  expect(await steps.waiting()).toEqual(['newer']);
});

test('a testbed in quarantine is skipped, and blocks none of the machines that it shares', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x', 'z']);
  await steps.enter('b', ['y']);
  await setQuarantine(steps.lab.onlooker, 'x', broken);
  expect(taken(await steps.tryTake('a')).holding.testbed).toBe('z');
  expect(taken(await steps.tryTake('b')).holding.testbed).toBe('y');
});

test('a quarantine is lifted once', async () => {
  const { lab } = await aStage();
  await setQuarantine(lab.onlooker, 'x', broken);
  expect(await liftQuarantine(lab.onlooker, 'x')).toBe(true);
  expect(await liftQuarantine(lab.onlooker, 'x')).toBe(false);
  expect((await readLab(lab.onlooker)).quarantines.size).toBe(0);
});

test('an existing quarantine keeps its reason when the testbed is released', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  const { holding } = taken(await steps.tryTake('a'));
  await setQuarantine(steps.lab.onlooker, 'x', broken);
  await steps.giveBack(holding, { ...dirty, quarantine: { ...broken, reason: 'another' } });
  expect((await readLab(steps.lab.onlooker)).quarantines.get('x')).toEqual(broken);
});

test('a testbed that is released into quarantine is given to no gate in between', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.enter('b', ['x']);
  const { holding } = taken(await steps.tryTake('a'));
  await steps.giveBack(holding, { ...dirty, quarantine: broken });
  expect(await steps.tryTake('b')).toMatchObject({ kind: 'none-healthy' });
});

test('refuses to release a testbed that was taken away or has another holder', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  const { holding } = taken(await steps.tryTake('a'));
  expect(await steps.takeAway('x')).toEqual(holding);
  expect(await steps.giveBack(holding, { ...clean, quarantine: broken })).toBe(false);
  await steps.enter('b', ['x']);
  const after = taken(await steps.tryTake('b')).holding;
  const before = await steps.lab.onlooker.read('');
  expect(await steps.giveBack(holding, { ...clean, quarantine: broken })).toBe(false);
  expect((await steps.lab.onlooker.read('')).entries).toEqual(before.entries);
  expect((await readLab(steps.lab.onlooker)).held.get('sender')).toEqual(after);
  expect(await readLog(steps.lab.onlooker, 'a')).toMatchObject([{ outcome: 'taken away by eve' }]);
});

test('a holder that did not restore a shared machine is named to the next holder of any of its testbeds', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.giveBack(taken(await steps.tryTake('a')).holding, dirty);
  await steps.enter('b', ['y']);
  const { holding } = taken(await steps.tryTake('b'));
  expect(holding.leftBy).toMatchObject([{ id: 'a', testbed: 'x' }]);
  await steps.giveBack(holding, clean);
  // The DUT of x was not inspected since.
  await steps.enter('c', ['x']);
  expect(taken(await steps.tryTake('c')).holding.leftBy).toMatchObject([{ id: 'a' }]);
});

test('each holder that left a machine behind is named once', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.giveBack(taken(await steps.tryTake('a')).holding, dirty);
  await steps.enter('b', ['y']);
  await steps.giveBack(taken(await steps.tryTake('b')).holding, dirty);
  await steps.enter('c', ['x']);
  const { leftBy } = taken(await steps.tryTake('c')).holding;
  expect(leftBy.map(({ id }) => id).toSorted()).toEqual(['a', 'b']);
});

test('a lost holder is named, and is in the log from then on', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  taken(await steps.tryTake('a'));
  await steps.reset();
  const [open] = await readLog(steps.lab.onlooker, 'a');
  expect(open?.outcome).toBeUndefined();
  await steps.enter('b', ['y']);
  expect(taken(await steps.tryTake('b')).holding.leftBy).toMatchObject([{ id: 'a' }]);
  expect(await readLog(steps.lab.onlooker, 'a')).toEqual([
    { ...open, outcome: 'it was not renewed in time', until: steps.lab.date().toISOString() },
  ]);
});

test('a record that cannot be read is an error that names its key', async () => {
  const { lab } = await aStage();
  for (const value of ['{', '{}', '"text"']) {
    const put = [{ key: keys.ticket('a'), value }];
    await lab.onlooker.commit({ conditions: [], put, remove: [] });
    await expect(readLab(lab.onlooker)).rejects.toThrow(StoreError);
    await expect(readLab(lab.onlooker)).rejects.toThrow('"lab/wait/a"');
  }
});

function taken(attempt: ReserveAttempt): { holding: HeldTestbed } {
  if (attempt.kind !== 'taken') throw new Error(`It was not taken: ${attempt.kind}.`);
  return attempt;
}

type Store = ReservationLab['onlooker'];

type Through = (own: Store) => Store;

/** Makes another change right before the first commit. */
function beforeCommit(happens: () => Promise<unknown>): Through {
  let isFirst = true;
  return (store) =>
    storeWith(store, {
      async commit(change) {
        if (isFirst) await happens();
        isFirst = false;
        return store.commit(change);
      },
    });
}

const unchanged: Through = (own) => own;

/** The steps of many on one session, which lasts until `reset`. Each runs to its end, or is known to have none. */
async function aStage() {
  const lab = await aLab();
  const { onlooker } = lab;
  const { store } = await lab.start('steps');
  let session = await onlooker.openSession(3600);
  const settled = async <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => {});
    await lab.settle();
    return work;
  };
  const entering = (store: Store, id: string, names: string[], changes = {}, order?: number) =>
    enter(store, aRequest(id, names, changes), {
      id,
      session,
      at: lab.date(),
      ...(order !== undefined && { order }),
    });
  const taking = async (store: Store, id: string, names: string[], changes = {}) =>
    takeAtOnce(store, await readLab(store), aRequest(id, names, changes), {
      id,
      session,
      at: lab.date(),
    });
  return {
    lab,
    async reset() {
      await onlooker.endSession(session);
      session = await onlooker.openSession(3600);
    },
    endSession: () => onlooker.endSession(session),
    enter: (id: string, names: string[], changes = {}, order?: number, through = unchanged) =>
      settled(entering(through(store), id, names, changes, order)),
    /** Lets them read at the same moment, and then commit. */
    async enterTogether(ids: string[], names: string[], changes: object) {
      const processes = await Promise.all(ids.map((id) => lab.start(id)));
      const entries = processes.map(({ store, name }) => entering(store, name, names, changes));
      await settled(Promise.all(entries));
    },
    tryTake: (id: string, through = unchanged) => settled(tryReserve(through(store), id, session, lab.date())),
    takeAtOnce: (id: string, names: string[], changes = {}) => settled(taking(store, id, names, changes)),
    giveBack: (holding: HeldTestbed, ending: Parameters<typeof giveBack>[2]) =>
      giveBack(onlooker, holding, ending, lab.date()),
    takeAway: (testbed: string) => settled(takeAway(store, testbed, 'eve', lab.date())),
    /** The same while another step is taken. */
    meanwhile: {
      enter: (id: string, names: string[], changes: object) => entering(onlooker, id, names, changes),
      tryTake: (id: string) => tryReserve(onlooker, id, session, lab.date()),
    },
    waiting: async () => (await readLab(onlooker)).tickets.map(({ id }) => id),
  };
}
