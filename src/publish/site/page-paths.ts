// Where what stands in a site.

import { pageUrl } from '../../model/escape.ts';
import type { Cell } from '../../model/scenario.ts';
import type { TrendIndex } from '../../model/trend.ts';
import { badgePath } from '../data-branch/paths.ts';

type SeriesKey = { testbed: string; cell: Cell };

/** `testbeds/hp-t540/forwarding-inet4`, to which `.html`, `.js` or `.csv` is added. */
export const seriesPath = (series: SeriesKey): string =>
  `testbeds/${badgePath(series).slice('badges/'.length)}`;

/** The folder of a testbed. */
export const testbedPath = (series: SeriesKey): string =>
  seriesPath(series).split('/').slice(0, 2).join('/');

/** From a page in the folder `from` to a path of the site. */
export const linkFrom = (from: string, path: string): string =>
  `${'../'.repeat(from === '' ? 0 : from.split('/').length)}${path}`;

/** The page that shows the commits after `good` up to `bad`; undefined where the index names none. */
export const compareLink = (
  { compareUrl }: Pick<TrendIndex, 'compareUrl'>,
  { good, bad }: { good: string; bad: string },
): string | undefined =>
  compareUrl === undefined || good === bad
    ? undefined
    : pageUrl(decoded(compareUrl).replaceAll('{from}', good).replaceAll('{to}', bad));

/** A URL may have been written again with its braces as `%7B`. */
const decoded = (url: string): string => url.replaceAll(/%7b/gi, '{').replaceAll(/%7d/gi, '}');

/** An issue of the repository, where GitHub's own page compares. */
export function issueLink(
  { compareUrl }: Pick<TrendIndex, 'compareUrl'>,
  issue: number,
): string | undefined {
  const repository = /^(https:\/\/[^/]+\/[^/]+\/[^/]+)\/compare\//.exec(compareUrl ?? '')?.[1];
  return repository === undefined ? undefined : pageUrl(`${repository}/issues/${issue}`);
}
