// Runs bisections of sample ranges, on a testbed that consists of numbers only.
import type { BisectPlan } from '../../src/gate/bisect/bisect-plan.ts';
import type { RangeRevision } from '../../src/gate/bisect/range.ts';
import { type BisectVariants, runBisection } from '../../src/gate/bisect/run-bisection.ts';
import type { JournalEntry } from '../../src/gate/experiment/journal.ts';
import type { Testbed } from '../../src/lab/testbed.ts';
import { aConfig, singleRuns } from './plan.ts';
import { aRun, aTrial, forwarding } from './result.ts';

export const commitAt = (place: number): string => (0x1000 + place).toString(16).repeat(10);

/** Variant of a revision between the ends. */
export const variantAt = (place: number): string => commitAt(place).slice(0, 12);

/** Forms of a revision that can also be built with a fix-up. */
export const withFixUp = (place: number, fixUp: number): RangeRevision['forms'] => [
  { variant: variantAt(place), commit: commitAt(place), fixUps: [] },
  {
    variant: `${variantAt(place)}-with-${variantAt(fixUp)}`,
    commit: commitAt(500 + place),
    fixUps: [commitAt(fixUp)],
  },
];

/** A commit in a range of this many steps. */
export const aRevision = (place: number, steps: number, changes: Partial<RangeRevision> = {}): RangeRevision => ({
  place,
  commit: commitAt(place),
  subject: `Change ${place}`,
  author: 'Alice',
  alike: 0,
  isSkipped: false,
  forms: [
    {
      variant: place === 0 ? 'base' : place === steps ? 'patched' : variantAt(place),
      commit: commitAt(place),
      fixUps: [],
    },
  ],
  ...changes,
});

/** A range of this many steps, in which each commit has a different kernel; they boot one by one. */
export function aBisectPlan(
  steps: number,
  changes: Partial<BisectPlan> = {},
  revisions: Readonly<Record<number, Partial<RangeRevision>>> = {},
): BisectPlan {
  return {
    schemaVersion: 1,
    good: 'v1',
    bad: 'v2',
    fixUps: [],
    skips: [],
    testbed: 'fake',
    system: 'freebsd',
    overlay: { path: 'dut', beside: '' },
    range: {
      commits: steps,
      revisions: Array.from({ length: steps + 1 }, (_, place) => aRevision(place, steps, revisions[place])),
      notes: [],
    },
    cell: forwarding,
    metric: 'pps',
    traffic: singleRuns.traffic,
    rules: {},
    effect: -0.02,
    durations: { bootSeconds: 240, trialSeconds: 60, buildSeconds: 600, gates: 0 },
    seed: 3,
    mostBoots: 60,
    isVerified: false,
    ...changes,
  };
}

/** Likewise, with several variants per trial. */
export const aSharedPlan = (steps: number, changes: Partial<BisectPlan> = {}): BisectPlan =>
  aBisectPlan(steps, {
    system: 'linux',
    traffic: aConfig().traffic,
    durations: { bootSeconds: 0, trialSeconds: 10, buildSeconds: 0, gates: 0 },
    ...changes,
  });

/** Rate of variants that is lower from one place of the range on. */
export const slowerFrom =
  (plan: BisectPlan, place: number, ratio = 0.8) =>
  (variant: string): number => {
    const at = plan.range.revisions.find(({ forms }) => forms.some((form) => form.variant === variant))?.place;
    return at !== undefined && at >= place ? ratio : 1;
  };

export const at = '2026-11-20T12:00:00.000Z';

export const started: JournalEntry = { kind: 'started', at, fingerprint: {}, warnings: [] };

export const booted = (number: number, variant: string, kpps: number): JournalEntry => ({
  kind: 'measured',
  at,
  summary: aTrial({ number, logs: `trials/${number}` }),
  runs: [aRun({ number, trial: number, pair: number, variant, pps: kpps * 1000 })],
});

export const lost = (number: number, variant: string): JournalEntry & { kind: 'failed' } => ({
  kind: 'failed',
  at,
  trial: number,
  reason: 'The sender has died.',
  variants: [variant],
});

/** Likewise, before base has been seen to work. */
export const lostAlone = (number: number, variant: string): JournalEntry => ({
  ...lost(number, variant),
  lacksControl: true,
});

/** Variants that are never built. */
export const fakeVariants: BisectVariants = {
  of: async (_, { variant, commit }) => ({ variant, commit, files: [] }),
  without: async () => ({ variant: 'reverted', commit: commitAt(999), files: [] }),
};

/** Runs a bisection, or resumes the one in the directory. Returns its whole journal. */
export const runOn = (
  plan: BisectPlan,
  testbed: Testbed,
  directory: string,
  variants = fakeVariants,
): Promise<JournalEntry[]> =>
  runBisection({
    plan,
    testbed,
    directory,
    variants,
    onEvent() {},
    now: () => new Date(at),
    signal: new AbortController().signal,
  });
