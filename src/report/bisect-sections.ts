// Provides the facts shared by a bisection's comment and page.

import { renderMinistat } from '../analysis/stats/ministat.ts';
import type { BisectResult, BisectRevision, RevisionFault } from '../model/bisect-result.ts';
import { bisectConfidenceRatio } from '../model/bisect-result.ts';
import { counted, formatMetric, formatPercent, metricName } from '../model/format.ts';
import { shortId } from '../model/patch.ts';
import { cellName } from '../model/scenario.ts';
import { changeText, faultText, revisionId } from './bisect-headline.ts';
import { isMeasured } from './bisect-numbers.ts';
import { rangeText, stepsOf, variantNoun } from './bisect-rows.ts';
import { nameOf, quoted, type Text, words } from './document.ts';
import type { MinistatText } from './ministat-blocks.ts';
import { failureOutput, fingerprintLines, unseenBy } from './sections.ts';

/** `forwarding inet4, by packets per second (more is better): 12 commits, 5 of 13 tried`. */
export const searchedText = (result: BisectResult): Text =>
  words`${nameOf(result.cell)}, by ${metricName(result.metric)}: ${rangeText(result)}`;

/** The measurement of bad without the culprit, or the reason for its absence. */
export function revertLines({ revert, metric }: BisectResult): Text[] {
  if (revert === undefined) return [];
  if (revert.kind === 'impossible') return [words`It cannot be measured: ${quoted(revert.why, 300)}`];
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
  const groups = Map.groupBy(failed, ({ fault, fixUps }) => JSON.stringify([fault.kind, fault.message, fixUps]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return { ...first, revisions: group.map(({ revision }) => revision) };
  });
}

/** `2 f8f5b459d21e, 6 6815909abda2 and 8 more`, `with 431980466ff0`. */
export function failedRevisions({ revisions, fixUps }: FaultGroup): string {
  const named = revisions.slice(0, maxNamed).map((revision) => `${revision.place} (${revisionId(revision)})`);
  const rest = revisions.length - named.length;
  const who = [named.join(', '), ...(rest > 0 ? [`${rest} more`] : [])].join(' and ');
  return fixUps.length === 0 ? who : `${who}, with ${fixUps.slice(0, 4).map(shortId).join(', ')}`;
}

const maxNamed = 3;
const maxGroups = 20;

export function faultLines(result: BisectResult): Text[] {
  const groups = faultGroups(result);
  const lines = groups.slice(0, maxGroups).map((group) => {
    const { fault } = group;
    const panic = 'panic' in fault && fault.panic ? words` (panic: ${quoted(fault.panic)})` : '';
    const describe = fault.message === '' ? '' : words`: ${quoted(fault.message, 300)}`;
    return words`${failedRevisions(group)}: ${faultText(fault)}${describe}${panic}`;
  });
  const rest = groups.length - lines.length;
  return rest > 0 ? [...lines, counted(rest, 'more fault')] : lines;
}

export const faultOutput = (fault: RevisionFault): string =>
  fault.kind === 'forwards-nothing' ? fault.message : failureOutput(fault);

export const environmentLines = (result: BisectResult): Text[] => [
  ...rangeFacts(result).map(([key, value]) => words`${key}: ${quoted(value)}`),
  ...fingerprintLines(result.testbed),
  `seed ${result.seed}`,
  words`${result.generator.name} ${quoted(result.generator.version)}`,
];

type NamedCommit = Pick<BisectRevision, 'commit' | 'diff' | 'subject' | 'author'>;

export function rangeFacts(result: BisectResult): [string, string][] {
  const { good, bad, badCommit, fixUps, revisions } = result;
  const last = revisions.at(-1);
  const isLater = badCommit !== undefined && badCommit.commit !== last?.commit;
  const same = isLater ? `, with the same ${variantNoun(result)} as ${revisionId(last)}` : '';
  const describe = (typed: string, revision: NamedCommit | undefined): string =>
    revision?.diff === undefined
      ? `${typed} = ${revision?.commit ?? 'unknown'}, ${revision?.subject ?? ''}, by ${revision?.author ?? ''}`
      : revisionId(revision);
  return [
    ['good', describe(good, revisions[0])],
    ['bad', `${describe(bad, badCommit ?? last)}${same}`],
    ...fixUps.map((typed): [string, string] => ['fix-up', typed]),
  ];
}

/** Explains the numbers briefly; docs/how-to/bisect.md has the details. */
export function howDecided(result: BisectResult): string[] {
  const { isShared, history, metric } = result;
  const number = isShared
    ? 'The median of the runs of a commit in a trial, against the middle of good and bad in the same trial, is one number'
    : 'Each boot of a commit that counts is one number';
  const percent = formatPercent(bisectConfidenceRatio);
  return [
    `${number}, and P is the probability that a commit is the one that changed the rate, given all numbers${history === undefined ? '' : ' and the noise of earlier experiments'}. No number is discarded: later ones correct an outlier.`,
    'The next measurement is always the one with the highest expected information per minute. The search ends once one commit, or a group of unmeasurable commits, has P ≥ 0.99 and both its neighbours have two numbers.',
    `A change compares geometric means: of all numbers before it and of all numbers after it, up to the next change; ± its ${percent} interval. Commits with the same ${variantNoun(result)} count as one.`,
    'A commit counts as unmeasurable after two failures, or after one if a neighbour failed the same way or no outcome depends on it. Commits between two that failed the same way are not tried, and are assumed to fail.',
    ...unseenBy(metric),
    'Details are in docs/how-to/bisect.md.',
  ];
}

/** Feeds ministat(1), which needs three numbers: replaces a neighbour with fewer by its whole side. */
export function neighbourMinistat(result: BisectResult): MinistatText | undefined {
  const { answer, revisions, cell, isShared } = result;
  // Omits rates of several trials: they drift apart, which ministat would take for an effect.
  if (isShared) return undefined;
  const [step, ...others] = stepsOf(answer);
  const isFound = answer.kind === 'culprit' || answer.kind === 'group';
  if (!isFound || step === undefined || others.length > 0) return undefined;
  const sides = [
    { neighbour: step.after, all: revisions.slice(0, step.after + 1) },
    { neighbour: step.last, all: revisions.slice(step.last) },
  ].map(({ neighbour, all }) => {
    const own = valuesOf(revisions.slice(neighbour, neighbour + 1));
    const isAlone = own.length >= minValues;
    return { neighbour, isAlone, values: isAlone ? own : valuesOf(all) };
  });
  if (sides.some(({ values }) => values.length < minValues)) return undefined;
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
    : 'ministat needs three numbers on each side: if a neighbour has fewer, all numbers of its side are used.';
  return { title: 'ministat of before and after', note, text };
}

const minValues = 3;

const valuesOf = (revisions: readonly BisectRevision[]): number[] =>
  revisions.flatMap(({ forms }) => forms.filter(isMeasured).flatMap(({ values }) => values));
