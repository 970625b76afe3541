// Conformance tests for every store.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store, StoreChange, StoreSnapshot } from '../../../../src/gate/reserve/store/store.ts';
import { etcdNeeds, startEtcd } from '../../../fakes/etcd.ts';
import { etcdStores, type Stores, sqliteStores } from '../../../fakes/reservation-stores.ts';
import { inTime } from '../../../in-time.ts';
import { describeWith } from '../../../needs.ts';
import { times } from '../../../random.ts';

describe('sqlite', () => conforms(sqliteStores));

describeWith(etcdNeeds, 'etcd', () => {
  let cluster: Awaited<ReturnType<typeof startEtcd>>;
  beforeAll(async () => {
    cluster = await startEtcd();
  });
  afterAll(() => cluster?.stop());

  conforms(() => etcdStores(cluster.endpoints));
});

function conforms(makeStores: () => Stores): void {
  describe('a commit', () => {
    test('is seen by every connection, with the revision that it answered', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const revision = await one.commit(put('a', 'first'));
      expect(await other.read('')).toEqual({
        entries: [{ key: 'a', value: 'first', revision }],
        revision,
      });
    });

    test('has a higher revision than all before, whichever connection makes it', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const revisions: number[] = [(await one.read('')).revision];
      for (const store of [one, other, other, one]) {
        revisions.push(defined(await store.commit(put('a', 'again'))));
      }
      expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
    });

    test('gives a key that was removed and put again a higher revision than it ever had', async () => {
      const store = await makeStores().open();
      const first = defined(await store.commit(put('a', 'same')));
      await store.commit({ ...nothing, remove: ['a'] });
      expect(await store.commit(put('a', 'same'))).toBeGreaterThan(first);
    });

    test('puts and removes several keys as one, with one revision', async () => {
      const store = await makeStores().open();
      await store.commit({ ...nothing, put: pairs({ a: '1', b: '1', c: '1' }) });
      const revision = await store.commit({
        ...nothing,
        put: pairs({ b: '2', d: '2' }),
        remove: ['a', 'c'],
      });
      expect((await store.read('')).entries).toEqual([
        { key: 'b', value: '2', revision },
        { key: 'd', value: '2', revision },
      ]);
    });

    test('leaves the keys alone that it does not name', async () => {
      const store = await makeStores().open();
      const first = await store.commit(put('a', '1'));
      const revision = await store.commit(put('b', '2'));
      expect(await store.read('')).toEqual({
        entries: [
          { key: 'a', value: '1', revision: first },
          { key: 'b', value: '2', revision },
        ],
        revision,
      });
    });

    test('may remove a key that does not exist', async () => {
      const store = await makeStores().open();
      const change = { ...put('a', '1'), remove: ['never'] };
      expect(await store.commit(change)).toBeDefined();
      expect(valuesIn(await store.read(''))).toEqual({ a: '1' });
    });

    test('is done where all its conditions hold', async () => {
      const store = await makeStores().open();
      const revision = defined(await store.commit(put('a', '1')));
      const conditions = [
        { key: 'a', revision },
        { key: 'b', revision: 0 },
      ];
      expect(await store.commit({ ...put('a', '2'), conditions })).toBeGreaterThan(revision);
      expect(valuesIn(await store.read(''))).toEqual({ a: '2' });
    });

    test('changes nothing at all where one of its conditions does not hold', async () => {
      const { open } = makeStores();
      const store = await open();
      await store.commit({ ...nothing, put: pairs({ a: '1', b: '1' }) });
      const before = await store.read('');
      const { revision } = before;
      const lacking = [
        { key: 'b', revision: revision - 1 },
        { key: 'b', revision: revision + 1 },
        { key: 'b', revision: 0 },
        { key: 'c', revision },
      ];
      for (const condition of lacking) {
        for (const conditions of [
          [{ key: 'a', revision }, condition],
          [condition, { key: 'a', revision }],
        ]) {
          const change = { conditions, put: pairs({ a: '2', d: '2' }), remove: ['b'] };
          expect(await store.commit(change)).toBeUndefined();
        }
      }
      expect(await (await open()).read('')).toEqual(before);
    });

    test('finds revision 0 where a key does not exist, or does not any more', async () => {
      const store = await makeStores().open();
      const ifAbsent: StoreChange = { ...put('a', '1'), conditions: [{ key: 'a', revision: 0 }] };
      expect(await store.commit(ifAbsent)).toBeDefined();
      expect(await store.commit(ifAbsent)).toBeUndefined();
      await store.commit({ ...nothing, remove: ['a'] });
      expect(await store.commit(ifAbsent)).toBeDefined();
    });

    test('succeeds for exactly one of several clients with the same condition', async () => {
      const { open } = makeStores();
      const stores = [await open(), await open(), await open()];
      let revision = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(...stores.keys()), { minLength: 2, maxLength: 6 }),
          async (contenders) => {
            const answers = await Promise.all(
              contenders.map((contender, index) =>
                stores[contender]?.commit({
                  ...put('a', String(index)),
                  conditions: [{ key: 'a', revision }],
                }),
              ),
            );
            const won = answers.flatMap((answer, index) => (answer === undefined ? [] : [index]));
            expect(won).toHaveLength(1);
            const [winner = -1] = won;
            expect(answers[winner]).toBeGreaterThan(revision);
            revision = defined(answers[winner]);
            expect(await stores[0]?.read('')).toEqual({
              entries: [{ key: 'a', value: String(winner), revision }],
              revision,
            });
          },
        ),
        { numRuns: times(20) },
      );
    });
  });

  describe('reading', () => {
    test('finds nothing in a new store', async () => {
      expect((await (await makeStores().open()).read('')).entries).toEqual([]);
    });

    test('finds exactly the keys with a prefix by their bytes, for any keys and values', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      let round = 0;
      await fc.assert(
        fc.asyncProperty(contents, oddText, async (content, prefix) => {
          round += 1;
          const under = (key: string) => `${round}/${key}`;
          const all = [...content].map(([key, value]) => ({ key: under(key), value }));
          const revision = await one.commit({ ...nothing, put: all });
          const expected = all
            .filter(({ key }) => key.startsWith(under(prefix)))
            .map((pair) => ({ ...pair, revision }))
            .toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
          expect(await other.read(under(prefix))).toEqual({ entries: expected, revision });
        }),
        { numRuns: times(20) },
      );
    });

    test('never sees half of a commit', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const writing = (async () => {
        for (let round = 0; round < 30; round += 1) {
          const [a, b] = [String(round), String(round)];
          await one.commit({ ...nothing, put: pairs({ a, b }) });
        }
      })();
      for (let look = 0; look < 30; look += 1) {
        const { a, b } = valuesIn(await other.read(''));
        expect(a).toBe(b);
      }
      await writing;
    });
  });

  describe('a session', () => {
    test('has a unique name', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const names = [await one.openSession(60), await one.openSession(60), await other.openSession(60)];
      expect(new Set(names).size).toBe(3);
    });

    test('removes its keys when it is ended, and no others', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const [session, neighbour] = [await one.openSession(60), await one.openSession(60)];
      await one.commit({
        ...nothing,
        put: [
          { key: 'a', value: '1', session },
          { key: 'b', value: '1', session: neighbour },
          { key: 'c', value: '1', session },
          { key: 'd', value: '1' },
        ],
      });
      expect(valuesIn(await other.read(''))).toEqual({ a: '1', b: '1', c: '1', d: '1' });
      await one.endSession(session);
      expect(valuesIn(await other.read(''))).toEqual({ b: '1', d: '1' });
    });

    test('removes its keys when it expires, and not before', async () => {
      const { open, elapse } = makeStores();
      const [one, other] = [await open(), await open()];
      await inTime(2, async () => {
        const session = await one.openSession(2);
        await one.commit({
          ...nothing,
          put: [...pairs({ a: '1' }), { key: 'b', value: '1', session }],
        });
        await elapse(1);
        expect(valuesIn(await other.read(''))).toEqual({ a: '1', b: '1' });
      });
      await elapse(1);
      await expect.poll(async () => valuesIn(await other.read('')), patiently).toEqual({ a: '1' });
    });

    test('that has expired allows a commit on the condition that its key is absent', async () => {
      const { open, elapse } = makeStores();
      const [one, other] = [await open(), await open()];
      const take: StoreChange = { ...put('a', 'other'), conditions: [{ key: 'a', revision: 0 }] };
      const taken = await inTime(1, async () => {
        const session = await one.openSession(1);
        const revision = defined(await one.commit(put('a', 'one', session)));
        expect(await other.commit(take)).toBeUndefined();
        return revision;
      });
      await elapse(1);
      let token: number | undefined;
      await expect.poll(async () => (token ??= await other.commit(take)), patiently).toBeGreaterThan(taken);
    });

    test('lives on for as long as it is renewed', async () => {
      const { open, elapse } = makeStores();
      const [one, other] = [await open(), await open()];
      await inTime(3, async (anew) => {
        const session = await one.openSession(3);
        await one.commit(put('a', '1', session));
        for (const store of [one, other, one, one]) {
          await elapse(1);
          expect(await anew(() => store.renew(session))).toBe(true);
        }
        expect(valuesIn(await other.read(''))).toEqual({ a: '1' });
      });
    });

    test('that has expired cannot be renewed, and brings nothing back', async () => {
      const { open, elapse } = makeStores();
      const [one, other] = [await open(), await open()];
      const session = await inTime(1, async () => {
        const session = await one.openSession(1);
        defined(await one.commit(put('a', '1', session)));
        return session;
      });
      await elapse(1);
      await expect.poll(async () => valuesIn(await other.read('')), patiently).toEqual({});
      expect(await one.renew(session)).toBe(false);
      expect(await one.renew(session)).toBe(false);
      expect(valuesIn(await one.read(''))).toEqual({});
    });

    test('that was ended cannot be renewed, and ending it again is harmless', async () => {
      const store = await makeStores().open();
      const session = await store.openSession(60);
      await store.commit(put('a', '1', session));
      await store.endSession(session);
      const after = await store.commit(put('b', '1'));
      await store.endSession(session);
      expect(await store.renew(session)).toBe(false);
      expect((await store.read('')).entries).toEqual([{ key: 'b', value: '1', revision: after }]);
    });

    test('that is over puts nothing, nor does the rest of the commit', async () => {
      const store = await makeStores().open();
      const session = await store.openSession(60);
      await store.commit(put('a', '1'));
      await store.endSession(session);
      const before = await store.read('');
      const change = {
        conditions: [],
        put: [...pairs({ b: '1' }), { key: 'c', value: '1', session }],
        remove: ['a'],
      };
      expect(await store.commit(change)).toBeUndefined();
      expect(await store.read('')).toEqual(before);
    });

    test('has nothing to do any more with a key that was put again without it', async () => {
      const store = await makeStores().open();
      const [session, neighbour] = [await store.openSession(60), await store.openSession(60)];
      await store.commit({
        ...nothing,
        put: ['a', 'b', 'c'].map((key) => ({ key, value: '1', session })),
      });
      await store.commit(put('a', '2'));
      await store.commit(put('b', '2', neighbour));
      await store.endSession(session);
      expect(valuesIn(await store.read(''))).toEqual({ a: '2', b: '2' });
    });

    test('continues when the connection that opened it is closed, until it expires', async () => {
      const { open, elapse } = makeStores();
      const other = await open();
      await inTime(2, async () => {
        const one = await open();
        const session = await one.openSession(2);
        await one.commit(put('a', '1', session));
        await one.close();
        expect(valuesIn(await other.read(''))).toEqual({ a: '1' });
        expect(await other.renew(session)).toBe(true);
      });
      await elapse(2);
      await expect.poll(async () => valuesIn(await other.read('')), patiently).toEqual({});
    });
  });

  describe('a waiting gate', () => {
    test('is woken by a commit of another connection', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const { revision } = await one.read('');
      const woken = until(one, revision, ({ entries }) => entries.length > 0);
      await other.commit(put('a', '1'));
      expect(valuesIn(await woken)).toEqual({ a: '1' });
    });

    test('is woken by the end of a session', async () => {
      const { open } = makeStores();
      const [one, other] = [await open(), await open()];
      const session = await other.openSession(60);
      const since = defined(await other.commit(put('a', '1', session)));
      const woken = until(one, since, ({ entries }) => entries.length === 0);
      await other.endSession(session);
      expect((await woken).revision).toBeGreaterThan(since);
    });

    test('is woken when a session expires', async () => {
      const { open, elapse } = makeStores();
      const [one, other] = [await open(), await open()];
      const since = await inTime(1, async () => {
        const session = await other.openSession(1);
        return defined(await other.commit(put('a', '1', session)));
      });
      const woken = until(one, since, ({ entries }) => entries.length === 0);
      await elapse(1);
      expect((await woken).revision).toBeGreaterThan(since);
    });

    test('is notified at once of earlier changes', async () => {
      const store = await makeStores().open();
      const { revision } = await store.read('');
      await store.commit(put('a', '1'));
      await store.changed(revision, never);
    });

    test('stops waiting when the signal aborts, with its reason', async () => {
      const store = await makeStores().open();
      const since = defined(await store.commit(put('a', '1')));
      const leaving = new AbortController();
      const reason = new Error('enough');
      const waiting = until(store, since, () => false, leaving.signal);
      leaving.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(store.changed(since, leaving.signal)).rejects.toBe(reason);
    });
  });
}

