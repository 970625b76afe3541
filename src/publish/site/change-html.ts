// Renders a change as HTML, the same on every page.

import { isOpen, lossesOf, worstOf } from '../../analysis/trend/change-history.ts';
import { plainLine } from '../../model/escape.ts';
import { formatChange, formatInterval, formatMetric } from '../../model/format.ts';
import { shortId } from '../../model/patch.ts';
import { isLoss } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import type { ChangeLevel, TrendChange, TrendIndex } from '../../model/trend.ts';
import { type Html, html, type Piece } from '../../report/markup.ts';
import { moment } from './document.ts';
import { compareLink, issueLink, linkFrom, seriesPath } from './page-paths.ts';
import { picture } from './picture.ts';
import type { CellSeries } from './series.ts';
import type { KeptResult } from './site-source.ts';

/** States that may need action, most urgent first. */
const openStates: readonly TrendChange['state'][] = ['code', 'confirming', 'candidate', 'testbed'];

/** Losses that are neither accepted nor over: code changes first, then by size. */
export const openLosses = ({ changes }: TrendIndex): TrendChange[] =>
  changes
    .filter((change) => isOpen(change) && lossesOf(change).length > 0)
    .toSorted((a, b) => urgencyOf(a) - urgencyOf(b) || sizeOf(b) - sizeOf(a));

const urgencyOf = ({ state }: TrendChange): number => openStates.indexOf(state);

const sizeOf = (change: TrendChange): number => Math.abs(worstOf(change).changeRatio);

const stateMeanings: Readonly<Record<TrendChange['state'], string>> = {
  candidate: 'seen in nightly runs; no gate has checked it yet',
  confirming: 'a gate of both commits was undecided',
  code: 'a gate of both commits confirms it',
  testbed:
    'a gate of both commits finds no loss of the margin, or there was no commit in between: the machine or chance',
  accepted: 'a maintainer has accepted the new level',
  recovered: 'the old level is back',
};

const stateTag = ({ state }: TrendChange): Html =>
  html`<span class="state ${state}" title="${stateMeanings[state]}">${state}</span>`;

export type PageContext = {
  folder: string;
  index: TrendIndex;
  series: readonly CellSeries[];
  results: readonly KeptResult[];
};

/** Shows a change by one of its cells; absent: the worst one. */
export function changeCard(change: TrendChange, around: PageContext, level: ChangeLevel = worstOf(change)): Html {
  const { folder, index } = around;
  const look = isLoss(change, level.changeRatio) ? 'loss' : 'gain';
  const settled = ['code', 'confirming', 'candidate'].includes(change.state) ? '' : ' settled';
  const own = around.series.find((one) => one.testbed === change.testbed && one.name === cellName(level.cell));
  const others = change.cells.filter((one) => one !== level);
  return html`<article class="change ${look}${settled}" id="change-${change.id}">
<div class="told">
<h3><span class="size">${formatChange(level.changeRatio)}</span> <a href="${cellLink(change, level, folder)}">${cellName(level.cell)}</a></h3>
<p class="where">${plainLine(change.testbed)}${look === 'loss' && [' ', stateTag(change)]}</p>
<p>${formatMetric(level.before, change.metric)} → ${formatMetric(level.after, change.metric)}, since ${moment(level.firstAt)}</p>
<p>${commitsText(index, change)}</p>
${others.length > 0 && html`<p class="faint">also ${list(others.map((one) => cellPiece(change, one, folder)))}</p>\n`}${gatesPiece(change, level, around)}</div>
${own && html`<a class="glance" href="${cellLink(change, level, folder)}" tabindex="-1" aria-hidden="true">${picture(own, 120, placeOf(own, level))}</a>\n`}</article>
`;
}

const placeOf = ({ points }: CellSeries, { firstAt }: ChangeLevel): number =>
  points.findIndex(({ nightlyRun }) => nightlyRun.at === firstAt);

const cellPiece = (change: TrendChange, level: ChangeLevel, folder: string): Html =>
  html`<a href="${cellLink(change, level, folder)}">${cellName(level.cell)}</a> ${formatChange(level.changeRatio)}`;

const cellLink = ({ testbed, good, bad }: TrendChange, { cell }: ChangeLevel, folder: string): string =>
  `${linkFrom(folder, `${seriesPath({ testbed, cell })}.html`)}#a=${shortId(good)}&b=${shortId(bad)}`;

/** Links a page that compares the commits of `1a2b3c4d5e6f..7a8b9c0d1e2f`, if there is one. */
function commitsText(index: TrendIndex, change: TrendChange): Piece {
  const { good, bad, bisection } = change;
  if (good === bad) return html`no commit between: <code>${shortId(bad)}</code> before and after`;
  const range = html`<code>${shortId(good)}..${shortId(bad)}</code>`;
  const link = compareLink(index, change);
  const culprit = bisection?.culprit;
  return [
    'commits ',
    link === undefined ? range : html`<a href="${link}">${range}</a>`,
    culprit !== undefined && html`, bisected to <code>${shortId(culprit)}</code>`,
  ];
}

/** Interval and result of the last gate, result of the bisection, and issue. */
function gatesPiece(change: TrendChange, level: ChangeLevel, { folder, index, results }: PageContext): Piece {
  const { gates, bisection, alert } = change;
  const gate = gates.at(-1);
  const cell = cellName(level.cell);
  const interval = gate?.cells.find((one) => cellName(one.cell) === cell)?.interval;
  const issue = alert.issue === undefined ? undefined : issueLink(index, alert.issue);
  const parts = [
    gate &&
      html`${resultLink(gate.result, `gate of both: ${gate.verdict}`, { folder, results })}${interval && ` (${formatChange(interval.change)}, ${formatInterval(interval.low, interval.high)})`}`,
    bisection && resultLink(bisection.result, 'bisection', { folder, results }),
    alert.issue !== undefined &&
      (issue === undefined ? html`issue #${alert.issue}` : html`<a href="${issue}">issue #${alert.issue}</a>`),
  ].filter((part) => part instanceof Object);
  return parts.length > 0 && html`<p class="faint">${joined(parts, ' · ')}</p>\n`;
}

export const resultLink = (
  path: string,
  content: Piece,
  { folder, results }: Pick<PageContext, 'folder' | 'results'>,
): Html =>
  results.some((kept) => kept.path === path)
    ? html`<a href="${linkFrom(folder, `${path}/report.html`)}">${content}</a>`
    : html`<span title="its result was deleted">${content}</span>`;

const joined = (pieces: readonly Piece[], between: string): Piece =>
  pieces.map((piece, place) => (place === 0 ? piece : [between, piece]));

const list = (pieces: readonly Piece[]): Piece => joined(pieces, ', ');
