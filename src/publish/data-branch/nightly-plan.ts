// What the nightly runs that are kept say of the one that is being measured, and what is to be measured next.
import {
  byCommit,
  isOff,
  seriesKey,
  wantedBisections,
  wantedGates,
} from '../../analysis/trend/change-history.ts';
import { nightlyRunsOf, type Trend } from '../../analysis/trend/nightly-runs.ts';
import type { Result } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import type { TrendChange } from '../../model/trend.ts';
import { nextTrend, type Told } from './trend-files.ts';

export type NightlyPlan = {
  /** The cells of a commit against itself that are off the level of the nightly runs before. */
  cellsOff(nightlyRun: Result): Cell[];
  /** Changes that a gate should look at, by all that was measured in this nightly run. */
  wantedGates(told: readonly Told[]): TrendChange[];
  /** Changes that should be bisected, where there are commits between. */
  wantedBisections(told: readonly Told[]): TrendChange[];
};

type About = Required<Pick<Told, 'commits'>> & { testbed: string; now(): Date };

/** What is kept of one testbed, with what is measured there in this nightly run as if it were published already. */
export function nightlyPlan(trend: Trend, { testbed, commits, now }: About): NightlyPlan {
  const indexWith = (told: readonly Told[]) =>
    nextTrend(
      trend,
      told.map((one) => ({ ...one, commits, path: notPublished })),
      now(),
    ).index;
  return {
    cellsOff: (result) =>
      nightlyRunsOf(result, 'nightly', (commit) => commits[commit], notPublished).flatMap(
        ({ cell, nightlyRun }) => {
          const known = trend.nightlyRuns.get(seriesKey({ testbed, cell })) ?? [];
          const before = known.filter((one) => byCommit(one, nightlyRun) < 0);
          return isOff(before, nightlyRun, result.policy.metric) ? [cell] : [];
        },
      ),
    wantedGates: (told) => wantedGates(indexWith(told), testbed),
    wantedBisections: (told) => wantedBisections(indexWith(told), testbed),
  };
}

/** Stands for the folder of a result, which it has only once it is published. */
const notPublished = 'results/0000/in this nightly run';
