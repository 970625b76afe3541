// Builds the site of the branch over time: for GitHub Pages, any web server, or a local disk.

import { plainLine } from '../../model/escape.ts';
import { samePage } from './aa-page.ts';
import { documentOf, type MenuEntry, type Page } from './document.ts';
import { indexPage } from './index-page.ts';
import { labPage } from './lab-page.ts';
import { files } from './page-assets.ts';
import { dataScript, seriesData, smallData } from './page-data.ts';
import { seriesPath, testbedPath } from './page-paths.ts';
import { resultsPage } from './results-page.ts';
import { allSeries, type CellSeries } from './series.ts';
import { seriesCsv, seriesPage } from './series-page.ts';
import type { SiteSource } from './site-source.ts';
import { testbedPage } from './testbed-page.ts';

/** All files by path. Pages of results are at `PATH/report.html` of each, and not included. */
export function siteFiles(source: SiteSource, now: Date): Map<string, string> {
  const series = allSeries(source);
  const testbeds = [...Map.groupBy(series, ({ testbed }) => testbed).values()].filter(isSome);
  const pages: Page[] = [
    indexPage(source, series, now),
    ...testbeds.map((own) => testbedPage(source, own)),
    ...series.map((one) => seriesPage(source, one)),
    samePage(source),
    ...(source.lab ? [labPage(source.lab, series)] : []),
    resultsPage(source),
  ];
  const menu: MenuEntry[] = [
    ...testbeds.map(([first]) => ({
      path: `${testbedPath(first)}/index.html`,
      name: plainLine(first.testbed, 40),
    })),
    { path: 'same.html', name: 'A/A' },
    ...(source.lab ? [{ path: 'lab.html', name: 'Lab' }] : []),
    { path: 'results.html', name: 'Results' },
  ];
  return new Map([
    ...pages.map((page) => [page.path, documentOf(page, menu)] as const),
    ...testbeds.map(
      (own) => [`${testbedPath(own[0])}/cells.js`, dataScript('ppsgateCells', own.map(smallData))] as const,
    ),
    ...series.flatMap((one) => {
      const path = seriesPath(one);
      const data = seriesData(one, source.index);
      return [[`${path}.js`, dataScript('ppsgateSeries', data)] as const, [`${path}.csv`, seriesCsv(one)] as const];
    }),
    ...files(),
  ]);
}

const isSome = (series: CellSeries[]): series is [CellSeries, ...CellSeries[]] => series.length > 0;
