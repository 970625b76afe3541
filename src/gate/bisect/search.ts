// Chooses the next commit to measure, and decides which commit changed the rate, from the measurements alone.
import { mean, sum, sumNthPowerDeviations } from 'simple-statistics';
import { type Noise, sumOf } from '../../analysis/stats/evidence.ts';
import { bootsToLocate, informationOf } from './information.ts';
import { likelihoodOfOtherSide } from './outliers.ts';

/** Positions are those of kernels along the range: 0 is good, `steps` is bad. */
export type SearchProblem = {
  steps: number;
  /** Natural logarithms of each boot's rate, by position; may lack unmeasured positions. */
  measured: ReadonlyMap<number, readonly number[]>;
  failed: ReadonlyMap<number, PositionFailure>;
  skipped: ReadonlySet<number>;
  history: Noise;
  /** Maximum number of boots, and their number so far, including failed ones. */
  mostBoots: number;
  boots: number;
};

/** Failures of the same `kind` are alike. An unsure one happened once, and may not recur. */
export type PositionFailure = { kind: string; isSure: boolean };

export type SearchCosts = {
  runMinutes: number;
  /** Minutes until the position's kernel is ready. */
  waitMinutes(position: number): number;
};

/** The change is in a step after position `after`, through the one that ends at `last`. */
export type ChangeRange = { after: number; last: number; probability: number };

export type SearchOutcome =
  | ({ kind: 'found' } & ChangeRange)
  | { kind: 'not-reproduced' }
  /** The rate differs between the positions `at`, but no single step stands out. */
  | { kind: 'slide'; at: number[] }
  | { kind: 'several'; found: ChangeRange[]; open: { after: number; last: number }[] }
  | {
      kind: 'inconclusive';
      /** The likeliest steps by end position, at most three. */
      best: { last: number; probability: number }[];
      bootsExpected: number;
    };

/** `why` is for progress output. */
type SearchStep = { kind: 'measure'; position: number; why: StepReason } | { kind: 'ended'; ending: SearchOutcome };

type StepReason = 'reproduce' | 'search' | 'look again' | 'confirm' | 'strengthen an end' | 'try again';

type Segment = { low: number; high: number };

const wantedProbability = 0.99;
const bootsOfNeighbour = 2;
/** Greatest odds, for each neighbour, that it is on its side because of outliers alone. */
const maxWrongProbability = 0.01;
const maxBootsOfEnd = 20;
const bootsOfThirdLevel = 4;
const deepest = 4;
/** Minimum difference, beyond noise, of a separate level. */
const minLevelRatio = 0.01;
/**
 * Thresholds of generalized likelihood ratios: good and bad differ; a position is at neither level; one of its boots
 * is.
 */
const reproducedAt = 150;
const thirdLevelAt = 1000;
const loneAt = 3000;
/** Similar failures this close count as one, and the positions between are not tried. */
const nearFailures = 16;

/** Deterministic, and independent of the order of boots. */
export function nextStep(problem: SearchProblem, costs: SearchCosts): SearchStep {
  const { failed, steps } = problem;
  if (isLost(failed, 0) || isLost(failed, steps)) return ended({ kind: 'not-reproduced' });
  const known = prepared(problem);
  const poorer = poorerOf(known, 0, steps);
  const boots = bootsAt(known, poorer);
  if (boots < 2 || ratioBetween(known, 0, steps) < reproducedAt) {
    const isSpent = boots >= maxBootsOfEnd || isOver(known);
    return isSpent ? ended({ kind: 'not-reproduced' }) : measure(poorer, 'reproduce');
  }
  const endings: SearchOutcome[] = [];
  for (const leaf of partsOfRange(known)) {
    const step = stepIn(known, leaf, costs);
    if (step.kind === 'measure') {
      if (!isOver(known)) return step;
      endings.push(inconclusive(known, leaf.segment));
    } else {
      endings.push(step.ending);
    }
  }
  return ended(combined(known, endings));
}

/** Orders the builds besides finished and running ones: each halves the likeliest stretch without a build. */
export function nextBuilds(problem: SearchProblem, isBuilt: (position: number) => boolean, count: number): number[] {
  const known = prepared(problem);
  const open = openPart(known);
  if (open === undefined) return [];
  const { low, high } = open.segment;
  return partings(known, open, positions(low, high).filter(isBuilt), count);
}

