// Collects the evidence on each commit of a range, and the remaining search problem, from plan and journal alone.
import { mean } from 'simple-statistics';
import { moderated, noNoise } from '../../analysis/stats/evidence.ts';
import { median } from '../../analysis/stats/summary.ts';
import type { RevisionFault } from '../../model/bisect-result.ts';
import { counted, formatPps } from '../../model/format.ts';
import { isCost } from '../../model/metric.ts';
import type { Rejection } from '../../model/rejection.ts';
import type { JournalEntry } from '../experiment/journal.ts';
import type { BisectPlan } from './bisect-plan.ts';
import type { CommitRange, RangeRevision, RevisionForm } from './range.ts';
import type { SearchProblem } from './search.ts';
import { isShared, readingsOf, type TrialReading } from './trials.ts';

/** Variant of the bad end without the culprit; not part of the range. */
export const revertedName = 'reverted';

export type VariantEvidence = {
  /** Levels of its boots or shared trials, see `Reading`. */
  levels: readonly number[];
  /** The same boots, run by run, in the metric's unit; for a silent variant, the few packets that it did forward. */
  values: readonly number[];
  /** `isSure`: failed twice, or after the testbed's two tries. */
  failure?: { fault: RevisionFault; isSure: boolean };
  /** Consecutive tries without a result since the testbed was opened. */
  lost?: { times: number; why: string };
};

/** Neighbours in the range that have the same kernel, measured as one. */
export type RangePosition = {
  first: number;
  last: number;
  /** Form to measure now; if none can be measured, the last one tried. */
  form: RevisionForm;
  hasOther: boolean;
  /** Another form failed, and this one is untried. */
  isNextForm: boolean;
  finding: VariantEvidence;
};

export type BisectEvidence = {
  positions: readonly RangePosition[];
  findings: ReadonlyMap<string, VariantEvidence>;
  problem: SearchProblem;
};

export function evidenceOf(plan: BisectPlan, entries: readonly JournalEntry[]): BisectEvidence {
  const tries = triesOf(plan, entries);
  const findings = findingsOf(plan, tries);
  const positions = positionsOf(plan.range, findings);
  return { positions, findings, problem: problemOf(plan, positions, entries) };
}

const unknown: VariantEvidence = { levels: [], values: [] };

/** Sorted by time. A shared trial counts for each variant. */
type VariantAttempt = (TrialReading | { kind: 'rejected'; rejection: Rejection }) & {
  isRecent: boolean;
};

type AttemptsByVariant = ReadonlyMap<string, readonly VariantAttempt[]>;

function triesOf(plan: BisectPlan, entries: readonly JournalEntry[]): AttemptsByVariant {
  const started = entries.findLastIndex(({ kind }) => kind === 'started');
  const all = new Map<string, VariantAttempt[]>();
  const add = (variant: string, one: VariantAttempt) => all.set(variant, [...(all.get(variant) ?? []), one]);
  for (const [index, entry] of entries.entries()) {
    const isRecent = index > started;
    if (entry.kind === 'measured') {
      for (const [name, reading] of readingsOf(plan, entry.runs)) add(name, { ...reading, isRecent });
    } else if (entry.kind === 'failed') {
      for (const name of entry.variants ?? []) add(name, { kind: 'lost', why: entry.reason, isRecent });
    } else if (entry.kind === 'rejected') {
      add(entry.variant, { kind: 'rejected', rejection: entry.rejection, isRecent });
    }
  }
  return all;
}

/**
 * A variant forwards nothing if it forwards less than a tenth of the slower end: a different bug. If the bad end itself
 * forwards nothing in any form, silence is the level to find. It then counts as a thousandth of the good end, as zero
 * has no logarithm.
 */
