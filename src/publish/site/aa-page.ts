// Renders the A/A page: how often each testbed reports a regression between a commit and itself.

import { countsOf, sameSummary, sameText } from '../../analysis/trend/aa-runs.ts';
import { plainLine } from '../../model/escape.ts';
import { formatPercent } from '../../model/format.ts';
import { cellName } from '../../model/scenario.ts';
import type { AaRunCounts } from '../../model/trend.ts';
import { fold, table } from '../../report/html-pieces.ts';
import { type Html, html, type Piece } from '../../report/markup.ts';
import { resultLink } from './change-html.ts';
import { moment, type Page } from './document.ts';
import type { SiteSource } from './site-source.ts';

export function samePage({ index, results }: SiteSource): Page {
  const counts = countsOf(index);
  const earlier = counts.flatMap((one) => one.earlier);
  const all = index.aaRuns.toReversed();
  const known = { folder: '', results: results.results };
  const body = html`<header>
<h1>A/A runs</h1>
<p>A gate of a commit against itself measures no change, so every regression that it reports is a false alarm. The bound is the highest rate compatible with these gates; it holds at all times simultaneously with 95 % confidence. Another design, margin or machine starts a new count.</p>
</header>
<main>
<section id="counts">
<h2>Gates</h2>
${counts.length === 0 ? html`<p>No gate has compared a commit with itself yet.</p>\n` : countTable(counts.map(({ current }) => current))}${earlier.length > 0 && fold('Earlier counts', countTable(earlier))}</section>
${alarms(all, known)}${scatter(all)}</main>
`;
  return { path: 'same.html', title: 'A/A runs', body };
}

const looks = { kept: 'no-regression', open: 'invalid', broken: 'regression' } as const;

const countTable = (counts: readonly AaRunCounts[]): Html =>
  table({
    caption: 'The promise is the error rate required of a gate of a patch',
    heads: [
      { text: 'testbed' },
      { text: 'builds' },
      { text: 'alarms' },
      { text: 'promise', isNumber: true },
      { text: 'cells', isNumber: true },
      { text: 'undecided, invalid', isNumber: true },
      { text: 'design, margin' },
      { text: 'since' },
      { text: 'last' },
    ],
    rows: counts.map((one) => [
      plainLine(one.testbed),
      one.kind === 'same-build' ? 'one' : 'two layouts',
      html`<b class="${looks[sameSummary(one).promise]}">${sameText(one)}</b>`,
      formatPercent(one.falseAlarmRatio),
      `${one.cellAlarms} of ${one.cells}`,
      `${one.inconclusive}, ${one.invalid}`,
      `${one.design}, ${formatPercent(one.marginRatio)}`,
      moment(one.since),
      moment(one.last),
    ]),
  });

function alarms(
  counts: readonly AaRunCounts[],
  known: { folder: string; results: SiteSource['results']['results'] },
): Piece {
  const all = counts.flatMap(({ testbed, alarmed }) => alarmed.map((alarm) => ({ testbed, ...alarm })));
  if (all.length === 0) return undefined;
  return html`<section id="alarms">
<h2>Alarms</h2>
${table({
  caption: 'Gates of a commit against itself that reported a regression',
  heads: [{ text: 'gate' }, { text: 'testbed' }, { text: 'cells' }],
  rows: all
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .map((one) => [
      resultLink(one.result, one.at.slice(0, 'YYYY-MM-DD'.length), known),
      plainLine(one.testbed),
      one.cells.map(cellName).join(', '),
    ]),
})}</section>
`;
}

/** Layout variants of one tree differ by more than their runs if performance depends on the order of the code. */
function scatter(counts: readonly AaRunCounts[]): Piece {
  const rows = counts.flatMap(({ testbed, scatter: cells }) =>
    cells.map(({ cell, gates, sumOfSquares, runSumOfSquares }) => [
      html`${cellName(cell)}`,
      plainLine(testbed),
      gates,
      `${percentOf(sumOfSquares / gates)} %`,
      `${percentOf(runSumOfSquares / gates)} %`,
      `${percentOf(Math.max(sumOfSquares - runSumOfSquares, 0) / gates / 2)} %`,
    ]),
  );
  if (rows.length === 0) return undefined;
  const heads = ['gates', 'standard deviation of changes', 'explained by runs', 'deviation of a layout'];
  return html`<section id="scatter">
<h2>Build noise</h2>
${fold(
  `${rows.length} cells`,
  table({
    caption: 'One tree linked twice: root mean squares of the changes that were found',
    heads: [{ text: 'cell' }, { text: 'testbed' }, ...heads.map((text) => ({ text, isNumber: true }))],
    rows,
  }),
)}</section>
`;
}

const percentOf = (square: number): string => (Math.sqrt(square) * 100).toFixed(2);
