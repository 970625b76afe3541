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
