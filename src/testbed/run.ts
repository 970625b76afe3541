// From a run's samples to its numbers, and whether they count.
import type { Sample } from '../dut/linux-script.ts';
import type { PlannedRun } from '../experiment/schedule.ts';
import { formatPercent, formatPps } from '../report/format.ts';
import type { Run, Validity } from '../report/result.ts';
import { type SteadyStretch, steadyStretch } from '../stats/steady.ts';
import { median } from '../stats/summary.ts';

/** A DUT that forwards all it is offered, or wants its CPU for less than this share of the time, was not the limit. */
const leastOfferedRatio = 1.02;
const leastBusyRatio = 0.9;

/**
 * The medians of the samples. A run with a hole, or one in which the generator was the limit, is invalid;
 * one that forwarded nothing of what arrived, from its first sample to its last, has a number like any other: 0.
 */
export function measuredRun(
  planned: PlannedRun,
  blast: number,
  samples: Sample[],
  offeredPps: number,
): Omit<Run, 'attempt'> {
  const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
  const stretch: SteadyStretch =
    samples.length < fewestForStretch
      ? { kind: 'steady', from: 0, to: samples.length, medianPps: median(rates) }
      : steadyStretch(rates);
  if (stretch.kind === 'unsteady' && rates.some((rate) => rate > 0)) {
    const validity = invalid('unsteady', `no steady rate: ${stretch.reason}`);
    return { ...planned, blast, pps: median(rates), samples, validity };
  }
  const steady = stretch.kind === 'steady' ? samples.slice(stretch.from, stretch.to) : samples;
  const pps = stretch.kind === 'steady' ? stretch.medianPps : 0;
  const costs = steady.flatMap(nsPerPacket);
  return {
    ...planned,
    blast,
    pps,
    ...(costs.length === steady.length ? { nsPerPacket: median(costs) } : {}),
    samples,
    validity: validity(steady, pps, offeredPps),
  };
}

/** A run of a few slices has no ramp that could be told from its noise. */
const fewestForStretch = 10;

function nsPerPacket({ busySeconds, receivedPackets }: Sample): number[] {
  return busySeconds && receivedPackets > 0 ? [(busySeconds * 1e9) / receivedPackets] : [];
}

function validity(samples: Sample[], pps: number, offeredPps: number): Validity {
  if (samples.length === 0) return invalid('too-short', 'no sample was taken');
  const holes = samples.filter((sample) => sample.forwardedPackets === 0);
  const isSilent = holes.length === samples.length;
  // Of what arrives a DUT may drop all; a generator that was kept from sending says nothing of it.
  if (isSilent && samples.some((sample) => sample.receivedPackets > 0)) return { kind: 'valid' };
  if (isSilent) return invalid('hole', `no packet arrived for ${milliseconds(holes)} ms`);
  if (holes.length > 0) {
    return invalid('hole', `no packet was forwarded for ${milliseconds(holes.slice(0, 1))} ms`);
  }
  return isLimit(busyRatio(samples), pps, offeredPps)
    ? { kind: 'valid' }
    : invalid('generator-limited', generatorLimited(samples, pps, offeredPps));
}

const milliseconds = (samples: readonly Sample[]): number =>
  Math.round(sum(samples.map(({ seconds }) => seconds)) * 1000);

/** Whether the DUT was, which its own idle time tells best: a sender that waits for it offers no more than it takes. */
const isLimit = (busy: number | undefined, pps: number, offeredPps: number): boolean =>
  busy === undefined ? offeredPps > pps * leastOfferedRatio : busy > leastBusyRatio;

function generatorLimited(samples: Sample[], pps: number, offeredPps: number): string {
  const busy = busyRatio(samples);
  const share = formatPercent(pps / offeredPps);
  const rates = `generator-limited: ${formatPps(pps)} came through of ${formatPps(offeredPps)} offered (${share})`;
  return busy === undefined
    ? rates
    : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}

/** Share of the time in which the forwarding thread ran or was due to; unknown on a DUT that does not tell. */
function busyRatio(samples: Sample[]): number | undefined {
  const busy = samples.flatMap(({ busySeconds, deniedSeconds = 0 }) =>
    busySeconds === undefined ? [] : busySeconds + deniedSeconds,
  );
  if (busy.length < samples.length) return undefined;
  return sum(busy) / sum(samples.map((sample) => sample.seconds));
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

type Cause = Extract<Validity, { kind: 'invalid' }>['cause'];

const invalid = (cause: Cause, reason: string): Validity => ({ kind: 'invalid', cause, reason });
