// Small sample configurations and plans.

import { type FreebsdTestbed, freebsdTestbedSchema } from '../../src/config/freebsd-testbed.ts';
import { githubSchema } from '../../src/config/github.ts';
import type { Config } from '../../src/config/schema.ts';
import { trendSchema } from '../../src/config/trend.ts';
import type { HistoryEntry } from '../../src/gate/experiment/history.ts';
import { makePlan, type Plan } from '../../src/gate/experiment/plan.ts';
import type { Overlay } from '../../src/kernel/overlay.ts';
import { pullRequest, revision } from './result.ts';

export const overlays: Overlay[] = [
  { variant: 'base', commit: 'a'.repeat(40), files: [] },
  { variant: 'patched', commit: 'b'.repeat(40), files: [] },
];

export const gateConfig: Config['gate'] = {
  metric: 'pps',
  marginRatio: 0.05,
  confidenceRatio: 0.9,
  falseAlarmRatio: 0.01,
  missRatio: 0.05,
  maxRunsPerVariant: 48,
};

/** Includes two earlier diffs of a revision. */
export const fourOverlays: Overlay[] = [
  ...overlays,
  { variant: 'diff 80345', commit: 'c'.repeat(40), files: [] },
  { variant: 'diff 80654', commit: 'd'.repeat(40), files: [] },
];

/** A cell of at most 48 pairs in two trials, with a test's overrides. */
export const aConfig = (changes: Partial<Config> = {}): Config => ({
  overlay: { path: 'dut', beside: '' },
  testbeds: { fake: { kind: 'embedded-linux' } },
  scenarios: ['forwarding'],
  rules: {},
  families: ['inet4'],
  traffic: {
    flows: 2000,
    frameBytes: 64,
    offeredPps: 3_000_000,
    warmUpSeconds: 0.5,
    settleSeconds: 0.02,
    measureSeconds: 0.08,
    measureAtLeastSeconds: 0.08,
    runsPerTrial: 48,
  },
  gate: gateConfig,
  history: '/nonexistent/history.jsonl',
  reservations: { store: 'sqlite', path: '/nonexistent/reservations.sqlite', leaseSeconds: 30 },
  github: githubSchema.parse({}),
  trend: trendSchema.parse({}),
  ...changes,
});

const port = { interface: 'cxl0', mac: '00:07:43:2e:e5:92', inet4: '198.18.0.110' };

/** A FreeBSD testbed, never connected to, with this builder. */
export const aFreebsdTestbed = (builder: object = { host: 'builder' }): FreebsdTestbed =>
  freebsdTestbedSchema.parse({
    kind: 'freebsd',
    dut: { host: 'dut', ingress: { interface: 'cxl2' }, egress: { interface: 'cxl3' } },
    senders: [{ host: 'tx', ...port }],
    receiver: { host: 'rx', ...port, mac: '00:07:43:2e:e5:9a', inet4: '198.19.0.110' },
    builder,
  });

/** Has one trial per run, as for booted variants; at most 20 of each variant. */
export const singleRuns = {
  traffic: { ...aConfig().traffic, runsPerTrial: 1 },
  gate: { ...gateConfig, maxRunsPerVariant: 20 },
} satisfies Partial<Config>;

export const aPlan = (changes: Partial<Config> = {}, history: readonly HistoryEntry[] = []): Plan =>
  makePlan({ patch: pullRequest, config: aConfig(changes), testbed: 'fake', seed: 6 }, overlays, history);

/** Likewise, for a revision that is measured with two earlier diffs. */
export const aPlanOfFour = (changes: Partial<Config> = {}): Plan =>
  makePlan({ patch: revision, config: aConfig(changes), testbed: 'fake', seed: 6 }, fourOverlays, []);
