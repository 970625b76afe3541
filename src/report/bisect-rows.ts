// Chooses the rows of a bisection's table: notable revisions, and counts of the others.

import { median } from '../analysis/stats/summary.ts';
import type { BisectForm, BisectResult, BisectRevision } from '../model/bisect-result.ts';
import { counted, formatChange, formatMetric, formatProbability } from '../model/format.ts';
import { shortId } from '../model/patch.ts';
import { systemOfTestbedKind } from '../model/testbed-kind.ts';
import { faultText, revisionId, searchedKind } from './bisect-headline.ts';
import { type FormNumbers, isMeasured, numbersOf } from './bisect-numbers.ts';
import { unbroken } from './cell-rows.ts';

/** Indices of consecutive revisions: one listed revision, or all up to the next listed one. */
export type RevisionRange = { first: number; last: number; isListed: boolean };

/**
 * Returns listed revisions and ranges of others, in order. Lists good and bad, tried revisions, those in the answer,
 * and their neighbours; beyond `most`, drops the least informative. Also lists a single revision between them.
 */
export function rangesOf(result: BisectResult, most = 60): RevisionRange[] {
  const { revisions } = result;
  const listed = listedRevisions(result, most);
  const ranges: RevisionRange[] = [];
  let next = 0;
  for (const index of [...listed, revisions.length]) {
    if (index - next === 1) ranges.push({ first: next, last: next, isListed: true });
    if (index - next > 1) ranges.push({ first: next, last: index - 1, isListed: false });
    if (index < revisions.length) ranges.push({ first: index, last: index, isListed: true });
    next = index + 1;
  }
  return ranges;
}

