// Bounds the readings of a DUT, which may be hostile, to what a result may hold.
import { sum } from 'simple-statistics';
import {
  mostCpus,
  mostDrops,
  mostNotUnderstood,
  mostQueues,
  type TrialLimits,
  trialLimitsSchema,
} from '../model/limits.ts';

export type Drop = TrialLimits['drops'][number];

export const packetsOf = (drops: readonly Pick<Drop, 'packets'>[]): number =>
  sum(drops.map(({ packets }) => packets));

/** Packets in flight between two counters are no drops: a smaller share of those that arrived is not counted. */
export const leastSilentRatio = 0.005;

/** Of packets that IP received and did not forward, for no reason that a counter has. */
export const uncountedCause = 'the kernel after IP received them, without a counter';

/** Undefined for numbers that no counter has. */
export function boundedLimits(limits: TrialLimits | undefined): TrialLimits | undefined {
  if (limits === undefined) return undefined;
  const parsed = trialLimitsSchema.safeParse({
    ...limits,
    cpuBusyRatios: limits.cpuBusyRatios.slice(0, mostCpus).map(threeDecimals),
    queues: limits.queues.slice(0, mostQueues),
    drops: limits.drops
      .map(({ cause, ...drop }) => ({ ...drop, cause: cause.slice(0, mostCauseCharacters) }))
      .toSorted((a, b) => b.packets - a.packets)
      .slice(0, mostDrops),
    notUnderstood: limits.notUnderstood.slice(0, mostNotUnderstood),
  });
  return parsed.success ? parsed.data : undefined;
}

const mostCauseCharacters = 250;

const threeDecimals = (ratio: number): number => Math.round(ratio * 1000) / 1000;
