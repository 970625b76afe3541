// Estimates how far the noise of one session may differ from that of other sessions of the same cell.
import { mean, sum } from 'simple-statistics';
import type { Noise } from './evidence.ts';

/** Fewer sessions say too little about the differences of their variances. */
export const minSessions = 10;

/** The next session may be noisier, however alike the sessions have been. */
const maxDegreesOfFreedom = 16;

/**
 * Degrees of freedom of the variances of sessions around that of their cell: with few, sessions differ much. Uses the
 * moments of log variances (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004, section 6.2),
 * here within cells, and adds one standard error to their spread, as a few sessions may agree by chance. `cells` has
 * the noise of each session of each cell; undefined for fewer than ten sessions of cells that have two or more.
 */
export function sessionDegreesOfFreedom(cells: readonly (readonly Noise[])[]): number | undefined {
  const usable = cells.map((sessions) => sessions.filter(hasSpread)).filter((sessions) => sessions.length > 1);
  const sessions = usable.flat();
  if (sessions.length < minSessions) return undefined;
  const compared = sessions.length - usable.length;
  const spread = sum(usable.map(squaresOfLogVariances)) / compared;
  const standardError = spread * Math.sqrt(2 / compared);
  const within = mean(sessions.map(({ degreesOfFreedom }) => trigamma(degreesOfFreedom / 2)));
  return degreesOfFreedomWith(spread + standardError - within);
}

const hasSpread = ({ sumOfSquares, degreesOfFreedom }: Noise): boolean => degreesOfFreedom > 0 && sumOfSquares > 0;

function squaresOfLogVariances(sessions: readonly Noise[]): number {
  const logs = sessions.map(
    ({ sumOfSquares, degreesOfFreedom }) => Math.log(sumOfSquares / 2) - digamma(degreesOfFreedom / 2),
  );
  const center = mean(logs);
  return sum(logs.map((log) => (log - center) ** 2));
}

/** Solves trigamma(d/2) = `spread` for d by halving; trigamma falls. */
function degreesOfFreedomWith(spread: number): number {
  let [low, high] = [0.01, maxDegreesOfFreedom];
  if (spread <= trigamma(high / 2)) return high;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (trigamma(middle / 2) > spread) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The second derivative of log Γ at x > 0: recurrence, then the asymptotic series (Abramowitz and Stegun, 6.4.12). */
function trigamma(x: number): number {
  let stepped = x;
  let value = 0;
  for (; stepped < 10; stepped += 1) value += 1 / stepped ** 2;
  const y = 1 / stepped ** 2;
  return value + 1 / stepped + y / 2 + (y / stepped) * (1 / 6 - y * (1 / 30 - y / 42));
}

/** The derivative of log Γ at x > 0 (Abramowitz and Stegun, 6.3.18). */
function digamma(x: number): number {
  let stepped = x;
  let value = 0;
  for (; stepped < 10; stepped += 1) value -= 1 / stepped;
  const y = 1 / stepped ** 2;
  return value + Math.log(stepped) - 1 / (2 * stepped) - y * (1 / 12 - y * (1 / 120 - y / 252));
}
