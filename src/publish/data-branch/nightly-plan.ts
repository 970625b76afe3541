// Plans what follows a nightly run, from the nightly runs so far.
import { byCommit, changesToBisect, changesToGate, isOff, seriesKey } from '../../analysis/trend/change-history.ts';
import { nightlyRunsOf, type Trend } from '../../analysis/trend/nightly-runs.ts';
import type { Result } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import type { TrendChange } from '../../model/trend.ts';
import { nextTrend, type TrendUpdate } from './trend-files.ts';

export type NightlyPlan = {
  cellsOffLevel(nightlyRun: Result): Cell[];
  changesToGate(updates: readonly TrendUpdate[]): TrendChange[];
  /** Changes to bisect: those with commits between good and bad. */
  changesToBisect(updates: readonly TrendUpdate[]): TrendChange[];
};

type NightlyRunFacts = Required<Pick<TrendUpdate, 'commits'>> & { testbed: string; now(): Date };

/** Treats the updates of the current nightly run as if published. */
export function planFollowUps(trend: Trend, { testbed, commits, now }: NightlyRunFacts): NightlyPlan {
  const indexWith = (updates: readonly TrendUpdate[]) =>
    nextTrend(
      trend,
      updates.map((update) => ({ ...update, commits, path: notPublished })),
      now(),
    ).index;
  return {
    cellsOffLevel: (result) =>
      nightlyRunsOf(result, 'nightly', (commit) => commits[commit], notPublished).flatMap(({ cell, nightlyRun }) => {
        const kept = trend.nightlyRuns.get(seriesKey({ testbed, cell })) ?? [];
        const before = kept.filter((one) => byCommit(one, nightlyRun) < 0);
        return isOff(before, nightlyRun, result.policy.metric) ? [cell] : [];
      }),
    changesToGate: (updates) => changesToGate(indexWith(updates), testbed),
    changesToBisect: (updates) => changesToBisect(indexWith(updates), testbed),
  };
}

const notPublished = 'results/0000/in this nightly run';
