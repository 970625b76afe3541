// Separates the noise between builds of one source from the noise between runs of one build.
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import type { Metric } from '../../model/metric.ts';
import type { CellResult, Run } from '../../model/result.ts';
import { countedRuns } from './interim-result.ts';

type BuildNoise = {
  layouts: number;
  /** Standard deviation of the natural logarithms of runs of one layout; undefined if no layout was booted twice. */
  withinLayouts: number | undefined;
  /** Beyond what runs explain, at least 0. Undefined if inseparable: then `together` has both. */
  betweenLayouts: number | undefined;
  together: number;
};

/**
 * Variance components of a one-way random model, by the method of moments (Searle, Casella & McCulloch, Variance
 * Components, 1992, section 3.6): layouts sample all orders of sections, runs sample boots. Undefined if each tree has
 * one layout only. Base and patched are one tree if they are the same commit.
 */
export function buildNoise(cell: CellResult, metric: Metric, isSameTree: boolean): BuildNoise | undefined {
  const { base, patched } = countedRuns(cell, cell.pairs);
  const linked = [...base, ...patched].filter(({ layout }) => layout !== undefined);
  const trees = [...Map.groupBy(linked, ({ variant }) => (isSameTree ? '' : variant)).values()]
    .map((runs) => layoutsOf(runs, metric))
    .filter((layouts) => layouts.length > 1);
  const layouts = trees.flat();
  if (layouts.length === 0) return undefined;

  const all = trees.map((tree) => tree.flat());
  const runs = all.flat().length;
  const sumWithin = sum(layouts.map((values) => sumNthPowerDeviations(values, 2)));
  const sumAll = sum(all.map((values) => sumNthPowerDeviations(values, 2)));
  const [freeWithin, freeBetween] = [runs - layouts.length, layouts.length - trees.length];
  const together = Math.sqrt(sumAll / (runs - trees.length));
  if (freeWithin === 0) {
    return {
      layouts: layouts.length,
      withinLayouts: undefined,
      betweenLayouts: undefined,
      together,
    };
  }
  const within = sumWithin / freeWithin;
  const between = (sumAll - sumWithin) / freeBetween;
  const runsPerLayout = sum(trees.map((tree) => effectiveRuns(tree.map(({ length }) => length)))) / freeBetween;
  return {
    layouts: layouts.length,
    withinLayouts: Math.sqrt(within),
    betweenLayouts: Math.sqrt(Math.max(0, between - within) / runsPerLayout),
    together,
  };
}

function layoutsOf(runs: readonly Run[], metric: Metric): number[][] {
  const layouts = Map.groupBy(runs, ({ layout }) => layout).values();
  return [...layouts]
    .map((group) => group.flatMap(({ [metric]: value }) => (value ? Math.log(value) : [])))
    .filter(({ length }) => length > 0);
}

const effectiveRuns = (counts: readonly number[]): number =>
  sum(counts) - sum(counts.map((count) => count ** 2)) / sum(counts);

const sum = (values: readonly number[]): number => (values.length === 0 ? 0 : mean([...values]) * values.length);
