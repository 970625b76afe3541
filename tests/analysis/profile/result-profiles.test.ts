import { expect, test } from 'vitest';
import type { Profile } from '../../../src/analysis/profile/profile.ts';
import { withReasons } from '../../../src/analysis/profile/result-profiles.ts';
import type { CellProfile, CellResult, ChangedFunction, Comparison } from '../../../src/model/result.ts';
import { aCell, aResult } from '../../fakes/result.ts';

const profileOf = (samples: Record<string, number>): Profile => ({
  format: 'perf',
  stacks: Object.entries(samples).map(([name, count]) => ({ frames: [{ name }], samples: count })),
});
const base = profileOf({ ip_forward: 3_000, nft_do_chain: 1_000 });
const patched = profileOf({ ip_forward: 3_000, nft_do_chain: 2_000 });

const comparisonOf = (metric: Comparison['metric'], base: number): Comparison => ({
  metric,
  base,
  patched: base * 1.25,
  baseRuns: 8,
  patchedRuns: 8,
  interval: { change: 0.25, low: 0.24, high: 0.26 },
});
const byInstructions = comparisonOf('instructionsPerPacket', 8_000);
const byTime = comparisonOf('nsPerPacket', 1_000);

/** Returns the function that became more expensive, if profiles were sampled by that event. */
function changedFunctionOf(event: string, comparisons: Comparison[]): ChangedFunction | undefined {
  const taken = (variant: string): CellProfile => ({
    kind: 'profiled',
    variant,
    event,
    kernel: 'Linux 6.18',
    file: `profiles/${variant}`,
    seconds: 2,
    busySamples: 4_000,
    idleSamples: 0,
  });
  const cell: CellResult = {
    ...aCell({ kind: 'regression' }),
    comparisons,
    profiles: [taken('base'), taken('patched')],
  };
  const result = aResult({ outcome: { kind: 'judged', verdict: 'regression', cells: [cell] } });
  const variants = [
    { variant: 'base', profile: base, idleFrames: [] },
    { variant: 'patched', profile: patched, idleFrames: [] },
  ];
  const { outcome } = withReasons(result, [{ cell: cell.cell, variants }]);
  return outcome.kind === 'judged' ? outcome.cells[0]?.reason?.changedFunctions[0] : undefined;
}

test('reports samples by instructions as instructions of a packet, if these were counted', () => {
  const changedFunction = changedFunctionOf('instructions', [byInstructions, byTime]);
  expect(changedFunction?.function).toBe('nft_do_chain');
  expect(changedFunction?.instructionsPerPacket?.base).toBeCloseTo(2_000, 6);
  expect(changedFunction?.instructionsPerPacket?.patched).toBeCloseTo(4_000, 6);
  expect(changedFunction).not.toHaveProperty('nsPerPacket');
});

test.for([
  ['by time', 'cpu-clock', [byInstructions, byTime]],
  ['of a cell whose instructions were not counted', 'instructions', [byTime]],
] as const)('samples %s are reported as time per packet', ([, event, comparisons]) => {
  const changedFunction = changedFunctionOf(event, [...comparisons]);
  expect(changedFunction?.nsPerPacket?.base).toBeCloseTo(250, 6);
  expect(changedFunction?.nsPerPacket?.patched).toBeCloseTo(500, 6);
  expect(changedFunction).not.toHaveProperty('instructionsPerPacket');
});
