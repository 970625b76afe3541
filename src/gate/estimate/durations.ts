// Derives durations of boots, trials and builds on a testbed from earlier gates, or else from its configuration.
import { quantile } from 'simple-statistics';
import { z } from 'zod';
import { median } from '../../analysis/stats/summary.ts';
import type { Config } from '../../config/schema.ts';
import * as bounded from '../../model/bounds.ts';
import type { Result, TrialSummary } from '../../model/result.ts';
import { bootOf } from './trial-boots.ts';

const { seconds } = bounded;

const gateDurations = z.object({
  /** From the end of a trial to the next one in another boot; 0 without boots. */
  bootSeconds: seconds,
  /** Includes the time to load rules, to wait for ports, and the traffic. */
  trialSeconds: seconds,
  trafficSeconds: seconds,
  /** Wait for kernels, and everything else before the first boot. */
  buildSeconds: seconds,
});

/** A self-test measures neither traffic nor builds. */
export const durationsSchema = gateDurations.partial({ trafficSeconds: true, buildSeconds: true });

export type Durations = z.infer<typeof durationsSchema>;

/** Medians over `gates` gates; 0: usual values of such a testbed. */
export const expectedDurationsSchema = gateDurations.extend({ gates: bounded.count });

export type ExpectedDurations = z.infer<typeof expectedDurationsSchema>;

type TrialInterval = { seconds: number; isBoot: boolean };

/**
 * Uses the median of trials but the lower quartile of boots, as waits for kernels, profiles and nightly runs lengthen
 * some. Undefined for fewer than two trials. If each boot has one trial, all but its traffic counts as boot.
 */
export function durationsOf(result: Pick<Result, 'trials' | 'outcome' | 'startedAt'>): Durations | undefined {
  const bootOf = bootsIn(result);
  const trials = result.trials.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const [first, ...later] = trials;
  if (first === undefined || later.length === 0) return undefined;
  const steps = later.map((trial, index): TrialInterval => {
    const before = trials[index] ?? first;
    return {
      seconds: secondsBetween(before.startedAt, trial.startedAt),
      isBoot: bootOf(before) !== bootOf(trial),
    };
  });
  const within = steps.filter(({ isBoot }) => !isBoot);
  const boots = steps.filter(({ isBoot }) => isBoot);
  const trafficSeconds = median(trials.map((trial) => trial.trafficSeconds));
  const trialSeconds = Math.max(trafficSeconds, quantileOf(within, 0.5) ?? 0);
  // Guests' boots are measured directly. A single pair has no trial before its boot.
  const measured = trials.flatMap((trial) => trial.bootSeconds ?? []);
  const bootSeconds =
    measured.length > 0
      ? quantile(measured, 0.25)
      : Math.max(0, (quantileOf(boots, 0.25) ?? trialSeconds) - trialSeconds);
  const usual = bootSeconds + trialSeconds;
  return {
    bootSeconds,
    trialSeconds,
    trafficSeconds,
    // The patched kernel is built while base is measured; the first boot after that waits for the rest.
    buildSeconds:
      Math.max(0, secondsBetween(result.startedAt, first.startedAt) - bootSeconds) +
      Math.max(0, (boots[0]?.seconds ?? usual) - usual),
  };
}

/** Names the boot of a trial: its variant's, its pair's guests', or none if variants share a kernel. */
function bootsIn({ outcome }: Pick<Result, 'outcome'>): (trial: TrialSummary) => string | undefined {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const byTrial = Map.groupBy(runs, ({ trial, attempt }) => `${trial}.${attempt}`);
  return ({ number, attempt, kernels }) => {
    const own = byTrial.get(`${number}.${attempt}`) ?? [];
    const alone = own.length === 1 ? 'each' : 'none';
    return bootOf(own, kernels === undefined ? alone : 'pair');
  };
}

const quantileOf = (steps: readonly TrialInterval[], share: number): number | undefined =>
  steps.length === 0
    ? undefined
    : quantile(
        steps.map((step) => step.seconds),
        share,
      );

const secondsBetween = (from: string, to: string): number => Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);

type DurationsEntry = { at: string; testbed: string; durations?: Durations | undefined };

/** Medians of the latest gates on the testbed. `entries` are lines of its history, several per gate. */
export function expectedDurationsOn(
  entries: readonly DurationsEntry[],
  testbed: string,
  config: Pick<Config, 'testbeds' | 'traffic'>,
): ExpectedDurations {
  const gates = new Map(
    entries.flatMap(({ at, testbed: name, durations }) =>
      name === testbed && durations !== undefined ? [[at, durations]] : [],
    ),
  );
  const latest = [...gates]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .slice(-maxGates)
    .map(([, durations]) => durations);
  const usual = usualDurations(config, testbed);
  const medianBy = (part: keyof Durations) => {
    const known = latest.flatMap((durations) => durations[part] ?? []);
    return known.length === 0 ? usual[part] : median(known);
  };
  const trialSeconds = medianBy('trialSeconds');
  return {
    bootSeconds: medianBy('bootSeconds'),
    trialSeconds,
    trafficSeconds: Math.min(trialSeconds, medianBy('trafficSeconds')),
    buildSeconds: medianBy('buildSeconds'),
    gates: latest.length,
  };
}

const maxGates = 10;

/** A server's boot and a kernel that is not cached, as in docs/how-to/lab.md. */
const assumed = { bootSeconds: 240, buildSeconds: 600, laySeconds: 2 };

/** A pair of guests on two emulated CPUs: its boot, and the packets per second that one guest forwards. */
const assumedOfGuests = { bootSeconds: { linux: 15, freebsd: 60 }, pps: 15_000 };

function usualDurations(
  { testbeds, traffic }: Pick<Config, 'testbeds' | 'traffic'>,
  name: string,
): Omit<ExpectedDurations, 'gates'> {
  const { warmUpSeconds, settleSeconds, measureAtLeastSeconds, runsPerTrial } = traffic;
  // Most runs are steady long before their time limit.
  const testbed = testbeds[name];
  if (testbed?.kind === 'virtual' && traffic.windows !== undefined) {
    const { count, packets } = traffic.windows;
    // Each variant warms up in its own window.
    const trafficSeconds = 2 * (count + 1) * (packets / assumedOfGuests.pps);
    return {
      bootSeconds: assumedOfGuests.bootSeconds[testbed.system],
      buildSeconds: 0,
      trafficSeconds,
      trialSeconds: trafficSeconds + assumed.laySeconds,
    };
  }
  if (testbed?.kind !== 'freebsd') {
    const trafficSeconds = warmUpSeconds + runsPerTrial * (settleSeconds + measureAtLeastSeconds);
    const trialSeconds = trafficSeconds + assumed.laySeconds;
    return { bootSeconds: 0, buildSeconds: 0, trafficSeconds, trialSeconds };
  }
  const trafficSeconds = warmUpSeconds + runsPerTrial * measureAtLeastSeconds;
  return {
    // Links settle once per boot.
    bootSeconds: Math.min(assumed.bootSeconds, testbed.dut.boot.limitSeconds) + settleSeconds,
    buildSeconds: testbed.builder === undefined ? 0 : assumed.buildSeconds,
    trafficSeconds,
    trialSeconds: trafficSeconds + assumed.laySeconds,
  };
}
