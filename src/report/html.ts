// The page: all of a result in one HTML file that needs nothing beside it.
import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import { pageUrl, plain, plainBlock, plainLine } from '../model/escape.ts';
import { metricName } from '../model/format.ts';
import { patchName } from '../model/patch.ts';
import type { Rejection } from '../model/rejection.ts';
import type { CellResult, CellVerdict, Metric, Result } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { type CellRow, cellColumns, cellRows, remarkOf, worstFirst } from './cell-rows.ts';
import { headline, sentence } from './headline.ts';
import { cellAnchor, cellSection, type Picture, picturesThatFit } from './html-cell.ts';
import { htmlDocument } from './html-document.ts';
import {
  breakable,
  bullets,
  factList,
  fold,
  mark,
  preformatted,
  table,
  timeText,
  withCode,
} from './html-pieces.ts';
import { intervalPlot } from './interval-plot.ts';
import { Html, html, type Piece } from './markup.ts';
import { meaningOf, nextStep } from './next-steps.ts';
import { type Graph, graphsOf } from './report-flamegraphs.ts';
import {
  failureSaid,
  failureText,
  kernelsOf,
  leftOutLines,
  movedBaselineLines,
  notesOf,
  otherMetrics,
  otherMetricTitle,
  readingParagraphs,
  rule,
  setting,
  unseenBy,
  verdictMeanings,
} from './sections.ts';

/** A whole page; cells have flamegraphs as far as there are profiles. */
export function renderHtml(result: Result, profiles: readonly CellProfiles[]): string {
  const { generator } = result;
  const graphs = graphsOf(result, profiles);
  const body = html`${header(result)}<main>
${mainPieces(result, graphs)}</main>
<footer>${generator.name} ${plainLine(generator.version)}, from <code>result.json</code></footer>
`;
  return htmlDocument({ title: headline(result), body, hasGraphs: graphs.length > 0 });
}

function mainPieces(result: Result, graphs: readonly Graph[]): Piece {
  const { outcome } = result;
  switch (outcome.kind) {
    case 'judged':
      return judged(result, outcome.cells, graphs);
    case 'unchanged':
      return [remarks(result), environment(result)];
    default:
      return [rejected(result, outcome), remarks(result), environment(result)];
  }
}

/**
 * A patch that cannot be measured has the symbol of a loss; a lab that cannot measure has that of no verdict, as has a
 * patch that need not be measured.
 */
function verdictOf({ outcome }: Result): CellVerdict['kind'] {
  switch (outcome.kind) {
    case 'judged':
      return outcome.verdict;
    case 'unchanged':
    case 'out-of-disk':
      return 'invalid';
    default:
      return 'regression';
  }
}

function header(result: Result): Html {
  const { patch, policy, outcome } = result;
  const verdict = verdictOf(result);
  const meaning = meaningOf(result);
  const diff = patch.kind === 'revision' && ` diff ${patch.diff}`;
  const url = patch.kind === 'range' ? undefined : pageUrl(patch.url);
  const name = html`${patchName(patch)}${diff}`;
  return html`<header class="${verdict}">
<p class="name">ppsgate</p>
<h1>${mark(verdict)} ${patchName(patch)} ${sentence(result).text}</h1>
${meaning !== undefined && html`<p>${meaning}</p>\n<p><b>What now:</b> ${withCode(nextStep(result))}</p>\n`}<p>${url === undefined ? name : html`<a href="${url}">${name}</a>`}: ${plainLine(patch.title)}, by ${plainLine(patch.author)}</p>
<p class="faint">${setting(result, plain)}</p>
${outcome.kind === 'judged' && [html`<p class="faint">${rule(policy)}</p>\n`, contents(outcome.cells)]}</header>
`;
}

function judged(result: Result, cells: readonly CellResult[], graphs: readonly Graph[]): Piece {
  const pictures = picturesOfCells(cells, graphs);
  return [
    verdicts(result, cells),
    remarks(result, cells),
    cells.map((cell) => cellSection(result.policy, cell, pictures.get(cellName(cell.cell)) ?? [])),
    environment(result),
    howToRead(result),
  ];
}

/** The worst cells first where there is no room for all. */
function picturesOfCells(
  cells: readonly CellResult[],
  graphs: readonly Graph[],
): Map<string, Picture[]> {
  const ofCell = Map.groupBy(graphs, ({ cell }) => cellName(cell));
  const inOrder = worstFirst(cells).flatMap(({ cell }) => ofCell.get(cellName(cell)) ?? []);
  return Map.groupBy(picturesThatFit(inOrder), ({ graph }) => cellName(graph.cell));
}

/** A few cells are found without. */
const contents = (cells: readonly CellResult[]): Piece =>
  cells.length > 3 &&
  html`<nav aria-label="Contents"><ul>
${cells.map((cell) => html`<li>${linkTo(cell)}</li>\n`)}<li><a href="#environment">environment</a></li>
<li><a href="#reading">how to read this</a></li>
</ul></nav>
`;

const linkTo = (result: CellResult): Html =>
  html`${mark(result.verdict.kind)} <a href="#${cellAnchor(result)}">${cellName(result.cell)}</a>`;

function verdicts(result: Result, cells: readonly CellResult[]): Html {
  const { policy } = result;
  const others = otherMetrics(policy, cells).map((metric) =>
    fold(otherMetricTitle(metric), cellTable(result, cells, metric)),
  );
  return html`<section id="verdict">
<h2>Verdict</h2>
${cellTable(result, cells, policy.metric)}${others}${intervals(result, cells.length)}</section>
`;
}

