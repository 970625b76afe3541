// Derives durations of boots, trials and builds on a testbed from earlier gates, or else from its configuration.
import { quantile } from 'simple-statistics';
import { z } from 'zod';
import { median } from '../../analysis/stats/summary.ts';
import type { Config } from '../../config/schema.ts';
import * as bounded from '../../model/bounds.ts';
import type { Result, TrialSummary } from '../../model/result.ts';

const { seconds } = bounded;

const gateDurations = z.object({
  /** From the end of a trial to the next one in another boot; 0 without boots. */
  bootSeconds: seconds,
  /** Includes the time to load rules, to wait for ports, and the traffic. */
  trialSeconds: seconds,
  /** Wait for kernels, and everything else before the first boot. */
  buildSeconds: seconds,
});

/** A self-test measures no builds. */
export const durationsSchema = gateDurations.partial({ buildSeconds: true });

export type Durations = z.infer<typeof durationsSchema>;

/** Medians over `gates` gates; 0: usual values of such a testbed. */
export const expectedDurationsSchema = gateDurations.extend({ gates: bounded.count });

export type ExpectedDurations = z.infer<typeof expectedDurationsSchema>;

/**
 * Uses the median of trials but the lower quartile of boots, as waits for kernels, profiles and nightly runs lengthen
 * some. Undefined for fewer than two trials. If each boot has one trial, all but its traffic counts as boot.
 */
export function durationsOf(result: Pick<Result, 'trials' | 'outcome' | 'startedAt'>): Durations | undefined {
  const bootOf = bootsIn(result);
  const trials = result.trials.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const [first, ...later] = trials;
  if (first === undefined || later.length === 0) return undefined;
  const within: number[] = [];
  const across: number[] = [];
  for (const [index, trial] of later.entries()) {
    const before = trials[index] ?? first;
    const interval = secondsBetween(before.startedAt, trial.startedAt);
    (bootOf(before) === bootOf(trial) ? within : across).push(interval);
  }
  const traffic = median(trials.map(({ trafficSeconds }) => trafficSeconds));
  const trialSeconds = Math.max(traffic, within.length === 0 ? 0 : median(within));
  // Guests' boots are measured directly. A single pair has no trial before its boot.
  const measured = trials.flatMap((trial) => trial.bootSeconds ?? []);
  const boots = measured.length > 0 ? measured : across.map((interval) => Math.max(0, interval - trialSeconds));
  const bootSeconds = boots.length === 0 ? 0 : quantile(boots, 0.25);
  const usual = bootSeconds + trialSeconds;
  return {
    bootSeconds,
    trialSeconds,
    // The patched kernel is built while base is measured; the first boot after that waits for the rest.
    buildSeconds:
      Math.max(0, secondsBetween(result.startedAt, first.startedAt) - bootSeconds) +
      Math.max(0, (across[0] ?? usual) - usual),
  };
}

/** Names the boot of a trial: its variant's, its pair's guests', or none if variants share a kernel. */
function bootsIn({ outcome }: Pick<Result, 'outcome'>): (trial: TrialSummary) => string | undefined {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const byTrial = Map.groupBy(runs, ({ trial, attempt }) => `${trial}.${attempt}`);
  return ({ number, attempt, kernels }) => {
    const own = byTrial.get(`${number}.${attempt}`) ?? [];
    const last = own.at(-1);
    if (kernels !== undefined) return `${last?.pair}`;
    return own.length === 1 ? `${last?.variant} ${last?.pair}` : undefined;
  };
}

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
  const medianOf = (part: keyof Durations) => {
    const known = latest.flatMap((durations) => durations[part] ?? []);
    return known.length === 0 ? usual[part] : median(known);
  };
  return {
    bootSeconds: medianOf('bootSeconds'),
    trialSeconds: medianOf('trialSeconds'),
    buildSeconds: medianOf('buildSeconds'),
    gates: latest.length,
  };
}

const maxGates = 10;

/** A server's boot and a kernel that is not cached, as in docs/how-to/lab.md, and the time to install files. */
const assumed = { bootSeconds: 240, buildSeconds: 600, installSeconds: 2 };

/** A pair of guests on two emulated CPUs: its boot, and the packets per second that one guest forwards. */
const assumedOfGuests = { bootSeconds: { linux: 15, freebsd: 60 }, pps: 15_000 };

function usualDurations(
  { testbeds, traffic }: Pick<Config, 'testbeds' | 'traffic'>,
  name: string,
): Omit<ExpectedDurations, 'gates'> {
  const { warmUpSeconds, settleSeconds, measureAtLeastSeconds, runsPerTrial, windows } = traffic;
  const testbed = testbeds[name];
  if (testbed?.kind === 'virtual' && windows !== undefined) {
    // Each variant warms up in its own window.
    const trafficSeconds = 2 * (windows.count + 1) * (windows.packets / assumedOfGuests.pps);
    const bootSeconds = assumedOfGuests.bootSeconds[testbed.system];
    return { bootSeconds, trialSeconds: trafficSeconds + assumed.installSeconds, buildSeconds: 0 };
  }
  // Most runs are steady long before their time limit.
  const trafficSeconds = warmUpSeconds + runsPerTrial * (settleSeconds + measureAtLeastSeconds);
  const trialSeconds = trafficSeconds + assumed.installSeconds;
  if (testbed?.kind !== 'freebsd') return { bootSeconds: 0, trialSeconds, buildSeconds: 0 };
  return {
    bootSeconds: Math.min(assumed.bootSeconds, testbed.dut.boot.limitSeconds),
    trialSeconds,
    buildSeconds: testbed.builder === undefined ? 0 : assumed.buildSeconds,
  };
}
