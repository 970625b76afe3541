// Finds the steady stretch of a series of one-second rates, and how soon it is known.
import { medianAbsoluteDeviation } from 'simple-statistics';
import { formatPps } from '../../model/format.ts';
import { median } from './summary.ts';

/** `to` is exclusive. */
type SampleSpan = { from: number; to: number };

export type SteadyStretch = ({ kind: 'steady'; medianPps: number } & SampleSpan) | { kind: 'unsteady'; reason: string };

const minTolerance = 0.02;
const toleranceInDeviations = 5;
/** A series has no level if half of its seconds are further away than this. */
const maxDeviation = 0.1;
/** Ramp and tail together may take at most the rest of the traffic's whole seconds. */
const minShare = 0.75;
/** The generator starts and ends within a second of the receiver's. */
const partialSeconds = 2;
/** Maximum drift between the medians of the first and last third, as a ratio to the median. */
const maxDrift = 0.05;

/**
 * Cuts off the ends of a series: zeros before and after the traffic, the ramp, the sender's last partial second. The
 * level is the median of the middle half of the traffic, and both ends are cut back to the first second near it: within
 * 2 % or five median absolute deviations. Medians are robust to outliers; a single second of real logs scatters by 0.2
 * %, so the bounds are wide. A series without a level (two levels, a drift, a fall half-way) is unsteady, with a
 * reason.
 */
export function steadyStretch(pps: readonly number[]): SteadyStretch {
  const traffic = ends(pps, (rate) => rate > 0);
  if (traffic === undefined) return unsteady('not one packet was counted');

  const middle = middleHalf(pps.slice(traffic.from, traffic.to));
  const level = median(middle);
  const deviation = medianAbsoluteDeviation(middle);
  if (level === 0) return unsteady('most of the time no packet was counted');
  if (deviation > maxDeviation * level) {
    return unsteady(`half of its rates are more than 10 % away from ${formatPps(level)}`);
  }

  const tolerance = Math.max(minTolerance * level, toleranceInDeviations * deviation);
  const stretch = ends(pps, (rate) => Math.abs(rate - level) <= tolerance) ?? traffic;
  if (length(stretch) < minShare * (length(traffic) - partialSeconds)) {
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
  if (Math.abs(last - first) > maxDrift * medianPps) {
    return unsteady(`it drifts from ${formatPps(first)} to ${formatPps(last)}`);
  }
  return { kind: 'steady', from, to, medianPps };
}

const unsteady = (reason: string): SteadyStretch => ({ kind: 'unsteady', reason });

const collapse = 0.1;

/** Gaps of a steady stretch below a tenth of its median, in order. */
export function holes(pps: readonly number[], { from, to }: SampleSpan, medianPps: number): SampleSpan[] {
  const found: SampleSpan[] = [];
  const end = Math.min(to, pps.length);
  for (let index = Math.max(0, from); index < end; index++) {
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
  /** Permitted half-width of the median's confidence interval, as a ratio to the median. */
  toleranceRatio: number;
};

export const defaultBounds: SteadyBounds = { atLeast: 10, toleranceRatio: 0.005 };

/**
 * True if the median is known well enough to end a trial now, using only the seconds so far. Requires a steady stretch
 * of at least `atLeast` seconds, with the distribution-free 95 % confidence interval of its median within the
 * tolerance. From ten seconds on, that interval also covers the median of five seconds ago, so watching the running
 * median adds nothing. Seconds of one boot do not predict the next: this ends a run, not an experiment.
 */
export function isSteady(pps: readonly number[], { atLeast, toleranceRatio }: SteadyBounds = defaultBounds): boolean {
  const stretch = steadyStretch(pps);
  if (stretch.kind === 'unsteady') return false;
  // The newest seconds count even if they deviate: the stretch may end in a new level.
  const sorted = pps.slice(stretch.from).sort((a, b) => a - b);
  if (sorted.length < atLeast) return false;

  const rank = lowRank(sorted.length);
  const [low, high] = [sorted[rank - 1], sorted[sorted.length - rank]];
  if (low === undefined || high === undefined) return false;
  const middle = median(sorted);
  return Math.max(middle - low, high - middle) <= toleranceRatio * middle;
}

/**
 * The interval from the rank-th smallest to the rank-th largest value holds the median in 95 % of all samples: the
 * normal approximation of the sign test's rank, which equals the exact one or is one less. 0 for fewer than six values.
 */
const lowRank = (n: number): number => Math.max(0, Math.round(n / 2 - 0.98 * Math.sqrt(n)));

/** Seconds after which `isSteady` first held; undefined if it never did within `atMost`. */
export function secondsUntilSteady(
  pps: readonly number[],
  { atMost = 600, ...bounds }: SteadyBounds & { atMost?: number } = defaultBounds,
): number | undefined {
  const last = Math.min(pps.length, atMost);
  for (let seconds = Math.max(0, bounds.atLeast); seconds <= last; seconds++) {
    if (isSteady(pps.slice(0, seconds), bounds)) return seconds;
  }
  return undefined;
}
