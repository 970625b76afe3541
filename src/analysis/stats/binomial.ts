// Bounds the probability of an event by the number of tries, simultaneously for all numbers of tries.
import { gammaln } from 'simple-statistics';

/** Chance that a bound is ever wrong, however often it is used. */
const everWrongRatio = 0.05;

/** Beta prior of the share, expected near 1 %. It determines where the bounds are tightest; they hold for any prior. */
const prior = { events: 0.5, others: 50 };

/**
 * Highest share compatible with `events` among `tries`, 1 for no tries. Holds at every number of tries together with the
 * lower bound: a beta-binomial mixture martingale (Robbins, Annals of Mathematical Statistics 41, 1970; Howard, Ramdas,
 * McAuliffe & Sekhon, Annals of Statistics 49, 2021) exceeds 1/α anywhere with probability α at most.
 */
export const upperBound = (events: number, tries: number): number =>
  events >= tries ? 1 : crossing(events, tries, events / tries, 1);

/** Lowest compatible share, 0 without events. */
export const lowerBound = (events: number, tries: number): number =>
  events === 0 ? 0 : crossing(events, tries, events / tries, 0);

/** Finds by bisection the share beyond which the martingale is above its limit, from `inside` to `outside`. */
function crossing(events: number, tries: number, inside: number, outside: number): number {
  let [kept, left] = [inside, outside];
  for (let step = 0; step < 60; step += 1) {
    const middle = (kept + left) / 2;
    if (logMartingale(events, tries, middle) > -Math.log(everWrongRatio)) left = middle;
    else kept = middle;
  }
  return left;
}

/** Logarithm of the likelihood of the mixture over that of `share`. */
const logMartingale = (events: number, tries: number, share: number): number =>
  logBeta(prior.events + events, prior.others + tries - events) -
  logBeta(prior.events, prior.others) -
  events * Math.log(share) -
  (tries - events) * Math.log1p(-share);

const logBeta = (a: number, b: number): number => gammaln(a) + gammaln(b) - gammaln(a + b);
