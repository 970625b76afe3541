// A cell on the page: what was found, why, its flamegraphs and its runs.

import { plain, plainLine } from '../model/escape.ts';
import {
  formatChange,
  formatInterval,
  formatMetric,
  formatPercent,
  formatShare,
  metricNouns,
} from '../model/format.ts';
import {
  type CellResult,
  type ChangedFunction,
  type Metric,
  metricSchema,
  type Policy,
  type ProfileReason,
  type Run,
} from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { remarkOf, unbroken } from './cell-rows.ts';
import { costText, hasCost, pointsText } from './change-reason.ts';
import { graphPreview } from './flamegraph-preview.ts';
import { isSilent, silenceOf } from './headline.ts';
import { bullets, fold, mark, preformatted, table } from './html-pieces.ts';
import { Html, html, type Piece } from './markup.ts';
import { ministats } from './ministat-blocks.ts';
import { drawGraph, type Graph } from './report-flamegraphs.ts';
import { runPlot } from './run-plot.ts';
import { interimApartLines, spareRuns, uncountedLines, whySpare } from './sections.ts';

/** A graph with its SVG, or without where the page has no room for it; `why` says that it cannot be drawn at all. */
export type Picture = { graph: Graph; svg?: string; why?: string };

/** Graphs of kernels have some 50,000 each; a page of more than a few million is slow on a phone. */
const mostGraphCharacters = 5_000_000;

/** The flamegraphs of a page, drawn; those behind are left out where there is no room for all. */
export function picturesThatFit(graphs: readonly Graph[]): Picture[] {
  let room = mostGraphCharacters;
  return graphs.map((graph): Picture => {
    const drawn = drawGraph(graph, false);
    if (drawn.kind === 'left-out') return { graph, why: drawn.why };
    const { svg } = drawn;
    if (svg.length > room) return { graph };
    room -= svg.length;
    return { graph, svg };
  });
}

/** The section of a cell, with the pictures of this cell alone. */
export const cellSection = (
  policy: Policy,
  result: CellResult,
  pictures: readonly Picture[],
): Html => html`<section id="${cellAnchor(result)}">
<h2>${mark(result.verdict.kind)} ${cellName(result.cell)}</h2>
${finding(policy, result)}${whyPieces(result)}${graphFolds(pictures)}${runs(policy, result)}${ministatFolds(policy, result)}</section>
`;

/** Where on the page a cell stands. */
export const cellAnchor = ({ cell }: Pick<CellResult, 'cell'>): string =>
  `cell-${cellName(cell)}`.replace(/[^\w.-]+/g, '-');

/** `regression: −10.4 % (95 % interval −11.2 … −9.60)`, and what is to be known beside it. */
function finding({ confidenceRatio }: Policy, cell: CellResult): Html {
  const { verdict, comparisons } = cell;
  if (isSilent(cell)) {
    return html`<p><b class="${verdict.kind}">${verdict.kind}</b>: <strong>${silenceOf(cell)}</strong></p>\n`;
  }
  const { interval } = comparisons[0] ?? {};
  const numbers = interval &&
    verdict.kind !== 'invalid' && [
      html`: <strong>${formatChange(interval.change)}</strong> `,
      `(${formatPercent(confidenceRatio)} interval ${formatInterval(interval.low, interval.high)})`,
    ];
  return html`<p><b class="${verdict.kind}">${verdict.kind}</b>${remarkOf(cell)}${numbers}</p>
${verdict.kind === 'invalid' && html`<p>${plainLine(verdict.reason, 1000)}</p>\n`}`;
}

/** The functions that moved, and the profiles that there are not. */
export function whyPieces({ reason, profiles }: Pick<CellResult, 'reason' | 'profiles'>): Piece {
  const missing = profiles.flatMap((one) =>
    one.kind === 'missing' ? `${plainLine(one.variant)}: ${plainLine(one.reason, 500)}` : [],
  );
  if (reason === undefined && missing.length === 0) return undefined;
  return html`<h3>Why</h3>
${reason && moved(reason)}${missing.length > 0 && html`<p>There is no profile of</p>\n${bullets(missing)}`}`;
}