/** Returns ascending indices, selected by relevance to the answer, then by probability and number of measurements. */
function listedRevisions(result: BisectResult, most: number): number[] {
  const { revisions } = result;
  const named = namedRevisions(result);
  const isFew = named.members.size <= maxMembers;
  const weightOf = ({ probability, forms }: BisectRevision, index: number): number =>
    (named.neighbours.has(index) ? 1000 : 0) +
    (named.members.has(index) && (isFew || forms.length > 0) ? 100 : 0) +
    (probability >= minProbability ? 10 + probability : 0) +
    (forms.length > 0 ? 1 + Math.min(bootsOf(forms), 8) : 0);
  return revisions
    .map((revision, index) => ({ index, weight: weightOf(revision, index) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, most)
    .map(({ index }) => index)
    .toSorted((a, b) => a - b);
}

/** Size of the largest group listed in full; of a larger group, only the tried members are listed. */
const maxMembers = 30;

const minProbability = 0.01;

/** Each step ends at one of `members`; `neighbours` are good, bad and both sides of a step. */
function namedRevisions({ answer, revisions }: BisectResult): {
  members: Set<number>;
  neighbours: Set<number>;
} {
  const steps = stepsOf(answer);
  const within = (index: number) => index >= 0 && index < revisions.length;
  const members = steps.flatMap(({ after, last }) =>
    revisions.flatMap((_, index) => (index > after && index <= last ? index : [])),
  );
  const neighbours = [0, revisions.length - 1, ...steps.flatMap(({ after, last }) => [after, last])];
  return { members: new Set(members), neighbours: new Set(neighbours.filter(within)) };
}

/** Ranges with a certain or possible change: after one index, through another. */
export function stepsOf(answer: BisectResult['answer']): { after: number; last: number }[] {
  switch (answer.kind) {
    case 'culprit':
      return [{ after: answer.revision - 1, last: answer.revision }];
    case 'group':
      return [{ after: answer.after, last: answer.last }];
    case 'several':
      return [...answer.found.flatMap(stepsOf), ...answer.open];
    case 'not-reproduced':
      return [];
    case 'slide':
      return answer.steps.map((last) => ({ after: last - 1, last }));
    case 'inconclusive':
      return answer.best.map(({ revision }) => ({ after: revision - 1, last: revision }));
  }
}

export const isNamed = (answer: BisectResult['answer'], index: number): boolean =>
  answer.kind !== 'inconclusive' && stepsOf(answer).some(({ after, last }) => index > after && index <= last);

const bootsOf = (forms: readonly BisectForm[]): number => forms.reduce((sum, { values }) => sum + values.length, 0);

export type BisectRow =
  | {
      kind: 'revision';
      index: number;
      /** `12`, `0 good`; empty in further rows of the same revision. */
      place: string;
      /** `f8f5b459d21e`, or `diff 32`. */
      id: string;
      /** Untrusted. */
      subject: string;
      isNamed: boolean;
      isFurther: boolean;
      fixUps: string[];
      /** Only the outcome may wrap. The median is over boots, as rates of shared trials drift apart. */
      cells: { boots: string; median?: string; againstGood: string; outcome: string; p: string };
    }
  | { kind: 'folded'; text: string };

/**
 * Returns one row for each form of a listed revision, and one for each range of others; an infinite `most` lists all.
 */
export function bisectRows(result: BisectResult, most?: number): BisectRow[] {
  const { revisions } = result;
  const ranges =
    most === Number.POSITIVE_INFINITY
      ? revisions.map((_, index) => ({ first: index, last: index, isListed: true }))
      : rangesOf(result, most);
  const numbers = numbersOf(result);
  return ranges.flatMap(({ first, last, isListed }) =>
    isListed
      ? rowsOfRevision(result, first, numbers)
      : { kind: 'folded', text: foldedText(revisions.slice(first, last + 1), variantNoun(result)) },
  );
}

export const hasFixUps = (rows: readonly BisectRow[]): boolean =>
  rows.some((row) => row.kind === 'revision' && row.fixUps.length > 0);

/** No known range needs more: one fix-up for each of a few bugs. */
const maxFixUps = 4;
const maxForms = 4;

function rowsOfRevision(result: BisectResult, index: number, numbers: FormNumbers): BisectRow[] {
  const { revisions, answer, isShared } = result;
  const revision = revisions[index];
  if (revision === undefined) return [];
  const { subject, probability, forms } = revision;
  const end = index === 0 ? ' good' : index === revisions.length - 1 ? ' bad' : '';
  const shown: (BisectForm | undefined)[] = forms.length === 0 ? [undefined] : forms;
  return shown.slice(0, maxForms).map((form, nth) => ({
    kind: 'revision',
    index,
    place: nth === 0 ? unbroken(`${placesText(revision)}${end}`) : '',
    id: revisionId(revision),
    subject,
    isNamed: isNamed(answer, index),
    isFurther: nth > 0,
    fixUps: (form?.fixUps ?? []).slice(0, maxFixUps).map(shortId),
    cells: {
      boots: bootsText(form, isShared, numbers),
      ...(!isShared && { median: medianText(result, form) }),
      againstGood: index > 0 && form !== undefined ? changeOf(result, form, numbers) : '–',
      outcome: outcomeText(result, revision, form, nth === 0),
      p: nth > 0 || probability <= 0 ? '–' : unbroken(formatProbability(probability)),
    },
  }));
}

/** `12`, or `24–25` with later ones that have the same kernel or files. */
const placesText = ({ place, alike }: BisectRevision): string =>
  alike === 0 ? String(place) : `${place}–${place + alike}`;

/** `2` boots, or `2 (48)` trials and their runs. */
function bootsText(form: BisectForm | undefined, isShared: boolean, numbers: FormNumbers): string {
  const runs = form?.values.length ?? 0;
  if (form === undefined || runs === 0) return '–';
  return unbroken(isShared ? `${numbers(form).length} (${runs})` : String(runs));
}

const medianText = ({ metric }: BisectResult, form: BisectForm | undefined): string =>
  form !== undefined && isMeasured(form) ? unbroken(formatMetric(median(form.values), metric)) : '–';

function changeOf({ revisions }: BisectResult, form: BisectForm, numbers: FormNumbers): string {
  const ofGood = median([...(revisions[0]?.forms ?? []).flatMap(numbers)]);
  const ratio = median([...numbers(form)]) / ofGood;
  return Number.isFinite(ratio) && ratio > 0 ? unbroken(formatChange(ratio - 1)) : '–';
}

/** Linux testbeds install files; others boot kernels. */
export const variantNoun = ({ testbed: { kind }, isShared }: BisectResult): 'files' | 'kernel' =>
  (kind === undefined ? isShared : systemOfTestbedKind(kind) === 'linux') ? 'files' : 'kernel';

/** `measured`, `does not boot`, and the later commits with the same kernel or files, by name if bad is one. */
function outcomeText(
  result: BisectResult,
  revision: BisectRevision,
  form: BisectForm | undefined,
  isFirst: boolean,
): string {
  const own = ownOutcome(revision, form);
  const { alike } = revision;
  if (!isFirst || alike === 0) return own;
  const { badCommit, revisions } = result;
  const bad = badCommit !== undefined && revision === revisions.at(-1) ? revisionId(badCommit) : '';
  const named = bad === '' ? `the next ${alike === 1 ? 'one' : alike}` : `bad (${bad})`;
  const those = bad !== '' && alike > 1 ? `the next ${alike}, up to ${named},` : named;
  return `${own}; ${those} ${alike === 1 ? 'has' : 'have'} the same ${variantNoun(result)}`;
}

function ownOutcome(revision: BisectRevision, form: BisectForm | undefined): string {
  if (form?.fault !== undefined) return faultText(form.fault);
  if (form !== undefined) return form.values.length > 0 ? 'measured' : 'not measured';
  if (revision.isSkipped) return 'skipped';
  return revision.isAssumedFailed ? 'untried between failures' : 'untried';
}

/** `… 97 untried, 3 skipped; 12 more with the same kernel as the one before`. */
function foldedText(revisions: readonly BisectRevision[], noun: string): string {
  const groups = Map.groupBy(revisions, (revision) =>
    revision.forms.length > 0 ? 'tried' : ownOutcome(revision, undefined),
  );
  const counts = ['tried', 'untried', 'untried between failures', 'skipped'].flatMap((outcome) => {
    const count = groups.get(outcome)?.length ?? 0;
    return count > 0 ? `${count} ${outcome}` : [];
  });
  const alike = revisions.reduce((sum, revision) => sum + revision.alike, 0);
  const same = alike > 0 ? `; ${alike} more with the same ${noun} as the one before` : '';
  return `… ${counts.join(', ')}${same}`;
}

/** `25 commits after good, 24 with different files, 5 of these tried`; never counts good itself. */
export function rangeText(result: BisectResult): string {
  const { revisions } = result;
  const last = revisions.at(-1);
  const commits = (last?.place ?? 0) + (last?.alike ?? 0) - (revisions[0]?.place ?? 0);
  const { distinct, tried } = triedCounts(result);
  const after = `${counted(commits, searchedKind(result))} after good`;
  if (distinct >= commits) return `${after}, ${tried} tried`;
  const things = variantNoun(result) === 'files' ? 'different files' : 'different kernels';
  return `${after}, ${distinct} with ${things}, ${tried} of these tried`;
}

/** Counts commits after good, without later ones of the same kernel or files. */
export function triedCounts({ revisions }: BisectResult): { distinct: number; tried: number } {
  const after = revisions.slice(1);
  return {
    distinct: after.length,
    tried: after.filter(({ forms }) => forms.length > 0).length,
  };
}
