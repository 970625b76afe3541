// Durations of the parts of a gate, from the times of its trials and from several gates.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Durations, durationsOf, expectedDurationsOn } from '../../../src/gate/estimate/durations.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aConfig } from '../../fakes/plan.ts';
import { aCell, aRun, aTrial } from '../../fakes/result.ts';
import { times } from '../../random.ts';

const noon = Date.parse('2026-11-20T12:00:00.000Z');
const after = (seconds: number) => new Date(noon + seconds * 1000).toISOString();

type Trial = {
  variant: string;
  pair: number;
  atSeconds: number;
  runs?: number;
  /** Measured by the testbed. */
  bootSeconds?: number;
};

function gateOf(trials: readonly Trial[]) {
  const summaries = trials.map(({ atSeconds, bootSeconds }, index) =>
    aTrial({ number: index + 1, startedAt: after(atSeconds), trafficSeconds: 15, ...(bootSeconds && { bootSeconds }) }),
  );
  const runs = trials.flatMap(({ variant, pair, runs: count = 1 }, index) =>
    Array.from({ length: count }, () => aRun({ trial: index + 1, variant, pair })),
  );
  const cells = [{ ...aCell({ kind: 'no-regression' }), runs }];
  const outcome = { kind: 'judged', verdict: 'no-regression', cells } as const;
  return durationsOf({ trials: summaries, outcome, startedAt: after(0) });
}

type Lab = { boot: number; trial: number; base: number; patched: number };

/** Trials without an accident, the same number in each boot. */
function regularGate({ boot, trial, base, patched }: Lab, perBoot: number, boots: number) {
  const trials: Trial[] = [];
  let now = base;
  for (let at = 0; at < boots; at += 1) {
    now += boot + (at === 1 ? patched : 0);
    for (let cell = 0; cell < perBoot; cell += 1) {
      const variant = at % 2 === 0 ? 'base' : 'patched';
      trials.push({ variant, pair: 1 + Math.floor(at / 2), atSeconds: now });
      now += trial;
    }
  }
  return gateOf(trials);
}

describe('one gate', () => {
  const lab = { boot: 180, trial: 25, base: 60, patched: 30 };

  test('counts to the boot what is not traffic where a boot has one trial', () => {
    expect(regularGate(lab, 1, 6)).toMatchObject({ bootSeconds: 190, trialSeconds: 15 });
  });

  test('has no boots where variants share their trials', () => {
    const trials = [10, 30, 50].map((atSeconds) => ({
      variant: 'base',
      pair: 1,
      atSeconds,
      runs: 4,
    }));
    expect(gateOf(trials)).toEqual({
      bootSeconds: 0,
      trialSeconds: 20,
      buildSeconds: 10,
    });
  });

  test('has the boot of guests that a testbed has measured, also where they boot once.', () => {
    const [first, second] = [100, 120].map((atSeconds) => ({
      variant: 'base',
      pair: 1,
      atSeconds,
      runs: 2,
    }));
    if (first === undefined || second === undefined) throw new TypeError('There are two.');
    expect(gateOf([{ ...first, bootSeconds: 70 }, second])).toEqual({
      bootSeconds: 70,
      trialSeconds: 20,
      buildSeconds: 30,
    });
  });

  test('yields nothing for one trial, or none', () => {
    expect(gateOf([{ variant: 'base', pair: 1, atSeconds: 10 }])).toBeUndefined();
    expect(gateOf([])).toBeUndefined();
  });

  test('yields the durations of the lab, none of them negative', () => {
    const seconds = (most: number) => fc.integer({ min: 0, max: most });
    const anyLab = fc.record({
      boot: seconds(900),
      trial: fc.integer({ min: 15, max: 100 }),
      base: seconds(3000),
      patched: seconds(3000),
    });
    fc.assert(
      fc.property(anyLab, fc.integer({ min: 3, max: 6 }), fc.integer({ min: 4, max: 8 }), (lab, perBoot, boots) => {
        expect(regularGate(lab, perBoot, boots)).toEqual({
          bootSeconds: lab.boot,
          trialSeconds: lab.trial,
          buildSeconds: lab.base + lab.patched,
        });
      }),
      { numRuns: times(100) },
    );
  });
});

describe('several gates', () => {
  const durations = (bootSeconds: number): Durations => ({
    bootSeconds,
    trialSeconds: 25,
    buildSeconds: 60,
  });
  const onDay = (day: number, changes: object) =>
    aHistoryEntry({ at: `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`, ...changes });

  test('yield their medians, each gate once, of this testbed and of the ten latest', () => {
    const old = [1, 2, 3, 4, 5, 6].map((day) => onDay(day, { durations: durations(900) }));
    const late = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20].flatMap((day) => [
      onDay(day, { durations: durations(170 + day) }),
      onDay(day, { durations: durations(170 + day) }),
    ]);
    const stranger = onDay(21, { testbed: 'another', durations: durations(5) });
    expect(expectedDurationsOn([...late, ...old, stranger], 'fake', aConfig())).toEqual({
      bootSeconds: 185.5,
      trialSeconds: 25,
      buildSeconds: 60,
      gates: 10,
    });
  });

  test('leave durations that none of them has to the usual values', () => {
    const selfTested = { bootSeconds: 200, trialSeconds: 1 };
    expect(expectedDurationsOn([onDay(1, { durations: selfTested })], 'fake', aConfig())).toEqual({
      ...selfTested,
      buildSeconds: 0,
      gates: 1,
    });
  });

  test('are optional: older lines without them leave all to the usual durations', () => {
    const known = expectedDurationsOn([onDay(1, {})], 'fake', aConfig());
    expect(known).toMatchObject({ gates: 0, bootSeconds: 0, buildSeconds: 0 });
    // Half a second of warm-up, 48 runs of 0.1 s, and the files.
    expect(known.trialSeconds).toBeCloseTo(7.3);
  });
});
