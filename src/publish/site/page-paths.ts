// Paths of the site's pages, and links between them.

import { pageUrl } from '../../model/escape.ts';
import type { Cell } from '../../model/scenario.ts';
import type { TrendIndex } from '../../model/trend.ts';
import { badgePath } from '../data-branch/paths.ts';

type SeriesKey = { testbed: string; cell: Cell };

/** Path without its extension: `testbeds/hp-t540/forwarding-inet4`. */
export const seriesPath = (series: SeriesKey): string => `testbeds/${badgePath(series).slice('badges/'.length)}`;

export const testbedPath = (series: SeriesKey): string => seriesPath(series).split('/').slice(0, 2).join('/');

export const linkFrom = (from: string, path: string): string =>
  `${'../'.repeat(from === '' ? 0 : from.split('/').length)}${path}`;

/** Page of the commits after `good` up to `bad`; undefined if the index has no such URL. */
export const compareLink = (
  { compareUrl }: Pick<TrendIndex, 'compareUrl'>,
  { good, bad }: { good: string; bad: string },
): string | undefined =>
  compareUrl === undefined || good === bad
    ? undefined
    : pageUrl(decoded(compareUrl).replaceAll('{from}', good).replaceAll('{to}', bad));

/** A URL's braces may have been rewritten as `%7B`. */
const decoded = (url: string): string => url.replaceAll(/%7b/gi, '{').replaceAll(/%7d/gi, '}');

export function issueLink({ compareUrl }: Pick<TrendIndex, 'compareUrl'>, issue: number): string | undefined {
  const repository = /^(https:\/\/[^/]+\/[^/]+\/[^/]+)\/compare\//.exec(compareUrl ?? '')?.[1];
  return repository === undefined ? undefined : pageUrl(`${repository}/issues/${issue}`);
}