/** Of its two forms the page shows the one for which it is wide enough, in its own colours. */
function intervals(result: Result, mostCells: number): Piece {
  const drawn = (['wide', 'narrow'] as const).flatMap((form) => {
    const plot = intervalPlot(result, { mostCells, form });
    return plot === undefined ? [] : html`<div class="${form}">${new Html(plot)}</div>\n`;
  });
  return drawn.length > 0 && html`<div class="intervals">${drawn}</div>\n`;
}

function cellTable({ policy }: Result, cells: readonly CellResult[], metric: Metric): Html {
  return table({
    caption: `Change of patched against base, by ${metricName(metric)}`,
    heads: cellColumns(policy, metric).map(({ head, ...rest }) => ({ text: head, ...rest })),
    rows: cells.flatMap((cell) => cellRows(cell, metric, policy).map(rowPieces)),
  });
}

function rowPieces(row: CellRow): Piece[] {
  const { numbers } = row;
  if (row.kind === 'variant') {
    const name = html`<span class="other">↳ ${plainLine(row.variant)}</span>`;
    return [name, ...(row.verdict ? [row.verdict] : []), ...numbers];
  }
  const verdict =
    row.verdict && html`<b class="${row.verdict}">${row.verdict}</b>${remarkOf(row.result)}`;
  return [linkTo(row.result), ...(verdict ? [verdict] : []), ...numbers];
}

function rejected(result: Result, outcome: Rejection): Html {
  return html`<section id="verdict">
<h2>What happened</h2>
<p>${failureText(outcome, plain)}</p>
${preformatted(plainBlock(failureSaid(outcome), 20_000))}<h2>What now</h2>
<p>${withCode(nextStep(result))}</p>
</section>
`;
}

/** What a reader may miss, and does not count against the patch. */
function remarks(result: Result, cells: readonly CellResult[] = []): Piece {
  const said: [string, readonly string[]][] = [
    ['The baseline moved, which is not held against the patch', movedBaselineLines(cells, plain)],
    [
      'Left out of the comparison, which is not held against the patch',
      leftOutLines(result, plain),
    ],
    ['What this metric does not see', cells.length > 0 ? unseenBy(result.policy.metric) : []],
    ['What is to be known of the testbed', inLines(result.testbed.warnings)],
    ['Notes on the revision', inLines(notesOf(result.patch))],
  ];
  const parts = said.filter(([, lines]) => lines.length > 0);
  if (parts.length === 0) return undefined;
  return html`<section id="remarks">
<h2>To be known</h2>
${parts.map(([title, lines]) => html`<h3>${title}</h3>\n${bullets(lines)}`)}</section>
`;
}

const inLines = (texts: readonly string[]): string[] => texts.map((text) => plainLine(text, 500));

function environment(result: Result): Html {
  const { testbed, seed, startedAt, finishedAt } = result;
  return html`<section id="environment">
<h2>Environment</h2>
${variantTable(result)}${factList([
  ['testbed', testbed.name],
  ...Object.entries(testbed.fingerprint),
  ['began', timeText(startedAt)],
  ['ended', timeText(finishedAt)],
  ['order of runs', `seed ${seed}`],
])}</section>
`;
}

function variantTable(result: Result): Html {
  const { variants } = result;
  // None where the variants share the DUT's own.
  const kernels = kernelsOf(result, plain);
  const base = variants.find(({ name }) => name === 'base');
  const heads = [
    'variant',
    'commit',
    ...(kernels.size > 0 ? ['kernel as it ran'] : []),
    'files put over the DUT',
  ];
  return table({
    caption: 'What differs between the variants',
    heads: heads.map((text) => ({ text })),
    rows: variants.map((variant) => [
      plainLine(variant.name),
      html`<code>${plainLine(variant.commit, 64)}</code>`,
      ...(kernels.size > 0 ? [kernels.get(variant.name)?.join(', ') ?? '–'] : []),
      variant === base || base === undefined ? ownFiles(variant) : changedFiles(base, variant),
    ]),
  });
}

type Variant = Result['variants'][number];

const ownFiles = ({ files }: Variant): Piece =>
  files.length === 0 ? 'none' : files.map(({ path }) => fileLine('', path));

const fileLine = (sign: string, path: string): Html =>
  html`<div>${sign}<code>${breakable(plainLine(path))}</code></div>`;

function changedFiles(base: Variant, { files }: Variant): Piece {
  const before = new Map(base.files.map(({ path, sha256 }) => [path, sha256]));
  const after = new Set(files.map(({ path }) => path));
  const lines = [
    ...files.flatMap(({ path, sha256 }) => {
      if (before.get(path) === sha256) return [];
      return fileLine(before.has(path) ? 'changed ' : 'added ', path);
    }),
    ...base.files
      .filter(({ path }) => !after.has(path))
      .map(({ path }) => fileLine('removed ', path)),
  ];
  return lines.length === 0 ? 'as those of base' : lines;
}

const howToRead = (result: Result): Html =>
  html`<section id="reading">
<h2>How to read this</h2>
${readingParagraphs(result).map((text) => html`<p>${text}</p>\n`)}${bullets(
  verdictMeanings(result.policy).map(
    ([verdict, meaning]) =>
      html`${mark(verdict)} <b class="${verdict}">${verdict}</b>: ${withCode(meaning)}`,
  ),
)}</section>
`;
