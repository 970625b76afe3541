// Computes the numbers and the validity of a run from its samples.

import { type SteadyStretch, steadyStretch } from '../../analysis/stats/steady.ts';
import { median } from '../../analysis/stats/summary.ts';
import { formatPercent, formatPps } from '../../model/format.ts';
import type { PlannedRun } from '../../model/planned-trial.ts';
import type { Run, Validity } from '../../model/result.ts';
import type { LinuxSample } from '../linux/linux-script.ts';

/** A DUT is not the limit if it forwards the whole load, or is busy for less than this share of the time. */
const minOfferedRatio = 1.02;
const minBusyRatio = 0.9;

/** Packets sent in a trial; the sender does not count them per run. */
export type BlockLoad = {
  /** Rate of the whole trial as counted by the sender, and the received rate in the same time. */
  offeredPps: number;
  forwardedPps: number;
  /** Share of the time in which the sender was runnable but its CPU ran other processes; absent if unknown. */
  waitedRatio?: number;
};

/**
 * Computes the medians of the samples. A hole, or a generator that was the limit, makes a run invalid. A DUT that
 * received packets but forwarded none from the first sample to the last is valid, with 0.
 */
export function measuredRun(
  planned: PlannedRun,
  trial: number,
  samples: LinuxSample[],
  load: BlockLoad,
): Omit<Run, 'attempt'> {
  const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
  const stretch: SteadyStretch =
    samples.length < minForStretch
      ? { kind: 'steady', from: 0, to: samples.length, medianPps: median(rates) }
      : steadyStretch(rates);
  if (stretch.kind === 'unsteady' && rates.some((rate) => rate > 0)) {
    const validity = tooBusy(samples, load) ?? invalid('unsteady', `no steady rate: ${stretch.reason}`);
    return { ...planned, trial, pps: median(rates), samples, validity };
  }
  const steady = stretch.kind === 'steady' ? samples.slice(stretch.from, stretch.to) : samples;
  const pps = stretch.kind === 'steady' ? stretch.medianPps : 0;
  const costs = steady.flatMap(nsPerPacket);
  return {
    ...planned,
    trial,
    pps,
    ...(costs.length === steady.length ? { nsPerPacket: median(costs) } : {}),
    samples,
    validity: validity(steady, pps, load),
  };
}

/** With fewer slices, a ramp looks like noise. */
const minForStretch = 10;

function nsPerPacket({ busySeconds, receivedPackets }: LinuxSample): number[] {
  return busySeconds && receivedPackets > 0 ? [(busySeconds * 1e9) / receivedPackets] : [];
}

function validity(samples: LinuxSample[], pps: number, load: BlockLoad): Validity {
  if (samples.length === 0) return invalid('too-short', 'no sample was taken');
  const holes = samples.filter((sample) => sample.forwardedPackets === 0);
  const isSilent = holes.length === samples.length;
  // A DUT may drop every packet, but a sender without CPU time proves nothing about it.
  if (isSilent && samples.some((sample) => sample.receivedPackets > 0)) return { kind: 'valid' };
  const isWhole = holes.length === 0;
  if (isWhole && isLimit(busyRatio(samples), pps, load)) return { kind: 'valid' };
  if (isWhole) {
    const limited = generatorLimited(samples, pps, load);
    return waitedLong('sender', load.waitedRatio) ?? invalid('generator-limited', limited);
  }
  const silence = isSilent
    ? `no packet arrived for ${milliseconds(holes)} ms`
    : `no packet was forwarded for ${milliseconds(holes.slice(0, 1))} ms`;
  return tooBusy(samples, load) ?? invalid('hole', silence);
}

const tooBusy = (samples: LinuxSample[], { waitedRatio }: BlockLoad): InvalidRun | undefined =>
  waitedLong('sender', waitedRatio) ?? waitedLong('DUT', deniedRatio(samples));

/** Explains an invalid run: a process that was runnable without a CPU is not slow. */
function waitedLong(who: 'sender' | 'DUT', ratio = 0): InvalidRun | undefined {
  if (!(ratio >= minWaitedRatio)) return undefined;
  const waited = `the ${who} waited for a CPU ${Math.round(ratio * 100)} % of the time`;
  const fix = 'stop other programs on its machine, or wait until they end';
  return invalid('machine-busy', `machine too busy: ${waited}; ${fix}`);
}

/** On a quiet machine the sender waits for 2 % of the time. */
const minWaitedRatio = 0.05;

const milliseconds = (samples: readonly LinuxSample[]): number =>
  Math.round(sum(samples.map(({ seconds }) => seconds)) * 1000);

/** Uses the DUT's own idle time: a sender that waits for the DUT offers no more than the DUT accepts. */
const isLimit = (busy: number | undefined, pps: number, { offeredPps }: BlockLoad): boolean =>
  busy === undefined ? offeredPps > pps * minOfferedRatio : busy > minBusyRatio;

/** Names no share of the offered load, which is known only for the whole trial. */
function generatorLimited(samples: LinuxSample[], pps: number, load: BlockLoad): string {
  const { offeredPps, forwardedPps } = load;
  const busy = busyRatio(samples);
  const share = formatPercent(forwardedPps / offeredPps);
  const trial = `${formatPps(forwardedPps)} of ${formatPps(offeredPps)} offered (${share}) in its whole trial`;
  const rates = `generator-limited: ${formatPps(pps)} came through in this run, ${trial}`;
  return busy === undefined ? rates : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}

/** Share of the time in which the forwarding thread ran or was runnable; undefined if the DUT does not report it. */
function busyRatio(samples: LinuxSample[]): number | undefined {
  const busy = samples.flatMap(({ busySeconds, deniedSeconds = 0 }) =>
    busySeconds === undefined ? [] : busySeconds + deniedSeconds,
  );
  if (busy.length < samples.length) return undefined;
  return sum(busy) / sum(samples.map((sample) => sample.seconds));
}

function deniedRatio(samples: LinuxSample[]): number {
  const seconds = sum(samples.map((sample) => sample.seconds));
  return Math.min(1, sum(samples.map(({ deniedSeconds = 0 }) => deniedSeconds)) / seconds);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

type InvalidRun = Extract<Validity, { kind: 'invalid' }>;

const invalid = (cause: InvalidRun['cause'], reason: string): InvalidRun => ({
  kind: 'invalid',
  cause,
  reason,
});
