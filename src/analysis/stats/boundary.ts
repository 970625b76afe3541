// Computes levels of interim analyses, so that all of them together err no more often than required.
import { criticalT, studentTail } from './student.ts';

/**
 * Returns the single nominal one-sided level of all interim analyses, by Pocock (Biometrika 64, 1977): data without any
 * effect cross the boundary in any of them with probability `rate`. `sizes` are the pairs at each, ascending. 0 for a
 * rate beyond the range of this method: such data never cross.
 */
export function pocockLevel(sizes: readonly number[], rate: number): number {
  if (Number.isNaN(rate)) throw new RangeError('The rate of an error is a number.');
  if (rate < minLevel) return 0;
  const levelAt = (z: number) => studentTail(z, Infinity);
  const spends = (z: number) =>
    crossingProbability(
      sizes,
      sizes.map(() => levelAt(z)),
    );
  let low = 0;
  let high = 1;
  for (; spends(high) > rate; high *= 2) low = high;
  while (high - low > 1e-4 * high) {
    const middle = (low + high) / 2;
    if (spends(middle) > rate) low = middle;
    else high = middle;
  }
  return levelAt(high);
}

/**
 * Probability that data without an effect exceed a nominal one-sided level in any interim analysis: the recursion of
 * Armitage, McPherson and Rowe (J. R. Stat. Soc. A 132, 1969) over the sum of independent normal steps.
 * With an estimated variance, as in Student's test, the levels nearly hold (Jennison and Turnbull, Group Sequential
 * Methods, 4.4): in simulations the sum is up to a fifth larger if the first analysis has two degrees of freedom, and
 * less than a tenth larger from four on.
 */
export function crossingProbability(sizes: readonly number[], levels: readonly number[]): number {
  expectSizes(sizes);
  let total = 0;
  // Density of the sum for data that have not crossed, at the nodes of a quadrature.
  let inside: DensityNode[] = [{ at: 0, mass: 1 }];
  let reached = 0;
  for (const [index, size] of sizes.entries()) {
    const deviation = Math.sqrt(size - reached);
    const limit = criticalZ(levels[index] ?? 0) * Math.sqrt(size);
    total += sumOver(inside, ({ at, mass }) => mass * upperTail((limit - at) / deviation));
    const next = sizes[index + 1];
    if (next === undefined) break;
    const range = { low: -farthest * Math.sqrt(size), high: limit };
    const nextDeviation = Math.sqrt(next - size);
    inside = spread(inside, deviation, range, nodesFor(range, deviation, nextDeviation));
    reached = size;
  }
  return total;
}

/** Limits the nodes of a quadrature, which grow with the root of the pairs. */
const maxPairs = 1_000_000;

function expectSizes(sizes: readonly number[]): void {
  const isAscending = sizes.every((size, index) => size >= (sizes[index - 1] ?? 0) + 1);
  if (isAscending && (sizes.at(-1) ?? 0) <= maxPairs) return;
  throw new RangeError(`Interim analyses are of ascending numbers of pairs, up to ${maxPairs}.`);
}

type DensityNode = { at: number; mass: number };
type DifferenceRange = { low: number; high: number };

/** Density after one more step, at `count` nodes of the range. */
function spread(
  from: readonly DensityNode[],
  deviation: number,
  { low, high }: DifferenceRange,
  count: number,
): DensityNode[] {
  return gaussLegendre(count).map(({ at, weight }) => {
    const place = low + ((high - low) * (at + 1)) / 2;
    const density = sumOver(from, ({ at: start, mass }) => mass * normalDensity((place - start) / deviation));
    return { at: place, mass: ((density / deviation) * weight * (high - low)) / 2 };
  });
}

/**
 * The integrand is a density smoothed by one step, times the bell of the next: no sharper than a bell of their joint
 * `sharpness`. n Gauss nodes in a range of n/f such deviations miss about exp(−8 f²), by the bound for entire functions
 * (Trefethen, Approximation Theory and Approximation Practice, theorem 19.3) in the best ellipse: 2e-8 with f = 1.5.
 */
function nodesFor({ low, high }: DifferenceRange, deviation: number, nextDeviation: number): number {
  const sharpness = Math.hypot(1 / deviation, 1 / nextDeviation);
  return 16 * Math.ceil(Math.max(2, (1.5 * (high - low) * sharpness) / 16));
}

/** Deviations below the mean beyond which the density is negligible. */
const farthest = 6;

const minLevel = 1e-12;

/** Levels beyond the range of a double are practically never crossed; one half is the maximum. */
const criticalZ = (level: number): number => (level < minLevel ? 7 : level >= 1 / 2 ? 0 : criticalT(Infinity, level));

const upperTail = (z: number): number => studentTail(z, Infinity);
/** Skips small terms: most nodes are too far apart to contribute to a double, and exponentials are slow. */
const normalDensity = (z: number): number => (z * z > 80 ? 0 : Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI));

function sumOver(nodes: readonly DensityNode[], value: (node: DensityNode) => number): number {
  let sum = 0;
  for (const node of nodes) sum += value(node);
  return sum;
}

/** Gauss–Legendre nodes on −1 … 1, by Newton's method on the recurrence (Abramowitz and Stegun, 25.4.29). */
function gaussLegendre(count: number): readonly QuadratureNode[] {
  const known = quadratures.get(count);
  if (known !== undefined) return known;
  const nodes = Array.from({ length: count }, (_, index) => quadratureNode(count, index));
  quadratures.set(count, nodes);
  return nodes;
}

type QuadratureNode = { at: number; weight: number };

const quadratures = new Map<number, readonly QuadratureNode[]>();

function quadratureNode(count: number, index: number): QuadratureNode {
  let at = Math.cos((Math.PI * (index + 0.75)) / (count + 0.5));
  let slope = 1;
  for (let step = 0; step < 8; step++) {
    let [before, value] = [0, 1];
    for (let degree = 0; degree < count; degree++) {
      [before, value] = [value, ((2 * degree + 1) * at * value - degree * before) / (degree + 1)];
    }
    slope = (count * (at * value - before)) / (at * at - 1);
    at -= value / slope;
  }
  return { at, weight: 2 / ((1 - at * at) * slope * slope) };
}
