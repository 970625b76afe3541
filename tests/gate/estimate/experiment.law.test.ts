// Estimates an experiment's duration: runs left times the seconds of a run, and of the boots that they need.
import { describe, expect, test } from 'vitest';
import { simulate } from '../../../bench/simulated-gates.ts';
import type { Design } from '../../../src/analysis/stats/design.ts';
import {
  type ExperimentOutline,
  estimateExperiment,
  estimateRuns,
  experimentEstimateLine,
} from '../../../src/gate/estimate/experiment.ts';
import { cellsOf, planCells, policyOf } from '../../../src/gate/experiment/plan.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aConfig, singleRuns } from '../../fakes/plan.ts';
import { policy } from '../../fakes/result.ts';

const config = aConfig({ ...singleRuns, families: ['inet4', 'inet6'] });
const durations = { bootSeconds: 180, trialSeconds: 25, buildSeconds: 600, gates: 3 };

const known = (['inet4', 'inet6'] as const).flatMap((family) =>
  [1, 2, 3].map((day) =>
    aHistoryEntry({
      at: `2026-11-0${day}T12:00:00.000Z`,
      cell: { scenario: 'forwarding', family },
    }),
  ),
);

function outlinedOf(changes: Partial<ExperimentOutline> = {}, history = known, of = config): ExperimentOutline {
  const place = { testbed: 'fake', cells: cellsOf(of), variants: 2 };
  return {
    cells: planCells(of, place, history),
    policy: policyOf(of),
    traffic: of.traffic,
    variants: 2,
    durations,
    ...changes,
  };
}

describe('with a boot for each variant', () => {
  test('every boot serves all cells, and the last one brings the base home', () => {
    const { ifUnchanged, cells } = estimateExperiment(outlinedOf());
    const { boots, trials, totalSeconds } = ifUnchanged;
    expect(trials).toBeCloseTo(cells.reduce((sum, { runsIfUnchanged }) => sum + runsIfUnchanged, 0));
    // Noise of half a percent, and a margin of five: the first look mostly decides both.
    expect(boots).toBeLessThan(trials);
    expect(totalSeconds).toBeCloseTo(600 + (boots + 1) * 180 + trials * 25);
  });

  test('there are as many boots as the slowest cell needs, which is more than any single cell on average', () => {
    const noisy = known.map((entry) => ({ ...entry, pps: [8e5, 8.4e5, 7.8e5, 8.2e5, 7.9e5] }));
    const { ifUnchanged, cells } = estimateExperiment(outlinedOf({}, noisy));
    const runs = cells.map(({ runsIfUnchanged }) => runsIfUnchanged);
    expect(ifUnchanged.boots).toBeGreaterThan(Math.max(...runs));
    expect(ifUnchanged.trials).toBeCloseTo((runs[0] ?? 0) + (runs[1] ?? 0));
  });

  test('earlier diffs beside the two take boots of their own', () => {
    const two = estimateExperiment(outlinedOf()).ifUnchanged;
    const three = estimateExperiment(outlinedOf({ variants: 3 })).ifUnchanged;
    expect([three.boots, three.trials]).toEqual([1.5 * two.boots, 1.5 * two.trials]);
  });

  test('a profile of each variant in each cell lasts as long as a trial', () => {
    const secondsWith = (profile: ExperimentOutline['profile']) =>
      estimateExperiment(outlinedOf({ profile })).ifUnchanged.totalSeconds;
    expect(secondsWith({ seconds: 10 }) - secondsWith(undefined)).toBeCloseTo(4 * 25);
  });

  test('unknown noise is assumed, with a note, and instructions are assumed to be less noisy', () => {
    const outlined = outlinedOf({}, []);
    const estimate = estimateExperiment(outlined);
    expect(estimate.cells).toMatchObject([{ basis: 'assumed', noiseRatio: 0.01 }, {}]);
    expect(experimentEstimateLine(estimate, outlined)).toMatch(/, assuming that runs vary by 1 %$/);
    const policy = { ...outlined.policy, metric: 'instructionsPerPacket' } as const;
    expect(estimateExperiment({ ...outlined, policy }).cells[0]).toMatchObject({ noiseRatio: 0.002 });
  });
});

test('guests boot once for all cells of a pair', () => {
  const traffic = { ...aConfig().traffic, runsPerTrial: 2, windows: { count: 8, packets: 10_000 } };
  const gate = { ...config.gate, metric: 'instructionsPerPacket' } as const;
  const of = aConfig({ families: ['inet4', 'inet6'], traffic, gate });
  const { boots, trials } = estimateExperiment(outlinedOf({}, [], of)).ifUnchanged;
  expect(boots).toBeLessThan(trials);
});

test('trials that variants share need no boots, and the estimate covers only the first interim analysis', () => {
  const outlined = outlinedOf({ durations: { ...durations, bootSeconds: 0 } }, [], aConfig());
  const estimate = estimateExperiment(outlined);
  expect(estimate.ifUnchanged.boots).toBe(0);
  expect(estimate.ifLost).toEqual(estimate.ifUnchanged);
  expect(estimate.cells).toMatchObject([{ basis: 'least', maxRuns: 96 }]);
  expect(experimentEstimateLine(estimate, outlined)).toMatch(/^at least /);
});

test('one line shows both ends, and their basis', () => {
  const outlined = outlinedOf();
  expect(experimentEstimateLine(estimateExperiment(outlined), outlined)).toMatch(
    /^about \d+ min if nothing is lost \(\d+ boots and \d+ trials\), \d+ min if 5 % is; from the last 3 gates here$/,
  );
});

describe('the runs of a cell', () => {
  const design: Design = { name: 'group-sequential', budgets: [20], pairsPerStep: 1, method: 'pooled' };
  const about = { marginRatio: 0.02, effect: 0, historyRuns: 12, experiments: 2000, seed: 7 };
  const rates = { falseAlarms: policy.falseAlarmRatio, misses: policy.missRatio };
  const rule = { ...policy, marginRatio: about.marginRatio };
  const runsAt = (cv: number, cells: number) => {
    const history = { runs: 12, typical: 8e5, typicalRuns: 12, sumOfSquares: 11 * cv ** 2, degreesOfFreedom: 11 };
    return estimateRuns({ design, history }, rule, cells);
  };

  test.for([
    [0.005, 6],
    [0.01, 1],
    [0.04, 1],
  ] as const)('are those of simulated experiments, to a tenth: noise of %d, %d cells', ([cv, cells]) => {
    const { runsIfUnchanged, runsIfLost } = runsAt(cv, cells);
    const simulated = (effect: number) =>
      simulate({ ...about, noise: { kind: 'normal', cv }, design, rates, cells, effect }).meanRuns;
    for (const [estimated, mean] of [
      [runsIfUnchanged, simulated(0)],
      [runsIfLost, simulated(-about.marginRatio)],
    ] as const) {
      expect(estimated).toBeGreaterThan(0.9 * mean);
      expect(estimated).toBeLessThan(1.1 * mean);
    }
  });

  test('find the reachable margin with the requested power', () => {
    const { reachableMarginRatio: reach = 0 } = runsAt(0.03, 1);
    expect(reach).toBeGreaterThan(about.marginRatio);
    const noise = { kind: 'normal', cv: 0.03 } as const;
    const lost = { ...about, marginRatio: reach, effect: -reach, experiments: 1000 };
    expect(simulate({ ...lost, noise, design, rates, cells: 1 }).regression).toBeGreaterThan(0.95);
  });
});