function findingsOf({ range, metric }: BisectPlan, tries: AttemptsByVariant): Map<string, VariantEvidence> {
  const triesAt = ({ variant }: RevisionForm) => tries.get(variant) ?? [];
  const asEnd = (form: RevisionForm) => findingOf(triesAt(form), (pps) => pps === 0);
  const [good = [], bad = []] = [range.revisions.at(0)?.forms, range.revisions.at(-1)?.forms];
  const goodForm = good.find((form) => asEnd(form).levels.length > 0);
  const isLookedFor =
    goodForm !== undefined &&
    bad.every((form) => asEnd(form).failure?.isSure) &&
    bad.some((form) => asEnd(form).failure?.fault.kind === 'forwards-nothing');
  if (isLookedFor) {
    const away = isCost(metric) ? Math.log(1000) : -Math.log(1000);
    const silence = mean([...asEnd(goodForm).levels]) + away;
    return new Map([...tries].map(([name, own]) => [name, findingOf(own, () => false, silence)]));
  }
  const ends = [...good, ...bad];
  const medians = ends.map((end) => median(ratesOf(triesAt(end)))).filter((pps) => pps > 0);
  const minPps = Math.min(...medians) / 10;
  const names = new Set(ends.map(({ variant }) => variant));
  return new Map(
    [...tries].map(([name, own]) => {
      const isSilent = (pps: number) => pps === 0 || (!names.has(name) && pps < minPps);
      return [name, findingOf(own, isSilent)];
    }),
  );
}

const ratesOf = (tries: readonly VariantAttempt[]): number[] =>
  tries.flatMap((one) => (one.kind === 'measured' && one.pps > 0 ? one.pps : []));

/** @param silence level of a silent variant; absent: silence is a fault without a level. */
function findingOf(
  tries: readonly VariantAttempt[],
  isSilent: (pps: number) => boolean,
  silence?: number,
): VariantEvidence {
  const attempts = tries.filter(({ kind }) => kind !== 'lost');
  const measured = attempts.flatMap((one) => (one.kind === 'measured' ? one : []));
  const loud = measured.filter(({ pps }) => !isSilent(pps));
  const levels = loud.flatMap(({ level = silence }) => level ?? []);
  const failure = levels.length > 0 ? undefined : failureOf(attempts);
  const values = (levels.length > 0 ? loud : measured).flatMap((one) => one.values);
  const lost = lostAfter(tries);
  return { levels, values, ...(failure && { failure }), ...(lost && { lost }) };
}

function failureOf(attempts: readonly VariantAttempt[]): VariantEvidence['failure'] {
  const last = attempts.at(-1);
  if (last?.kind === 'rejected') {
    const { rejection } = last;
    const times = attempts.filter((one) => isRejectedFor('build-failed', one)).length;
    return { fault: rejection, isSure: rejection.kind !== 'build-failed' || times >= 2 };
  }
  if (last?.kind !== 'measured') return undefined;
  const times = attempts.filter(({ kind }) => kind === 'measured').length;
  const message = `${formatPps(last.pps)} was forwarded${times >= 2 ? `, as in ${counted(times - 1, 'more boot')}` : ''}.`;
  return { fault: { kind: 'forwards-nothing', message }, isSure: times >= 2 };
}

const isRejectedFor = (kind: Rejection['kind'], one: VariantAttempt): boolean =>
  one.kind === 'rejected' && one.rejection.kind === kind;

function lostAfter(tries: readonly VariantAttempt[]): VariantEvidence['lost'] {
  const last = tries.at(-1);
  if (last?.kind !== 'lost') return undefined;
  const before = tries.findLastIndex(({ kind }) => kind !== 'lost');
  const times = tries.slice(before + 1).filter(({ isRecent }) => isRecent).length;
  return { times, why: last.why };
}

/**
 * Picks the form to measure of each revision: the first that has not failed or, if all have, the first with an unsure
 * failure. If fix-ups helped a revision that could not be measured without them, uses them at once for the rest of its
 * stretch.
 */
