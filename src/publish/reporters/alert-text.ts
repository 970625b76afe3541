// Renders texts on a change of the branch: its issue, news on it, and notices for its reviewers.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isOpen, lossesOf, worstOf } from '../../analysis/trend/change-history.ts';
import type { Label } from '../../forge/github/issue.ts';
import * as bounded from '../../model/bounds.ts';
import { codeSpan, pageUrl, plainLine } from '../../model/escape.ts';
import { formatChange, formatInterval, formatMetric, metricNouns } from '../../model/format.ts';
import { parseJson } from '../../model/json.ts';
import { isCost } from '../../model/metric.ts';
import { callOnGithub, shortId } from '../../model/patch.ts';
import { remarkupText } from '../../model/remarkup.ts';
import { cellName } from '../../model/scenario.ts';
import { type ChangeLevel, changeStates, type TrendChange } from '../../model/trend.ts';

export type AlertLinks = {
  compareUrl?: string | undefined;
  /** URL of a result's folder in the data branch; absent if none is served. */
  result?: ((path: string) => string) | undefined;
};

/** Hidden first line of an issue; identifies its change. */
export const alertMarker = (id: string): string => `<!-- ppsgate change ${id} -->`;

export const changeIdIn = (body: string): string | undefined =>
  /^<!-- ppsgate change ([0-9a-f]{12}(?:[0-9a-f]{28})?) -->/.exec(body)?.[1];

/** Identifies news, so that it is posted only once. */
export const newsMarker = ({ id }: TrendChange, state: string): string =>
  `<!-- ppsgate change ${id} news ${createHash('sha256').update(state).digest('hex')} -->`;

export const alertLabels: Readonly<Record<'code' | 'testbed', Label>> = {
  code: {
    name: 'ppsgate-regression',
    color: 'd73a4a',
    description: 'A commit made the branch slower; a gate has confirmed it',
  },
  testbed: {
    name: 'ppsgate-testbed',
    color: 'fbca04',
    description: 'A testbed measures less than before, but no commit is the cause',
  },
};

const issueStateSchema = z.object({
  state: z.enum(changeStates),
  cells: bounded.ordinal,
  /** The worst cell's `changeRatio`. */
  worstRatio: bounded.change,
  culprit: bounded.name.optional(),
});

type IssueState = z.infer<typeof issueStateSchema>;

export const issueStateText = (change: TrendChange): string =>
  JSON.stringify({
    state: change.state,
    cells: losses(change).length,
    worstRatio: worstOf(change).changeRatio,
    ...(change.bisection?.culprit !== undefined && { culprit: change.bisection.culprit }),
  } satisfies IssueState);

export const readIssueState = (text: string | undefined): IssueState | undefined =>
  issueStateSchema.safeParse(parseJson(text ?? '')).data;

/** Lists news as Markdown sentences; a loss counts from half a margin. Without `before`, only the end is news. */
export function issueNews(before: IssueState | undefined, change: TrendChange, marginRatio: number): string[] {
  const { state, bisection } = change;
  if (state !== before?.state && !isOpen(change)) return [stateNews(change)].flatMap((one) => one ?? []);
  if (before === undefined || !isOpen(change)) return [];
  const { changeRatio, cell } = worstOf(change);
  const cells = losses(change);
  const culprit = bisection?.culprit;
  const isWorse = Math.abs(changeRatio) >= Math.abs(before.worstRatio) + marginRatio / 2;
  return [
    state === before.state ? undefined : stateNews(change),
    culprit === undefined || culprit === before.culprit
      ? undefined
      : `A bisection found the commit: ${shortId(culprit)}.`,
    cells.length > before.cells
      ? `More cells have a loss: ${cells.map((level) => sizeIn(level)).join(', ')}.`
      : undefined,
    isWorse
      ? `The loss has grown: ${cellName(cell)} ${formatChange(changeRatio)}, after ${formatChange(before.worstRatio)}.`
      : undefined,
  ].flatMap((one) => one ?? []);
}

function stateNews({ state, good, bad }: TrendChange): string | undefined {
  switch (state) {
    case 'code':
      return 'A gate of both commits on the same testbed confirms the loss: the code is the cause.';
    case 'testbed':
      return good === bad
        ? 'The same commit was measured before and after: the testbed or chance is the cause.'
        : 'A gate of both commits on the same testbed finds no loss of the margin: the testbed or chance is the cause.';
    case 'accepted':
      return 'The new level is accepted: from now on nightly runs are compared with it.';
    case 'recovered':
      return 'The old level is back.';
    default:
      return undefined;
  }
}

const sizeIn = ({ cell, changeRatio }: ChangeLevel): string => `${cellName(cell)} ${formatChange(changeRatio)}`;

