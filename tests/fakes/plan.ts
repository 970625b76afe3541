// Small made-up configurations and plans.
import type { Overlay } from '../../src/build/overlay.ts';
import type { Config } from '../../src/config/schema.ts';
import { makePlan, type Plan } from '../../src/experiment/plan.ts';
import { pullRequest } from './result.ts';

export const overlays: Overlay[] = [
  { variant: 'base', commit: 'a'.repeat(40), files: [] },
  { variant: 'patched', commit: 'b'.repeat(40), files: [] },
];

/** One cell, four pairs in two blasts; with what a test wants to be otherwise. */
export const aConfig = (changes: Partial<Config> = {}): Config => ({
  overlay: 'dut',
  testbeds: { fake: { kind: 'embedded-linux' } },
  scenarios: ['forwarding'],
  families: ['inet4'],
  traffic: {
    flows: 2000,
    frameBytes: 64,
    offeredPps: 3_000_000,
    warmUpSeconds: 0.5,
    settleSeconds: 0.02,
    measureSeconds: 0.08,
    runsPerBlast: 4,
  },
  gate: { metric: 'pps', marginRatio: 0.05, confidenceRatio: 0.95, runsPerVariant: 4 },
  ...changes,
});

export const aPlan = (changes: Partial<Config> = {}): Plan =>
  makePlan({ patch: pullRequest, config: aConfig(changes), testbed: 'fake', seed: 3 }, overlays);
