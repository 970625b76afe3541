// The comment on a revision of Phabricator, in Remarkup, which folds nothing and escapes nothing: texts of others stand in code only.

import { plain, plainBlock, plainLine, type Quoting } from '../words/escape.ts';
import { formatPercent, metricName } from '../words/format.ts';
import { patchName } from '../words/patch.ts';
import type { Rejection } from '../words/rejection.ts';
import type { CellResult, Metric, Result } from '../words/result.ts';
import { cellName } from '../words/scenario.ts';
import { sentence } from './headline.ts';
import {
  environmentLines,
  failureSaid,
  failureText,
  fitted,
  howToReadTexts,
  leftOut,
  type Ministat,
  ministats,
  movedBaselines,
  notesOf,
  numbers,
  numbersOfCell,
  otherMetricsOf,
  pageUrl,
  rowsThatFit,
  rule,
  setting,
  standingApartLines,
  symbols,
  uncountedLines,
  verdictMeanings,
} from './markdown.ts';
import {
  changeText,
  flamegraphsText,
  functionName,
  type GraphLinks,
  groundsText,
  isProfiled,
  whyLines,
} from './why.ts';

/** What only the place of publication knows. */
type RemarkupLinks = {
  /** Name of the plot as it was uploaded, in PNG: `F123`. */
  image?: string;
  /** URL of the job or the report. */
  details?: string;
  /** URL of what was measured before. */
  history?: string;
  /** How to ask for it again, as people type it: `@ppsgate rerun`. */
  rerun?: string;
} & GraphLinks;

/** Most bytes in UTF-8. Phabricator takes more, and sends it to everybody by mail. */
const mostBytes = 100_000;

/** Renders at most 100 kB: what does not fit is left out from the end, ministat first, and said. */
export function renderRemarkup(result: Result, links: RemarkupLinks = {}): string {
  const { outcome, patch } = result;
  const { symbol, text } = sentence(result, remarkupText);
  const name = patch.kind === 'revision' ? `diff ${patch.diff}` : patchName(patch);
  const verdict = `**${symbol} ppsgate: ${remarkupText(name)} ${text}**`;
  const { main, parts } =
    outcome.kind === 'judged'
      ? judgedParts(result, outcome.cells, links)
      : rejectedParts(result, outcome);
  return within([verdict, setting(result, remarkup), ...main], parts, links);
}

/** Symbol and text are of our own making, like `⚪` and `not measured: cancelled`; `said` is the sentence behind it. */
export function renderRemarkupFailure(
  { symbol, text, said }: { symbol: string; text: string; said: string },
  links: RemarkupLinks = {},
): string {
  const heading = `**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`;
  return within([heading, remarkupBlock('what was said', said, 20)], [], links);
}

type Parts = { main: string[]; parts: string[] };

function judgedParts(result: Result, cells: readonly CellResult[], links: RemarkupLinks): Parts {
  const { policy } = result;
  return {
    main: [
      rule(policy),
      table(result, cells, policy.metric),
      ...whyLines(cells, remarkup, (cell) => flamegraphsText(cell, links, link)),
      ...whyInvalid(cells),
      ...plot(links),
    ],
    parts: [
      ...movedBaselines(cells, remarkup),
      ...leftOut(result, remarkup),
      ...otherMetricsOf(policy, cells).map(
        (metric) => `By ${metricName(metric)}:\n\n${table(result, cells, metric)}`,
      ),
      ...scrolled('runs that do not count', uncountedLines(cells, plain)),
      ...scrolled('runs that stand apart, and count', standingApartLines(cells, plain)),
      ...about(result),
      ...scrolled('how to read this', readingLines(result)),
      ...scrolled('why', cells.filter(isProfiled).flatMap(whyOfCell)),
      ...ministats(policy, cells).map(ministatPart),
    ],
  };
}

const rejectedParts = (result: Result, outcome: Rejection): Parts => ({
  main: [failureText(outcome, remarkup), remarkupBlock('what was said', failureSaid(outcome), 20)],
  parts: [...leftOut(result, remarkup), ...about(result)],
});

/** The worst cells first when there is no room for all. Colons for alignment would make the heads plain cells. */
function table(result: Result, cells: readonly CellResult[], metric: Metric): string {
  const confidence = formatPercent(result.policy.confidenceRatio);
  const judged = metric === result.policy.metric;
  const heads = ['cell', 'base', 'patched', 'change', `${confidence} interval`, 'runs'];
  const columns = judged ? [...heads, 'verdict'] : heads;
  return [
    tableRow(columns),
    tableRow(columns.map(() => '---')),
    ...rowsThatFit(cells, (cell) => rowsOfCell(cell, metric, judged)),
  ].join('\n');
}

/** Below a cell stand its other variants. */
function rowsOfCell(result: CellResult, metric: Metric, judged: boolean): string {
  const { cell, verdict, others } = result;
  const name = remarkupCell(cellName(cell));
  const rows = [
    [
      judged ? `${symbols[verdict.kind]} ${name}` : name,
      ...numbersOfCell(result, metric, judged),
      ...(judged ? [verdict.kind] : []),
    ],
    ...others.map((other) => [
      `↳ ${remarkupCell(other.variant)}`,
      ...numbers(other.comparisons, metric, judged),
      ...(judged ? ['not judged'] : []),
    ]),
  ];
  return rows.map(tableRow).join('\n');
}

