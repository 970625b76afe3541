import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sum, sumNthPowerDeviations } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import {
  baseNumbers,
  entriesOf,
  type HistoryEntry,
  HistoryError,
  historyEntries,
  historyFile,
  historyOf,
} from '../../../src/gate/experiment/history.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aCell, aResult, aRun, aTrial, forwarding, pairedRuns, unfit } from '../../fakes/result.ts';

const { traffic } = aHistoryEntry();
const query = { testbed: 'fake', cell: forwarding, traffic, metric: 'pps' } as const;
const onDay = (day: number, changes: Partial<HistoryEntry> = {}) =>
  aHistoryEntry({ at: `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`, ...changes });

test('an appended line is read again, and a missing file is empty', async () => {
  const history = historyFile(join(temporaryFolder(), 'not', 'yet', 'history.jsonl'));
  expect(await history.read()).toEqual([]);
  await history.append([onDay(1)]);
  await history.append([onDay(2), onDay(3)]);
  expect(await history.read()).toEqual([onDay(1), onDay(2), onDay(3)]);
});

const line = JSON.stringify(aHistoryEntry());

test.for([
  ['half a line', line.slice(0, 80)],
  ['NaN for a number', line.replace('805000', 'NaN')],
  ['nothing for a number', line.replace('805000', 'null')],
  ['a rate of zero', line.replace('805000', '0')],
  ['a negative rate', line.replace('805000', '-805000')],
  ['what is no JSON', '\0\x01\x02'],
] as const)('a line with %s is refused by its number, and nothing is lost', async ([, bad]) => {
  const path = join(temporaryFolder(), 'history.jsonl');
  const text = `${line}\n${bad}\n${line}\n`;
  writeFileSync(path, text);
  const read = historyFile(path).read();
  await expect(read).rejects.toThrow(HistoryError);
  await expect(read).rejects.toThrow(`${path}:2 is not a valid line of a history: remove it, or name another file.`);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('A history that any user may write is refused.', async () => {
  const path = join(temporaryFolder(), 'history.jsonl');
  writeFileSync(path, '');
  chmodSync(path, 0o666);
  await expect(historyFile(path).read()).rejects.toThrow(
    new HistoryError(
      `The history ${path} is refused: ${path} has the mode 666, so any user may write to it: check its content, and run 'chmod o-w ${path}', or remove it.`,
    ),
  );
});

test('a cell’s history is of the same cell and traffic on the same testbed', () => {
  const strangers = [
    onDay(1, { testbed: 'another' }),
    onDay(2, { cell: { scenario: 'forwarding', family: 'inet6' } }),
    onDay(3, { traffic: { ...traffic, flows: 1 } }),
    onDay(4, { traffic: { ...traffic, offeredPps: 1e6 } }),
    onDay(5, { traffic: { ...traffic, packets: { protocol: 'tcp' } } }),
    onDay(5, { pps: [] }),
  ];
  expect(historyOf(strangers, query)).toBeUndefined();
  expect(historyOf([...strangers, onDay(6)], query)?.runs).toBe(5);
});

test('lines of a testbed of another kind by that name are left out, and lines without a kind count for every kind', () => {
  const [unknown, linux, freebsd] = [
    onDay(1),
    onDay(2, { kind: 'virtual-linux' }),
    onDay(3, { kind: 'virtual-freebsd' }),
  ];
  const of = (kind: HistoryEntry['kind']) => entriesOf([unknown, linux, freebsd], { testbed: 'fake', kind });
  expect(of('virtual-linux')).toEqual([unknown, linux]);
  expect(of('virtual-freebsd')).toEqual([unknown, freebsd]);
  expect(of('linux')).toEqual([unknown]);
  expect(of(undefined)).toEqual([unknown, linux, freebsd]);
});

const patchedPps = (pps: number[]): HistoryEntry['patched'] => ({
  pps,
  nsPerPacket: [],
  instructionsPerPacket: [],
});

const squaresOf = (groups: number[][]) => sum(groups.map((values) => sumNthPowerDeviations(values.map(Math.log), 2)));

test('noise is the spread of base and of patched, each around its own mean', () => {
  const entry = onDay(1, { pps: [100, 101], patched: patchedPps([50, 51, 52]) });
  const { sumOfSquares, ...history } = historyOf([entry], query) ?? expect.fail('It tells.');
  expect(history).toMatchObject({ runs: 2, typicalRuns: 2, degreesOfFreedom: 1 + 2 });
  expect(sumOfSquares).toBeCloseTo(
    squaresOf([
      [100, 101],
      [50, 51, 52],
    ]),
    12,
  );
});

test('the level of base does not depend on patched', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1e7 })), (pps) => {
      const [without, measured] = [undefined, patchedPps(pps)].map((patched) =>
        historyOf([onDay(1, patched && { patched })], query),
      );
      const { runs, typical, typicalRuns } = without ?? expect.fail('It tells.');
      expect(measured).toMatchObject({ runs, typical, typicalRuns });
    }),
  );
});

test('the typical value covers runs since the base last changed', () => {
  const entries = [
    onDay(1, { pps: [100, 100, 100] }),
    onDay(2, { pps: [200, 200], moved: true }),
    onDay(3, { pps: [200, 200] }),
  ];
  const history = historyOf(entries, query);
  expect(history).toMatchObject({ runs: 7, typicalRuns: 4 });
  expect(history?.typical).toBeCloseTo(200, 9);
});

test('means of sessions deviate from their own level, and those since base last moved are counted', () => {
  const day = (number: number, pps: number, moved = false) => onDay(number, { pps: [pps, pps], moved });
  const entries = [day(1, 100), day(2, 101), day(3, 200, true), day(4, 202), day(5, 204)];
  const means = historyOf(entries, query)?.sessionMeans;
  expect(means).toMatchObject({ sinceMove: 3, degreesOfFreedom: 1 + 2 });
  expect(means?.sumOfSquares).toBeCloseTo(
    squaresOf([
      [100, 101],
      [200, 202, 204],
    ]),
    12,
  );
});