type OpenPart = { segment: Segment; chances: ChangeChances };

/** Returns the first part of the range that still needs search. */
function openPart(known: PreparedProblem): OpenPart | undefined {
  const leaves = partsOfRange(known).map(({ segment }) => ({
    segment,
    chances: chancesIn(known, segment),
  }));
  const isOpen = ({ chances }: OpenPart) => stretchIn(known, chances).probability < wantedProbability;
  return leaves.find(isOpen) ?? leaves[0];
}

/** Returns positions that each split the likeliest of the remaining stretches. */
function partings(
  known: PreparedProblem,
  { segment, chances }: OpenPart,
  others: readonly number[],
  count: number,
): number[] {
  const inside = others.filter((position) => position > segment.low && position < segment.high);
  const stops = [...new Set([segment.low, ...inside, segment.high])].sort((a, b) => a - b);
  const chosen: number[] = [];
  while (chosen.length < count) {
    const next = largestGap(stops, chances, (position) => !known.unfit.has(position));
    if (next === undefined) break;
    chosen.push(next);
    stops.push(next);
    stops.sort((a, b) => a - b);
  }
  return chosen;
}

/** Chooses up to `count` more positions: neighbours that a conclusion needs, then halves of likely stretches. */
export function alsoInformative(problem: SearchProblem, measured: readonly number[], count: number): number[] {
  const known = prepared(problem);
  const open = openPart(known);
  if (open === undefined) return [];
  const { after, last } = stretchIn(known, open.chances);
  const neighbours = [after, last].filter(
    (position) => bootsAt(known, position) > 0 && bootsAt(known, position) < bootsOfNeighbour,
  );
  const wanted = neighbours.filter((position) => !measured.includes(position)).slice(0, count);
  return [...wanted, ...partings(known, open, [...known.places, ...measured, ...wanted], count - wanted.length)];
}

/** Probability that each step is the change, by end position; 0 for position 0. */
export function probabilities(problem: SearchProblem): number[] {
  const known = prepared(problem);
  const all = new Array<number>(problem.steps + 1).fill(0);
  for (const { segment } of partsOfRange(known)) {
    const { upTo } = chancesIn(known, segment);
    for (const position of positions(segment.low + 1, segment.high)) {
      all[position] = upTo(position) - upTo(position - 1);
    }
  }
  return all;
}

/** Untried positions between two near failures of one kind. */
export const takenForFailed = (problem: Pick<SearchProblem, 'failed' | 'measured'>): number[] =>
  failuresTogether(problem).flatMap(({ low, high }) => positions(low + 1, high - 1));

/** Consecutive similar failures near each other, with nothing measured between. */
function failuresTogether({ failed, measured }: Pick<SearchProblem, 'failed' | 'measured'>): Segment[] {
  const known = [...failed.keys()].sort((a, b) => a - b);
  return known.slice(1).flatMap((high, index) => {
    const low = known[index] ?? high;
    const isAlike = failed.get(low)?.kind === failed.get(high)?.kind;
    const isParted = positions(low + 1, high - 1).some((position) => measured.has(position));
    return isAlike && high - low <= nearFailures && !isParted ? { low, high } : [];
  });
}

type PreparedProblem = SearchProblem & {
  /** Measured positions, ascending. */
  places: readonly number[];
  unfit: ReadonlySet<number>;
  /** Noise of all boots including earlier experiments, and of earlier experiments alone. */
  noise: Noise;
  earlier: Noise;
};

/** Sorts the boots, as the last digits of sums depend on their order. */
function prepared(problem: SearchProblem): PreparedProblem {
  const measured = new Map(
    [...problem.measured]
      .filter(([, values]) => values.length > 0)
      .map(([position, values]) => [position, values.toSorted((a, b) => a - b)] as const),
  );
  const { failed, skipped, history } = problem;
  const places = [...measured.keys()].sort((a, b) => a - b);
  const unfit = new Set([...failed.keys(), ...skipped, ...takenForFailed(problem)]);
  const own = spreadOf(places.map((place) => measured.get(place) ?? []));
  return { ...problem, measured, places, unfit, noise: sumOf(own, history), earlier: history };
}

