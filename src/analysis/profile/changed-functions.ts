// Explains why a cell got slower or faster: the functions whose own cycles per packet changed beyond chance.
import { gammaln, median, sum } from 'simple-statistics';
import type { ChangedFunction, Comparison, Cost, ProfileReason } from '../../model/result.ts';
import { type Profile, samplesOf } from './profile.ts';

/**
 * Compares the own samples of each function, without its callees, in two profiles without idle stacks; `cost` is the
 * cost of a packet in the sampled unit: the DUT's time, or its instructions.
 *
 * Shares alone mislead: if one function gets more expensive, all other shares fall. Share × cost does not, and is
 * compared if the cost is known; its own error is neglected, as it is below `bootDeviation`. Otherwise a function must
 * have moved by its share, and also by its share if the median function had kept its cost (as Anders and Huber compare
 * counts of genes, Genome Biology 11:R106, 2010).
 *
 * Holm's correction for many functions (Scandinavian Journal of Statistics 6, 1979) bounds the chance of any wrong name
 * for any dependence between shares. Benjamini and Hochberg bound only the proportion of wrong names, too little if
 * only the first few are read. If the measured runs show a change, `isChange`, the question is only where it is, and
 * the bound is wider.
 */
export function explain(
  base: Profile,
  patched: Profile,
  cost?: PacketCost,
  isChange = false,
): Pick<ProfileReason, 'changedFunctions' | 'moved'> {
  const totals = { base: samplesOf(base.stacks), patched: samplesOf(patched.stacks) };
  const exactness = cost?.metric === 'instructionsPerPacket' ? counted : sampled;
  const functions = ownShares(base, patched, totals, exactness);
  const slowdowns =
    cost === undefined ? [1, 1 / medianRatio(functions)] : [cost.patched / cost.base];
  const chances = functions.map((one) =>
    Math.max(...slowdowns.map((slowdown) => chanceOf(one.samples, totals, slowdown, exactness))),
  );
  const changedFunctions = unlikely(
    functions,
    chances,
    isChange ? falseAlarm.changed : falseAlarm.unchanged,
  )
    .filter(({ ratio }) =>
      isLarge(
        slowdowns.map((slowdown) => relativeChange(ratio, slowdown)),
        exactness,
      ),
    )
    .map((one) => changedFunctionOf(one, cost))
    .toSorted((a, b) => absoluteChange(b, cost) - absoluteChange(a, cost));
  return {
    changedFunctions: changedFunctions.slice(0, mostChangedFunctions),
    moved: changedFunctions.length,
  };
}

const mostChangedFunctions = 10;

type Exactness = {
  /** Share of a packet's cost in the more expensive variant; less does not explain a loss that matters. */
  leastChange: number;
  /** Standard deviation of the logarithm of a function's cost between boots of one kernel. */
  bootDeviation: number;
};

/** Most functions differ by 1 to 5 % between eight CPUs, locks by 8 %: a boot is the mean of eight. */
const sampled: Exactness = { leastChange: 0.0075, bootDeviation: 0.02 };

/** Instructions differ between boots with the batches of packets: by 0.1 to 0.3 % in total. */
const counted: Exactness = { leastChange: 0.002, bootDeviation: 0.005 };

/** Chance that a function of a cell is named wrongly; by whether the cell itself is known to have changed. */
const falseAlarm = { unchanged: 0.01, changed: 0.05 };

/** Correlated samples count as one independent sample per this many. */
const samplesPerBurst = 2;

export type PacketCost = Pick<Comparison, 'base' | 'patched'> & { metric: Cost };

type Pair = { base: number; patched: number };

type OwnShare = { name: string; module: string | undefined; samples: Pair; ratio: Pair };

function ownShares(
  base: Profile,
  patched: Profile,
  totals: Pair,
  { leastChange }: Exactness,
): OwnShare[] {
  const leaves = [...leavesOf(base, 'base'), ...leavesOf(patched, 'patched')];
  return [...Map.groupBy(leaves, ({ name }) => name).values()]
    .flatMap(byModule)
    .map((leaves) => shareOf(leaves, totals))
    .filter(({ ratio }) => ratio.base + ratio.patched >= leastChange);
}

type Leaf = { name: string; module: string | undefined; of: keyof Pair; samples: number };

/** Drops the module's folder: base and patched kernels are in different folders. */
const leavesOf = ({ stacks }: Profile, of: keyof Pair): Leaf[] =>
  stacks.flatMap(({ frames, samples }) => {
    const frame = frames.at(-1);
    if (frame === undefined) return [];
    return { name: frame.name, module: frame.module?.split('/').at(-1), of, samples };
  });

/** A function that moved to another module is still the same, unless a profile has its name in several. */
function byModule(leaves: Leaf[]): Leaf[][] {
  const modules = (of: keyof Pair) =>
    new Set(leaves.filter((leaf) => leaf.of === of).map(({ module }) => module));
  if (modules('base').size <= 1 && modules('patched').size <= 1) return [leaves];
  return [...Map.groupBy(leaves, ({ module }) => module).values()];
}