function positionsOf({ revisions }: CommitRange, findings: ReadonlyMap<string, VariantEvidence>): RangePosition[] {
  const findingAt = ({ variant }: RevisionForm): VariantEvidence => findings.get(variant) ?? unknown;
  const stretches = stretchesOf(revisions, findingAt);
  const positions: RangePosition[] = [];
  for (const [index, { forms }] of revisions.entries()) {
    const helped = stretches.flatMap(({ after, end, fixUps }) => (index > after && index < end ? fixUps : []));
    const isHelp = (form: RevisionForm) => helped.includes(nameOfFixUps(form));
    const isOwnKernelFine = forms.some((form) => isPlain(form) && works(findingAt(form)));
    const inOrder = isOwnKernelFine ? forms : [...forms.filter(isHelp), ...forms.filter((form) => !isHelp(form))];
    const unfailed = inOrder.filter((form) => findingAt(form).failure === undefined);
    const unsure = inOrder.filter((form) => findingAt(form).failure?.isSure === false);
    const left = [...unfailed, ...unsure];
    const form = left[0] ?? inOrder.at(-1);
    if (form === undefined) continue;
    const before = positions.at(-1);
    if (before?.form.variant === form.variant) before.last = index;
    else {
      const isNextForm = unfailed.length < forms.length && !findings.has(form.variant);
      const own = { form, hasOther: left.length > 1, isNextForm, finding: findingAt(form) };
      positions.push({ first: index, last: index, ...own });
    }
  }
  return positions;
}

/** Revisions between `after` and `end` probably need the fix-ups of the form `fixUps`. */
type FixUpStretch = { after: number; end: number; fixUps: string };

function stretchesOf(
  revisions: readonly RangeRevision[],
  findingAt: (form: RevisionForm) => VariantEvidence,
): FixUpStretch[] {
  const isFineAlone = ({ forms }: RangeRevision) => forms.some((form) => isPlain(form) && works(findingAt(form)));
  return revisions.flatMap(({ forms }, index) => {
    const isNeeded = forms.some((form) => isPlain(form) && findingAt(form).failure !== undefined);
    if (!isNeeded) return [];
    return forms.flatMap((form) => {
      if (isPlain(form) || !works(findingAt(form))) return [];
      const fixUps = nameOfFixUps(form);
      const lacks = (later: RangeRevision) => !later.forms.some((one) => nameOfFixUps(one) === fixUps);
      const end = revisions.findIndex((later, at) => at > index && lacks(later));
      return {
        after: revisions.findLastIndex((earlier, at) => at < index && isFineAlone(earlier)),
        end: end === -1 ? revisions.length : end,
        fixUps,
      };
    });
  });
}

const works = ({ levels }: VariantEvidence): boolean => levels.length > 0;

const isPlain = ({ fixUps }: RevisionForm): boolean => fixUps.length === 0;

const nameOfFixUps = ({ fixUps }: RevisionForm): string => fixUps.join(' ');

function problemOf(
  plan: BisectPlan,
  positions: readonly RangePosition[],
  entries: readonly JournalEntry[],
): SearchProblem {
  const { range, history, mostBoots } = plan;
  const at = <T>(notify: (position: RangePosition) => T | undefined): Map<number, T> =>
    new Map(
      positions.flatMap((position, index) => {
        const attempts = notify(position);
        return attempts === undefined ? [] : [[index, attempts] as const];
      }),
    );
  const isSkipped = ({ first, last }: RangePosition) =>
    range.revisions.slice(first, last + 1).every((revision) => revision.isSkipped);
  return {
    steps: positions.length - 1,
    measured: at(({ finding }) => (works(finding) ? finding.levels : undefined)),
    failed: at(({ finding: { failure } }) => failure && { kind: failure.fault.kind, isSure: failure.isSure }),
    skipped: new Set(at((position) => (isSkipped(position) ? true : undefined)).keys()),
    // Levels of shared trials are relative to their own ends, and less noisy than earlier runs.
    history: isShared(plan) ? noNoise : moderated(history),
    mostBoots,
    boots: bootsOf(entries),
  };
}

/** Boots, or trials shared by variants, including those without a result. */
export const bootsOf = (entries: readonly JournalEntry[]): number => entries.filter(isBoot).length;

function isBoot(entry: JournalEntry): boolean {
  if (entry.kind === 'rejected') return bootedFor.has(entry.rejection.kind);
  return entry.kind === 'measured' || entry.kind === 'failed';
}

const bootedFor: ReadonlySet<Rejection['kind']> = new Set(['boot-failed', 'panics-under-load']);
