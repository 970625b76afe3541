import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  assign,
  byTurn,
  insertInOrder,
  type QueueLine,
  type QueuePlace,
  type Testbeds,
  testbedsOf,
} from '../../../src/gate/reserve/queue.ts';
import { priorities } from '../../../src/model/priority.ts';
import { plainAssign, type Wanting } from '../../fakes/plain-queue.ts';
import { times } from '../../random.ts';

test('a release gate precedes a patch, and a patch a rerun, however late', () => {
  const waiting = [
    want('rerun', { priority: 'rerun', order: 1 }),
    want('patch', { priority: 'patch', order: 2 }),
    want('release', { priority: 'release', order: 3 }),
  ];
  expect(given(waiting, { x: ['m'] })).toEqual({ release: 'x' });
  expect(waiting.toSorted(byTurn).map(({ id }) => id)).toEqual(['release', 'patch', 'rerun']);
});

test('serves gates of one priority in order of arrival, regardless of ids', () => {
  const waiting = [want('a', { order: 7 }), want('b', { order: 6 })];
  expect(given(waiting, { x: ['m'] })).toEqual({ b: 'x' });
  expect(given(waiting, { x: ['m'], y: ['n'] })).toEqual({ b: 'x', a: 'y' });
});

test('the best that is free is given', () => {
  const wants = { y: ['n'], x: ['m'] };
  expect(given([want('a', { wants })], { x: ['m'], y: ['n'] })).toEqual({ a: 'y' });
  expect(given([want('a', { wants })], { x: ['m'] })).toEqual({ a: 'x' });
});

test('two testbeds that share a machine are not both given', () => {
  const free = { x: ['dut-x', 'sender'], y: ['dut-y', 'sender'] };
  const waiting = [want('a', { order: 1, wants: { x: free.x } }), want('b', { order: 2, wants: { y: free.y } })];
  expect(given(waiting, free)).toEqual({ a: 'x' });
});

test('a gate that waits for a testbed blocks its machines for later ones', () => {
  const pair = { pair: ['left', 'right'] };
  const single = { single: ['left'] };
  const waiting = [want('first', { order: 1, wants: pair }), want('second', { order: 2, wants: single })];
  // A machine of `pair` is held by a third gate.
  expect(given(waiting, single)).toEqual({});
  expect(given(waiting, { ...single, ...pair })).toEqual({ first: 'pair' });
  expect(given(waiting.slice(1), single)).toEqual({ second: 'single' });
});

test('a waiting gate blocks only the machines that it waits for', () => {
  const waiting = [want('first', { order: 1, wants: { x: ['m'] } }), want('second', { order: 2, wants: { y: ['n'] } })];
  expect(given(waiting, { y: ['n'] })).toEqual({ second: 'y' });
});

test('gives exactly what a walk over all waiting gates gives', () => {
  fc.assert(
    fc.property(queues, ({ waiting, free }) => {
      expect(Object.entries(given(waiting, free)).sort()).toEqual(
        [...plainAssign(waiting, new Map(Object.entries(free)))].sort(),
      );
    }),
    { numRuns: times(300) },
  );
});

test('gives each gate at most one testbed and each machine once, all of them free and wanted', () => {
  fc.assert(
    fc.property(queues, ({ waiting, free }) => {
      const grants = assign(linesFor(waiting), new Map(Object.entries(free)));
      const ids = grants.map(({ place }) => place.id);
      expect(ids).toEqual([...new Set(ids)]);
      const machines = grants.flatMap(({ testbed }) => free[testbed] ?? ['none']);
      expect(machines).toEqual([...new Set(machines)]);
      for (const { place, testbed } of grants) {
        const wants = waiting.find(({ id }) => id === place.id)?.wants;
        expect(wants?.has(testbed)).toBe(true);
        expect(Object.keys(free)).toContain(testbed);
      }
    }),
    { numRuns: times(200) },
  );
});

test('serves no later gate with a machine that an earlier one waits for', () => {
  fc.assert(
    fc.property(queues, ({ waiting, free }) => {
      const grants = assign(linesFor(waiting), new Map(Object.entries(free)));
      const unserved = waiting.filter(({ id }) => !grants.some(({ place }) => place.id === id));
      for (const one of unserved) {
        const awaited = new Set([...one.wants.values()].flat());
        const later = grants.filter(({ place }) => byTurn(one, place) < 0);
        const machines = later.flatMap(({ testbed }) => free[testbed] ?? []);
        expect(machines.filter((machine) => awaited.has(machine))).toEqual([]);
      }
    }),
    { numRuns: times(200) },
  );
});

test('grants are in the order of turns', () => {
  fc.assert(
    fc.property(queues, ({ waiting, free }) => {
      const places = assign(linesFor(waiting), new Map(Object.entries(free))).map(({ place }) => place);
      expect(places).toEqual(places.toSorted(byTurn));
    }),
  );
});

test('a testbed reserves all machines that any gate waiting for it lists', () => {
  const lines = linesFor([want('a', { wants: { x: ['m'], y: ['n'] } }), want('b', { wants: { x: ['m', 'o'] } })]);
  expect(Object.fromEntries(testbedsOf(lines))).toEqual({ x: ['m', 'o'], y: ['n'] });
});

test('an ordered insertion keeps the list in order, before its equals', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9)), (numbers) => {
      const list: { number: number; index: number }[] = [];
      for (const [index, number] of numbers.entries()) {
        insertInOrder(list, { number, index }, (a, b) => a.number - b.number);
      }
      expect(list).toEqual(list.toSorted((a, b) => a.number - b.number || b.index - a.index));
      expect(list).toHaveLength(numbers.length);
    }),
  );
});

type Given = Record<string, readonly string[]>;

const want = (
  id: string,
  { wants = { x: ['m'], y: ['n'] }, ...place }: Partial<QueuePlace> & { wants?: Given },
): Wanting => ({
  id,
  priority: 'patch',
  order: 1,
  ...place,
  wants: new Map(Object.entries(wants)),
});

const given = (waiting: readonly Wanting[], free: Given): Record<string, string> =>
  Object.fromEntries(
    assign(linesFor(waiting), new Map(Object.entries(free))).map(({ place, testbed }) => [place.id, testbed]),
  );

function linesFor(waiting: readonly Wanting[]): QueueLine[] {
  const lines = Map.groupBy(waiting.toSorted(byTurn), ({ wants }) => JSON.stringify([...wants]));
  return [...lines.values()].map((line) => ({ wants: wantsOf(line), waiting: line }));
}

const wantsOf = ([first]: readonly Wanting[]): Testbeds => first?.wants ?? new Map();

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Testbeds that share some machines, some of them free, and who waits for which. */
const queues = fc
  .dictionary(fc.constantFrom(...names), fc.uniqueArray(fc.nat(7).map(String), { minLength: 1, maxLength: 3 }), {
    minKeys: 1,
  })
  .chain((testbeds) => {
    const known = Object.keys(testbeds);
    const some = fc.shuffledSubarray(known);
    const places = fc.record({
      priority: fc.constantFrom(...priorities),
      order: fc.nat(20),
      wanted: fc.shuffledSubarray(known, { minLength: 1 }),
    });
    const chosen = (wanted: readonly string[]): Given =>
      Object.fromEntries(wanted.map((name) => [name, testbeds[name] ?? []]));
    return fc.record({
      free: some.map(chosen),
      waiting: fc
        .array(places, { maxLength: 12 })
        .map((list) =>
          list.map(({ wanted, ...place }, index) => want(String(index), { ...place, wants: chosen(wanted) })),
        ),
    });
  });