const tableRow = (columns: readonly string[]): string => `| ${columns.join(' | ')} |`;

const mostReasons = 20;

/** Reasons in lines of their own: there is no room for sentences in the table. */
function whyInvalid(cells: readonly CellResult[]): string[] {
  const lines = cells.flatMap(({ cell, verdict }) =>
    verdict.kind === 'invalid'
      ? `- ${remarkupText(cellName(cell))} is invalid: ${remarkupText(verdict.reason)}`
      : [],
  );
  if (lines.length === 0) return [];
  const rest = lines.length - mostReasons;
  const more = rest > 0 ? [`- ${rest} more cells are invalid`] : [];
  return [[...lines.slice(0, mostReasons), ...more].join('\n')];
}

const plot = ({ image }: RemarkupLinks): string[] =>
  image === undefined
    ? []
    : [`{${image}, size=full, alt=the changes of all cells and their intervals}`];

/** What is to be known of the DUT and of the patch. */
const about = (result: Result): string[] => [
  ...scrolled('settings of the DUT that do not hold', lines(result.testbed.warnings)),
  ...scrolled('notes on the revision', lines(notesOf(result.patch))),
  ...scrolled('environment', [patchLine(result), ...environmentLines(result, plain)]),
];

const lines = (texts: readonly string[]): string[] => texts.map((text) => plainLine(text, 300));

function patchLine({ patch }: Result): string {
  const diff = patch.kind === 'revision' ? ` diff ${patch.diff}` : '';
  return `patch: ${patchName(patch)}${diff}, ${plainLine(patch.title)}, by ${plainLine(patch.author)}`;
}

/** A sentence a line: a block of code does not break them. */
const readingLines = (result: Result): string[] => [
  ...howToReadTexts(result).flatMap((text) => text.split(/(?<=[.;]) /)),
  ...verdictMeanings(result.policy).map(([verdict, meaning]) => `${verdict}: ${meaning}`),
];

/** All functions that moved. */
const whyOfCell = (cell: CellResult): string[] => [
  `${cellName(cell.cell)}: ${groundsText(cell, plain)}`,
  ...(cell.reason?.movers ?? []).map((mover) => {
    const module = mover.module === undefined ? '' : ` (${plain.code(mover.module, 80)})`;
    return `  ${functionName(mover, plain)}${module} ${changeText(mover)}`;
  }),
];

/** The note once for all blocks in a row that have the same. */
function ministatPart({ name, note, text }: Ministat, index: number, all: Ministat[]): string {
  const block = remarkupBlock(name, text);
  return note === undefined || note === all[index - 1]?.note ? block : `${note}\n\n${block}`;
}

/** Nothing where there are no lines. */
const scrolled = (name: string, all: readonly string[]): string[] =>
  all.length === 0 ? [] : [remarkupBlock(name, all.join('\n'), 8)];

function within(main: string[], parts: string[], links: RemarkupLinks): string {
  const { rerun, details, history, page } = links;
  const end = [
    rerun && `Rerun: ${remarkupText(rerun)}`,
    page && link('the whole report', page),
    details && link('details', details),
    history && link('history', history),
  ].filter(Boolean);
  const sizeOf = (text: string) => Buffer.byteLength(text);
  return fitted(main, parts, end.join(' · '), { most: mostBytes, sizeOf });
}

function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}

const remarkup: Quoting = {
  code: (text, most) => remarkupText(text, most),
  name: (name) => remarkupText(name),
};

/**
 * Code within a line, cut to `mostCharacters`: no mention, object, link, macro or line break in it can take effect. It
 * must not follow a letter or a digit directly, for then its first backtick is none of code.
 */
export const remarkupText = (untrusted: string, mostCharacters = 200): string =>
  inCode(plainLine(untrusted, mostCharacters));

/** A line that is plain already: whatever is taken out of it afterwards could join what was kept apart. */
function inCode(line: string): string {
  // There is no fence but one backtick, and what `${{{` begins is replaced even in code.
  const inside = line.replaceAll('`', "'").replaceAll('${{{', '$ {{{');
  return inside === '' ? '' : `\`${inside}\``;
}

/** The same in a column of a table, which is cut at `|` before code is looked for, but not between `[[` and `]]`. */
export const remarkupCell = (untrusted: string, mostCharacters = 100): string =>
  inCode(
    plainLine(untrusted, mostCharacters)
      .replaceAll('|', '¦')
      .replace(/\[(?=\[)/g, '[ '),
  );

/** A line of our own making in which something of others may be after all: what is no plain word stands in code. */
const remarkupWords = (line: string): string =>
  plainLine(line, 300)
    .split(' ')
    .map((word) => (plainWord.test(word) ? word : remarkupText(word)))
    .join(' ');

/** Neither capitals, which may name a repository, nor what may be a commit's hash. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;

/**
 * A block of code that scrolls where it has more than `visibleLines`; shortened in the middle. A line that ends in
 * three backticks would close it, and a first line like `lang=c` would set its options, had it none of its own.
 */
export function remarkupBlock(name: string, untrusted: string, visibleLines = 12): string {
  const title = name.replace(/[^\w .-]+/g, '').trim();
  const body = plainBlock(untrusted, 6000).replaceAll('```', "'''");
  return `\`\`\`lang=text, name=${title}, lines=${visibleLines}\n${body}\n\`\`\``;
}
