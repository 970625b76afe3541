// Why a cell got slower or faster: the functions whose own cycles for each packet changed beyond chance.
import { gammaln, median, sum } from 'simple-statistics';
import type { ChangedFunction, Comparison, Cost, ProfileReason } from '../../model/result.ts';
import { type Profile, samplesOf } from './profile.ts';

/**
 * Compares what each function itself was sampled, without what it calls, in two profiles freed of idle stacks;
 * `cost` is what each packet takes of what was sampled: the DUT's time, or its instructions.
 *
 * Shares alone deceive: where one function gets dearer, those of all others fall. Share × cost does not, and is
 * compared where the cost is known, which is taken to be without error: its own is below `bootDeviation`.
 * Elsewhere a function must have moved by its share, and also by what its share would be had the median function
 * kept its cost (as Anders and Huber compare counts of genes, Genome Biology 11:R106, 2010).
 *
 * Holm's correction for many functions (Scandinavian Journal of Statistics 6, 1979) bounds the chance of any wrong
 * name, however the shares depend on each other. Benjamini and Hochberg bound the proportion of wrong names, which
 * is too little where only the first few are read. Where the runs that were measured have shown a change, `isChange`,
 * it is not asked whether there is one but where, and the bound is wider.
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
  /** Share of all that a packet takes in the dearer variant; less does not explain a loss that matters. */
  leastChange: number;
  /** Standard deviation of the logarithm of a function's cost between boots of one kernel. */
  bootDeviation: number;
};

/**
 * In a published profile most functions have 1 to 5 % between its eight CPUs, and locks 8 %: a boot is the mean of eight.
 */
const sampled: Exactness = { leastChange: 0.0075, bootDeviation: 0.02 };

/** Instructions differ between boots by what batches of packets do: in all by 0.1 to 0.3 %. */
const counted: Exactness = { leastChange: 0.002, bootDeviation: 0.005 };

/** Chance that any function of a cell is named where none changed; by whether the cell itself is known to have. */
const falseAlarm = { unchanged: 0.01, changed: 0.05 };

/** So many samples tell as much as one that came by itself. */
const samplesPerBurst = 2;

/** Cost of a packet in base and in patched. */
export type PacketCost = Pick<Comparison, 'base' | 'patched'> & { metric: Cost };

type Pair = { base: number; patched: number };

type OwnShare = { name: string; module: string | undefined; samples: Pair; ratio: Pair };

/** The functions that can have changed by enough. */
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

/** The module without its folder: base and patched kernels lie in folders of their own. */
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

/** Median ratio of the patched share to the base's; 1 where no function is in both. */
function medianRatio(functions: readonly OwnShare[]): number {
  const logs = functions
    .filter(({ ratio }) => ratio.base > 0 && ratio.patched > 0)
    .map(({ ratio }) => Math.log(ratio.patched / ratio.base));
  return logs.length === 0 ? 1 : Math.exp(median(logs));
}

/**
 * Two-sided chance of samples that part like this between base and patched, where a packet takes `slowdown` times as
 * long in patched and none of it in this function. Poisson counts of a known sum are binomial (Przyborowski and
 * Wilenski, Biometrika 31, 1940), exactly so where one of them is 0; boots that differ make them beta-binomial.
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
  // The variance of the part that is patched's, where the logarithm of the ratio of both costs has 2 bootDeviation².
  const variance = 2 * (bootDeviation * base * patched) ** 2;
  const weight = (base * patched) / variance - 1;
  const perCount = Math.max(samplesPerBurst, (samples.base + samples.patched) / mostCounted);
  const baseSide = { count: Math.round(samples.base / perCount), weight: weight * base };
  const patchedSide = { count: Math.round(samples.patched / perCount), weight: weight * patched };
  const isMore = patchedSide.count * base > baseSide.count * patched;
  const tail = isMore ? upperTail(patchedSide, baseSide) : upperTail(baseSide, patchedSide);
  return Math.min(1, 2 * tail);
}

/** Beside what boots differ by more of them tell nothing, and take long. */
const mostCounted = 100_000;

type Side = { count: number; weight: number };

/** Probability that a beta-binomial count is `own.count` or more of both sides'; their weights are the distribution's α and β. */
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

/** Holm's: the least chance is held to the strictest bound, until one is above its own. */
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

/** Share of all time for each packet in the dearer variant. */
const relativeChange = ({ base, patched }: Pair, slowdown: number): number =>
  (patched * slowdown - base) / Math.max(1, slowdown);

/** By every reckoning, and always in the same direction. */
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

/** Change of its cost where that is known, else of its share. */
const absoluteChange = (
  { baseRatio, patchedRatio }: ChangedFunction,
  { base, patched }: Pair = { base: 1, patched: 1 },
): number => Math.abs(patchedRatio * patched - baseRatio * base);
