// Renders the README of the data branch, with foreign names as code.

import { countsOf, layoutNoise, sameSummary, sameText } from '../../analysis/trend/aa-runs.ts';
import { isOpen, lossesOf, worstOf } from '../../analysis/trend/change-history.ts';
import { codeSpan } from '../../model/escape.ts';
import { formatChange, formatPercent, metricNouns } from '../../model/format.ts';
import { isCost } from '../../model/metric.ts';
import { shortId } from '../../model/patch.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { AaRunCounts, TrendChange, TrendIndex } from '../../model/trend.ts';
import { badgePath, samePath, sparklinesPath } from './paths.ts';

type ReadmeBadge = {
  results: readonly {
    path: string;
    at: string;
    testbed: string;
    patch: string;
    outcome: string;
  }[];
  badges: readonly { testbed: string; cell: Cell }[];
};

export function renderReadme(index: ReadmeBadge, trend: TrendIndex): string {
  const newest = index.results.slice(-maxListed).toReversed();
  const kept = new Set(index.results.map(({ path }) => path));
  const open = trend.changes.filter(isOpenLoss).toReversed();
  const testbeds = [...new Set(trend.cells.map(({ testbed }) => testbed))];
  return `${[
    '# Results of ppsgate',
    'Results of ppsgate for patches to this repository. ppsgate writes this branch: each publication replaces its only commit, so manual changes are lost.',
    ...section('Open changes', atMost(open.map(changeLine(kept)))),
    ...section('Default branch', index.badges.map(badgeLine)),
    ...section('Nightly runs', testbeds.map(sparklines)),
    ...section(
      'A/A runs',
      countsOf(trend).flatMap(({ current, earlier }) => [
        `- ${nameOf(current)}: ${countLine(current, kept)}`,
        ...atMost(earlier.map((count) => `  - earlier: ${countLine(count, kept)}`)),
      ]),
    ),
    ...section('Newest results', newest.map(resultLine)),
    '## Files',
    [
      '- `results/YEAR/…/report.md` and `result.json`: the result, for people and for programs; with flamegraphs, and for a bisection the plot over its commits',
      '- `badges/TESTBED/SCENARIO-FAMILY.svg` and `.json`: an image, and an endpoint for shields.io; `same.svg`: the A/A runs',
      '- `trend/TESTBED/SCENARIO-FAMILY/YEAR.jsonl`: a line for each nightly run and push of the default branch; `trend/index.json`: their changes',
      "- `history.jsonl`: the base's numbers in earlier experiments, used to plan later ones",
      '- `index.json`: the list of all results',
    ].join('\n'),
  ].join('\n\n')}\n`;
}

const maxListed = 20;

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')];

function atMost(lines: readonly string[]): string[] {
  const left = lines.length - maxListed;
  const indent = /^ */.exec(lines[0] ?? '')?.[0] ?? '';
  const rest = `${indent}- and ${left} more, in \`trend/index.json\``;
  return left > 0 ? [...lines.slice(0, maxListed), rest] : [...lines];
}

/** A gain needs no action. */
const isOpenLoss = (change: TrendChange): boolean => isOpen(change) && lossesOf(change).length > 0;

const changeLine =
  (kept: ReadonlySet<string>) =>
  (change: TrendChange): string => {
    const { testbed, good, bad, cells, state, gates, alert } = change;
    const { cell, changeRatio } = worstOf(change);
    const size = `${cellName(cell)} ${formatChange(changeRatio)}`;
    const others = cells.length > 1 ? ` (${cells.length} cells)` : '';
    const range = good === bad ? shortId(bad) : `${shortId(good)}..${shortId(bad)}`;
    const gate = gates.at(-1);
    const more = [gate && `[gate](${reportOf(gate.result)})`, alert.issue !== undefined && `issue ${alert.issue}`];
    const shown = kept.has(gate?.result ?? '') ? more : more.slice(1);
    const last = shown.filter(Boolean).map((one) => `, ${one}`);
    return `- ${size}${others} on ${codeSpan(testbed)} in \`${range}\`: ${state}${last.join('')}`;
  };

const badgeLine = (badge: ReadmeBadge['badges'][number]): string =>
  `- ![${cellName(badge.cell)}](${badgePath(badge)}.svg)`;

const sparklines = (testbed: string): string =>
  `- ${codeSpan(testbed)}\n\n  ![packets per second, run by run](${sparklinesPath(testbed)})\n`;

const nameOf = ({ kind, testbed }: AaRunCounts): string =>
  kind === 'same-build'
    ? `![A/A](${samePath(testbed)}.svg) ${codeSpan(testbed)}`
    : `${codeSpan(testbed)}, two layouts of one tree`;

function countLine(count: AaRunCounts, kept: ReadonlySet<string>): string {
  const { cells, cellAlarms, inconclusive, invalid, falseAlarmRatio, alarmed } = count;
  const noise = layoutNoise(count);
  const alarms = alarmed.map(({ at, result }) =>
    kept.has(result) ? `[${dayOf(at)}](${reportOf(result)})` : dayOf(at),
  );
  return [
    `called a regression in ${sameText(count)} (${verdictOf(count)} ${formatPercent(falseAlarmRatio)})`,
    `in ${cellAlarms} of ${cells} cells; ${inconclusive} inconclusive, ${invalid} invalid`,
    `margin ${formatPercent(count.marginRatio)} of ${metricWord(count)}, ${count.design}, since ${dayOf(count.since)}`,
    ...(noise === undefined ? [] : [`layouts scatter by ${formatPercent(noise)}`]),
    ...(alarms.length > 0 ? [`alarms: ${alarms.join(', ')}`] : []),
  ].join('; ');
}

const metricWord = ({ metric }: AaRunCounts): string => (isCost(metric) ? metricNouns[metric] : metric);

function verdictOf(count: AaRunCounts): string {
  switch (sameSummary(count).promise) {
    case 'kept':
      return 'within the promised';
    case 'broken':
      return 'beyond the promised';
    case 'open':
      return 'too few to decide whether within the promised';
  }
}

function resultLine({ path, at, testbed, patch, outcome }: ReadmeBadge['results'][number]): string {
  const when = at.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ');
  const what = `${codeSpan(patch)} on ${codeSpan(testbed)}: ${codeSpan(outcome)}`;
  return `- [${when}](${reportOf(path)}) ${what}`;
}

const reportOf = (folder: string): string => `${folder}/report.md`;

const dayOf = (time: string): string => time.slice(0, 'YYYY-MM-DD'.length);
