// What the nights that are kept say of the one that is being measured, and what is to be measured next.
import {
  byCommit,
  isOff,
  seriesKey,
  wantedBisections,
  wantedGates,
} from '../../analysis/trend/change-history.ts';
import { nightsOf, type Trend } from '../../analysis/trend/nightly-runs.ts';
import type { Result } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import type { Change } from '../../model/trend.ts';
import { nextTrend, type Told } from './trend-files.ts';

export type Tonight = {
  /** The cells of a commit against itself that are off the level of the nights before. */
  cellsOff(night: Result): Cell[];
  /** Changes that a gate should look at, by all that was measured tonight. */
  wantedGates(told: readonly Told[]): Change[];
  /** Changes that should be bisected, where there are commits between. */
  wantedBisections(told: readonly Told[]): Change[];
};

type About = Required<Pick<Told, 'commits'>> & { testbed: string; now(): Date };

/** What is kept of one testbed, with what is measured there tonight as if it were published already. */
export function tonight(trend: Trend, { testbed, commits, now }: About): Tonight {
  const indexWith = (told: readonly Told[]) =>
    nextTrend(
      trend,
      told.map((one) => ({ ...one, commits, path: notPublished })),
      now(),
    ).index;
  return {
    cellsOff: (result) =>
      nightsOf(result, 'night', (commit) => commits[commit], notPublished).flatMap(
        ({ cell, night }) => {
          const known = trend.nights.get(seriesKey({ testbed, cell })) ?? [];
          const before = known.filter((one) => byCommit(one, night) < 0);
          return isOff(before, night, result.policy.metric) ? [cell] : [];
        },
      ),
    wantedGates: (told) => wantedGates(indexWith(told), testbed),
    wantedBisections: (told) => wantedBisections(indexWith(told), testbed),
  };
}

/** Stands for the folder of a result, which it has only once it is published. */
const notPublished = 'results/0000/tonight';