function shareOf(leaves: readonly Leaf[], totals: Pair): OwnShare {
  const last = leaves.at(-1);
  const samplesIn = (of: keyof Pair) =>
    sum(leaves.filter((leaf) => leaf.of === of).map(({ samples }) => samples));
  const samples = { base: samplesIn('base'), patched: samplesIn('patched') };
  return {
    name: last?.name ?? '',
    module: last?.module,
    samples,
    ratio: { base: samples.base / totals.base, patched: samples.patched / totals.patched },
  };
}

function medianRatio(functions: readonly OwnShare[]): number {
  const logs = functions
    .filter(({ ratio }) => ratio.base > 0 && ratio.patched > 0)
    .map(({ ratio }) => Math.log(ratio.patched / ratio.base));
  return logs.length === 0 ? 1 : Math.exp(median(logs));
}

/**
 * Two-sided chance of such a split of samples between base and patched, if a packet takes `slowdown` times as long in
 * patched with no change in this function. Poisson counts of a known sum are binomial (Przyborowski and Wilenski,
 * Biometrika 31, 1940), exactly so if one of them is 0; differing boots make them beta-binomial.
 */
function chanceOf(
  samples: Pair,
  totals: Pair,
  slowdown: number,
  { bootDeviation }: Exactness,
): number {
  const packets = { base: totals.base, patched: totals.patched / slowdown };
  const base = packets.base / (packets.base + packets.patched);
  const patched = 1 - base;
  // Variance of patched's part, if the log ratio of both costs has 2 bootDeviation².
  const variance = 2 * (bootDeviation * base * patched) ** 2;
  const weight = (base * patched) / variance - 1;
  const perCount = Math.max(samplesPerBurst, (samples.base + samples.patched) / mostCounted);
  const baseSide = { count: Math.round(samples.base / perCount), weight: weight * base };
  const patchedSide = { count: Math.round(samples.patched / perCount), weight: weight * patched };
  const isMore = patchedSide.count * base > baseSide.count * patched;
  const tail = isMore ? upperTail(patchedSide, baseSide) : upperTail(baseSide, patchedSide);
  return Math.min(1, 2 * tail);
}

/** Beyond this the difference between boots dominates, and the sum is slow. */
const mostCounted = 100_000;

type Side = { count: number; weight: number };

/** Probability of a beta-binomial count of at least `own.count`; the weights are the distribution's α and β. */
function upperTail(own: Side, other: Side): number {
  const logBeta = (a: number, b: number) => gammaln(a) + gammaln(b) - gammaln(a + b);
  const all = own.count + other.count;
  const ways = gammaln(all + 1) - gammaln(own.count + 1) - gammaln(other.count + 1);
  const parting = logBeta(own.count + own.weight, other.count + other.weight);
  let term = Math.exp(ways + parting - logBeta(own.weight, other.weight));
  let tail = term;
  for (let count = own.count; count < all && term > tail * rounding; count += 1) {
    const left = all - count;
    term *= (left / (count + 1)) * ((count + own.weight) / (left - 1 + other.weight));
    tail += term;
  }
  return tail;
}

const rounding = 1e-16;

/** Holm's step-down: the least chance meets the strictest bound, until one exceeds its own. */
function unlikely(
  functions: readonly OwnShare[],
  chances: readonly number[],
  falseAlarm: number,
): OwnShare[] {
  const inOrder = functions
    .map((one, index) => ({ one, chance: chances[index] ?? 1 }))
    .toSorted((a, b) => a.chance - b.chance);
  const end = inOrder.findIndex(
    ({ chance }, index) => chance > falseAlarm / (inOrder.length - index),
  );
  return inOrder.slice(0, end < 0 ? inOrder.length : end).map(({ one }) => one);
}

/** Relative to a packet's cost in the more expensive variant. */
const relativeChange = ({ base, patched }: Pair, slowdown: number): number =>
  (patched * slowdown - base) / Math.max(1, slowdown);

/** By every measure, and in the same direction. */
const isLarge = (changes: readonly number[], { leastChange }: Exactness): boolean =>
  Math.min(...changes) >= leastChange || Math.max(...changes) <= -leastChange;

const changedFunctionOf = (
  { name, module, ratio }: OwnShare,
  cost: PacketCost | undefined,
): ChangedFunction => ({
  function: name,
  ...(module !== undefined && { module }),
  baseRatio: ratio.base,
  patchedRatio: ratio.patched,
  ...(cost && {
    [cost.metric]: { base: ratio.base * cost.base, patched: ratio.patched * cost.patched },
  }),
});

/** Change of its cost if known, else of its share. */
const absoluteChange = (
  { baseRatio, patchedRatio }: ChangedFunction,
  { base, patched }: Pair = { base: 1, patched: 1 },
): number => Math.abs(patchedRatio * patched - baseRatio * base);