function spreadOf(sets: Iterable<readonly number[]>): Noise {
  let sumOfSquares = 0;
  let degreesOfFreedom = 0;
  for (const values of sets) {
    if (values.length < 2) continue;
    sumOfSquares += sumNthPowerDeviations([...values], 2);
    degreesOfFreedom += values.length - 1;
  }
  return { sumOfSquares, degreesOfFreedom };
}

type RangePart = {
  segment: Segment;
  look: { kind: 'plain' } | { kind: 'again'; position: number } | { kind: 'too-deep' };
};

/** Splits the range at positions with their own level; each part contains a change. */
const partsOfRange = (known: PreparedProblem): RangePart[] => partsOf(known, { low: 0, high: known.steps }, 0);

function partsOf(known: PreparedProblem, segment: Segment, depth: number): RangePart[] {
  const third = thirdLevelIn(known, segment);
  if (third === undefined) return [{ segment, look: { kind: 'plain' } }];
  const { position } = third;
  if (third.kind === 'again') return [{ segment, look: { kind: 'again', position } }];
  if (depth === deepest) return [{ segment, look: { kind: 'too-deep' } }];
  const { low, high } = segment;
  return [...partsOf(known, { low, high: position }, depth + 1), ...partsOf(known, { low: position, high }, depth + 1)];
}

/** Finds a position at neither level. Repeats a single outlier; requires agreement of its boots and both ends. */
function thirdLevelIn(
  known: PreparedProblem,
  segment: Segment,
): { kind: 'again' | 'level'; position: number } | undefined {
  const { low, high } = segment;
  const inside = known.places.filter((place) => place > low && place < high);
  if (inside.length === 0) return undefined;
  const { likeliest } = chancesIn(known, segment);
  const apart = inside.flatMap((position) => {
    const own = mean(valuesAt(known, position));
    const isOff = (from: number, to: number): boolean => {
      const others = known.places
        .filter((place) => place >= from && place <= to && place !== position)
        .flatMap((place) => valuesAt(known, place));
      const distance = Math.abs(own - mean(others));
      return distance > minLevelRatio && likelihoodRatio(known, distance) > loneAt;
    };
    const boots = bootsAt(known, position);
    const ends = [low, high];
    const ratio = Math.min(...ends.map((end) => ratioBetween(known, position, end)));
    const isFarFrom = (end: number) => Math.abs(own - mean(valuesAt(known, end))) > minLevelRatio;
    if (boots >= 2 && ratio >= thirdLevelAt && ends.every(isFarFrom)) {
      return { position, ratio, wanting: [position, low, high] };
    }
    const isLone = boots < 3 && isOff(low, likeliest.low) && isOff(likeliest.high, high);
    return isLone ? { position, ratio: 0, wanting: [position] } : [];
  });
  const [clearest] = apart.toSorted((a, b) => b.ratio - a.ratio);
  if (clearest === undefined) return undefined;
  if (clearest.ratio === 0) return { kind: 'again', position: clearest.position };
  const poor = clearest.wanting.find((place) => bootsAt(known, place) < bootsOfThirdLevel);
  return poor === undefined ? { kind: 'level', position: clearest.position } : { kind: 'again', position: poor };
}

function stepIn(known: PreparedProblem, { segment, look }: RangePart, costs: SearchCosts): SearchStep {
  const { low, high } = segment;
  if (look.kind === 'again') return measure(look.position, 'look again');
  if (look.kind === 'too-deep') return ended({ kind: 'slide', at: [low, high] });
  const chances = chancesIn(known, segment);
  const stretch = stretchIn(known, chances);
  if (stretch.probability >= wantedProbability) {
    const unsure = unsureFailure(known, stretch);
    if (unsure !== undefined) return measure(unsure, 'try again');
    const doubtful = doubtfulNeighbour(known, chances, stretch);
    if (doubtful !== undefined) return measure(doubtful, 'confirm');
    return ended({ kind: 'found', ...stretch });
  }
  const position = mostInformative(known, segment, chances, costs);
  const weak = weakEnd(known, segment, chances, position);
  if (weak !== undefined) return measure(weak, 'strengthen an end');
  return position === undefined ? ended(inconclusive(known, segment)) : measure(position, 'search');
}

