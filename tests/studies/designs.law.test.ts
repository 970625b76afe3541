// Error rates and costs of the designs, on simulated and on measured noise.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import { type NoiseSource, type SimulationRequest, simulate } from '../../bench/simulated-gates.ts';
import { designNames } from '../../src/model/result.ts';
import { describeWith, sharedFolder } from '../needs.ts';

const falseAlarms = 0.01;
const misses = 0.05;

type Setup = Partial<SimulationRequest>;

const withoutHistory = {
  design: { name: 'group-sequential', budgets: [20] },
  historyRuns: 0,
} satisfies Setup;
/** Six sessions of five runs; a prior keeps four degrees of freedom of them. */
const withHistory = { ...withoutHistory, historyRuns: 30 } satisfies Setup;
/** Twelve sessions, which show how far the next one may differ. */
const withSessions = { ...withoutHistory, historyRuns: 60 } satisfies Setup;

const setups: [string, Setup][] = [
  ['with thirty earlier runs', withHistory],
  ['with sixty earlier runs', withSessions],
  ['without a history', withoutHistory],
];

const normal = (cv: number) => ({ kind: 'normal', cv }) as const;

/** A cell of a patch that changes nothing, on a lab that deviates by 1 %. */
const row = (changes: Setup) =>
  simulate({
    ...withHistory,
    noise: normal(0.01),
    rates: { falseAlarms, misses },
    cells: 1,
    marginRatio: 0.02,
    effect: 0,
    experiments: 4000,
    seed: 7,
    ...changes,
  });

/** A limit that a share stays below in so many experiments, except once in 30,000. */
const atMost = (share: number, experiments = 4000): number =>
  share + 4 * Math.sqrt((share * (1 - share)) / experiments);
const atLeast = (share: number, experiments = 4000): number => 1 - atMost(1 - share, experiments);

/** The issue's own figures: builds differ by half a percent, and 2 % matter. */
describe('where builds differ by 0.5 %', () => {
  const patchAlarms = (layouts: number, patches: number, changes: Setup = {}) =>
    row({ ...changes, cells: 12, builds: { cv: 0.005, layouts }, experiments: 12 * patches }).patchRegression;

  test.for(setups)('no more patches are false alarms than allowed with layouts, and many without, %s', ([, setup]) => {
    for (const cv of [0.003, 0.01]) {
      const request = { ...setup, noise: normal(cv) };
      expect(patchAlarms(1, 100, request)).toBeGreaterThan(0.1);
      for (const layouts of [2, 8]) {
        expect(patchAlarms(layouts, 1000, request)).toBeLessThanOrEqual(atMost(falseAlarms, 1000));
      }
    }
  });

  test('a loss of the margin is found the sooner the more layouts there are', () => {
    const power = (layouts: number) =>
      row({ effect: -0.02, builds: { cv: 0.005, layouts }, noise: normal(0.006) }).regression;
    const [few, more, most] = [power(4), power(8), power(20)];
    expect(more).toBeGreaterThan(few ?? 1);
    expect(most).toBeGreaterThan(more ?? 1);
    expect(most).toBeGreaterThan(0.9);
  });
});

describe('a patch that changes nothing', () => {
  const deviations = [0.003, 0.015, 0.1];

  test.for<[string, Setup]>([
    ...setups,
    ['in a fixed number of runs', { ...withoutHistory, design: { name: 'fixed', budgets: [5] } }],
  ])('is called a regression at most as often as allowed, however noisy the lab, %s', ([, setup]) => {
    for (const cv of deviations) {
      const { regression, improvement } = row({ ...setup, noise: normal(cv) });
      expect(regression).toBeLessThan(atMost(falseAlarms));
      expect(improvement).toBeLessThan(atMost(falseAlarms));
    }
  });

  test.for(setups)('is called a regression in any of its twelve cells at most as often as allowed, %s', ([, setup]) => {
    const patches = 1000;
    const request = { ...setup, cells: 12, experiments: 12 * patches, noise: normal(0.02) };
    expect(row(request).patchRegression).toBeLessThan(atMost(falseAlarms, patches));
  });
});

