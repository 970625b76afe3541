// Renders the page of a testbed: all its cells, their current levels, and gaps in the measurements.

import { plainLine } from '../../model/escape.ts';
import { formatChange, formatMetric, formatRoughly } from '../../model/format.ts';
import type { TrendChange } from '../../model/trend.ts';
import { bullets, table } from '../../report/html-pieces.ts';
import { type Html, html, type Piece } from '../../report/markup.ts';
import { changeCard, openLosses } from './change-html.ts';
import { moment, type Page } from './document.ts';
import { lastNightlyRun, ratioLook } from './index-page.ts';
import { seriesPath, testbedPath } from './page-paths.ts';
import { picture } from './picture.ts';
import { type CellSeries, gapsOf, seriesSummary } from './series.ts';
import type { SiteSource } from './site-source.ts';

const toTop = '../../';

/** `series` are those of one testbed; at least one. */
export function testbedPage({ index, results }: SiteSource, series: readonly [CellSeries, ...CellSeries[]]): Page {
  const [first] = series;
  const path = testbedPath(first);
  const open = openLosses(index).filter(({ testbed }) => testbed === first.testbed);
  const around = { folder: path, index, series, results: results.results };
  const body = html`<header>
<h1>${plainLine(first.testbed)}</h1>
<p class="faint">${lastNightlyRun(series)}</p>
</header>
<main>
${openCards(open, (change) => changeCard(change, around))}<section id="cells">
<h2>Cells</h2>
<div class="small-multiples" id="small-multiples">
${series.map(smallFigure)}</div>
${interimResults(series)}</section>
${gaps(series)}${fingerprints(index, first)}</main>
`;
  const title = plainLine(first.testbed);
  return { path: `${path}/index.html`, title, body, scripts: [`${path}/cells.js`] };
}

const openCards = (open: readonly TrendChange[], card: (change: TrendChange) => Html): Piece =>
  open.length > 0 &&
  html`<section id="open">
<h2>Open changes</h2>
<div class="changes">
${open.map(card)}</div>
</section>
`;

const smallFigure = (series: CellSeries): Html => html`<figure>
<figcaption><a href="${toTop}${seriesPath(series)}.html">${series.name}</a> <span class="value"></span></figcaption>
<div class="small">${picture(series, 1000)}</div>
</figure>
`;

const interimResults = (series: readonly CellSeries[]): Html =>
  table({
    caption: 'Current levels of the cells: medians of five consecutive nightly runs',
    heads: [
      { text: 'cell' },
      { text: 'now', isNumber: true },
      { text: 'against the last release', isNumber: true },
      { text: 'against its best of 90 days', isNumber: true },
      { text: 'nightlyRuns', isNumber: true },
      { text: 'last night' },
    ],
    rows: series.map((one) => {
      const interim = seriesSummary(one);
      const last = one.points.at(-1);
      return [
        html`<a href="${toTop}${seriesPath(one)}.html">${one.name}</a>`,
        interim ? formatMetric(interim.now, one.metric) : '–',
        interim?.release ? ratioPiece(one, interim.release.ratio, interim.release.name) : '–',
        interim ? ratioPiece(one, interim.bestRatio) : '–',
        one.points.length,
        last ? moment(last.nightlyRun.at) : '–',
      ];
    }),
  });

/** A ratio in the colour of its meaning, preceded by the release's name, if any. */
export const ratioPiece = (series: CellSeries, ratio: number, than?: string): Html =>
  html`${than !== undefined && html`<span class="faint">${plainLine(than, 40)}</span> `}<span class="${ratioLook(series, ratio)}">${formatChange(ratio)}</span>`;

const maxGaps = 20;

function gaps(series: readonly CellSeries[]): Piece {
  const found = gapsOf(series);
  if (found.length === 0) return undefined;
  return html`<section id="gaps">
<h2>Without a nightly run</h2>
${bullets(found.slice(0, maxGaps).map(({ from, to }) => html`${formatRoughly((to - from) / 1000)} from ${moment(from)} to ${moment(to)}`))}</section>
`;
}

function fingerprints({ fingerprints: all }: SiteSource['index'], { testbed }: CellSeries): Piece {
  const own = all.filter((one) => one.testbed === testbed && one.differs.length > 0).toReversed();
  if (own.length === 0) return undefined;
  return html`<section id="fingerprints">
<h2>Changes of the testbed</h2>
${bullets(own.map(({ since, differs }) => html`${moment(since)}: ${plainLine(differs.join('; '), 500)}`))}</section>
`;
}