/** `ipfw-stateful inet4 −4.10 % in 1a2b3c4d5e6f..5d6e7f8a9b0c (3 cells, hp-t540)`, with the worst cell. */
export function alertTitle(change: TrendChange): string {
  const count = losses(change).length;
  const of = isCost(change.metric) ? ` ${metricNouns[change.metric]}` : '';
  const cells = count === 1 ? '1 cell' : `${count} cells`;
  return `${sizeIn(worstOf(change))}${of} in ${commitsOf(change)} (${cells}, ${plainLine(change.testbed, 60)})`;
}

/** Markdown that contains no text from a commit. */
export function alertBody(change: TrendChange, links: AlertLinks): string {
  const { id, metric, gates, bisection } = change;
  const result = ({ path, text }: { path: string; text: string }) =>
    links.result === undefined ? text : `[${text}](${links.result(path)})`;
  const gateLinks = gates.map(({ at, verdict, result: path }) =>
    result({ path, text: `${verdict} on ${at.slice(0, 'YYYY-MM-DD'.length)}` }),
  );
  const culprit = bisection?.culprit;
  const facts = [
    `- Commits: ${commitsLink(change, links)}`,
    ...(culprit === undefined ? [] : [`- The commit, as a bisection found: ${culprit}`]),
    ...(bisection === undefined ? [] : [`- ${result({ path: bisection.result, text: 'The bisection' })}`]),
    ...(gateLinks.length === 0 ? [] : [`- Gates of the two commits: ${gateLinks.join(', ')}`]),
  ];
  return [
    alertMarker(id),
    `On ${codeSpan(change.testbed)} ${metricNouns[metric]} of the default branch changed permanently. ${stateNews(change) ?? ''}`.trim(),
    tableOf(change),
    facts.join('\n'),
    `<sub>A maintainer can accept the new level permanently: comment \`${callOnGithub} accept\`. This issue is closed automatically when the old level comes back.</sub>`,
  ].join('\n\n');
}

function tableOf(change: TrendChange): string {
  const { metric, cells, gates } = change;
  const judged = gates.at(-1)?.cells ?? [];
  const rows = cells.map(({ cell, before, after, changeRatio }) => {
    const interval = judged.find((one) => cellName(one.cell) === cellName(cell))?.interval;
    const inGate = interval === undefined ? '' : `${formatInterval(interval.low, interval.high)} %`;
    const levels = [before, after].map((level) => formatMetric(level, metric));
    return `| ${[cellName(cell), ...levels, formatChange(changeRatio), inGate].join(' | ')} |`;
  });
  return ['| cell | before | after | change | in the gate |', '|---|--:|--:|--:|--:|', ...rows].join('\n');
}

export const pullRequestText = (change: TrendChange, issue: number): string =>
  [
    alertMarker(change.id),
    `### 🔴 ppsgate: ${alertTitle(change)}`,
    `This was merged as ${change.bisection?.culprit ?? change.bad}, and a gate of the commits on ${codeSpan(change.testbed)} confirms the loss. #${issue} has the rest.`,
    tableOf(change),
  ].join('\n\n');

export const revisionText = (change: TrendChange, issueUrl: string): string =>
  [
    `This landed as ${remarkupText(change.bisection?.culprit ?? change.bad)} and lost packets per second, or costs more for each, on ${remarkupText(change.testbed)}; a gate of the commits confirms it.`,
    losses(change)
      .map((level) => `- ${remarkupText(sizeIn(level))}`)
      .join('\n'),
    issueUrl,
  ].join('\n\n');

/** Cells with a loss, worst first; for a change without a loss, all its cells. */
function losses(change: TrendChange): ChangeLevel[] {
  const lost = lossesOf(change);
  const counted = lost.length > 0 ? lost : change.cells;
  return counted.toSorted((a, b) => Math.abs(b.changeRatio) - Math.abs(a.changeRatio));
}

function commitsOf({ good, bad, bisection }: TrendChange): string {
  if (bisection?.culprit !== undefined) return shortId(bisection.culprit);
  return good === bad ? shortId(bad) : `${shortId(good)}..${shortId(bad)}`;
}

function commitsLink(change: TrendChange, { compareUrl }: AlertLinks): string {
  const { good, bad } = change;
  if (good === bad) return `${bad} in both nightly runs, with no commit in between`;
  const filled = compareUrl?.replaceAll('{from}', good).replaceAll('{to}', bad);
  const url = filled && pageUrl(filled);
  const text = `${shortId(good)}..${shortId(bad)}`;
  return url === undefined || url === '' ? text : `[${text}](${url})`;
}
