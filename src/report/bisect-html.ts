// The page of a bisection: all of its result in one HTML file that needs nothing beside it.

import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { plain, plainBlock, plainLine } from '../model/escape.ts';
import { bisectGraphs } from './bisect-graphs.ts';
import {
  bisectHeadline,
  bisectLook,
  bisectNextSteps,
  bisectSymbol,
  faultText,
} from './bisect-headline.ts';
import { bisectPlot } from './bisect-plot.ts';
import { type BisectRow, bisectRows, hasFixUps } from './bisect-rows.ts';
import {
  type FaultGroup,
  faultGroups,
  faultSaid,
  howDecided,
  neighbourMinistat,
  rangeFacts,
  revertLines,
  searchedText,
  whoFailed,
} from './bisect-sections.ts';
import { graphFolds, picturesThatFit, runTable, whyPieces } from './html-cell.ts';
import { htmlDocument } from './html-document.ts';
import {
  bullets,
  factList,
  fold,
  mark,
  preformatted,
  table,
  timeText,
  withCode,
} from './html-pieces.ts';
import { Html, html, type Piece } from './markup.ts';
import type { Graph } from './report-flamegraphs.ts';
import { invalidRunLines, settingOf } from './sections.ts';

/** A whole page; the change's neighbours have flamegraphs as far as there are profiles. */
export function renderBisectHtml(
  result: BisectResult,
  profiles: readonly CellProfiles[] = [],
): string {
  const { generator } = result;
  const graphs = bisectGraphs(result, profiles);
  const body = html`${header(result)}<main>
${revisions(result)}${verified(result)}${why(result, graphs)}${faults(result)}${remarks(result)}${numbers(result)}${environment(result)}${decided(result)}</main>
<footer>${generator.name} ${plainLine(generator.version)}, from <code>result.json</code></footer>
`;
  const title = `${bisectSymbol(result)} ppsgate: ${bisectHeadline(result)}`;
  return htmlDocument({ title, body, hasGraphs: graphs.length > 0 });
}

function header(result: BisectResult): Html {
  const look = bisectLook(result);
  const [first = '', ...others] = bisectNextSteps(result);
  return html`<header class="${look}">
<p class="name">ppsgate</p>
<h1>${mark(look)} ${bisectHeadline(result)}</h1>
<p>${searchedText(result, plain)}</p>
<p><b>What now:</b> ${withCode(first)}</p>
${bullets(others.map(withCode))}<p class="faint">${settingOf(result, plain)}</p>
</header>
`;
}

function revisions(result: BisectResult): Html {
  const rows = bisectRows(result);
  const isFolded = rows.some(({ kind }) => kind === 'folded');
  const all = isFolded && bisectRows(result, Number.POSITIVE_INFINITY);
  const caption = 'Good first, bad last; P is the chance that a commit is the one';
  return html`<section id="revisions">
<h2>The commits</h2>
${plots(result)}${revisionTable(result, rows, caption)}${all && fold(`all ${result.revisions.length} revisions`, revisionTable(result, all, 'Good first, bad last'))}</section>
`;
}

/** The plot in both its forms: the page shows the one for which it is wide enough, in its own colours. */
function plots(result: BisectResult): Piece {
  const drawn = (['wide', 'narrow'] as const).flatMap((form) => {
    const plot = bisectPlot(result, form);
    return plot === undefined ? [] : html`<div class="${form}">${new Html(plot)}</div>\n`;
  });
  return drawn.length > 0 && html`<div class="intervals">${drawn}</div>\n`;
}

/** What is asked first stands in front: a phone has room for three columns, and the others are out of sight. */
function revisionTable(result: BisectResult, rows: readonly BisectRow[], caption: string): Html {
  const withFixUps = hasFixUps(rows);
  const look = bisectLook(result);
  const numbers = ['median', 'against good', 'P', result.isShared ? 'runs' : 'boots'];
  return table({
    caption,
    heads: [
      { text: 'n', isNumber: true },
      { text: 'commit' },
      { text: 'outcome' },
      ...numbers.map((text) => ({ text, isNumber: true })),
      ...(withFixUps ? [{ text: 'with' }] : []),
    ],
    rows: rows.map((row) => rowPieces(row, withFixUps, look)),
  });
}

