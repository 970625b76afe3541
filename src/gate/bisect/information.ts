// Computes the information that one boot yields on a yes-or-no question.

/**
 * Mutual information, in bits, between a bit that is 1 with the given probability and a normal number of deviation 1.
 * The number's mean is 0 or `distance`, by that bit. Sums over 160 points, tabulated by steps of 0.1 in the logarithm
 * of the odds and of 0.05 in distance.
 */
export function informationOf(probability: number, distance: number): number {
  const odds = Math.min(probability, 1 - probability) / Math.max(probability, 1 - probability);
  if (odds === 0) return 0;
  const column = Math.min(columns, Math.round(-Math.log(odds) / columnWidth));
  const row = Math.min(rows, Math.round(Math.abs(distance) / rowHeight));
  const index = row * (columns + 1) + column;
  const known = table[index] ?? Number.NaN;
  if (!Number.isNaN(known)) return known;
  const value = compute(1 / (1 + Math.exp(column * columnWidth)), row * rowHeight);
  table[index] = value;
  return value;
}

/** Boots that locate a change among so many bits of possibilities with near certainty, at `distance` deviations. */
export const bootsToLocate = (bits: number, distance: number): number =>
  bits / Math.max(informationOf(0.5, distance), 0.001) + (2 * Math.log(100)) / distance ** 2;

/** The lowest odds are one in a hundred million. */
const columnWidth = 0.1;
const columns = 185;
const rowHeight = 0.05;
/** At ten deviations, the answer is certain. */
const rows = 200;
const table = new Float64Array((columns + 1) * (rows + 1)).fill(Number.NaN);

const points = 160;

function compute(probability: number, distance: number): number {
  if (distance === 0) return 0;
  const from = -6;
  const width = (distance + 12) / points;
  let bits = 0;
  for (let point = 0; point < points; point++) {
    const at = from + (point + 0.5) * width;
    const [zero, one] = [density(at), density(at - distance)];
    const both = (1 - probability) * zero + probability * one;
    bits += (1 - probability) * partOf(zero, both) + probability * partOf(one, both);
  }
  return Math.max(0, bits * width);
}

const partOf = (own: number, both: number): number => (own > 0 && both > 0 ? own * Math.log2(own / both) : 0);

const density = (at: number): number => Math.exp(-(at * at) / 2) / Math.sqrt(2 * Math.PI);
