// Computes the exact binomial bounds of Clopper and Pearson.
import { gammaln } from 'simple-statistics';

/** One-sided, for both bounds. */
const boundConfidenceRatio = 0.95;

/** Highest share compatible with `alarms` among `gates`, 1 for no gates (Clopper and Pearson, 1934). */
export const upperBound = (alarms: number, gates: number): number =>
  alarms >= gates ? 1 : crossing((share) => atMost(alarms, gates, share), 1 - boundConfidenceRatio);

/** Lowest compatible share, 0 without alarms. */
export const lowerBound = (alarms: number, gates: number): number =>
  alarms === 0 ? 0 : crossing((share) => atMost(alarms - 1, gates, share), boundConfidenceRatio);

/** Probability of at most `alarms` if each gate is one with probability `share`. */
function atMost(alarms: number, gates: number, share: number): number {
  let sum = 0;
  for (let count = 0; count <= alarms; count += 1) {
    const ways = gammaln(gates + 1) - gammaln(count + 1) - gammaln(gates - count + 1);
    sum += Math.exp(ways + count * Math.log(share) + (gates - count) * Math.log1p(-share));
  }
  return sum;
}

/** Finds where `falling` passes `level` between 0 and 1, to fifteen digits. */
function crossing(falling: (share: number) => number, level: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (falling(middle) > level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