function rowPieces(row: BisectRow, withFixUps: boolean, look: string): Piece[] {
  const empty = new Array<Piece>(withFixUps ? 6 : 5).fill('');
  if (row.kind === 'folded') {
    return ['', html`<span class="faint">${row.text}</span>`, ...empty];
  }
  const { place, commit, subject, isFurther, fixUps, cells } = row;
  const id = html`<code class="id">${commit}</code>`;
  const named = row.isNamed ? html`<b class="${look}">${id}</b>` : id;
  return [
    place,
    isFurther ? '↳' : html`${named}<span class="subject">${plainLine(subject, 120)}</span>`,
    ...[cells.outcome, cells.median, cells.againstGood, cells.p, cells.boots],
    ...(withFixUps
      ? [fixUps.length === 0 ? '–' : fixUps.map((one) => html`<code class="id">${one}</code> `)]
      : []),
  ];
}

function verified(result: BisectResult): Piece {
  const lines = revertLines(result, plain);
  return (
    lines.length > 0 &&
    html`<section id="revert">
<h2>The bad one without it</h2>
${bullets(lines)}</section>
`
  );
}

function why(result: BisectResult, graphs: readonly Graph[]): Piece {
  const pieces = [whyPieces(result), graphFolds(picturesThatFit(graphs))];
  return (
    pieces.some((piece) => piece !== undefined && piece !== false) &&
    html`<section id="why">
<h2>Before and after</h2>
${pieces}</section>
`
  );
}

const mostFaults = 50;

function faults(result: BisectResult): Piece {
  const groups = faultGroups(result);
  const rest = groups.length - mostFaults;
  return (
    groups.length > 0 &&
    html`<section id="faults">
<h2>What cannot be measured</h2>
${groups.slice(0, mostFaults).map(faultFold)}${rest > 0 && html`<p>${rest} more faults</p>\n`}</section>
`
  );
}

const faultFold = (group: FaultGroup): Html =>
  fold(
    html`${whoFailed(group)}: ${faultText(group.fault)}`,
    preformatted(plainBlock(faultSaid(group.fault), 20_000)),
  );

/** What a reader may miss. */
function remarks({ testbed: { warnings } }: BisectResult): Piece {
  return (
    warnings.length > 0 &&
    html`<section id="remarks">
<h2>What is to be known of the testbed</h2>
${bullets(warnings.map((text) => plainLine(text, 500)))}</section>
`
  );
}

/** The neighbours' numbers to paste into mail, and all runs. */
function numbers(result: BisectResult): Piece {
  const inOrder = result.runs.toSorted((a, b) => a.number - b.number);
  const pieces = [
    ...neighbourMinistat(result).map(({ name, note, text }) =>
      fold(name, [note !== undefined && html`<p>${note}</p>\n`, preformatted(text)]),
    ),
    bullets(invalidRunLines(inOrder, plain.code)),
    inOrder.length > 0 && fold(`${inOrder.length} runs in order`, runTable(inOrder)),
  ].filter(Boolean);
  return (
    pieces.length > 0 &&
    html`<section id="numbers">
<h2>Numbers</h2>
${pieces}</section>
`
  );
}

const environment = (result: BisectResult): Html =>
  html`<section id="environment">
<h2>Environment</h2>
${factList([
  ...rangeFacts(result),
  ['testbed', result.testbed.name],
  ...Object.entries(result.testbed.fingerprint),
  ['began', timeText(result.startedAt)],
  ['ended', timeText(result.finishedAt)],
  ['seed', String(result.seed)],
])}</section>
`;

const decided = (result: BisectResult): Html =>
  html`<section id="reading">
<h2>How it was decided</h2>
${howDecided(result).map((text) => html`<p>${text}</p>\n`)}</section>
`;
