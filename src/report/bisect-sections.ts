// Provides the facts shared by a bisection's comment and page.

import { renderMinistat } from '../analysis/stats/ministat.ts';
import type { BisectResult, BisectRevision, RevisionFault } from '../model/bisect-result.ts';
import { bisectConfidenceRatio } from '../model/bisect-result.ts';
import { formatMetric, formatPercent, metricName } from '../model/format.ts';
import { shortId } from '../model/patch.ts';
import { cellName } from '../model/scenario.ts';
import { changeText, counted, faultText, revisionId } from './bisect-headline.ts';
import { isMeasured, rangeText, stepsOf } from './bisect-rows.ts';
import { nameOf, quoted, type Text, words } from './document.ts';
import type { MinistatText } from './ministat-blocks.ts';
import { failureSaid, fingerprintLines, unseenBy } from './sections.ts';

/** `forwarding inet4, by packets per second (more is better): 12 commits, 5 of 13 tried`. */
export const searchedText = (result: BisectResult): Text =>
  words`${nameOf(result.cell)}, by ${metricName(result.metric)}: ${rangeText(result)}`;

/** The measurement of bad without the culprit, or the reason for its absence. */
export function revertLines({ revert, metric }: BisectResult): Text[] {
  if (revert === undefined) return [];
  if (revert.kind === 'impossible')
    return [words`It cannot be measured: ${quoted(revert.why, 300)}`];
  const { values, change } = revert;
  const rates = `${formatMetric(change.before, metric)} → ${formatMetric(change.after, metric)}`;
  return [`${changeText(change)} against the bad one (${rates}), ${counted(values.length, 'run')}`];
}

type FaultGroup = { fault: RevisionFault; revisions: BisectRevision[]; fixUps: string[] };

/** In the order of their first commit. */
export function faultGroups({ revisions }: BisectResult): FaultGroup[] {
  const failed = revisions.flatMap((revision) =>
    revision.forms.flatMap(({ fault, fixUps }) => (fault ? { revision, fault, fixUps } : [])),
  );
  const groups = Map.groupBy(failed, ({ fault, fixUps }) =>
    JSON.stringify([fault.kind, fault.message, fixUps]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return { ...first, revisions: group.map(({ revision }) => revision) };
  });
}

/** `2 f8f5b459d21e, 6 6815909abda2 and 8 more`, `with 431980466ff0`. */
export function whoFailed({ revisions, fixUps }: FaultGroup): string {
  const named = revisions
    .slice(0, mostNamed)
    .map((revision) => `${revision.place} (${revisionId(revision)})`);
  const rest = revisions.length - named.length;
  const who = [named.join(', '), ...(rest > 0 ? [`${rest} more`] : [])].join(' and ');
  return fixUps.length === 0 ? who : `${who}, with ${fixUps.slice(0, 4).map(shortId).join(', ')}`;
}

const mostNamed = 3;
const mostGroups = 20;

export function faultLines(result: BisectResult): Text[] {
  const groups = faultGroups(result);
  const lines = groups.slice(0, mostGroups).map((group) => {
    const { fault } = group;
    const panic = 'panic' in fault && fault.panic ? words` (panic: ${quoted(fault.panic)})` : '';
    const said = fault.message === '' ? '' : words`: ${quoted(fault.message, 300)}`;
    return words`${whoFailed(group)}: ${faultText(fault)}${said}${panic}`;
  });
  const rest = groups.length - lines.length;
  return rest > 0 ? [...lines, `${rest} more faults`] : lines;
}

export const faultSaid = (fault: RevisionFault): string =>
  fault.kind === 'forwards-nothing' ? fault.message : failureSaid(fault);

export const environmentLines = (result: BisectResult): Text[] => [
  ...rangeFacts(result).map(([key, value]) => words`${key}: ${quoted(value)}`),
  ...fingerprintLines(result.testbed),
  `seed ${result.seed}`,
  words`${result.generator.name} ${quoted(result.generator.version)}`,
];

export function rangeFacts({ good, bad, fixUps, revisions }: BisectResult): [string, string][] {
  const said = (typed: string, revision: BisectRevision | undefined): string =>
    revision?.diff === undefined
      ? `${typed} = ${revision?.commit ?? 'unknown'}, ${revision?.subject ?? ''}, by ${revision?.author ?? ''}`
      : revisionId(revision);
  return [
    ['good', said(good, revisions[0])],
    ['bad', said(bad, revisions.at(-1))],
    ...fixUps.map((typed): [string, string] => ['fix-up', typed]),
  ];
}

/** Explains the numbers briefly; docs/how-to/bisect.md has the details. */
export function howDecided({ isShared, history, metric }: BisectResult): string[] {
  const number = isShared
    ? 'The median of its runs in a trial, against the middle of good and bad in the same trial, is one number of a commit'
    : 'Each boot of a commit that counts is one number';
  const percent = formatPercent(bisectConfidenceRatio);
  return [
    `${number}, and P is the chance that a commit is the one that changed it, given all of them${history === undefined ? '' : ' and the noise of earlier experiments'}. None is thrown away, so one that is off is corrected by later ones.`,
    'Measured next is always what is expected to tell most for its minutes. It ends where one commit, or a stretch of which nothing between can be measured, has P ≥ 0.99 and both its neighbours have two numbers.',
    `A change is one of the geometric mean, from all that was measured before it to all that was measured after it, as far as the next change; ± its ${percent} interval. Commits that make the same kernel are told as one.`,
    'What cannot be measured failed twice, or once like a neighbour; or once, where no answer depends on it. Commits between two that failed alike are not tried, and taken for failed.',
    ...unseenBy(metric),
    'The whole of it is in docs/how-to/bisect.md.',
  ];
}

/** Feeds ministat(1), which needs three numbers: a neighbour with fewer is replaced by its whole side. */
export function neighbourMinistat(result: BisectResult): MinistatText | undefined {
  const { answer, revisions, cell, isShared } = result;
  // Rates of several trials drift apart, which ministat takes for an effect.
  if (isShared) return undefined;
  const [step, ...others] = stepsOf(answer);
  const isFound = answer.kind === 'culprit' || answer.kind === 'group';
  if (!isFound || step === undefined || others.length > 0) return undefined;
  const sides = [
    { neighbour: step.after, all: revisions.slice(0, step.after + 1) },
    { neighbour: step.last, all: revisions.slice(step.last) },
  ].map(({ neighbour, all }) => {
    const own = valuesOf(revisions.slice(neighbour, neighbour + 1));
    const isAlone = own.length >= leastValues;
    return { neighbour, isAlone, values: isAlone ? own : valuesOf(all) };
  });
  if (sides.some(({ values }) => values.length < leastValues)) return undefined;
  const isAlone = sides.every((side) => side.isAlone);
  const sets = sides.map(({ neighbour, values, isAlone }, nth) => {
    const id = revisionId(revisions[neighbour]);
    const upTo = nth === 0 ? `up to ${id}` : `from ${id}`;
    return {
      name: `${isAlone ? id : upTo}, ${cellName(cell)}`,
      values: Float64Array.from(values),
    };
  });
  const confidencePercent = 95;
  const text = renderMinistat(sets, { separateBars: true, confidencePercent });
  const note = isAlone
    ? undefined
    : 'ministat needs three numbers on each side: where a neighbour has fewer, all numbers of its side take their place.';
  return { title: 'ministat of before and after', note, text };
}

const leastValues = 3;

const valuesOf = (revisions: readonly BisectRevision[]): number[] =>
  revisions.flatMap(({ forms }) => forms.filter(isMeasured).flatMap(({ values }) => values));
