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

test('gates wait in the order of their arrival at the store', async () => {
  const steps = await aStage();
  await steps.enter('b', ['x']);
  await steps.enter('a', ['x']);
  expect(await steps.waiting()).toEqual(['b', 'a']);
});

test('a later commit that finds its machine taken changes nothing', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.enter('b', ['y']);
  const { holding } = taken(await steps.tryTake('a'));
  expect(await steps.tryTake('b')).toMatchObject({ kind: 'waiting' });
  const { held, tickets } = await readLab(steps.lab.onlooker);
  expect([...held].map(([machine, { id }]) => [machine, id])).toEqual([
    ['dut-x', 'a'],
    ['sender', 'a'],
  ]);
  expect(held.get('sender')?.token).toBe(holding.token);
  expect(tickets.map(({ id }) => id)).toEqual(['b']);
});

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

test('a gate takes at once before those that wait in a later place', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  expect(await steps.takeAtOnce('b', ['x'], { priority: 'release' })).toMatchObject({ id: 'b' });
});

test('a gate that would replace an older one takes nothing at once', async () => {
  const steps = await aStage();
  await steps.enter('older', ['x', 'z'], { subject: 'o/r#12' });
  const changes = { subject: 'o/r#12', priority: 'release' } as const;
  expect(await steps.takeAtOnce('newer', ['x', 'z'], changes)).toBeUndefined();
});

