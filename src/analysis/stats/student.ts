// Student's t, two-sided: the rounded table of ministat(1), and exact quantiles for our own intervals.
import { errorFunction } from 'simple-statistics';

export const confidencePercents = [80, 90, 95, 98, 99, 99.5] as const;
export type ConfidencePercent = (typeof confidencePercents)[number];

/**
 * The critical value that ministat(1) uses: its table has three decimals and rows for 1 to 100 degrees of freedom, then
 * the normal distribution.
 *
 * The table is the NIST handbook's of one-sided values, and ministat's last column is that of 0.999: its 99.5 % is 99.8
 * % two-sided. Kept, so that our errors equal its errors.
 */
export function studentT(degreesOfFreedom: number, confidencePercent: ConfidencePercent): number {
  const misprint = confidencePercent === 99.5 ? misprints.get(degreesOfFreedom) : undefined;
  if (misprint !== undefined) return misprint;

  const confidence = confidencePercent === 99.5 ? 0.998 : confidencePercent / 100;
  const row = degreesOfFreedom > 100 ? Infinity : degreesOfFreedom;
  return Math.round(studentTExact(row, confidence) * 1000) / 1000;
}

/**
 * The t with P(|T| ≤ t) = confidence, to a relative 1e-9 or better. `degreesOfFreedom` is positive (Welch's are
 * fractions; infinity is the normal distribution), `confidence` a ratio in (0, 1).
 */
export function studentTExact(degreesOfFreedom: number, confidence: number): number {
  expectDegreesOfFreedom(degreesOfFreedom);
  if (!(confidence > 0 && confidence < 1)) {
    throw new RangeError(`A confidence lies between 0 and 1, not at ${confidence}.`);
  }
  if (degreesOfFreedom <= million) return quantile(degreesOfFreedom, confidence);

  // This far out t is linear in 1/ν (Cornish and Fisher), and the fraction below loses digits.
  const atMillion = quantile(million, confidence);
  const atInfinity = 2 * atMillion - quantile(million / 2, confidence);
  return atInfinity + (atMillion - atInfinity) * (million / degreesOfFreedom);
}

function expectDegreesOfFreedom(degreesOfFreedom: number): void {
  if (degreesOfFreedom > 0) return;
  throw new RangeError(`Degrees of freedom are a positive number, not ${degreesOfFreedom}.`);
}

/** Returns the t with P(T > t) = `level`; cached, as few values are needed very often. */
export function criticalT(degreesOfFreedom: number, level: number): number {
  const values = criticalValues.get(level) ?? new Map<number, number>();
  const known = values.get(degreesOfFreedom);
  if (known !== undefined) return known;
  const t = studentTExact(degreesOfFreedom, 1 - 2 * level);
  // Estimated degrees of freedom hardly ever recur.
  if (criticalValues.size >= maxCached) criticalValues.clear();
  if (values.size >= maxCached) values.clear();
  criticalValues.set(level, values.set(degreesOfFreedom, t));
  return t;
}

/** Cached by level, then by degrees of freedom. */
const criticalValues = new Map<number, Map<number, number>>();

const maxCached = 10_000;

/** P(T > t) for `t` ≥ 0. The normal distribution (infinite degrees) has a relative error below 2e-7. */
export function studentTail(t: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom === Infinity) return (1 - errorFunction(t / Math.SQRT2)) / 2;
  expectDegreesOfFreedom(degreesOfFreedom);
  const { inTails, within } = twoSided(t, degreesOfFreedom, gammaRatio(degreesOfFreedom / 2));
  return (inTails ?? 1 - within) / 2;
}

/** Degrees of freedom at which the published last column is not the rounded quantile. */
const misprints = new Map([
  [1, 318.313],
  [7, 4.782],
  [8, 4.499],
  [9, 4.296],
  [10, 4.143],
  [11, 4.024],
  [12, 3.929],
]);

const million = 1e6;

/** Newton's method from below, as the tail is convex; then bisection down to neighbouring doubles, which cannot diverge. */
function quantile(degreesOfFreedom: number, confidence: number): number {
  const ratio = gammaRatio(degreesOfFreedom / 2);
  const excessAt = (t: number) => excess(twoSided(t, degreesOfFreedom, ratio), confidence);
  let high = 1;
  while (excessAt(high) > 0) high *= 2;
  let low = high === 1 ? 0 : high / 2;

  let t = low;
  for (let step = Infinity, count = 0; step > 1e-9 * t && count < 50; count += 1) {
    step = excessAt(t) / (2 * density(t, degreesOfFreedom, ratio));
    t += step;
  }
  const [below, above] = [t * (1 - 1e-14), t * (1 + 1e-14)];
  if (below > low && below < high && excessAt(below) > 0) low = below;
  if (above > low && above < high && excessAt(above) <= 0) high = above;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return high;
    if (excessAt(middle) > 0) low = middle;
    else high = middle;
  }
}

/** Returns by how much P(|T| > t) exceeds that of the quantile. */
const excess = ({ inTails, within }: TwoSided, confidence: number): number =>
  inTails === undefined ? confidence - within : inTails - (1 - confidence);

/** `ratio` is `gammaRatio` of half the degrees of freedom. */
const density = (t: number, degreesOfFreedom: number, ratio: number): number =>
  (ratio / Math.sqrt(Math.PI * degreesOfFreedom)) *
  Math.exp((-(degreesOfFreedom + 1) / 2) * Math.log1p((t * t) / degreesOfFreedom));

type TwoSided = { inTails: number; within?: never } | { inTails?: never; within: number };

/**
 * P(|T| > t) or P(|T| ≤ t), the one without loss of digits: a regularized incomplete beta function of ν/2 and 1/2,
 * whose continued fraction converges fast on one side of the mean. `ratio` is `gammaRatio` of half the degrees of freedom.
 */
function twoSided(t: number, degreesOfFreedom: number, ratio: number): TwoSided {
  const a = degreesOfFreedom / 2;
  const square = t * t;
  const beyond = degreesOfFreedom / (degreesOfFreedom + square);
  const within = square / (degreesOfFreedom + square);

  // x^a · (1−x)^(1/2) / B(a, 1/2), the factor before both fractions.
  const factor = Math.exp(-a * Math.log1p(square / degreesOfFreedom)) * Math.sqrt(within / Math.PI) * ratio;

  return beyond < (a + 1) / (a + 2.5)
    ? { inTails: (factor / a) * betaFraction(beyond, a, 0.5) }
    : { within: 2 * factor * betaFraction(within, 0.5, a) };
}

/** Γ(a + 1/2) / Γ(a), by its asymptotic series (DLMF 5.11.13) after stepping up to its exact range. */
function gammaRatio(a: number): number {
  let stepped = a;
  let correction = 1;
  for (; stepped < 40; stepped += 1) correction *= stepped / (stepped + 0.5);

  const x = 1 / stepped;
  const series = 1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - (399 / 262144) * x))));
  return correction * Math.sqrt(stepped) * series;
}

/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
export function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1) || tiny);
  let fraction = d;

  for (let m = 1; m < 100_000; m += 1) {
    const before = fraction;
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 / (1 + term * d || tiny);
      c = 1 + term / c || tiny;
      fraction *= c * d;
    }
    if (!(Math.abs(fraction - before) > 1e-15 * fraction)) return fraction;
  }
  return fraction;
}
