// From a run's samples to its numbers, and whether they count.

import { type SteadyStretch, steadyStretch } from '../../analysis/stats/steady.ts';
import { median } from '../../analysis/stats/summary.ts';
import { formatPercent, formatPps } from '../../model/format.ts';
import type { PlannedRun } from '../../model/planned-trial.ts';
import type { Run, Validity } from '../../model/result.ts';
import type { LinuxSample } from '../linux/linux-script.ts';

/** A DUT that forwards all it is offered, or wants its CPU for less than this share of the time, was not the limit. */
const leastOfferedRatio = 1.02;
const leastBusyRatio = 0.9;

/** Packets that a trial sent, and how; the sender reports none of it for a single run. */
export type BlockLoad = {
  /** The rate of the whole trial by the sender's count, and the rate at which packets came through in the same time. */
  offeredPps: number;
  forwardedPps: number;
  /** Share of the time in which the sender was due and its CPU was given to others; absent where it does not tell. */
  waitedRatio?: number;
};

/**
 * The medians of the samples. A run with a hole, or one in which the generator was the limit, is invalid;
 * one that forwarded nothing of what arrived, from its first sample to its last, has a number like any other: 0.
 */
export function measuredRun(
  planned: PlannedRun,
  trial: number,
  samples: LinuxSample[],
  load: BlockLoad,
): Omit<Run, 'attempt'> {
  const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
  const stretch: SteadyStretch =
    samples.length < fewestForStretch
      ? { kind: 'steady', from: 0, to: samples.length, medianPps: median(rates) }
      : steadyStretch(rates);
  if (stretch.kind === 'unsteady' && rates.some((rate) => rate > 0)) {
    const validity =
      tooBusy(samples, load) ?? invalid('unsteady', `no steady rate: ${stretch.reason}`);
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

/** A run of a few slices has no ramp that could be told from its noise. */
const fewestForStretch = 10;

function nsPerPacket({ busySeconds, receivedPackets }: LinuxSample): number[] {
  return busySeconds && receivedPackets > 0 ? [(busySeconds * 1e9) / receivedPackets] : [];
}

function validity(samples: LinuxSample[], pps: number, load: BlockLoad): Validity {
  if (samples.length === 0) return invalid('too-short', 'no sample was taken');
  const holes = samples.filter((sample) => sample.forwardedPackets === 0);
  const isSilent = holes.length === samples.length;
  // A DUT may drop all of what arrives; a generator that was kept from sending says nothing of it.
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

/** Why packets may have come in gusts, or not at all. */
const tooBusy = (samples: LinuxSample[], { waitedRatio }: BlockLoad): InvalidRun | undefined =>
  waitedLong('sender', waitedRatio) ?? waitedLong('DUT', deniedRatio(samples));

/** The reason for a run that does not count anyway: who was due and did not get a CPU is not slow. */
function waitedLong(who: 'sender' | 'DUT', ratio = 0): InvalidRun | undefined {
  if (!(ratio >= leastWaitedRatio)) return undefined;
  const waited = `the ${who} waited for a CPU ${Math.round(ratio * 100)} % of the time`;
  const fix = 'end what else runs on its machine, or wait for that to end';
  return invalid('machine-busy', `machine too busy: ${waited}; ${fix}`);
}

/** On a quiet machine the sender waits for 2 % of the time. */
const leastWaitedRatio = 0.05;

const milliseconds = (samples: readonly LinuxSample[]): number =>
  Math.round(sum(samples.map(({ seconds }) => seconds)) * 1000);

/** Compares with the DUT's own idle time: a sender that waits for the DUT offers no more than it takes. */
const isLimit = (busy: number | undefined, pps: number, { offeredPps }: BlockLoad): boolean =>
  busy === undefined ? offeredPps > pps * leastOfferedRatio : busy > leastBusyRatio;

/** A run's own rate is no share of what was offered: the sender tells that of the whole trial only. */
function generatorLimited(samples: LinuxSample[], pps: number, load: BlockLoad): string {
  const { offeredPps, forwardedPps } = load;
  const busy = busyRatio(samples);
  const share = formatPercent(forwardedPps / offeredPps);
  const trial = `${formatPps(forwardedPps)} of ${formatPps(offeredPps)} offered (${share}) in its whole trial`;
  const rates = `generator-limited: ${formatPps(pps)} came through, ${trial}`;
  return busy === undefined
    ? rates
    : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}

/** Share of the time in which the forwarding thread ran or was due to; unknown on a DUT that does not tell. */
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

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

type InvalidRun = Extract<Validity, { kind: 'invalid' }>;

const invalid = (cause: InvalidRun['cause'], reason: string): InvalidRun => ({
  kind: 'invalid',
  cause,
  reason,
});
