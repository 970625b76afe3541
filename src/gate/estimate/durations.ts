// How long boots, trials and builds take on a testbed: by what earlier gates there tell, and before there were any by its
// configuration.
import { quantile } from 'simple-statistics';
import { z } from 'zod';
import { median } from '../../analysis/stats/summary.ts';
import type { Config } from '../../config/schema.ts';
import type { Result, TrialSummary } from '../../model/result.ts';

const seconds = z.number().nonnegative();

/** What one gate tells, in seconds. */
const whole = z.object({
  /** From the end of a trial to the next one in another boot; 0 where variants need none. */
  bootSeconds: seconds,
  /** From the rules to the end: links that settle and packets that flow. */
  trialSeconds: seconds,
  /** Seconds of a trial in which packets flowed. */
  trafficSeconds: seconds,
  /** Seconds for which it waited for kernels, and for all else before the first boot. */
  buildSeconds: seconds,
});

/** A self-test builds nothing that a gate would. */
export const durationsSchema = whole.partial({ trafficSeconds: true, buildSeconds: true });

export type Durations = z.infer<typeof durationsSchema>;

/** `gates` told; 0: none has, and it is what such a testbed usually takes. */
export const timesSchema = whole.extend({ gates: z.int().nonnegative() });

export type Times = z.infer<typeof timesSchema>;

type Step = { seconds: number; isBoot: boolean };

/**
 * The median of trials, and of boots the lower quartile: waits for kernels, profiles and a nightly run in between only ever add
 * to some of few. Undefined of fewer than two trials. Where each boot has one trial, what is not traffic counts to the boot.
 */
export function durationsOf(
  result: Pick<Result, 'trials' | 'outcome' | 'startedAt'>,
): Durations | undefined {
  const bootOf = bootsIn(result);
  const trials = result.trials.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const [first, ...later] = trials;
  if (first === undefined || later.length === 0) return undefined;
  const steps = later.map((trial, index): Step => {
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
  const bootSeconds = Math.max(0, (quantileOf(boots, 0.25) ?? trialSeconds) - trialSeconds);
  const usual = bootSeconds + trialSeconds;
  return {
    bootSeconds,
    trialSeconds,
    trafficSeconds,
    // The patched kernel is built while base is measured, and the first boot after that waits for the rest.
    buildSeconds:
      Math.max(0, secondsBetween(result.startedAt, first.startedAt) - bootSeconds) +
      Math.max(0, (boots[0]?.seconds ?? usual) - usual),
  };
}

/** Tells boots apart: a trial of one run is of one variant and pair, and several runs share a trial where none boots. */
function bootsIn({ outcome }: Pick<Result, 'outcome'>): (trial: TrialSummary) => string {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const byTrial = Map.groupBy(runs, ({ trial, attempt }) => `${trial}.${attempt}`);
  return ({ number, attempt }) => {
    const [run, ...others] = byTrial.get(`${number}.${attempt}`) ?? [];
    return run === undefined || others.length > 0 ? '' : `${run.variant} ${run.pair}`;
  };
}

const quantileOf = (steps: readonly Step[], share: number): number | undefined =>
  steps.length === 0
    ? undefined
    : quantile(
        steps.map((step) => step.seconds),
        share,
      );

const secondsBetween = (from: string, to: string): number =>
  Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);

type Known = { at: string; testbed: string; durations?: Durations | undefined };

/** Medians of the latest gates on the testbed that tell; `entries` are lines of its history, of which a gate has several. */
export function timesOn(
  entries: readonly Known[],
  testbed: string,
  config: Pick<Config, 'testbeds' | 'traffic'>,
): Times {
  const gates = new Map(
    entries.flatMap(({ at, testbed: name, durations }) =>
      name === testbed && durations !== undefined ? [[at, durations]] : [],
    ),
  );
  const latest = [...gates]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .slice(-mostGates)
    .map(([, durations]) => durations);
  const usual = usualTimes(config, testbed);
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

const mostGates = 10;

/** A boot of a server and a kernel that is not in the cache, as docs/lab.md has them. */
const assumed = { bootSeconds: 240, buildSeconds: 600, laySeconds: 2 };

function usualTimes(
  { testbeds, traffic }: Pick<Config, 'testbeds' | 'traffic'>,
  name: string,
): Omit<Times, 'gates'> {
  const { warmUpSeconds, settleSeconds, measureAtLeastSeconds, runsPerTrial } = traffic;
  // Most runs are steady long before their time is over.
  const testbed = testbeds[name];
  if (testbed?.kind !== 'freebsd') {
    const trafficSeconds = warmUpSeconds + runsPerTrial * (settleSeconds + measureAtLeastSeconds);
    const trialSeconds = trafficSeconds + assumed.laySeconds;
    return { bootSeconds: 0, buildSeconds: 0, trafficSeconds, trialSeconds };
  }
  const trafficSeconds = warmUpSeconds + runsPerTrial * measureAtLeastSeconds;
  return {
    // Links settle once a boot.
    bootSeconds: Math.min(assumed.bootSeconds, testbed.dut.boot.limitSeconds) + settleSeconds,
    buildSeconds: testbed.builder === undefined ? 0 : assumed.buildSeconds,
    trafficSeconds,
    trialSeconds: trafficSeconds + assumed.laySeconds,
  };
}
