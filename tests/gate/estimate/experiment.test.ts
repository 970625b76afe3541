// Estimates an experiment's duration: where its minutes go, and which settings would save some.
import { describe, expect, test } from 'vitest';
import {
  type ExperimentOutline,
  estimateExperiment,
  experimentEstimateLine,
  waysToShorten,
} from '../../../src/gate/estimate/experiment.ts';
import { cellsOf, planCells, policyOf } from '../../../src/gate/experiment/plan.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aConfig, singleRuns } from '../../fakes/plan.ts';

const config = aConfig({ ...singleRuns, families: ['inet4', 'inet6'] });
const durations = {
  bootSeconds: 180,
  trialSeconds: 25,
  trafficSeconds: 15,
  buildSeconds: 600,
  gates: 3,
};

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

const profile = { seconds: 10 };

describe('with a boot for each variant', () => {
  test('every boot serves all cells, and the last one brings the base home', () => {
    const { ifUnchanged, cells } = estimateExperiment(outlinedOf());
    const runs = cells.map(({ runsIfUnchanged }) => runsIfUnchanged);
    const { boots, trials, seconds, totalSeconds } = ifUnchanged;
    expect(trials).toBeCloseTo(runs.reduce((sum, one) => sum + one, 0));
    // Noise of half a percent, and a margin of five: the first look mostly decides both.
    expect(boots).toBeLessThan(trials);
    expect(seconds).toEqual({
      building: 600,
      booting: boots * 180,
      traffic: trials * 15,
      settling: trials * 10,
      profiles: 0,
      givingBack: 180,
    });
    expect(totalSeconds).toBeCloseTo(600 + boots * 180 + trials * 25 + 180);
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

  test('a profile is taken of each variant in each cell', () => {
    const { seconds } = estimateExperiment(outlinedOf({ profile })).ifUnchanged;
    expect(seconds.profiles).toBe(4 * (10 + 10));
  });

  test('unknown noise is assumed, with a note', () => {
    const outlined = outlinedOf({}, []);
    const estimate = estimateExperiment(outlined);
    expect(estimate.cells).toMatchObject([{ basis: 'assumed', noiseRatio: 0.01 }, {}]);
    expect(experimentEstimateLine(estimate, outlined)).toMatch(/, assuming that runs vary by 1 %$/);
  });

  test('instructions are assumed to be less noisy', () => {
    const outlined = outlinedOf({}, []);
    const policy = { ...outlined.policy, metric: 'instructionsPerPacket' } as const;
    const { cells } = estimateExperiment({ ...outlined, policy });
    expect(cells).toMatchObject([{ basis: 'assumed', noiseRatio: 0.002 }, {}]);
  });
});

describe('with trials that variants share', () => {
  const shared = aConfig();

  test('there are no boots, and the estimate covers only the first interim analysis', () => {
    const outlined = outlinedOf({ durations: { ...durations, bootSeconds: 0 } }, [], shared);
    const estimate = estimateExperiment(outlined);
    expect(estimate.ifUnchanged).toMatchObject({
      boots: 0,
      seconds: { booting: 0, givingBack: 0 },
    });
    expect(estimate.ifLost).toEqual(estimate.ifUnchanged);
    expect(estimate.cells).toMatchObject([{ basis: 'least', maxRuns: 96 }]);
    expect(experimentEstimateLine(estimate, outlined)).toMatch(/^at least /);
  });
});

test('one line shows both ends, and their basis', () => {
  const outlined = outlinedOf();
  expect(experimentEstimateLine(estimateExperiment(outlined), outlined)).toMatch(
    /^about \d+ min if nothing is lost \(\d+ boots and \d+ trials\), \d+ min if 5 % is; from the last 3 gates here$/,
  );
});

describe('a suggestion to shorten', () => {
  const ways = (outlined: ExperimentOutline) => waysToShorten(outlined).map(({ how }) => how);

  test('is listed with the time that it saves, the largest first', () => {
    const shorter = waysToShorten(outlinedOf({ profile }));
    const saved = shorter.map(({ savedSeconds }) => savedSeconds);
    expect(saved).toEqual(saved.toSorted((a, b) => b - a));
    const savedBy = Object.fromEntries(
      shorter.map(({ how, savedSeconds }) => [how.split(/:| \w+, the/)[0], savedSeconds]),
    );
    expect(savedBy).toEqual({
      'kernels in the builder cache': 600,
      'no profiles': 4 * 20,
      'forwarding inet4 alone': expect.any(Number),
      'without forwarding': expect.any(Number),
    });
  });

  test('is a history if there is none', () => {
    expect(ways(outlinedOf({}, []))).toContainEqual(expect.stringMatching(/^10 earlier runs of each cell/));
    expect(ways(outlinedOf()).join()).not.toContain('earlier runs');
  });

  test('is a wider margin where runs are many', () => {
    const gate = { ...config.gate, marginRatio: 0.02 };
    expect(ways(outlinedOf({}, [], aConfig({ ...config, gate })))).toContain('a margin of 4 %: --margin 4%');
  });

  test('is not one that saves next to nothing', () => {
    const quick = outlinedOf({ durations: { ...durations, buildSeconds: 5 } });
    expect(ways(quick).join()).not.toContain('kernels');
  });

  test('never lengthens the gate', () => {
    for (const history of [known, []]) {
      for (const { savedSeconds } of waysToShorten(outlinedOf({ profile }, history))) {
        expect(savedSeconds).toBeGreaterThan(0);
      }
    }
  });
});
