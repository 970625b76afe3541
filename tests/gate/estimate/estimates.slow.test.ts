// Estimates of gates compared with their durations, in the virtual time of a laboratory.
import { describe, expect, test } from 'vitest';
import { type LabTimeRequest, labTime } from '../../../bench/lab-time.ts';
import type { Durations } from '../../../src/gate/estimate/durations.ts';
import { estimateExperiment, RemainingTime } from '../../../src/gate/estimate/experiment.ts';
import { aConfig, aPlan, gateConfig } from '../../fakes/plan.ts';

/** Durations of this laboratory, as an earlier gate reports them. */
const durations: Durations = {
  bootSeconds: 190,
  trialSeconds: 16,
  buildSeconds: 0,
};

const all = ['forwarding', 'pf-stateless', 'pf-stateful', 'ipfw-stateless', 'ipfw-stateful'] as const;

type Moment = { at: number; expectedSeconds: number; maxSeconds: number };

/** Returns the expected total, the rest after the first round and in the middle, and the actual times. */
async function estimatesOf(request: Omit<LabTimeRequest, 'seed'>) {
  let remaining: RemainingTime | undefined;
  let planned: { seconds: number; at: number } | undefined;
  const moments: Moment[] = [];
  const time = await labTime({
    seed: 1,
    ...request,
    onEvent(event, now) {
      remaining ??= new RemainingTime();
      remaining.onEvent(event, now);
      if (event.kind === 'planned') {
        const { ifUnchanged, ifLost } = estimateExperiment({ ...event.plan, variants: event.plan.variants.length });
        const course = request.change < 0 ? ifLost : ifUnchanged;
        planned = { seconds: course.totalSeconds, at: now };
      }
      if (event.kind !== 'trial') return;
      const left = remaining.left(event);
      if (left?.expectedSeconds === undefined) return;
      moments.push({
        at: now,
        expectedSeconds: left.expectedSeconds,
        maxSeconds: left.maxSeconds,
      });
    },
  });
  if (planned === undefined) throw new Error('Nothing was estimated.');
  const end = time.whole.to;
  const first = moments[0];
  const middle = moments[Math.floor(moments.length / 2)];
  const rowOf = (moment: Moment | undefined) =>
    moment && {
      expected: moment.expectedSeconds / 60,
      most: moment.maxSeconds / 60,
      lasted: (end - moment.at) / 60,
    };
  return {
    total: { expected: planned.seconds / 60, lasted: (end - planned.at) / 60 },
    first: rowOf(first),
    middle: rowOf(middle),
  };
}

const two = ['forwarding', 'pf-stateful'] as const;
const usual = { scenarios: two, change: 0, hasHistory: true, durations };

const gates: Readonly<Record<string, Omit<LabTimeRequest, 'seed'>>> = {
  'one cell, the first here': { ...usual, scenarios: ['forwarding'], hasHistory: false },
  'five cells': { ...usual, scenarios: all },
  'two cells with profiles': { ...usual, hasProfiles: true },
  'two cells, patched is slower': { ...usual, change: -0.1 },
  'two cells, kernels are built': {
    ...usual,
    build: { base: 300, patched: 200 },
    durations: { ...durations, buildSeconds: 400 },
  },
  'two cells with a panic under load': { ...usual, faults: [{ kind: 'panic-under-load', at: 3 }] },
};

/**
 * Another look costs a boot of each variant; without a history the noise is a guess. Accidents are not foreseen: a panic
 * with its dump, or a profile without samples, which was tried 18 times then.
 */
const factors = { known: 2.1, guessed: 6, accidents: 2.3 };

type Row = { expected: number; lasted: number };

const isWithin = ({ expected, lasted }: Row, factor: number): boolean =>
  expected > lasted / factor && expected < lasted * factor;

describe('the estimate of a gate', () => {
  test.each(Object.entries(gates))(
    'is right by a factor of two, or of six for the first here: %s',
    async (name, request) => {
      const { total, first, middle } = await estimatesOf(request);
      const factor = request.hasHistory ? factors.known : factors.guessed;
      const rows = Object.entries({ total, first, middle }).flatMap(([when, row]) =>
        row === undefined ? [] : { name, when, ...row, isRight: isWithin(row, factor) },
      );
      expect(rows.length).toBeGreaterThanOrEqual(2);
      expect(rows.filter(({ isRight }) => !isRight)).toEqual([]);
      // The maximum exceeds the actual rest.
      for (const row of [first, middle]) expect(row?.most ?? 0).toBeGreaterThan(row?.lasted ?? 0);
    },
  );
});

test('guests boot once for all cells of a pair: four cells of FreeBSD lasted 742 s', () => {
  const traffic = { ...aConfig().traffic, runsPerTrial: 2, windows: { count: 8, packets: 10_000 } };
  const config = aConfig({
    scenarios: ['forwarding', 'pf-stateful'],
    families: ['inet4', 'inet6'],
    traffic,
    gate: { ...gateConfig, metric: 'instructionsPerPacket' },
  });
  const { variants: _, ...plan } = aPlan(config);
  const durations = { bootSeconds: 190, trialSeconds: 14, buildSeconds: 0, gates: 1 };
  const { ifUnchanged } = estimateExperiment({ ...plan, variants: 2, durations });
  expect(ifUnchanged.boots).toBeLessThanOrEqual(ifUnchanged.trials / 2);
  expect(isWithin({ expected: ifUnchanged.totalSeconds, lasted: 742 }, factors.known)).toBe(true);
});