/**
 * Returns the neighbour of a found change that needs another boot, as it may be on its side because of outliers alone:
 * the change would then be in the steps up to the next measured position. Beyond an end there is none, and good and bad
 * may be equal, which is as likely as all steps together.
 */
function doubtfulNeighbour(
  known: PreparedProblem,
  { segment: { low, high }, levels: { left, right } }: ChangeChances,
  { after, last }: ChangeRange,
): number | undefined {
  const before = known.places.findLast((place) => place >= low && place < after);
  const behind = known.places.find((place) => place > last && place <= high);
  const deviation = deviationOf(known.noise);
  const sides = [
    { position: after, own: left, other: right, next: before },
    { position: last, own: right, other: left, next: behind },
  ];
  const doubts = sides.map(({ position, own, other, next }) => {
    const steps = next === undefined ? high - low : Math.abs(position - next);
    const values = valuesAt(known, position);
    const ratio = likelihoodOfOtherSide({ values, own, other, deviation });
    return { position, doubt: (ratio * steps) / (last - after) };
  });
  const [worst] = doubts.toSorted((a, b) => b.doubt - a.doubt);
  return worst !== undefined && worst.doubt > maxWrongProbability ? worst.position : undefined;
}

function mostInformative(
  known: PreparedProblem,
  { low, high }: Segment,
  { upTo, distance }: ChangeChances,
  { waitMinutes, runMinutes }: SearchCosts,
): number | undefined {
  const toFailure = distancesToFailure(known);
  let best: number | undefined;
  let most = 0;
  for (let position = low; position <= high; position++) {
    if (known.unfit.has(position)) continue;
    const works = bootsAt(known, position) > 0 ? 1 : chanceToWork(toFailure, position);
    const bits = informationOf(upTo(position), distance) * works;
    if (bits === 0) continue;
    const gain = bits / (waitMinutes(position) + runMinutes);
    if (gain > most * (1 + 1e-9)) {
      best = position;
      most = gain;
    }
  }
  return best;
}

/** Failures cluster, but a twentieth of untried positions fail in any case. */
const chanceToWork = (toFailure: (position: number) => number, position: number): number =>
  0.95 * (1 - Math.exp(-toFailure(position) / 4));

function distancesToFailure({ failed }: PreparedProblem): (position: number) => number {
  const known = [...failed.keys()];
  return (position) => Math.min(...known.map((other) => Math.abs(position - other)));
}

/**
 * Returns the end of a segment with fewer boots: repeating the position itself would not improve its reference level.
 */
function weakEnd(
  known: PreparedProblem,
  { low, high }: Segment,
  { upTo }: ChangeChances,
  position: number | undefined,
): number | undefined {
  if (position === undefined) return undefined;
  const bootsWhere = (isThere: (chance: number) => boolean) =>
    sum(
      known.places
        .filter((place) => place >= low && place <= high && isThere(upTo(place)))
        .map((place) => bootsAt(known, place)),
    );
  const boots = bootsAt(known, position);
  if (boots >= bootsWhere((chance) => chance <= 0.05)) return low;
  return boots >= bootsWhere((chance) => chance >= 0.95) ? high : undefined;
}

type ChangeChances = {
  segment: Segment;
  /** Probability that the change is after the low end, at a position or before. */
  upTo(position: number): number;
  /** Measured neighbours around the likeliest change. */
  likeliest: Segment;
  /** Means of the boots on either side of the likeliest change. */
  levels: { left: number; right: number };
  /** Distance between both levels, in deviations of a boot. */
  distance: number;
};

/**
 * Locates the change with both levels unknown. Each gap between measured neighbours splits the boots in two. Its
 * likelihood is that of two homogeneous groups: the normal likelihood, with means and variance integrated out using the
 * noise of earlier experiments. Steps within a gap are equally likely.
 */
