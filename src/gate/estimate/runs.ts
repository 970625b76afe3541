// Estimates a cell's runs before the first one, from the noise of earlier experiments.

import { moderated, type Noise } from '../../analysis/stats/evidence.ts';
import { analysesSharedBy, type CellRuns } from '../../analysis/stats/interim-result.ts';
import { maxEarlierRuns, simulate } from '../../analysis/stats/simulate.ts';
import { criticalT } from '../../analysis/stats/student.ts';
import type { Policy } from '../../model/result.ts';

type RunsEstimate = {
  noiseRatio: number;
  /** True without enough history: the caller's assumption is used. */
  isAssumed: boolean;
  /** Mean runs of both variants if the patch loses nothing, and if it loses the margin. */
  runsIfUnchanged: number;
  runsIfLost: number;
  mostRunsIfUnchanged: number;
  mostRunsIfLost: number;
  /** Smallest loss found with the required power within all runs. */
  reachableMarginRatio: number;
};

type PlannedDesign = Pick<CellRuns, 'design' | 'history'>;

/**
 * Undefined if runs are compared with their neighbours, or if noise is neither known nor assumed.
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
      historyRuns: history === undefined ? 0 : earlierRunsOf(history),
      sessionDegreesOfFreedom: history?.sessionDegreesOfFreedom,
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

/** A prior keeps few degrees of freedom even of a long history. */
export const earlierRunsOf = ({ degreesOfFreedom }: Noise): number => Math.min(degreesOfFreedom + 1, maxEarlierRuns);

const minDegreesOfFreedom = 4;

function noiseOf(history: PlannedDesign['history']): number | undefined {
  if (history === undefined || history.degreesOfFreedom < minDegreesOfFreedom) return undefined;
  return Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
}

/** Considers the last analysis only: its critical value, and a fifth of the permitted misses. */
function reachableMargin(
  { design, history }: PlannedDesign,
  noiseRatio: number,
  policy: Policy,
  cells: number,
): number {
  const last = analysesSharedBy(cells, { design }, policy).at(-1);
  if (last === undefined) return 1;
  const fitted = last.pairs < 3 ? 2 : 3;
  const degreesOfFreedom = 2 * last.pairs - fitted + moderated(history).degreesOfFreedom;
  const error = noiseRatio * Math.sqrt(2 / last.pairs);
  const reach =
    criticalT(degreesOfFreedom, last.levels.falseAlarms) + criticalT(degreesOfFreedom, policy.missRatio / 5);
  return -Math.expm1(-reach * error);
}
