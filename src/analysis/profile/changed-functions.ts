// Explains why a cell got slower or faster: the functions whose own cycles per packet changed beyond chance.
import { median, sum } from 'simple-statistics';
import type { Cost } from '../../model/metric.ts';
import type { ChangedFunction, Comparison, ProfileReason } from '../../model/result.ts';
import { chanceOf, type Pair, unlikely } from '../stats/share-test.ts';
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
  const slowdowns = cost === undefined ? [1, 1 / medianRatio(functions)] : [cost.patched / cost.base];
  const chances = functions.map((one) =>
    Math.max(...slowdowns.map((slowdown) => chanceOf(one.samples, totals, slowdown, exactness))),
  );
  const changedFunctions = unlikely(functions, chances, isChange ? falseAlarm.changed : falseAlarm.unchanged)
    .filter(({ ratio }) =>
      isLarge(
        slowdowns.map((slowdown) => relativeChange(ratio, slowdown)),
        exactness,
      ),
    )
    .map((one) => changedFunctionOf(one, cost))
    .toSorted((a, b) => absoluteChange(b, cost) - absoluteChange(a, cost));
  return {
    changedFunctions: changedFunctions.slice(0, maxChangedFunctions),
    moved: changedFunctions.length,
  };
}

const maxChangedFunctions = 10;

type Exactness = {
  /** Share of a packet's cost in the more expensive variant; less does not explain a loss that matters. */
  minChange: number;
  /** Standard deviation of the logarithm of a function's cost between boots of one kernel. */
  bootDeviation: number;
};

/** Most functions differ by 1 to 5 % between eight CPUs, locks by 8 %: a boot is the mean of eight. */
const sampled: Exactness = { minChange: 0.0075, bootDeviation: 0.02 };

/** Instructions differ between boots with the batches of packets: by 0.1 to 0.3 % in total. */
const counted: Exactness = { minChange: 0.002, bootDeviation: 0.005 };

/** Chance that a function of a cell is named wrongly, by whether the cell itself is known to have changed. */
const falseAlarm = { unchanged: 0.01, changed: 0.05 };

export type PacketCost = Pick<Comparison, 'base' | 'patched'> & { metric: Cost };

type OwnShare = { name: string; module: string | undefined; samples: Pair; ratio: Pair };

function ownShares(base: Profile, patched: Profile, totals: Pair, { minChange }: Exactness): OwnShare[] {
  const leaves = [...leavesOf(base, 'base'), ...leavesOf(patched, 'patched')];
  return [...Map.groupBy(leaves, ({ name }) => name).values()]
    .flatMap(byModule)
    .map((leaves) => shareOf(leaves, totals))
    .filter(({ ratio }) => ratio.base + ratio.patched >= minChange);
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
  const modules = (of: keyof Pair) => new Set(leaves.filter((leaf) => leaf.of === of).map(({ module }) => module));
  if (modules('base').size <= 1 && modules('patched').size <= 1) return [leaves];
  return [...Map.groupBy(leaves, ({ module }) => module).values()];
}

function shareOf(leaves: readonly Leaf[], totals: Pair): OwnShare {
  const last = leaves.at(-1);
  const samplesIn = (of: keyof Pair) => sum(leaves.filter((leaf) => leaf.of === of).map(({ samples }) => samples));
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

/** Change relative to a packet's cost in the more expensive variant. */
const relativeChange = ({ base, patched }: Pair, slowdown: number): number =>
  (patched * slowdown - base) / Math.max(1, slowdown);

/** True if a change is large by every measure, and in the same direction. */
const isLarge = (changes: readonly number[], { minChange }: Exactness): boolean =>
  Math.min(...changes) >= minChange || Math.max(...changes) <= -minChange;

const changedFunctionOf = ({ name, module, ratio }: OwnShare, cost: PacketCost | undefined): ChangedFunction => ({
  function: name,
  ...(module !== undefined && { module }),
  baseRatio: ratio.base,
  patchedRatio: ratio.patched,
  ...(cost && {
    [cost.metric]: { base: ratio.base * cost.base, patched: ratio.patched * cost.patched },
  }),
});

/** Returns the change of its cost if known, otherwise of its share. */
const absoluteChange = (
  { baseRatio, patchedRatio }: ChangedFunction,
  { base, patched }: Pair = { base: 1, patched: 1 },
): number => Math.abs(patchedRatio * patched - baseRatio * base);
