import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectedWait, type QueueLoad, simulateQueue } from '../../../src/gate/estimate/queue.ts';
import { byTurn, type QueueLine } from '../../../src/gate/reserve/queue.ts';
import { priorities } from '../../../src/model/priority.ts';
import { plainAssign } from '../../fakes/plain-queue.ts';
import { times } from '../../random.ts';

/** Alice has x for 10 s more; x is held for 100 s as a rule, and y for 30 s. */
const example: QueueLoad = {
  lines: [
    {
      wants: new Map([['x', ['dut-x']]]),
      waiting: [place('bob', 1), place('carol', 4)],
    },
    {
      wants: new Map([
        ['x', ['dut-x']],
        ['y', ['dut-y']],
      ]),
      waiting: [place('dave', 2), place('erin', 3)],
    },
  ],
  held: [{ machines: ['dut-x'], secondsLeft: 10 }],
  testbeds: new Map([
    ['x', ['dut-x']],
    ['y', ['dut-y']],
  ]),
  usualSeconds: (testbed) => (testbed === 'x' ? 100 : 30),
};

test('plays a queue on, as one would by hand', () => {
  expect(startsOf(example)).toEqual([
    // Bob keeps x, and y is free.
    ['dave', 'y', 0],
    ['bob', 'x', 10],
    // Dave ends at 30 s; Carol only wants x, and Bob has it until 110 s.
    ['erin', 'y', 30],
    ['carol', 'x', 110],
  ]);
});

test('the expected wait equals the simulated start', () => {
  expect(expectedWait(example, 'erin')).toBe(30);
  expect(expectedWait(example, 'carol')).toBe(110);
});

test('a gate that wants no healthy testbed never starts', () => {
  const lines = [{ wants: new Map(), waiting: [place('zoe', 0)] }, ...example.lines];
  expect(expectedWait({ ...example, lines }, 'zoe')).toBeUndefined();
  expect(expectedWait({ ...example, lines }, 'carol')).toBe(110);
});

test('of testbeds that become free at the same moment, the best is assigned', () => {
  const held = ['dut-x', 'dut-y'].map((machine) => ({ machines: [machine], secondsLeft: 10 }));
  for (const order of [held, held.toReversed()]) {
    expect(startsOf({ ...example, held: order }).slice(0, 3)).toEqual([
      ['bob', 'x', 10],
      ['dave', 'y', 10],
      ['erin', 'y', 40],
    ]);
  }
});

test('equals a step-by-step simulation', () => {
  fc.assert(
    fc.property(loads, (load) => {
      expect(startsOf(load).sort()).toEqual(plainStarts(load).sort());
    }),
    { numRuns: times(100) },
  );
});

test('every gate that can be served starts once, in order of time, after the estimated wait', () => {
  fc.assert(
    fc.property(loads, (load) => {
      const starts = startsOf(load);
      const servable = load.lines.flatMap(({ wants, waiting }) =>
        wants.size === 0 ? [] : waiting.map(({ id }) => id),
      );
      expect(starts.map(([id]) => id).sort()).toEqual(servable.sort());
      const times = starts.map(([, , seconds]) => seconds);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      for (const [id, , seconds] of starts) expect(expectedWait(load, id)).toBe(seconds);
    }),
    { numRuns: times(100) },
  );
});

test('never are two on one machine at a time', () => {
  fc.assert(
    fc.property(loads, (load) => {
      const uses = [
        ...load.held.map(({ machines, secondsLeft }) => ({ machines, from: 0, to: secondsLeft })),
        ...startsOf(load).map(([, testbed, from]) => ({
          machines: load.testbeds.get(testbed) ?? [],
          from,
          to: from + load.usualSeconds(testbed),
        })),
      ];
      for (const [index, one] of uses.entries()) {
        for (const other of uses.slice(index + 1)) {
          if (!one.machines.some((machine) => other.machines.includes(machine))) continue;
          expect(one.to <= other.from || other.to <= one.from).toBe(true);
        }
      }
    }),
    { numRuns: times(100) },
  );
});

test('leaves the queue that it is given as it was', () => {
  const before = structuredClone(example.lines);
  startsOf(example);
  expect(example.lines).toEqual(before);
});

function place(id: string, order: number) {
  return { id, order, priority: 'patch' } as const;
}

type StartTuple = [id: string, testbed: string, afterSeconds: number];

const startsOf = (load: QueueLoad): StartTuple[] =>
  [...simulateQueue(load)].map(({ place, testbed, afterSeconds }) => [place.id, testbed, afterSeconds]);

function plainStarts({ lines, held, testbeds, usualSeconds }: QueueLoad): StartTuple[] {
  const starts: StartTuple[] = [];
  let waiting = lines.flatMap((line) => line.waiting.map((one) => ({ ...one, ...line })));
  const uses = held.map(({ machines, secondsLeft }) => ({ machines, until: secondsLeft }));
  for (let now = 0; Number.isFinite(now); ) {
    const taken = new Set(uses.filter(({ until }) => until > now).flatMap((use) => use.machines));
    const isFree = ([, own]: [string, readonly string[]]) => !own.some((machine) => taken.has(machine));
    const grants = plainAssign(waiting, new Map([...testbeds].filter(isFree)));
    for (const [id, testbed] of grants) {
      starts.push([id, testbed, now]);
      uses.push({ machines: testbeds.get(testbed) ?? [], until: now + usualSeconds(testbed) });
    }
    waiting = waiting.filter(({ id }) => !grants.has(id));
    now = Math.min(...uses.map(({ until }) => until).filter((until) => until > now));
  }
  return starts;
}

const names = ['a', 'b', 'c', 'd', 'e'];
const seconds = fc.integer({ min: 1, max: 9 });

const loads: fc.Arbitrary<QueueLoad> = fc
  .record({
    machines: fc.array(fc.uniqueArray(fc.nat(5).map(String), { minLength: 1, maxLength: 2 }), {
      minLength: 5,
      maxLength: 5,
    }),
    selectors: fc.uniqueArray(fc.shuffledSubarray(names), { selector: String, maxLength: 4 }),
    waiting: fc.array(
      fc.record({
        priority: fc.constantFrom(...priorities),
        order: fc.nat(30),
        selector: fc.nat(),
      }),
      { maxLength: 15 },
    ),
    held: fc.uniqueArray(fc.record({ machine: fc.nat(5).map(String), secondsLeft: seconds }), {
      selector: ({ machine }) => machine,
    }),
    usual: fc.array(seconds, { minLength: 5, maxLength: 5 }),
  })
  .map(({ machines, selectors, waiting, held, usual }) => {
    const own = (name: string) => machines[names.indexOf(name)] ?? [];
    const places = waiting.map((one, index) => ({ ...one, id: String(index) }));
    const lines = selectors.map(
      (selector, index): QueueLine => ({
        wants: new Map(selector.map((name) => [name, own(name)])),
        waiting: places.filter(({ selector }) => selector % selectors.length === index).toSorted(byTurn),
      }),
    );
    return {
      lines,
      held: held.map(({ machine, secondsLeft }) => ({ machines: [machine], secondsLeft })),
      testbeds: new Map(names.map((name) => [name, own(name)])),
      usualSeconds: (testbed) => usual[names.indexOf(testbed)] ?? 1,
    };
  });