function chancesIn(known: PreparedProblem, segment: Segment): ChangeChances {
  const { low, high } = segment;
  const stops = [...new Set([low, ...known.places.filter((place) => place > low && place < high), high])];
  const outside = known.places.filter((place) => place < low || place > high);
  const earlier = sumOf(known.earlier, spreadOf(outside.map((place) => valuesAt(known, place))));
  const logs = splitLogs(
    stops.map((stop) => valuesAt(known, stop)),
    earlier,
  );
  const greatest = Math.max(...logs);
  const lengths = stops.slice(1).map((stop, index) => stop - (stops[index] ?? stop));
  const masses = logs.map((log, index) => Math.exp(log - greatest) * (lengths[index] ?? 0));
  const total = sum(masses);
  const before = [0];
  for (const mass of masses) before.push((before.at(-1) ?? 0) + mass / total);
  before[before.length - 1] = 1;
  const best = logs.indexOf(greatest);
  const levels = levelsAt(
    stops.map((stop) => valuesAt(known, stop)),
    best,
  );
  return {
    segment,
    likeliest: { low: stops[best] ?? low, high: stops[best + 1] ?? high },
    levels,
    distance: Math.abs(levels.left - levels.right) / deviationOf(known.noise),
    upTo(position) {
      const gap = lastIndexAtMost(stops, position);
      const [from = 0, to = 1] = [before[gap], before[gap + 1]];
      const start = stops[gap] ?? low;
      return gap === stops.length - 1 ? 1 : from + ((to - from) * (position - start)) / (lengths[gap] ?? 1);
    },
  };
}

/** Log-likelihoods, up to a constant, of a change in each gap between sets of boots. */
function splitLogs(sets: readonly (readonly number[])[], earlier: Noise): number[] {
  const origin = sets.find(({ length }) => length > 0)?.[0] ?? 0;
  const moments = sets.map((values) => momentsOf(values.map((value) => value - origin)));
  const whole = moments.reduce(added, nothing);
  let left = nothing;
  return moments.slice(0, -1).map((own) => {
    left = added(left, own);
    const right = {
      count: whole.count - left.count,
      sum: whole.sum - left.sum,
      squares: whole.squares - left.squares,
    };
    if (left.count === 0 || right.count === 0) return 0;
    const degreesOfFreedom = earlier.degreesOfFreedom + whole.count - 2;
    const squares = Math.max(earlier.sumOfSquares + spread(left) + spread(right), leastSquares);
    return -(Math.log(left.count * right.count) + degreesOfFreedom * Math.log(squares)) / 2;
  });
}

/** Identical boots, for example in a simulator, have no noise to divide by. */
const leastSquares = 1e-12;

type Moments = { count: number; sum: number; squares: number };

const nothing: Moments = { count: 0, sum: 0, squares: 0 };

const momentsOf = (values: readonly number[]): Moments =>
  values.reduce((all, value) => added(all, { count: 1, sum: value, squares: value * value }), nothing);

const added = (one: Moments, other: Moments): Moments => ({
  count: one.count + other.count,
  sum: one.sum + other.sum,
  squares: one.squares + other.squares,
});

const spread = ({ count, sum, squares }: Moments): number => Math.max(0, squares - (sum * sum) / count);

function levelsAt(sets: readonly (readonly number[])[], gap: number): { left: number; right: number } {
  const levelOf = (parts: readonly (readonly number[])[]) => {
    const values = parts.flat();
    return values.length === 0 ? Number.NaN : mean(values);
  };
  return { left: levelOf(sets.slice(0, gap + 1)), right: levelOf(sets.slice(gap + 1)) };
}

/** Returns the likeliest run of steps between two measurable positions without another one in between. */
function stretchIn(known: PreparedProblem, { segment, upTo }: ChangeChances): ChangeRange {
  let best: ChangeRange = { after: segment.low, last: segment.high, probability: 0 };
  let after = segment.low;
  for (let last = segment.low + 1; last <= segment.high; last++) {
    if (known.unfit.has(last) && last !== segment.high) continue;
    const probability = upTo(last) - upTo(after);
    if (probability > best.probability) best = { after, last, probability };
    after = last;
  }
  return best;
}

function inconclusive(known: PreparedProblem, segment: Segment): SearchOutcome {
  const chances = chancesIn(known, segment);
  const { upTo, distance } = chances;
  const steps = positions(segment.low + 1, segment.high).map((last) => ({
    last,
    probability: upTo(last) - upTo(last - 1),
  }));
  const best = steps.toSorted((a, b) => b.probability - a.probability).slice(0, 3);
  const bits = -sum(steps.map(({ probability: p }) => (p > 0 ? p * Math.log2(p) : 0)));
  return { kind: 'inconclusive', best, bootsExpected: Math.ceil(bootsToLocate(bits, distance)) };
}

