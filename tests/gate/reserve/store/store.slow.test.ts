// Conformance tests for every store.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store, StoreChange, StoreSnapshot } from '../../../../src/gate/reserve/store/store.ts';
import { etcdNeeds, startEtcd } from '../../../fakes/etcd.ts';
import { etcdStores, type Stores, sqliteStores } from '../../../fakes/reservation-stores.ts';
import { inTime } from '../../../in-time.ts';
import { describeWith } from '../../../needs.ts';
import { anyCharacter, times } from '../../../random.ts';

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
  test('does what a map of keys with sessions does, through any connection', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (steps) => compareWithMap(makeStores(), steps)),
      {
        numRuns: times(20),
      },
    );
  });

  describe('a commit', () => {
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
    test('that expires removes its keys, and not before, and is over', async () => {
      const { open, elapse } = makeStores();
      const [one, other] = [await open(), await open()];
      const take: StoreChange = { ...put('b', 'other'), conditions: [{ key: 'b', revision: 0 }] };
      const { session, taken } = await inTime(2, async () => {
        const session = await one.openSession(2);
        const change = { ...nothing, put: [...pairs({ a: '1' }), { key: 'b', value: '1', session }] };
        const taken = defined(await one.commit(change));
        await elapse(1);
        expect(valuesIn(await other.read(''))).toEqual({ a: '1', b: '1' });
        expect(await other.commit(take)).toBeUndefined();
        return { session, taken };
      });
      await elapse(1);
      await expect.poll(async () => valuesIn(await other.read('')), patiently).toEqual({ a: '1' });
      expect(await one.renew(session)).toBe(false);
      expect(await one.commit(put('b', '1', session))).toBeUndefined();
      expect(await other.commit(take)).toBeGreaterThan(taken);
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

type Step =
  | { kind: 'open'; by: number }
  | { kind: 'end' | 'renew'; by: number; nth: number }
  | { kind: 'commit'; by: number; conditions: [key: string, is: number][]; changes: Record<string, Change> };

/** Removes the key, or puts it, with one of the sessions or without. */
type Change = { removes: boolean; nth: number | null };

const by = fc.nat(1);
const key = fc.constantFrom('a', 'b', 'c', 'd');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('open' as const), by }),
    fc.record({ kind: fc.constantFrom('end' as const, 'renew' as const), by, nth: fc.nat(3) }),
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('commit' as const),
        by,
        // Mostly the current revision; the others do not hold.
        conditions: fc.array(fc.tuple(key, fc.constantFrom(0, 0, 0, 0, 1, -1)), { maxLength: 3 }),
        changes: fc.dictionary(key, fc.record({ removes: fc.boolean(), nth: fc.option(fc.nat(3)) }), { minKeys: 1 }),
      }),
    },
  ),
  { minLength: 1, maxLength: 30 },
);

async function compareWithMap({ open }: Stores, steps: readonly Step[]): Promise<void> {
  const stores = [await open(), await open()] as const;
  const kept = new Map<string, StoreSnapshot['entries'][number] & { session?: string | undefined }>();
  const sessions: string[] = [];
  const over = new Set<string>();
  const sessionAt = (nth: number) => sessions[nth % Math.max(1, sessions.length)];
  let last = (await stores[0].read('')).revision;
  for (const [index, step] of steps.entries()) {
    const store = stores[step.by === 0 ? 0 : 1];
    if (step.kind === 'open') {
      const session = await store.openSession(600);
      expect(sessions).not.toContain(session);
      sessions.push(session);
    } else if (step.kind === 'commit') {
      const puts = Object.entries(step.changes).filter(([, { removes }]) => !removes);
      const session = ({ nth }: Change) => (nth === null ? undefined : sessionAt(nth));
      const revisionOf = (key: string) => kept.get(key)?.revision ?? 0;
      const revision = await store.commit({
        conditions: step.conditions.map(([key, is]) => ({ key, revision: Math.max(0, revisionOf(key) + is) })),
        put: puts.map(([key, change]) => ({ ...entry(key, index), ...sessionOf(session(change)) })),
        remove: Object.keys(step.changes).filter((key) => step.changes[key]?.removes),
      });
      const holds = step.conditions.every(([key, is]) => is === 0 || (is < 0 && revisionOf(key) === 0));
      const isAlive = puts.every(([, change]) => !over.has(session(change) ?? ''));
      if (!(holds && isAlive)) {
        expect(revision).toBeUndefined();
      } else {
        const isChange = puts.length > 0 || Object.keys(step.changes).some((key) => kept.has(key));
        expect(revision).toBeGreaterThanOrEqual(isChange ? last + 1 : last);
        last = defined(revision);
        for (const [key, change] of Object.entries(step.changes)) {
          if (change.removes) kept.delete(key);
          else kept.set(key, { ...entry(key, index), revision: last, session: session(change) });
        }
      }
    } else {
      const session = sessionAt(step.nth);
      if (session === undefined) continue;
      if (step.kind === 'renew') expect(await store.renew(session)).toBe(!over.has(session));
      else {
        await store.endSession(session);
        over.add(session);
        for (const [key, one] of kept) if (one.session === session) kept.delete(key);
      }
    }
    for (const store of stores) {
      const { entries, revision } = await store.read('');
      const known = [...kept.values()].map(({ key, value, revision }) => ({ key, value, revision }));
      expect(entries).toEqual(known.toSorted((a, b) => (a.key < b.key ? -1 : 1)));
      expect(revision).toBeGreaterThanOrEqual(last);
    }
  }
}

const entry = (key: string, index: number) => ({ key, value: String(index) });
const sessionOf = (session: string | undefined) => (session === undefined ? {} : { session });

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
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 3 },
  )
  .map((characters) => characters.join(''));

const contents = fc
  .array(
    fc.tuple(oddText, fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', 'null', 'ü'.repeat(50_000)))),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((pairs) => new Map(pairs));
