// What a site is made of.
import type { Index } from '../data-branch/layout.ts';
import type { Night, TrendIndex } from '../words/trend.ts';
import type { Lab } from './lab.ts';

export type Source = {
  index: TrendIndex;
  /** Sorted by `byCommit`, by `seriesKey`. */
  nights: ReadonlyMap<string, readonly Night[]>;
  results: Pick<Index, 'results'>;
  lab?: Lab;
};

export type KeptResult = Index['results'][number];
