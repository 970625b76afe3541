// The comment on a bisection: its sentence, what to do next, the revisions that say something, and the rest folded below.

import type { BisectResult } from '../model/bisect-result.ts';
import { codeSpan, pageUrl } from '../model/escape.ts';
import {
  type BisectWays,
  bisectHeadline,
  bisectNextSteps,
  bisectSymbol,
} from './bisect-headline.ts';
import { bisectPlotAlt } from './bisect-plot.ts';
import { type BisectRow, bisectRows, hasFixUps } from './bisect-rows.ts';
import { bisectSections, searchedText } from './bisect-sections.ts';
import type { Column } from './cell-rows.ts';
import { flamegraphsText, isProfiled, reasonText } from './change-reason.ts';
import { fitted } from './fit-to-limit.ts';
import {
  bold,
  bullets,
  commonSection,
  corrections,
  details,
  footer,
  graphLink,
  markdown,
  mostCharacters,
  type ReportLinks,
  tableRow,
  whyOfCell,
} from './markdown.ts';
import { settingOf } from './sections.ts';

/** What only the place of publication knows. */
type BisectLinks = Omit<ReportLinks, 'goOn'> & {
  /** How to ask for what is proposed. */
  ways?: BisectWays;
};

/** Renders at most as much as a comment may have: what does not fit is left out from the end, and said. */
export function renderBisectMarkdown(result: BisectResult, links: BisectLinks = {}): string {
  const sections = bisectSections(result, markdown, markdown);
  const why = isProfiled(result) ? [details('why', whyOfCell(result, links))] : [];
  return fitted(
    [
      `### ${bisectSymbol(result)} ppsgate: ${bisectHeadline(result)}`,
      searchedText(result, markdown),
      whatNow(bisectNextSteps(result, links.ways)),
      table(result),
      ...whyLine(result, links),
      ...plot(result, links),
      settingOf(result, markdown),
    ],
    [...corrections(links), ...sections.map(commonSection), ...why],
    footer(links),
    { most: mostCharacters, sizeOf: (text) => text.length },
  );
}

const whatNow = (steps: readonly string[]): string =>
  steps.length === 1 ? `**What now:** ${steps[0]}` : `**What now:**\n${bullets(steps)}`;

function table(result: BisectResult): string {
  const rows = bisectRows(result);
  const withFixUps = hasFixUps(rows);
  const columns = columnsOf(result, withFixUps);
  return [
    tableRow(columns.map(({ head }) => head)),
    `|${columns.map(({ isNumber }) => (isNumber ? '--:' : '---')).join('|')}|`,
    ...rows.map((row) => rowText(row, columns.length, withFixUps)),
  ].join('\n');
}

const columnsOf = ({ isShared }: BisectResult, withFixUps: boolean): Column[] => [
  { head: 'n', isNumber: true },
  { head: 'commit' },
  { head: 'subject' },
  ...(withFixUps ? [{ head: 'with' }] : []),
  { head: isShared ? 'runs' : 'boots', isNumber: true },
  { head: 'median', isNumber: true },
  { head: 'against good', isNumber: true },
  { head: 'outcome' },
  { head: 'P', isNumber: true },
];

function rowText(row: BisectRow, columns: number, withFixUps: boolean): string {
  if (row.kind === 'folded') {
    return tableRow(['', '', row.text, ...new Array<string>(columns - 3).fill('')]);
  }
  const { place, commit, subject, isFurther, fixUps, cells } = row;
  const id = row.isNamed ? bold(codeSpan(commit)) : codeSpan(commit);
  return tableRow([
    place,
    isFurther ? '↳' : id,
    isFurther ? '' : codeSpan(subject, 72),
    ...(withFixUps ? [fixUps.map((one) => codeSpan(one)).join(' ') || '–'] : []),
    ...[cells.boots, cells.median, cells.againstGood, cells.outcome, cells.p],
  ]);
}

/** Nothing where nothing was profiled. */
function whyLine(result: BisectResult, links: BisectLinks): string[] {
  if (!isProfiled(result)) return [];
  const line = `**Why**: ${reasonText(result, markdown)}`;
  return [[line, flamegraphsText(result, links, graphLink)].filter(Boolean).join(' · ')];
}

function plot(result: BisectResult, { image }: BisectLinks): string[] {
  // Beside a report that is kept with it, a name is enough.
  const isBeside = image !== undefined && /^\w[\w.-]*$/.test(image);
  const url = isBeside ? image : pageUrl(image ?? '');
  return url === undefined ? [] : [`![${bisectPlotAlt(result)}](${url})`];
}