function moved({ changedFunctions, moved, idleFrames }: ProfileReason): Piece {
  const idle =
    idleFrames.length > 0 &&
    ` Stacks with ${idleFrames.map((name) => plainLine(name)).join(', ')} are left out, as the CPU idled in them.`;
  if (changedFunctions.length === 0) {
    return html`<p>No function’s share of the samples moved beyond chance.${idle}</p>\n`;
  }
  const rest = moved - changedFunctions.length;
  const others = rest > 0 && `; ${rest} more moved less`;
  const isTold = changedFunctions.some(hasCost);
  const numbers = [...(isTold ? ['per packet'] : []), 'change', 'base', 'patched'];
  return table({
    caption: html`Functions whose own share of the samples moved beyond chance${others}.${idle}`,
    heads: [
      { text: 'function' },
      ...numbers.map((text) => ({ text, isNumber: true })),
      { text: 'module' },
    ],
    rows: changedFunctions.map((changedFunction) => changedFunctionRow(changedFunction, isTold)),
  });
}

const changedFunctionRow = (changedFunction: ChangedFunction, isTold: boolean): Piece[] => [
  html`<code>${plainLine(changedFunction.function)}</code>`,
  ...(isTold ? [unbroken(costText(changedFunction))] : []),
  unbroken(pointsText(changedFunction)),
  unbroken(`${formatShare(changedFunction.baseRatio)} %`),
  unbroken(`${formatShare(changedFunction.patchedRatio)} %`),
  plainLine(changedFunction.module ?? '–'),
];

export const graphFolds = (pictures: readonly Picture[]): Piece =>
  pictures.length > 0 &&
  html`<h3>Flamegraphs</h3>
<div class="graphs">
${pictures.map(graphFold)}</div>
`;

/** The browser itself opens a fold for what a link or a search finds in it. */
function graphFold({ graph, svg, why }: Picture): Html {
  const { anchor, which } = graph;
  if (why !== undefined) return html`<p id="${anchor}">${plainLine(why, 500)}</p>\n`;
  const elsewhere = html`<p>It is too large for this page, and drawn in <code>${anchor}.svg</code>.</p>`;
  return html`<details class="graph">
<summary>${plainLine(which)}${graphPreview(graph)}</summary>
<div id="${anchor}">${svg === undefined ? elsewhere : new Html(svg)}</div>
</details>
`;
}

/** A cell's runs in their order. */
function runs(policy: Policy, cell: CellResult): Piece {
  const inOrder = cell.runs.toSorted((a, b) => a.number - b.number);
  if (inOrder.length === 0) return undefined;
  const remarks: [string, string[]][] = [
    ['Runs that do not count:', uncountedLines([cell], plain)],
    ['Runs that stand apart, and count:', interimApartLines([cell], plain)],
  ];
  return html`<h3>Runs</h3>
${runPlot(inOrder, policy.metric)}${remarks.map(([said, lines]) => lines.length > 0 && html`<p>${said}</p>\n${bullets(lines)}`)}${fold(`${inOrder.length} runs in order`, runTable(inOrder, cell))}`;
}

/** Runs of a cell, or of a bisection, which compares no pairs and has no cell. */
export function runTable(inOrder: readonly Run[], cell?: CellResult): Html {
  const spare = new Map(cell && spareRuns(cell).map((run) => [run, whySpare(run, cell)]));
  const told = metricSchema.options.filter(
    (metric) => metric === 'pps' || inOrder.some((run) => run[metric] !== undefined),
  );
  return table({
    caption: `All runs, as they followed each other${cell ? '; those of one pair are compared' : ''}`,
    heads: [
      { text: 'run', isNumber: true },
      ...(cell ? [{ text: 'pair', isNumber: true }] : []),
      { text: 'variant' },
      ...told.map((metric) => ({ text: metricNouns[metric], isNumber: true })),
      { text: 'counts' },
    ],
    rows: inOrder.map((run) => [
      run.number,
      ...(cell ? [run.pair] : []),
      plainLine(run.variant),
      ...told.map((metric) => valueText(run[metric], metric)),
      validityText(run, spare),
    ]),
  });
}

const valueText = (value: number | undefined, metric: Metric): string =>
  value === undefined ? '–' : formatMetric(value, metric);

function validityText(run: Run, spare: ReadonlyMap<Run, string>): Piece {
  const { validity } = run;
  const why = spare.get(run);
  if (why !== undefined) return html`no, ${why}`;
  if (validity.kind === 'valid') return 'yes';
  return html`<b class="invalid">no</b>, ${validity.cause}: ${plainLine(validity.reason, 500)}`;
}

const ministatFolds = (policy: Policy, cell: CellResult): Html[] =>
  ministats(policy, [cell]).map(({ name, note, text }) =>
    fold(name, [note !== undefined && html`<p>${note}</p>\n`, preformatted(text)]),
  );