test.for(setups)('extended twice because it was inconclusive, a cell errs no more often, %s', ([, setup]) => {
  const design = { name: 'group-sequential' as const, budgets: [10, 20, 40] };
  for (const cv of [0.01, 0.1]) {
    const extended = { ...setup, design, noise: normal(cv) };
    expect(row(extended).regression).toBeLessThan(atMost(falseAlarms));
    expect(row({ ...extended, effect: -0.02 }).noRegression).toBeLessThan(atMost(misses));
  }
});

describe('where sessions differ in noise', () => {
  test.for([
    [16, 30],
    [4, 30],
    [16, 60],
    [4, 60],
  ] as const)(
    'by %d degrees of freedom, a history of %d runs raises no error rate',
    ([sessionDegreesOfFreedom, historyRuns]) => {
      for (const cv of [0.003, 0.01]) {
        const noise = { ...normal(cv), sessionDegreesOfFreedom };
        const unchanged = row({ historyRuns, noise });
        expect(unchanged.regression).toBeLessThan(atMost(falseAlarms));
        expect(unchanged.improvement).toBeLessThan(atMost(falseAlarms));
        expect(row({ historyRuns, noise, effect: -0.02 }).noRegression).toBeLessThan(atMost(misses));
      }
    },
  );
});

describe('a patch that loses', () => {
  test.for(setups)('the margin rarely passes, and is found where runs deviate by a hundredth, %s', ([, setup]) => {
    for (const cv of [0.003, 0.01, 0.02, 0.1]) {
      const { noRegression, regression } = row({ ...setup, noise: normal(cv), effect: -0.02 });
      expect(noRegression).toBeLessThan(atMost(misses));
      if (cv <= 0.01) expect(regression).toBeGreaterThan(atLeast(0.95));
    }
  });

  test('the margin needs fewer runs the more is known of the noise', () => {
    const runsWith = (setup: Setup) => row({ ...setup, noise: normal(0.005), effect: -0.02 }).meanRuns;
    const [none, some, most] = [withoutHistory, withHistory, withSessions].map(runsWith);
    expect(some).toBeLessThan(none ?? 0);
    expect(most).toBeLessThan(some ?? 0);
    const known = runsWith({ ...withHistory, sessionDegreesOfFreedom: 16 });
    expect(known).toBeLessThan(some ?? 0);
  });

  test('half of its speed is a regression every time, for every design and history', () => {
    for (const name of designNames) {
      for (const historyRuns of [0, 10, 30]) {
        const design = { name, budgets: [20] };
        const request = { design, historyRuns, noise: normal(0.03), effect: -0.5 };
        expect(row({ ...request, experiments: 300 })).toMatchObject({
          regression: 1,
          inconclusive: 0,
        });
      }
    }
  });
});

describeWith(['shared/corpus'], 'on the archive’s cells that deviate by up to 1 %', () => {
  const sets = readSets().filter((set) => sampleStandardDeviation(set) <= 0.01 * mean(set));
  const noise: NoiseSource = { kind: 'sets', cells: sets.map((set) => [set]) };
  const experiments = 8000;

  test.for<[string, Setup, number, number]>([
    ['with thirty earlier runs', withHistory, 5.4, 7],
    ['with sixty earlier runs', withSessions, 5.5, 7],
    ['without a history', withoutHistory, 7, 9.5],
  ])('a cell errs rarely, and soon, %s', ([says, setup, runsAtNothing, runsAtMargin]) => {
    const nothing = row({ ...setup, noise, experiments });
    const margin = row({ ...setup, noise, experiments, effect: -0.02 });
    const half = row({ ...setup, noise, experiments: 1000, effect: -0.5 });
    const runs = `${nothing.meanRuns.toFixed(2)} runs at 0, ${margin.meanRuns.toFixed(2)} at −2 %`;
    console.log(`${says}: false alarms ${nothing.regression}, power ${margin.regression}, ${runs}`);
    expect(nothing.regression).toBeLessThanOrEqual(falseAlarms);
    expect(margin.regression).toBeGreaterThanOrEqual(0.95);
    expect(nothing.meanRuns).toBeLessThanOrEqual(runsAtNothing);
    expect(margin.meanRuns).toBeLessThanOrEqual(runsAtMargin);
    expect(half.regression).toBe(1);
  });
});

function readSets(): number[][] {
  const lines = readFileSync(join(sharedFolder('corpus'), 'noise.jsonl'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    if (line === '') return [];
    const { pps }: { pps: number[] } = JSON.parse(line);
    return [pps];
  });
}
