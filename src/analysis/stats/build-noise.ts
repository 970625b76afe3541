// How far builds of one source lie apart, beside how far the runs of one build do.
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import type { CellResult, Metric, Run } from '../../model/result.ts';
import { countedRuns } from './interim-result.ts';

type BuildNoise = {
  /** How many links runs have booted. */
  links: number;
  /** Standard deviation of the natural logarithms of runs of one link; undefined where no link was booted twice. */
  withinLinks: number | undefined;
  /**
   * The same of links beyond what their runs explain, never less than 0. Undefined where it cannot be told from that of
   * runs: then `together` has both.
   */
  betweenLinks: number | undefined;
  together: number;
};

/**
 * The variance components of a one-way random model, by the method of moments (Searle, Casella & McCulloch, Variance
 * Components, 1992, section 3.6): links are a sample of all orders of sections, and runs of boots. Undefined where the
 * runs of a tree have but one link. Base and patched are one tree where they are the same commit.
 */
export function buildNoise(
  cell: CellResult,
  metric: Metric,
  isSameTree: boolean,
): BuildNoise | undefined {
  const { base, patched } = countedRuns(cell, cell.pairs);
  const linked = [...base, ...patched].filter(({ link }) => link !== undefined);
  const trees = [...Map.groupBy(linked, ({ variant }) => (isSameTree ? '' : variant)).values()]
    .map((runs) => linksOf(runs, metric))
    .filter((links) => links.length > 1);
  const links = trees.flat();
  if (links.length === 0) return undefined;

  const all = trees.map((tree) => tree.flat());
  const runs = all.flat().length;
  const sumWithin = sum(links.map((values) => sumNthPowerDeviations(values, 2)));
  const sumAll = sum(all.map((values) => sumNthPowerDeviations(values, 2)));
  const [freeWithin, freeBetween] = [runs - links.length, links.length - trees.length];
  const together = Math.sqrt(sumAll / (runs - trees.length));
  if (freeWithin === 0) {
    return { links: links.length, withinLinks: undefined, betweenLinks: undefined, together };
  }
  const within = sumWithin / freeWithin;
  const between = (sumAll - sumWithin) / freeBetween;
  const runsPerLink =
    sum(trees.map((tree) => effectiveRuns(tree.map(({ length }) => length)))) / freeBetween;
  return {
    links: links.length,
    withinLinks: Math.sqrt(within),
    betweenLinks: Math.sqrt(Math.max(0, between - within) / runsPerLink),
    together,
  };
}

/** Logarithms of the runs of each link. */
function linksOf(runs: readonly Run[], metric: Metric): number[][] {
  const links = Map.groupBy(runs, ({ link }) => link).values();
  return [...links]
    .map((group) => group.flatMap(({ [metric]: value }) => (value ? Math.log(value) : [])))
    .filter(({ length }) => length > 0);
}

const effectiveRuns = (counts: readonly number[]): number =>
  sum(counts) - sum(counts.map((count) => count ** 2)) / sum(counts);

const sum = (values: readonly number[]): number =>
  values.length === 0 ? 0 : mean([...values]) * values.length;