function combined(known: PreparedProblem, endings: readonly SearchOutcome[]): SearchOutcome {
  const [only] = endings;
  if (endings.length === 1 && only !== undefined) return only;
  const found = endings.flatMap((ending) => (ending.kind === 'found' ? foundOf(ending) : []));
  const segments = partsOfRange(known).map(({ segment }) => segment);
  const open = segments
    .filter((_, index) => endings[index]?.kind !== 'found')
    .map(({ low, high }) => ({ after: low, last: high }));
  if (found.length > 0) return { kind: 'several', found, open };
  return { kind: 'slide', at: [...segments.map(({ low }) => low), known.steps] };
}

const foundOf = ({ after, last, probability }: ChangeRange): ChangeRange => ({
  after,
  last,
  probability,
});

/** Returns the position that best splits the heaviest gap between stops; undefined if none is left. */
function largestGap(
  stops: readonly number[],
  { upTo }: ChangeChances,
  isFit: (position: number) => boolean,
): number | undefined {
  const gaps = stops.slice(1).map((high, index) => ({ low: stops[index] ?? high, high }));
  const candidates = gaps.flatMap(({ low, high }) => {
    const middle = (upTo(low) + upTo(high)) / 2;
    const [best] = positions(low + 1, high - 1)
      .filter(isFit)
      .toSorted((a, b) => Math.abs(upTo(a) - middle) - Math.abs(upTo(b) - middle));
    return best === undefined ? [] : { position: best, mass: upTo(high) - upTo(low) };
  });
  return candidates.toSorted((a, b) => b.mass - a.mass)[0]?.position;
}

/** Generalized likelihood ratio that two positions differ, with unknown noise. */
function ratioBetween(known: PreparedProblem, one: number, other: number): number {
  const [a, b] = [valuesAt(known, one), valuesAt(known, other)];
  if (a.length === 0 || b.length === 0) return 0;
  const distance = mean([...a]) - mean([...b]);
  return likelihoodRatio(known, distance / Math.sqrt(1 / a.length + 1 / b.length));
}

/** Likelihood ratio of Student's t, against chance, for a difference in deviations of one boot. */
function likelihoodRatio({ noise }: PreparedProblem, distance: number): number {
  const { degreesOfFreedom } = noise;
  const t = distance / deviationOf(noise);
  return (1 + t ** 2 / degreesOfFreedom) ** ((degreesOfFreedom + 2) / 2);
}

const deviationOf = ({ sumOfSquares, degreesOfFreedom }: Noise): number =>
  Math.sqrt(Math.max(sumOfSquares, leastSquares) / Math.max(degreesOfFreedom, 1));

const valuesAt = ({ measured }: SearchProblem, position: number): readonly number[] => measured.get(position) ?? [];

const bootsAt = (problem: SearchProblem, position: number): number => valuesAt(problem, position).length;

const poorerOf = (problem: SearchProblem, one: number, other: number): number =>
  bootsAt(problem, other) < bootsAt(problem, one) ? other : one;

const isLost = (failed: SearchProblem['failed'], position: number): boolean => failed.get(position)?.isSure === true;

/** Finds a failure that happened once, and to no neighbour: the lab may have caused it. */
function unsureFailure(known: PreparedProblem, { after, last }: ChangeRange): number | undefined {
  const sure = new Set(failuresTogether(known).flatMap(({ low, high }) => [low, high]));
  return positions(after + 1, last - 1).find(
    (position) => known.failed.get(position)?.isSure === false && !sure.has(position),
  );
}

const isOver = ({ boots, mostBoots }: SearchProblem): boolean => boots >= mostBoots;

const measure = (position: number, why: StepReason): SearchStep => ({
  kind: 'measure',
  position,
  why,
});

const ended = (ending: SearchOutcome): SearchStep => ({ kind: 'ended', ending });

const positions = (low: number, high: number): number[] =>
  Array.from({ length: Math.max(0, high - low + 1) }, (_, index) => low + index);

const lastIndexAtMost = (ascending: readonly number[], value: number): number => {
  let [low, high] = [0, ascending.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ascending[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
};
