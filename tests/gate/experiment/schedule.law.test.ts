import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pairsPerTrial, type ScheduleRequest, schedule } from '../../../src/gate/experiment/schedule.ts';
import { cellName, families, scenarios } from '../../../src/model/scenario.ts';

const allCells = scenarios.flatMap((scenario) => families.map((family) => ({ scenario, family })));

const requests = fc.record({
  cells: fc.shuffledSubarray(allCells, { minLength: 1 }),
  variants: fc.constantFrom(
    ['base', 'patched'],
    ['base', 'diff 1', 'patched'],
    ['base', 'diff 1', 'diff 2', 'patched'],
    ['base', 'diff 1', 'diff 2', 'diff 3', 'patched'],
  ),
  runsPerVariant: fc.integer({ min: 1, max: 40 }),
  runsPerTrial: fc.integer({ min: 1, max: 30 }),
  seed: fc.integer(),
});

test('the same seed gives the same schedule', () => {
  fc.assert(
    fc.property(requests, (request) => {
      expect(schedule(structuredClone(request))).toEqual(schedule(request));
    }),
  );
});

test('another seed gives another order', () => {
  const request = {
    cells: allCells,
    variants: ['base', 'patched'],
    runsPerVariant: 48,
    runsPerTrial: 24,
  };
  expect(schedule({ ...request, seed: 1 })).not.toEqual(schedule({ ...request, seed: 2 }));
});

test('first cells precede the others in each round, each part in random order', () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 0, max: 3 }), (request, count) => {
      const first = new Set(request.cells.slice(0, count));
      const trials = schedule({ ...request, first });
      const { length } = request.cells;
      for (let round = 0; round < trials.length; round += length) {
        const cells = trials.slice(round, round + length).map(({ cell }) => cell);
        expect(new Set(cells).size).toBe(length);
        expect(new Set(cells.slice(0, first.size))).toEqual(first);
      }
    }),
  );
});

/** Pairs of the request, rounded to whole trials. */
function pairsOf({ runsPerVariant, runsPerTrial, variants }: ScheduleRequest): number {
  const step = pairsPerTrial(runsPerTrial, variants.length);
  return Math.ceil(runsPerVariant / step) * step;
}

test('every cell gets the requested runs of each variant, in whole trials', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const trials = schedule(request);
      const counts = Map.groupBy(
        trials.flatMap(({ cell, runs }) => runs.map(({ variant }) => `${cellName(cell)}: ${variant}`)),
        (key) => key,
      );
      expect(counts.size).toBe(request.cells.length * request.variants.length);
      for (const [, { length }] of counts) expect(length).toBe(pairsOf(request));
    }),
  );
});

test('every pair has one run of each variant, side by side among the runs of its cell', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const count = request.variants.length;
      const cells = Map.groupBy(schedule(request), ({ cell }) => cell);
      for (const trials of cells.values()) {
        const runs = trials.flatMap((trial) => trial.runs);
        for (let first = 0; first < runs.length; first += count) {
          const pair = runs.slice(first, first + count);
          expect(pair.map(({ variant }) => variant).toSorted()).toEqual(request.variants);
          expect(new Set(pair.map((run) => run.pair))).toEqual(new Set([1 + first / count]));
        }
      }
    }),
  );
});

test('every second pair of a cell mirrors the one before: ABBA or BAAB, over trials too', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const count = request.variants.length;
      for (const trials of Map.groupBy(schedule(request), ({ cell }) => cell).values()) {
        const variants = trials.flatMap(({ runs }) => runs.map(({ variant }) => variant));
        for (let first = 0; first + 2 * count <= variants.length; first += 2 * count) {
          const four = variants.slice(first, first + 2 * count);
          expect(four).toEqual(four.toReversed());
        }
      }
    }),
  );
});

test('a schedule of more runs continues where the one of fewer ends', () => {
  fc.assert(
    fc.property(requests, fc.nat({ max: 30 }), (request, more) => {
      const short = schedule(request);
      const long = schedule({ ...request, runsPerVariant: pairsOf(request) + more });
      expect(long.slice(0, short.length)).toEqual(short);
    }),
  );
});

test('with one run a trial a variant that must be booted is booted once for all cells', () => {
  const trials = schedule({
    cells: allCells,
    variants: ['base', 'patched'],
    runsPerVariant: 4,
    runsPerTrial: 1,
    seed: 1,
  });
  expect(trials.every(({ runs }) => runs.length === 1)).toBe(true);
  const boots = trials.map(({ runs: [run] }) => `${run?.pair} ${run?.variant}`);
  const changes = boots.filter((boot, index) => boot !== boots[index - 1]);
  expect(changes).toHaveLength(8);
  expect(new Set(changes).size).toBe(8);
});

test.for([1, 4])('the first pair of %d runs a trial begins with base for about half of the seeds', (runsPerTrial) => {
  const first = Array.from({ length: 1000 }, (_, seed) => {
    const variants = ['base', 'patched'];
    const cells = allCells.slice(0, 1);
    return schedule({ cells, variants, runsPerVariant: 2, runsPerTrial, seed })[0]?.runs[0];
  });
  const baseFirst = first.filter((run) => run?.variant === 'base').length;
  // 1000 fair coins fall outside of this once in 10,000 times.
  expect(baseFirst).toBeGreaterThan(435);
  expect(baseFirst).toBeLessThan(565);
});

test('trials and runs are numbered from 1 in the order in which they happen', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const trials = schedule(request);
      expect(trials.map(({ number }) => number)).toEqual(trials.map((_, index) => index + 1));
      const numbers = trials.flatMap(({ runs }) => runs.map(({ number }) => number));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }),
  );
});

test('more than two variants that share a trial share it with their mirror image', () => {
  fc.assert(
    fc.property(requests, (request) => {
      fc.pre(request.runsPerTrial > 1 && request.variants.length > 2);
      for (const { runs } of schedule(request)) {
        const variants = runs.map(({ variant }) => variant);
        expect(variants.length % (2 * request.variants.length)).toBe(0);
        expect(runs[0]?.pair).toSatisfy((pair: number) => pair % 2 === 1);
      }
    }),
  );
});

test('of four variants each of the 24 orders is about equally frequent', () => {
  const variants = ['base', 'diff 1', 'diff 2', 'patched'];
  const request = { cells: allCells.slice(0, 1), variants, runsPerTrial: 8, seed: 1 };
  const orders = schedule({ ...request, runsPerVariant: 4800 }).map(({ runs }) =>
    runs
      .slice(0, 4)
      .map(({ variant }) => variant)
      .join(),
  );
  const counts = [...Map.groupBy(orders, (order) => order).values()].map(({ length }) => length);
  expect(counts).toHaveLength(24);
  // Each is 100 ± 9.8; fair draws exceed five deviations once in 70,000 times.
  for (const count of counts) expect(Math.abs(count - 100)).toBeLessThan(49);
});

test('no trial holds more runs than fit, except for the fewest pairs that would not fit at all', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { length: count } = request.variants;
      const fewest = request.runsPerTrial > 1 && count > 2 ? 2 * count : count;
      const most = Math.max(request.runsPerTrial, fewest);
      for (const { runs } of schedule(request)) expect(runs.length).toBeLessThanOrEqual(most);
    }),
  );
});
