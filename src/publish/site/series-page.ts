// Renders the page of a cell on a testbed over time: its chart, and all nightly runs as a table.

import { median } from '../../analysis/stats/summary.ts';
import { plainLine } from '../../model/escape.ts';
import { formatMetric, metricName, metricNouns } from '../../model/format.ts';
import { type Cost, isCost } from '../../model/metric.ts';
import { shortId } from '../../model/patch.ts';
import { metricSchema } from '../../model/result.ts';
import type { NightlyRun } from '../../model/trend.ts';
import { fold, table } from '../../report/html-pieces.ts';
import { type Html, html, type Piece } from '../../report/markup.ts';
import { changeCard, resultLink } from './change-html.ts';
import { folderOf, moment, type Page } from './document.ts';
import { linkFrom, seriesPath, testbedPath } from './page-paths.ts';
import { picture } from './picture.ts';
import { type CellSeries, type SeriesPoint, seriesSummary } from './series.ts';
import type { KeptResult, SiteSource } from './site-source.ts';
import { ratioPiece } from './testbed-page.ts';

export function seriesPage({ index, results }: SiteSource, series: CellSeries): Page {
  const path = seriesPath(series);
  const folder = folderOf(path);
  const around = { folder, index, series: [series], results: results.results };
  const testbed = plainLine(series.testbed);
  const newest = series.changes.toReversed();
  const body = html`<header>
<p class="name"><a class="up" href="${linkFrom(folder, `${testbedPath(series)}/index.html`)}">${testbed}</a></p>
<h1>${series.name}</h1>
${summaryLine(series)}</header>
<main>
<section id="series">
<h2 class="unseen">Nightly runs</h2>
<div class="chart" id="chart">${picture(series, 1000)}</div>
<p class="faint legend"><span class="key dot"></span> a nightly run <span class="key step"></span> level, and four deviations to each side of it <span class="key loss"></span> confirmed loss <span class="key candidate"></span> candidate <span class="key gain"></span> gain <span class="key machine"></span> another testbed <span class="key release"></span> release</p>
<p>By ${metricName(series.metric)}. <a href="${lastOf(path)}.csv" download>CSV of all nightly runs</a></p>
${nightlyTable(series, { folder, results: results.results })}</section>
${
  newest.length > 0 &&
  html`<section id="changes">
<h2>Changes</h2>
<div class="changes">
${newest.map(({ change, level }) => changeCard(change, around, level))}</div>
</section>
`
}</main>
`;
  return {
    path: `${path}.html`,
    title: `${series.name} on ${testbed}`,
    body,
    scripts: [`${path}.js`],
  };
}

const lastOf = (path: string): string => path.split('/').at(-1) ?? '';

function summaryLine(series: CellSeries): Piece {
  const summary = seriesSummary(series);
  const last = series.points.at(-1);
  if (summary === undefined || last === undefined) return html`<p>There is no nightly run yet.</p>\n`;
  const { release, bestRatio } = summary;
  return html`<dl class="position">
<div><dt>now</dt><dd>${formatMetric(summary.now, series.metric)}</dd></div>
${release && html`<div><dt>against ${plainLine(release.name, 40)}</dt><dd>${ratioPiece(series, release.ratio)}</dd></div>\n`}<div><dt>against its best of 90 days</dt><dd>${ratioPiece(series, bestRatio)}</dd></div>
<div><dt>last night</dt><dd>${moment(last.nightlyRun.at)}</dd></div>
</dl>
`;
}

/** Newest first. The script hides rows outside the drawn range. */
function nightlyTable(series: CellSeries, known: { folder: string; results: readonly KeptResult[] }): Html {
  const { points, metric } = series;
  const costs = metricSchema.options
    .filter(isCost)
    .filter((cost) => points.some(({ nightlyRun }) => nightlyRun[cost].length > 0));
  const kept = new Set(known.results.map(({ path }) => path));
  return fold(
    html`<span id="run-count">${points.length === 1 ? 'one nightly run' : `${points.length} nightly runs`}</span> as a table`,
    table({
      caption: 'Medians of the trials, with minimum and maximum; the newest nightly run first',
      heads: [
        { text: 'nightly' },
        { text: 'commit' },
        { text: 'packets per second', isNumber: true },
        { text: 'min … max', isNumber: true },
        ...costs.map((cost) => ({ text: metricNouns[cost], isNumber: true })),
        { text: 'for' },
      ],
      rows: points
        .toReversed()
        .map(({ nightlyRun, value }) => [
          html`<span class="id">${dayText(nightlyRun.at)}</span>`,
          html`<code class="id">${shortId(nightlyRun.commit)}</code>`,
          formatMetric(metric === 'pps' ? value : median([...nightlyRun.pps]), 'pps'),
          rangeText(nightlyRun.pps),
          ...costs.map((cost) => costText(nightlyRun[cost], cost)),
          nightlyRun.result !== undefined && kept.has(nightlyRun.result)
            ? resultLink(nightlyRun.result, occasions[nightlyRun.occasion], known)
            : occasions[nightlyRun.occasion],
        ]),
    }),
  );
}

const dayText = (at: string): string => at.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ');

const rangeText = (pps: readonly number[]): string => {
  if (pps.length === 0) return '–';
  const [low, high] = [Math.min(...pps), Math.max(...pps)];
  return `${formatMetric(low, 'pps')} … ${formatMetric(high, 'pps')}`;
};

const costText = (values: readonly number[], cost: Cost): string =>
  values.length === 0 ? '–' : formatMetric(median([...values]), cost);

const occasions: Readonly<Record<NightlyRun['occasion'], string>> = {
  nightly: 'a nightly run',
  push: 'a push',
  again: 'once more',
};

/** All nightly runs for spreadsheets. No value begins with a character that starts a formula. */
export const seriesCsv = ({ points }: CellSeries): string =>
  [
    'at,commit,occasion,pps_median,pps_least,pps_most,ns_per_packet_median,instructions_per_packet_median,fingerprint',
    ...points.map(({ nightlyRun }: SeriesPoint) =>
      [
        nightlyRun.at,
        nightlyRun.commit,
        nightlyRun.occasion,
        ...summaryOf(nightlyRun.pps),
        medianOf(nightlyRun.nsPerPacket),
        medianOf(nightlyRun.instructionsPerPacket),
        idOf(nightlyRun),
      ].join(','),
    ),
    '',
  ].join('\n');

const summaryOf = (values: readonly number[]): (number | string)[] =>
  values.length === 0 ? ['', '', ''] : [medianOf(values), Math.min(...values), Math.max(...values)];

const medianOf = (values: readonly number[]): number | string => (values.length === 0 ? '' : median([...values]));

/** Strips characters that no id of the index has. */
const idOf = ({ fingerprint }: NightlyRun): string => (/^[0-9a-f]{12}$/.test(fingerprint) ? fingerprint : '');
