// Parses the windows of a trial on virtual machines, which windows.sh writes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readVirtualLogs, silentIn, withDrops } from '../../../src/lab/qemu/trial-logs.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import { runSchema } from '../../../src/model/result.ts';
import { forwarding } from '../../fakes/result.ts';

const startedAt = '2026-11-20T12:00:00.000Z';
const packets = 1000;

const trialOf = (runs: PlannedTrial['runs']): PlannedTrial => ({ number: 3, cell: forwarding, runs });
const onePair = trialOf([
  { number: 5, pair: 1, variant: 'patched' },
  { number: 6, pair: 1, variant: 'base' },
]);

/** Activity of a guest in one window; instructions are absent if they are not counted. */
type Seen = Record<'guest' | 'seconds' | 'forwarded' | 'ran' | 'waited', number> & {
  instructions?: number | undefined;
};

/** A usual window with these changes. */
const seen = (changes: Partial<Seen> = {}): Seen => ({
  guest: 1,
  seconds: 0.5,
  forwarded: packets,
  instructions: 8e6,
  ran: 400_000_000,
  waited: 1_000_000,
  ...changes,
});

/** Counters have been counting before. */
const before = { time: 1795375220.5, received: 4096, instructions: 512e6, ran: 9e9, waited: 3e6 };

function line({ guest, seconds, forwarded, instructions, ran, waited }: Seen): string {
  const counted = instructions === undefined ? ['-', '-'] : [before.instructions, before.instructions + instructions];
  const first = [before.time.toFixed(6), before.received, counted[0], before.ran, before.waited];
  const last = [
    (before.time + seconds).toFixed(6),
    ...[before.received + forwarded, counted[1], before.ran + ran, before.waited + waited],
  ];
  return ['window', guest, ...first, ...last].join(' ');
}

const logOf = (...lines: readonly (Seen | string)[]): string =>
  [...lines.map((one) => (typeof one === 'string' ? one : line(one))), 'end', ''].join('\n');

const read = (log: string, planned = onePair) => readVirtualLogs(planned, startedAt, packets, new Map([[1, log]]));

function runsOf(log: string, planned = onePair) {
  const outcome = read(log, planned);
  if (outcome.kind !== 'measured') return expect.fail(JSON.stringify(outcome));
  return outcome.runs;
}

/** The run of a trial with one guest. */
const runOf = (...lines: readonly (Seen | string)[]) =>
  runsOf(logOf(...lines), trialOf([{ number: 5, pair: 1, variant: 'base' }]))[0];

test('The cause of drops of a silent guest is kept in the log, and read again.', () => {
  const silent = logOf(seen({ forwarded: 0 }), seen({ forwarded: 0 }));
  const log = withDrops(silent, new Map([[1, 'the rule "$& drop"\nof pf']]));
  const planned = trialOf([{ number: 5, pair: 1, variant: 'base' }]);
  expect(runsOf(log, planned)).toMatchObject([{ pps: 0, droppedBy: 'the rule "$& drop" of pf' }]);
  expect(runsOf(silent, planned)[0]).not.toHaveProperty('droppedBy');
});

describe('a run', () => {
  test('is the median of its windows without the first, which is slower', () => {
    const run = runOf(
      seen({ seconds: 4, instructions: 90e6, ran: 3_900_000_000 }),
      seen({ seconds: 0.5, instructions: 8.2e6, ran: 480_000_000 }),
      seen({ seconds: 0.25, instructions: 8e6, ran: 240_000_000 }),
      seen({ seconds: 1, instructions: 8.1e6, ran: 960_000_000 }),
    );
    expect(run).toMatchObject({
      number: 5,
      trial: 3,
      pair: 1,
      variant: 'base',
      validity: { kind: 'valid' },
      pps: 2000,
      instructionsPerPacket: 8100,
      nsPerPacket: 480_000,
    });
  });
});

describe('a guest', () => {
  test('that received no packets from its first window on counts with 0 packets per second', () => {
    const run = runOf(seen({ forwarded: 0, seconds: 30 }), 'stuck 1');
    expect(run).toMatchObject({ pps: 0, validity: { kind: 'valid' } });
    expect(run).not.toHaveProperty('nsPerPacket');
    expect(run).not.toHaveProperty('instructionsPerPacket');
  });

  test.for([
    ['got stuck later', [seen(), seen(), seen({ forwarded: 0 }), 'stuck 1'], /no more packets/],
    ['got stuck amidst its first window', [seen({ forwarded: 9 }), 'stuck 1'], /no more packets/],
    [
      'let nothing through in one window of three',
      [seen(), seen(), seen({ forwarded: 0 }), seen()],
      /in 1 of 3 windows$/,
    ],
  ] as const)('that %s has a hole, and does not count', ([, lines, reason]) => {
    expect(runOf(...lines)?.validity).toEqual({
      kind: 'invalid',
      cause: 'hole',
      reason: expect.stringMatching(reason),
    });
  });

  test('that is stuck may be dead, even if it forwarded before, and does not affect the others', () => {
    const log = logOf(...[seen({ forwarded: 1 }), 'stuck 1'], ...[seen({ guest: 2 }), seen({ guest: 2 })]);
    expect(silentIn(log, packets)).toEqual(new Set([1]));
    expect(runsOf(log).map(({ validity }) => validity.kind)).toEqual(['invalid', 'valid']);
  });
});

