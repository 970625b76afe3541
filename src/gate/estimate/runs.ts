// Estimates the runs of a cell before its first one, from the noise of earlier experiments.

import { type CellRuns, looksSharedBy } from '../../analysis/stats/interim-result.ts';
import { simulate } from '../../analysis/stats/simulate.ts';
import { criticalT } from '../../analysis/stats/student.ts';
import type { Policy } from '../../model/result.ts';

type RunsEstimate = {
  /** Standard deviation of a run, as a ratio. */
  noiseRatio: number;
  /** There is too little history, so the caller's assumption is used. */
  isAssumed: boolean;
  /** Mean runs of both variants together where nothing was lost, and where the margin was. */
  runsIfUnchanged: number;
  runsIfLost: number;
  /** Mean runs of the slowest of `cells` such cells. */
  mostRunsIfUnchanged: number;
  mostRunsIfLost: number;
  /** Smallest loss that all runs find with the required power. */
  reachableMarginRatio: number;
};

type PlannedDesign = Pick<CellRuns, 'design' | 'history'>;

/**
 * Undefined where runs are compared with their neighbours, and where too little is known of the noise and none is assumed.
 *
 * @param assumedNoiseRatio standard deviation of a run, as a ratio.
 */
export function estimateRuns(
  { design, history }: PlannedDesign,
  policy: Policy,
  cells: number,
  assumedNoiseRatio?: number,
): RunsEstimate | undefined {
  const known = noiseOf(history);
  const noiseRatio = known ?? assumedNoiseRatio;
  if (noiseRatio === undefined || design.method === 'paired') return undefined;
  const runsAt = (effect: number) =>
    simulate({
      noise: { kind: 'normal', cv: noiseRatio },
      design: { name: design.name, budgets: design.budgets },
      historyRuns: history === undefined ? 0 : history.degreesOfFreedom + 1,
      rates: { falseAlarms: policy.falseAlarmRatio, misses: policy.missRatio },
      cells,
      marginRatio: policy.marginRatio,
      effect,
      experiments: 1000,
      seed: 1,
    });
  const [unchanged, lost] = [runsAt(0), runsAt(-policy.marginRatio)];
  return {
    noiseRatio,
    isAssumed: known === undefined,
    runsIfUnchanged: unchanged.meanRuns,
    runsIfLost: lost.meanRuns,
    mostRunsIfUnchanged: unchanged.meanMostRuns,
    mostRunsIfLost: lost.meanMostRuns,
    reachableMarginRatio: reachableMargin({ design, history }, noiseRatio, policy, cells),
  };
}

const fewestDegreesOfFreedom = 4;

function noiseOf(history: PlannedDesign['history']): number | undefined {
  if (history === undefined || history.degreesOfFreedom < fewestDegreesOfFreedom) return undefined;
  return Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
}

/**
 * Reach of the last interim analysis alone: its critical value, and the quantile of the misses that the earlier ones
 * have left, a fifth of the permitted rate.
 */
function reachableMargin(
  { design, history }: PlannedDesign,
  noiseRatio: number,
  policy: Policy,
  cells: number,
): number {
  const last = looksSharedBy(cells, { design, history }, policy).at(-1);
  if (last === undefined) return 1;
  const degreesOfFreedom = 2 * last.pairs - 2 + (history?.degreesOfFreedom ?? 0);
  const error = noiseRatio * Math.sqrt(2 / last.pairs);
  const reach =
    criticalT(degreesOfFreedom, last.levels.falseAlarms) +
    criticalT(degreesOfFreedom, policy.missRatio / 5);
  return -Math.expm1(-reach * error);
}