test('noise is that of the latest sessions with 24 degrees of freedom, and the level that of the latest thirty', () => {
  const entries = Array.from({ length: 40 }, (_, day) => onDay(day + 1, { pps: new Array(5).fill(day + 1) }));
  const history = historyOf(entries.toReversed(), query);
  expect(history).toMatchObject({ runs: 30, degreesOfFreedom: 24, typicalRuns: 150 });
});

test('reads no more sessions than 24 degrees of freedom take, nor fewer', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 28 });
  fc.assert(
    fc.property(counts, (lengths) => {
      const entries = lengths.map((length, day) =>
        onDay(day + 1, { pps: Array.from({ length }, (_, run) => 100 + run) }),
      );
      const { degreesOfFreedom = 0 } = historyOf(entries, query) ?? {};
      const all = sum(lengths.map((length) => length - 1));
      expect(degreesOfFreedom).toBeGreaterThanOrEqual(Math.min(24, all));
      // The oldest session adds at most eight.
      expect(degreesOfFreedom).toBeLessThan(24 + 8);
    }),
  );
});

describe('the variation between sessions of a testbed', () => {
  const families = ['inet4', 'inet6'] as const;
  const sessions = (count: number, spreadOf: (day: number) => number) =>
    families.flatMap((family) =>
      Array.from({ length: count }, (_, day) => {
        const spread = spreadOf(day);
        const pps = [-2, -1, 0, 1, 2].map((step) => 1e6 * Math.exp(step * spread));
        return onDay(day + 1, { cell: { scenario: 'forwarding', family }, pps });
      }),
    );
  const degreesOfFreedom = (entries: readonly HistoryEntry[]) => historyOf(entries, query)?.sessionDegreesOfFreedom;
  const calm = () => 0.001;
  const erratic = (day: number) => (day % 2 === 0 ? 0.0005 : 0.02);

  test('is unknown before ten sessions, of all cells together', () => {
    expect(historyOf(sessions(4, calm), query)).not.toHaveProperty('sessionDegreesOfFreedom');
    expect(degreesOfFreedom(sessions(5, calm))).toBeGreaterThan(0);
  });

  test('gives many degrees of freedom where they are alike, and few where they are not', () => {
    expect(degreesOfFreedom(sessions(20, calm))).toBe(16);
    expect(degreesOfFreedom(sessions(20, erratic))).toBeLessThan(2);
  });

  test('is not the difference between cells, testbeds, kinds of traffic and numbers of layouts', () => {
    const alike = sessions(20, calm);
    const others = sessions(20, () => 0.02);
    const strangers: Partial<HistoryEntry>[] = [
      { testbed: 'another' },
      { cell: { scenario: 'nftables-stateless', family: 'inet4' } },
      { traffic: { ...traffic, flows: 1 } },
      { layouts: 8 },
    ];
    for (const changes of strangers) {
      const both = [...alike, ...others.map((entry) => ({ ...entry, ...changes }))];
      expect(degreesOfFreedom(both)).toBe(16);
    }
  });
});

test('of an experiment that wrote twice, such as an extended one, the last line counts', () => {
  const history = historyOf([onDay(1, { pps: [1, 2] }), onDay(1, { pps: [1, 2, 3] })], query);
  expect(history?.runs).toBe(3);
});

test('a trial gives one number, the median of its runs of base that count', () => {
  const runs = [
    ...pairedRuns([100, 300, 200], [1, 1, 1]),
    aRun({ trial: 2, pps: 500 }),
    aRun({ trial: 2, pps: 900, validity: unfit('a hole') }),
    aRun({ trial: 3, pps: 0 }),
  ];
  expect(baseNumbers(runs, 'pps')).toEqual([200, 500]);
});

test('a result adds a line for each cell that has numbers of base', () => {
  const measured = { ...aCell({ kind: 'regression' }), runs: pairedRuns([8e5], [7e5]) };
  const empty = aCell({ kind: 'invalid', reason: 'no traffic' });
  const result = aResult({
    outcome: { kind: 'judged', verdict: 'regression', cells: [measured, empty] },
  });
  expect(historyEntries(result)).toEqual([
    {
      at: '2026-11-20T12:00:00.000Z',
      testbed: 'shelf-3',
      cell: forwarding,
      traffic,
      commit: 'a'.repeat(40),
      pps: [8e5],
      nsPerPacket: [],
      instructionsPerPacket: [],
      patched: { pps: [7e5], nsPerPacket: [], instructionsPerPacket: [] },
      moved: false,
      gate: {
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        head: 'b'.repeat(40),
        metric: 'pps',
        marginRatio: 0.02,
        missRatio: 0.05,
        isRegression: true,
      },
    },
  ]);
});

test('a line has the duration of a gate, and is read with and without one', async () => {
  const cells = [{ ...aCell({ kind: 'no-regression' }), runs: [aRun({}), aRun({ trial: 2 })] }];
  const trials = [1, 2].map((number) => aTrial({ number, startedAt: `2026-11-20T12:0${number}:00.000Z` }));
  const outcome = { kind: 'judged', verdict: 'no-regression', cells } as const;
  const lines = historyEntries(aResult({ outcome, trials }));
  expect(lines).toMatchObject([{ durations: { trialSeconds: 60 } }]);
  const history = historyFile(join(temporaryFolder(), 'history.jsonl'));
  await history.append([...lines, onDay(1)]);
  expect(await history.read()).toEqual([...lines, onDay(1)]);
});
