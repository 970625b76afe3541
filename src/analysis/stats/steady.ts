// Where a series of one-second rates is steady, and how soon that can be known.
import { medianAbsoluteDeviation } from 'simple-statistics';
import { formatPps } from '../../model/format.ts';
import { median } from './summary.ts';

/** Indexes into the series; `to` is the first after it. */
type SampleSpan = { from: number; to: number };

export type SteadyStretch =
  | ({ kind: 'steady'; medianPps: number } & SampleSpan)
  | { kind: 'unsteady'; reason: string };

/** A second belongs to the steady stretch up to this far from its level, whatever the scatter. */
const leastTolerance = 0.02;
const toleranceInDeviations = 5;
/** Half of the seconds further away than this: the series has no level. */
const mostDeviation = 0.1;
/** Ramp and tail together may not eat more than the rest of this share of the traffic. */
const leastShare = 0.75;
/** Most drift between the medians of the first and the last third of the stretch, as a ratio to its median. */
const mostDrift = 0.05;

/**
 * The series without what leads up to the steady rate and what follows it: zeros before and after the traffic, the
 * ramp, the sender's last part of a second. The level is the median of the middle half of the traffic, and both ends
 * are cut back to the first second near it: within 2 % or five median absolute deviations. All of it is medians, so a
 * few outliers move nothing; and a single second of the real logs scatters by 0.2 %, so the bounds are wide.
 * What has no level (two of them, a drift, a fall half-way) is unsteady and says why.
 */
export function steadyStretch(pps: readonly number[]): SteadyStretch {
  const traffic = ends(pps, (rate) => rate > 0);
  if (traffic === undefined) return unsteady('not one packet was counted');

  const middle = middleHalf(pps.slice(traffic.from, traffic.to));
  const level = median(middle);
  const deviation = medianAbsoluteDeviation(middle);
  if (level === 0) return unsteady('most of the time no packet was counted');
  if (deviation > mostDeviation * level) {
    return unsteady(`half of its rates are more than 10 % away from ${formatPps(level)}`);
  }

  const tolerance = Math.max(leastTolerance * level, toleranceInDeviations * deviation);
  const stretch = ends(pps, (rate) => Math.abs(rate - level) <= tolerance) ?? traffic;
  if (length(stretch) < leastShare * length(traffic)) {
    const share = `${length(stretch)} of ${length(traffic)}`;
    return unsteady(`only ${share} rates lie between the ramp and the tail`);
  }
  return withoutDrift(pps, stretch);
}

function ends(pps: readonly number[], belongs: (rate: number) => boolean): SampleSpan | undefined {
  const from = pps.findIndex(belongs);
  return from === -1 ? undefined : { from, to: pps.findLastIndex(belongs) + 1 };
}

function middleHalf(pps: number[]): number[] {
  const quarter = Math.floor(pps.length / 4);
  return pps.slice(quarter, pps.length - quarter);
}

const length = ({ from, to }: SampleSpan): number => to - from;

function withoutDrift(pps: readonly number[], { from, to }: SampleSpan): SteadyStretch {
  const medianPps = median(pps.slice(from, to));
  const third = Math.ceil((to - from) / 3);
  const first = median(pps.slice(from, from + third));
  const last = median(pps.slice(to - third, to));
  if (Math.abs(last - first) > mostDrift * medianPps) {
    return unsteady(`it drifts from ${formatPps(first)} to ${formatPps(last)}`);
  }
  return { kind: 'steady', from, to, medianPps };
}

const unsteady = (reason: string): SteadyStretch => ({ kind: 'unsteady', reason });

const collapse = 0.1;

/** Where a steady stretch breaks down to less than a tenth of its median, in order. */
export function holes(
  pps: readonly number[],
  { from, to }: SampleSpan,
  medianPps: number,
): SampleSpan[] {
  const found: SampleSpan[] = [];
  for (let index = from; index < to; index++) {
    if ((pps[index] ?? 0) >= collapse * medianPps) continue;
    const open = found.at(-1);
    if (open?.to === index) open.to = index + 1;
    else found.push({ from: index, to: index + 1 });
  }
  return found;
}

export type SteadyBounds = {
  /** Seconds after the ramp. */
  atLeast: number;
  /** Half the width that the median's confidence interval may have, as a ratio to the median. */
  toleranceRatio: number;
};

export const defaultBounds: SteadyBounds = { atLeast: 10, toleranceRatio: 0.005 };

/**
 * Whether the median is known well enough to end a trial now, by the seconds so far and nothing later: they have a
 * steady stretch of at least `atLeast`, and the distribution-free 95 % confidence interval of its median lies within
 * the tolerance. From ten seconds on that interval also holds the median as it was up to five seconds ago, so a
 * watch on the running median would add nothing. Seconds of one boot tell nothing of the next: this ends a run, not
 * an experiment.
 */
export function isSteady(
  pps: readonly number[],
  { atLeast, toleranceRatio }: SteadyBounds = defaultBounds,
): boolean {
  const stretch = steadyStretch(pps);
  if (stretch.kind === 'unsteady') return false;
  // The newest seconds count even where they stray: what ends the stretch may be a new level.
  const sorted = pps.slice(stretch.from).sort((a, b) => a - b);
  if (sorted.length < atLeast) return false;

  const rank = lowRank(sorted.length);
  const [low, high] = [sorted[rank - 1], sorted[sorted.length - rank]];
  if (low === undefined || high === undefined) return false;
  const middle = median(sorted);
  return Math.max(middle - low, high - middle) <= toleranceRatio * middle;
}

/**
 * The interval from the rank-th smallest to the rank-th largest value holds the median in 95 % of all samples:
 * the normal approximation of the sign test's rank, which is the exact one or one less. 0 where fewer than six values
 * allow no such interval.
 */
const lowRank = (n: number): number => Math.max(0, Math.round(n / 2 - 0.98 * Math.sqrt(n)));

/**
 * After how many seconds of the series `isSteady` held first; undefined where it never did, or only after `atMost`.
 */
export function secondsUntilSteady(
  pps: readonly number[],
  { atMost = 600, ...bounds }: SteadyBounds & { atMost?: number } = defaultBounds,
): number | undefined {
  const last = Math.min(pps.length, atMost);
  for (let seconds = bounds.atLeast; seconds <= last; seconds++) {
    if (isSteady(pps.slice(0, seconds), bounds)) return seconds;
  }
  return undefined;
}