test('a gate takes nothing at once that another has taken since it looked', async () => {
  const steps = await aStage();
  const overtake = async () => steps.meanwhile.takeAtOnce('b', ['y']);
  expect(await steps.takeAtOnce('a', ['x'], {}, beforeCommit(overtake))).toBeUndefined();
  expect((await readLab(steps.lab.onlooker)).held.get('sender')?.id).toBe('b');
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

test('a gate whose place is taken over between read and commit takes nothing', async () => {
  const steps = await aStage();
  await steps.enter('older', ['x'], { subject: 'o/r#12' });
  const replace = () => steps.meanwhile.enter('newer', ['x'], { subject: 'o/r#12' });
  expect(await steps.tryTake('older', beforeCommit(replace))).toMatchObject({ kind: 'gone' });
  expect((await readLab(steps.lab.onlooker)).held.size).toBe(0);
});

test('of many gates that try at the same moment, each machine goes to one', async () => {
  const steps = await aStage();
  const ids = ['a', 'b', 'c', 'd'];
  for (const id of ids) await steps.enter(id, ['x', 'y', 'z']);
  const kinds = (await steps.tryTogether(ids)).map(({ kind }) => kind);
  expect(kinds).toEqual(['taken', 'taken', 'waiting', 'waiting']);
});

test('each take has a higher token than all before', async () => {
  const steps = await aStage();
  const tokens: number[] = [];
  for (const id of ['a', 'b', 'c']) {
    await steps.enter(id, [id === 'b' ? 'y' : 'x']);
    const { holding } = taken(await steps.tryTake(id));
    tokens.push(holding.token);
    await steps.giveBack(holding, clean);
  }
  expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
});

test('a take that was done though it threw is found again, as it was', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await expect(steps.tryTake('a', losingCommits)).rejects.toThrow(StoreError);
  const { holding } = taken(await steps.tryTake('a'));
  expect((await readLab(steps.lab.onlooker)).held.get('dut-x')).toEqual(holding);
});

test('two gates with different machines of one testbed do not go round in circles', async () => {
  const steps = await aStage();
  await steps.enter('a', ['z']);
  taken(await steps.tryTake('a'));
  const old = { testbeds: new Map([['x', ['dut-x']]]) };
  const changed = { testbeds: new Map([['x', ['dut-x', 'dut-z']]]) };
  await steps.enter('b', [], changed);
  await steps.enter('c', [], old);
  expect(await steps.tryTake('b')).toMatchObject({ kind: 'waiting' });
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

test('of simultaneous requests of one subject, one waits, in the place of the first', async () => {
  const steps = await aStage();
  await steps.enter('first', ['x'], { subject: 'o/r#12' });
  await steps.enter('other', ['x']);
  await steps.enterTogether(['a', 'b', 'c'], ['x'], { subject: 'o/r#12' });
  const waiting = await steps.waiting();
  expect(waiting).toHaveLength(2);
  expect(waiting[1]).toBe('other');
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

test('a gate that is removed from the queue while it enters does not return', async () => {
  const steps = await aStage();
  const subject = 'o/r#12';
  let commits = 0;
  const takeOut = beforeEachCommit(async () => {
    commits += 1;
    if (commits === 1) await steps.meanwhile.enter('older', ['x'], { subject });
    const remove = [keys.ticket('a')];
    if (commits === 2) await steps.lab.onlooker.commit({ conditions: [], put: [], remove });
  });
  await steps.enter('a', ['x'], { subject }, undefined, takeOut);
  expect(commits).toBe(2);
  expect(await steps.waiting()).toEqual(['older']);
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

test('a gate that returns to its place is before all later ones', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.enter('b', ['x']);
  const { holding } = taken(await steps.tryTake('a'));
  await steps.giveBack(holding, dirty);
  await steps.enter('again', ['x'], {}, holding.order);
  expect(await steps.waiting()).toEqual(['again', 'b']);
});

test('a testbed in quarantine is skipped, and blocks none of the machines that it shares', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x', 'z']);
  await steps.enter('b', ['y']);
  await setQuarantine(steps.lab.onlooker, 'x', broken);
  expect(taken(await steps.tryTake('a')).holding.testbed).toBe('z');
  expect(taken(await steps.tryTake('b')).holding.testbed).toBe('y');
});

test('a quarantine that is put between the look and the commit is respected', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x', 'z']);
  const breakDown = () => setQuarantine(steps.lab.onlooker, 'x', broken);
  const attempt = await steps.tryTake('a', beforeCommit(breakDown));
  expect(taken(attempt).holding.testbed).toBe('z');
});

test('without a healthy testbed that is reported at once, with the reasons', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x', 'z']);
  await setQuarantine(steps.lab.onlooker, 'x', broken);
  await setQuarantine(steps.lab.onlooker, 'z', { ...broken, reason: 'no power' });
  await setQuarantine(steps.lab.onlooker, 'y', { ...broken, reason: 'not asked for' });
  expect(await steps.tryTake('a')).toEqual({
    kind: 'none-healthy',
    quarantines: new Map([
      ['x', broken],
      ['z', { ...broken, reason: 'no power' }],
    ]),
  });
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

test('takes nothing away if no gate holds it', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  taken(await steps.tryTake('a'));
  expect(await steps.takeAway('y')).toBeUndefined();
  expect(await steps.takeAway('z')).toBeUndefined();
});

test('taking away a testbed during its release leaves the next holder untouched', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.enter('b', ['x']);
  const { holding } = taken(await steps.tryTake('a'));
  const whileGivenBack = beforeCommit(() => steps.giveBack(holding, clean));
  expect(await steps.takeAway('x', whileGivenBack)).toBeUndefined();
  expect(await readLog(steps.lab.onlooker, 'a')).toMatchObject([{ outcome: 'pass' }]);
});

test('a holder that restored the machines is not named to the next one', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.giveBack(taken(await steps.tryTake('a')).holding, clean);
  await steps.enter('b', ['x']);
  expect(taken(await steps.tryTake('b')).holding.leftBy).toEqual([]);
});

test('a holder that did not restore the machines is named until another one did', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  await steps.giveBack(taken(await steps.tryTake('a')).holding, dirty);
  await steps.enter('b', ['x']);
  const { holding } = taken(await steps.tryTake('b'));
  expect(holding.leftBy).toMatchObject([{ id: 'a', testbed: 'x', holder: { who: 'a' } }]);
  await steps.giveBack(holding, clean);
  await steps.enter('c', ['x']);
  expect(taken(await steps.tryTake('c')).holding.leftBy).toEqual([]);
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

test('the log keeps the outcome of a lost one that was found first', async () => {
  const steps = await aStage();
  await steps.enter('a', ['x']);
  taken(await steps.tryTake('a'));
  await steps.takeAway('x');
  await steps.enter('b', ['x']);
  taken(await steps.tryTake('b'));
  expect(await readLog(steps.lab.onlooker, 'a')).toMatchObject([{ outcome: 'taken away by eve' }]);
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

/** Makes another change right before each commit. */
const beforeEachCommit =
  (happens: () => Promise<unknown>): Through =>
  (store) =>
    storeWith(store, {
      async commit(change) {
        await happens();
        return store.commit(change);
      },
    });

function beforeCommit(happens: () => Promise<unknown>): Through {
  let isFirst = true;
  return beforeEachCommit(async () => {
    if (isFirst) await happens();
    isFirst = false;
  });
}

/** Commits are carried out, but their confirmations are lost. */
const losingCommits: Through = (store) =>
  storeWith(store, {
    async commit(change) {
      await store.commit(change);
      throw new StoreError('the answer was lost');
    },
  });

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
    async tryTogether(ids: string[]) {
      const processes = await Promise.all(ids.map((id) => lab.start(id)));
      const attempts = processes.map(({ store, name }) => tryReserve(store, name, session, lab.date()));
      return settled(Promise.all(attempts));
    },
    tryTake: (id: string, through = unchanged) => settled(tryReserve(through(store), id, session, lab.date())),
    takeAtOnce: (id: string, names: string[], changes = {}, through = unchanged) =>
      settled(taking(through(store), id, names, changes)),
    giveBack: (holding: HeldTestbed, ending: Parameters<typeof giveBack>[2]) =>
      giveBack(onlooker, holding, ending, lab.date()),
    takeAway: (testbed: string, through = unchanged) => settled(takeAway(through(store), testbed, 'eve', lab.date())),
    /** The same while another step is taken. */
    meanwhile: {
      enter: (id: string, names: string[], changes: object) => entering(onlooker, id, names, changes),
      takeAtOnce: (id: string, names: string[]) => taking(onlooker, id, names),
      tryTake: (id: string) => tryReserve(onlooker, id, session, lab.date()),
    },
    waiting: async () => (await readLab(onlooker)).tickets.map(({ id }) => id),
  };
}