describe('a trial', () => {
  const twoPairs = trialOf([
    { number: 1, pair: 7, variant: 'base' },
    { number: 2, pair: 7, variant: 'patched' },
    { number: 3, pair: 8, variant: 'patched' },
    { number: 4, pair: 8, variant: 'base' },
  ]);

  const pairLog = (seconds: number) => logOf(...[1, 2, 2, 1].map((guest) => seen({ guest, seconds: seconds * guest })));

  test('of several pairs has a log of each, whose guests are counted from 1', () => {
    const logs = new Map([8, 7].map((pair) => [pair, pairLog(pair === 8 ? 0.5 : 2)]));
    const outcome = readVirtualLogs(twoPairs, startedAt, packets, logs);
    const rates = [500, 250, 2000, 1000];
    expect(outcome).toMatchObject({ runs: twoPairs.runs.map((run, index) => ({ ...run, pps: rates[index] })) });
  });

  test('without the log of a pair has failed', () => {
    const outcome = readVirtualLogs(twoPairs, startedAt, packets, new Map([[7, pairLog(1)]]));
    expect(outcome).toEqual({ kind: 'failed', reason: 'pair 8 was not measured' });
  });
});

describe('a log', () => {
  const whole = line(seen());
  const count = (index: number, text: string) => {
    const words = whole.split(' ');
    words[index] = text;
    return words.join(' ');
  };

  test.for([
    ['cut', whole.slice(0, whole.lastIndexOf(' '))],
    ['of a guest and nothing else', 'window 1'],
    ['with a number too many', `${whole} 1`],
    ['in which no time went by', line(seen({ seconds: 0 }))],
    ['in which time went back', line(seen({ seconds: -1 }))],
    ['with fewer packets than before', line(seen({ forwarded: -1 }))],
    ['with fewer instructions than before', line(seen({ instructions: -1 }))],
    ['whose CPU ran for less than no time', line(seen({ ran: -1 }))],
    ['whose CPU waited for less than no time', line(seen({ waited: -1 }))],
    ['with a word for its time', count(7, 'now')],
    ['with a word for its packets', count(8, 'many')],
    ['whose instructions are counted no more', count(9, '-')],
    ['with a word for the time that its CPU ran', count(5, 'NaN')],
    ['with a word for the time that its CPU waited', count(11, '0x')],
    ['endless', `window 1 ${'9'.repeat(100_000)}`],
  ] as const)('is refused for a window that is %s', ([, broken]) => {
    const reason = `a window cannot be read: "${broken.slice(0, 200)}"`;
    expect(read(logOf(seen(), broken))).toEqual({ kind: 'failed', reason });
  });

  test('that is cut anywhere is refused', () => {
    const log = logOf(seen(), seen({ guest: 2 }), seen({ guest: 2 }), 'stuck 2', seen());
    expect(read(log)).toMatchObject({ kind: 'measured' });
    fc.assert(
      fc.property(fc.nat(log.trimEnd().length - 1), (length) => {
        expect(read(log.slice(0, length))).toEqual({
          kind: 'failed',
          reason: 'the windows ended too early',
        });
      }),
    );
  });
});

const anySeen = fc.record({
  guest: fc.constantFrom(1, 2),
  // The clock has microseconds.
  seconds: fc.integer({ min: 1, max: 30_000_000 }).map((us) => us / 1e6),
  forwarded: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: packets })),
  instructions: fc.integer({ min: 1, max: 1e12 }),
  ran: fc.integer({ min: 1, max: 30e9 }),
  waited: fc.nat(30e9),
});
const anyWindows = fc.tuple(fc.array(anySeen, { maxLength: 20 }), fc.boolean()).map(([windows, isCounted]): Seen[] =>
  // All guests are of one kind.
  windows.map((one) => (isCounted ? one : { ...one, instructions: undefined })),
);
const anyStuck = fc.subarray(['stuck 1', 'stuck 2']);

const countedOf = (windows: readonly Seen[], guest: number, stuck: readonly string[]) => {
  const own = windows.filter((one) => one.guest === guest);
  return (stuck.includes(`stuck ${guest}`) ? own : own.slice(1)).filter(({ forwarded }) => forwarded > 0);
};

test('the cost of a packet is between the least and the greatest of the counted windows', () => {
  fc.assert(
    fc.property(anyWindows, anyStuck, (windows, stuck) => {
      for (const [index, run] of runsOf(logOf(...windows, ...stuck)).entries()) {
        const counted = countedOf(windows, index + 1, stuck);
        const costs = {
          nsPerPacket: counted.map(({ ran, forwarded }) => ran / forwarded),
          instructionsPerPacket: counted.flatMap(({ instructions, forwarded }) =>
            instructions === undefined ? [] : instructions / forwarded,
          ),
        };
        for (const metric of ['nsPerPacket', 'instructionsPerPacket'] as const) {
          const cost = run[metric];
          expect(cost !== undefined).toBe(costs[metric].length > 0);
          if (cost === undefined) continue;
          // Nanoseconds are seconds in between.
          expect(cost).toBeGreaterThanOrEqual(Math.min(...costs[metric]) * (1 - 1e-12));
          expect(cost).toBeLessThanOrEqual(Math.max(...costs[metric]) * (1 + 1e-12));
        }
      }
    }),
  );
});

test('the order of the lines of several guests does not matter, as long as each has its own order', () => {
  fc.assert(
    fc.property(anyWindows, anyStuck, (windows, stuck) => {
      const apart = windows.toSorted((a, b) => a.guest - b.guest);
      const runs = runsOf(logOf(...windows, ...stuck));
      expect(runsOf(logOf(...stuck, ...apart))).toEqual(runs);
      // Each is one that a result may have.
      for (const run of runs) runSchema.parse({ ...run, attempt: 1 });
    }),
  );
});
