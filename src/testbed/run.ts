// From a run's samples to its numbers, and whether they count.
import type { Sample } from '../dut/linux-script.ts';
import type { PlannedRun } from '../experiment/schedule.ts';
import type { Run } from '../report/result.ts';
import { median } from '../stats/summary.ts';

/** A DUT that forwards all it is offered, or idles more than this, was not the limit. */
const leastOfferedRatio = 1.02;
const leastBusyRatio = 0.9;

/**
 * The medians of the samples. A run with a hole, or one in which the generator was the limit, is invalid;
 * one that forwarded nothing from its first sample to its last has a number like any other: 0.
 */
export function measuredRun(
  planned: PlannedRun,
  blast: number,
  samples: Sample[],
  offeredPps: number,
): Omit<Run, 'attempt'> {
  const pps = median(samples.map((sample) => sample.forwardedPackets / sample.seconds));
  const costs = samples.flatMap(nsPerPacket);
  return {
    ...planned,
    blast,
    pps,
    ...(costs.length === samples.length ? { nsPerPacket: median(costs) } : {}),
    samples,
    validity: validity(samples, pps, offeredPps),
  };
}

function nsPerPacket({ busySeconds, receivedPackets }: Sample): number[] {
  return busySeconds && receivedPackets > 0 ? [(busySeconds * 1e9) / receivedPackets] : [];
}

function validity(samples: Sample[], pps: number, offeredPps: number): Run['validity'] {
  if (samples.length === 0) return invalid('no sample was taken');
  if (samples.every((sample) => sample.forwardedPackets === 0)) return { kind: 'valid' };
  const hole = samples.find((sample) => sample.forwardedPackets === 0);
  if (hole !== undefined) {
    const milliseconds = Math.round(hole.seconds * 1000);
    return invalid(`no packet was forwarded for ${milliseconds} ms`);
  }
  const busy = busyRatio(samples);
  const saturated =
    busy === undefined ? offeredPps > pps * leastOfferedRatio : busy > leastBusyRatio;
  return saturated ? { kind: 'valid' } : invalid('generator-limited: the DUT had time to spare');
}

/** Share of the time in which the forwarding thread ran; unknown on a DUT that does not tell. */
function busyRatio(samples: Sample[]): number | undefined {
  const busy = samples.flatMap((sample) => sample.busySeconds ?? []);
  if (busy.length < samples.length) return undefined;
  return sum(busy) / sum(samples.map((sample) => sample.seconds));
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

const invalid = (reason: string): Run['validity'] => ({ kind: 'invalid', reason });
