// What a cell's experiment will take, by the noise that earlier ones met: known before its first run.
import type { Policy } from '../words/result.ts';
import { simulate } from './simulate.ts';
import { type CellRuns, looksSharedBy } from './standing.ts';
import { criticalT } from './student.ts';

type Forecast = {
  /** Standard deviation of a run, as a ratio. */
  noiseRatio: number;
  /** Mean runs of both variants together where nothing was lost, and where the margin was. */
  runsIfUnchanged: number;
  runsIfLost: number;
  /** The smallest loss that is found as often as asked, with all runs. */
  reachableMarginRatio: number;
};

type PlannedDesign = Pick<CellRuns, 'design' | 'history'>;

/** Undefined where nothing is known of the noise: too little history, or runs that are compared with neighbours. */
export function forecast(
  { design, history }: PlannedDesign,
  policy: Policy,
  cells: number,
): Forecast | undefined {
  if (history === undefined || history.degreesOfFreedom < fewest || design.method === 'paired') {
    return undefined;
  }
  const noiseRatio = Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
  const runsAt = (effect: number) =>
    simulate({
      noise: { kind: 'normal', cv: noiseRatio },
      design: { name: design.name, budgets: design.budgets },
      historyRuns: history.degreesOfFreedom + 1,
      rates: { falseAlarms: policy.falseAlarmRatio, misses: policy.missRatio },
      cells,
      marginRatio: policy.marginRatio,
      effect,
      experiments: 1000,
      seed: 1,
    }).meanRuns;
  return {
    noiseRatio,
    runsIfUnchanged: runsAt(0),
    runsIfLost: runsAt(-policy.marginRatio),
    reachableMarginRatio: reachableMargin({ design, history }, noiseRatio, policy, cells),
  };
}

const fewest = 4;

/**
 * What the last look alone reaches: its critical value, and the quantile of the misses that the earlier looks have
 * left, a fifth of those asked for.
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
