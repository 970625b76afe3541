// Renders the first page: open changes, and a small chart of every series.

import { isOpen } from '../../analysis/trend/change-history.ts';
import { plainLine } from '../../model/escape.ts';
import { formatChange, formatMetric, grouped } from '../../model/format.ts';
import { isLoss } from '../../model/result.ts';
import type { TrendChange } from '../../model/trend.ts';
import { fold } from '../../report/html-pieces.ts';
import { type Html, html, type Piece } from '../../report/markup.ts';
import { changeCard, openLosses, type PageContext } from './change-html.ts';
import { hourOf, moment, type Page } from './document.ts';
import { seriesPath, testbedPath } from './page-paths.ts';
import { picture } from './picture.ts';
import { type CellSeries, lastBegun, seriesSummary } from './series.ts';
import type { SiteSource } from './site-source.ts';

const maxClosed = 30;

export function indexPage({ index, results }: SiteSource, series: readonly CellSeries[], now: Date): Page {
  const around: PageContext = { folder: '', index, series, results: results.results };
  const losses = openLosses(index);
  const others = index.changes.filter((change) => !losses.includes(change)).toReversed();
  const [gains, closed] = [others.filter(isOpen), others.filter((change) => !isOpen(change))];
  const body = html`<header class="${losses.length > 0 ? 'regression' : 'no-regression'}">
<h1>${headline(losses.length)}</h1>
<p class="faint">${extent(series)} As of ${hourOf(now.toISOString())}.</p>
</header>
<main>
${cards('open', 'Open changes', losses, around)}${cards('gains', 'Gains', gains.slice(0, maxClosed), around)}${byTestbed(series)}${
  closed.length > 0 &&
  html`<section id="closed">
<h2>Accepted and recovered</h2>
${fold(`${closed.length === 1 ? 'one change' : `${grouped(closed.length)} changes`}`, html`<div class="changes">${closed.slice(0, maxClosed).map((one) => changeCard(one, around))}</div>\n`)}</section>
`
}</main>
`;
  return { path: 'index.html', title: 'The branch over time', body };
}

const headline = (open: number): string =>
  open === 0 ? 'No change is open' : `${open} ${open === 1 ? 'change is' : 'changes are'} open`;

function extent(series: readonly CellSeries[]): string {
  const nightlyRuns = series.reduce((sum, { points }) => sum + points.length, 0);
  const testbeds = new Set(series.map(({ testbed }) => testbed)).size;
  return `${grouped(nightlyRuns)} nightly runs of ${grouped(series.length)} cells on ${testbeds} ${testbeds === 1 ? 'testbed' : 'testbeds'}.`;
}

const cards = (id: string, title: string, changes: readonly TrendChange[], around: PageContext): Piece =>
  changes.length > 0 &&
  html`<section id="${id}">
<h2>${title}</h2>
<div class="changes">
${changes.map((change) => changeCard(change, around))}</div>
</section>
`;

const byTestbed = (series: readonly CellSeries[]): Piece =>
  [...Map.groupBy(series, ({ testbed }) => testbed)].map(([testbed, own]) => {
    const [first] = own;
    return (
      first &&
      html`<section>
<h2><a href="${testbedPath(first)}/index.html">${plainLine(testbed)}</a></h2>
<p class="faint">${lastNightlyRun(own)}. Each cell with its current level, compared with its best of 90 days.</p>
${glances(own, '')}</section>
`
    );
  });

/** `Last night 2026-11-20`, of the newest session. */
export function lastNightlyRun(series: readonly CellSeries[]): Piece {
  const last = lastBegun(series);
  if (last === undefined) return 'There is no nightly run yet';
  return html`Last night <span class="late-matters">${moment(last)}</span>`;
}

const glances = (series: readonly CellSeries[], toTop: string): Html => html`<ul class="glances">
${series.map((one) => glance(one, toTop))}</ul>
`;

function glance(series: CellSeries, toTop: string): Html {
  const interim = seriesSummary(series);
  const { metric, name } = series;
  const open = series.changes.filter(({ change, level }) => isOpen(change) && isLoss(change, level.changeRatio));
  return html`<li><a href="${toTop}${seriesPath(series)}.html"><span class="name">${name}</span>
${
  interim === undefined
    ? html`<span class="faint">no nightly run yet</span>`
    : html`<b>${formatMetric(interim.now, metric)}</b> <span class="${ratioLook(series, interim.bestRatio)}">${formatChange(interim.bestRatio)}<span class="unseen"> of its best of 90 days</span></span>
${picture(series)}`
}${open.map(({ change, level }) => html`<span class="state ${change.state}">${change.state} ${formatChange(level.changeRatio)}</span>`)}</a></li>
`;
}

/** A change below 1 % in five nightly runs is not reliable. */
export const ratioLook = ({ metric }: CellSeries, ratio: number): string =>
  Math.abs(ratio) < 0.01 ? 'faint' : isLoss({ metric }, ratio) ? 'loss' : 'gain';