const nothing: StoreChange = { conditions: [], put: [], remove: [] };

const put = (key: string, value: string, session?: string): StoreChange => ({
  ...nothing,
  put: [{ key, value, ...(session !== undefined && { session }) }],
});

const pairs = (values: Record<string, string>) => Object.entries(values).map(([key, value]) => ({ key, value }));

const valuesIn = ({ entries }: StoreSnapshot): Record<string, string> =>
  Object.fromEntries(entries.map(({ key, value }) => [key, value]));

function defined(revision: number | undefined): number {
  expect(revision).toBeDefined();
  return revision ?? 0;
}

/** Etcd may take a while to notice. */
const patiently = { timeout: 120_000, interval: 50 };

/** The first snapshot for which this holds; only `changed` triggers another look. */
async function until(
  store: Store,
  since: number,
  isTrue: (snapshot: StoreSnapshot) => boolean,
  signal = never,
): Promise<StoreSnapshot> {
  let seen = since;
  for (;;) {
    await store.changed(seen, signal);
    const snapshot = await store.read('');
    if (isTrue(snapshot)) return snapshot;
    seen = snapshot.revision;
  }
}

/** A test has a time limit of its own. */
const never = new AbortController().signal;

/** Few characters, so that keys share prefixes; among them those that sort differently as code units and as bytes. */
const oddText = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'A', '%', '_', '/', '\\', "'", '\0', '\n', 'ÿ', '\ue000', '🚦', '\u{10ffff}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 3 },
  )
  .map((characters) => characters.join(''));

const contents = fc
  .array(fc.tuple(oddText, fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'null', 'ü'.repeat(50_000)))), {
    minLength: 1,
    maxLength: 8,
  })
  .map((pairs) => new Map(pairs));
