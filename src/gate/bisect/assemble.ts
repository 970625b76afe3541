// Assembles the result of a bisection from its plan and journal. Deterministic.
import { mean } from 'simple-statistics';
import packageJson from '../../../package.json' with { type: 'json' };
import { boundsOf, type Measurement, pooledEvidence } from '../../analysis/stats/evidence.ts';
import { changeOf as asRatio } from '../../analysis/stats/summary.ts';
import {
  type BisectAnswer,
  type BisectChange,
  type BisectResult,
  type BisectRevision,
  bisectConfidenceRatio,
  type LocatedChange,
} from '../../model/bisect-result.ts';
import { offeredTraffic } from '../../model/traffic.ts';
import type { JournalEntry } from '../experiment/journal.ts';
import { profileOf } from '../experiment/profiles.ts';
import type { BisectPlan } from './bisect-plan.ts';
import {
  type BisectEvidence,
  bootsOf,
  evidenceOf,
  type RangePosition,
  revertedName,
  type VariantEvidence,
} from './evidence.ts';
import { nextOf, noCosts } from './next-boot.ts';
import type { RangeRevision, RevisionForm } from './range.ts';
import { type ChangeRange, probabilities, type SearchOutcome, takenForFailed } from './search.ts';
import { isShared } from './trials.ts';

/** Throws a RangeError for an unfinished bisection. */
export function assembleBisection(plan: BisectPlan, journal: readonly JournalEntry[]): BisectResult {
  const evidence = evidenceOf(plan, journal);
  const started = journal.findLast((entry) => entry.kind === 'started');
  const warned = journal.flatMap((entry) => (entry.kind === 'warned' ? entry.text : []));
  const answer = answerOf(plan, journal);
  const revert = revertOf(plan, answer, evidence);
  return {
    schemaVersion: 1,
    kind: 'bisect',
    generator: { name: 'ppsgate', version: packageJson.version },
    good: plan.good,
    bad: plan.bad,
    ...(plan.range.badCommit !== undefined && { badCommit: plan.range.badCommit }),
    fixUps: plan.fixUps,
    testbed: {
      name: plan.testbed,
      ...(plan.kind !== undefined && { kind: plan.kind }),
      fingerprint: started?.fingerprint ?? {},
      warnings: [...new Set([...plan.range.notes, ...(started?.warnings ?? []), ...warned])],
    },
    cell: plan.cell,
    metric: plan.metric,
    traffic: { ...offeredTraffic(plan.traffic), measureSeconds: plan.traffic.measureSeconds },
    ...(plan.history !== undefined && { history: plan.history }),
    isShared: isShared(plan),
    seed: plan.seed,
    startedAt: journal.at(0)?.at ?? epoch,
    finishedAt: journal.at(-1)?.at ?? epoch,
    revisions: revisionsOf(plan, evidence),
    answer,
    boots: bootsOf(journal),
    ...(revert !== undefined && { revert }),
    profiles: profilesOf(plan, journal, answer, evidence),
    runs: journal.flatMap((entry) => (entry.kind === 'measured' ? entry.runs : [])),
    trials: journal.flatMap((entry) => (entry.kind === 'measured' ? entry.summary : [])),
  };
}

const epoch = new Date(0).toISOString();

function revisionsOf({ range }: BisectPlan, evidence: BisectEvidence): BisectRevision[] {
  const { positions, findings, problem } = evidence;
  const chances = probabilities(problem);
  const chanceAt = new Map(positions.map(({ first }, index) => [first, chances[index] ?? 0]));
  const taken = new Set(
    takenForFailed(problem).flatMap((index) => {
      const { first = 0, last = -1 } = positions[index] ?? {};
      return range.revisions.slice(first, last + 1);
    }),
  );
  const allUpdates = allUpdatesOf(range.revisions);
  return range.revisions.map((revision, index) => {
    const { forms, ...about } = revision;
    const tried = forms.flatMap(({ variant, fixUps }) => {
      const finding = findings.get(variant);
      if (finding === undefined || allUpdates.get(variant) !== index) return [];
      const { values, failure } = finding;
      return { variant, fixUps, values: [...values], ...(failure && { fault: failure.fault }) };
    });
    return {
      ...about,
      isAssumedFailed: taken.has(revision),
      probability: chanceAt.get(index) ?? 0,
      forms: tried,
    };
  });
}

/** Maps each variant to the revision that reports it: the first without a fix-up, as several may share a kernel. */
function allUpdatesOf(revisions: readonly RangeRevision[]): Map<string, number> {
  const allUpdates = new Map<string, number>();
  const notify = (forms: readonly RevisionForm[], index: number) => {
    for (const { variant } of forms) if (!allUpdates.has(variant)) allUpdates.set(variant, index);
  };
  for (const [index, { forms }] of revisions.entries()) notify(forms.slice(0, 1), index);
  for (const [index, { forms }] of revisions.entries()) notify(forms, index);
  return allUpdates;
}

/** Throws a RangeError for an unfinished bisection. */
export function answerOf(plan: BisectPlan, journal: readonly JournalEntry[]): BisectAnswer {
  const evidence = evidenceOf(plan, journal);
  const next = nextOf(plan, journal, noCosts);
  if (next.kind !== 'ended') throw new RangeError('The bisection has not ended.');
  const { ending } = next;
  const { positions } = evidence;
  const last = positions.length - 1;
  const whole = () => changeBetween(evidence, [0, 0], [last, last]);
  const firstOf = (position: number) => positions[position]?.first ?? 0;
  switch (ending.kind) {
    case 'found':
      return foundOf(plan, evidence, ending, [0, last]);
    case 'several': {
      const found = ending.found.map((one) => foundOf(plan, evidence, one, surroundingsOf(one, ending, last)));
      const open = ending.open.map(({ after, last }) => ({
        after: positions[after]?.last ?? 0,
        last: firstOf(last),
      }));
      return { kind: 'several', found, open };
    }
    case 'slide': {
      const steps = ending.at.filter((position) => position > 0).map(firstOf);
      return { kind: 'slide', change: whole() ?? noChange, steps };
    }
    case 'inconclusive': {
      const { bootsExpected } = ending;
      const best = ending.best.map((one) => ({
        revision: firstOf(one.last),
        probability: one.probability,
      }));
      return { kind: 'inconclusive', change: whole() ?? noChange, best, bootsExpected };
    }
    case 'not-reproduced': {
      const end = positions.at(-1);
      const failure = end?.finding.failure;
      if (end !== undefined && failure?.isSure) {
        return { kind: 'not-reproduced', fault: { revision: end.last, fault: failure.fault } };
      }
      const change = whole();
      return { kind: 'not-reproduced', ...(change && { change }) };
    }
  }
}

/** Change between ends that do not measurably differ; only for `not-reproduced`. */
const noChange: BisectChange = { change: 0, low: 0, high: 0, before: 0, after: 0 };

type PositionRange = readonly [first: number, last: number];

/** Finds positions around a change with the same rate on each side, up to the next changes and open stretches. */
function surroundingsOf(
  { after, last }: ChangeRange,
  { found, open }: Extract<SearchOutcome, { kind: 'several' }>,
  steps: number,
): PositionRange {
  const others = [...found, ...open];
  const before = others.filter((other) => other.last <= after).map((other) => other.last);
  const behind = others.filter((other) => other.after >= last).map((other) => other.after);
  return [Math.max(0, ...before), Math.min(steps, ...behind)];
}

function foundOf(
  plan: BisectPlan,
  evidence: BisectEvidence,
  { after, last, probability }: ChangeRange,
  [from, to]: PositionRange,
): LocatedChange {
  const { positions } = evidence;
  const change = changeBetween(evidence, [from, after], [last, to]) ?? noChange;
  const [before, culprit] = [positions[after], positions[last]];
  const revision = culprit?.first ?? 0;
  if (last - after === 1) {
    const measuredWith = culprit?.form.fixUps ?? [];
    return { kind: 'culprit', revision, probability, change, measuredWith };
  }
  // The first working kernel after failing ones may be their fix.
  const hasFailed = positions[last - 1]?.finding.failure !== undefined;
  const likelyFix = hasFailed ? plan.range.revisions[revision]?.commit : undefined;
  return {
    kind: 'group',
    after: before?.last ?? 0,
    last: revision,
    probability,
    change,
    ...(likelyFix !== undefined && { likelyFix }),
  };
}

const level = (1 - bisectConfidenceRatio) / 2;

/** Compares all measurements of two stretches of positions; undefined if there are too few. */
function changeBetween(
  { positions, problem }: BisectEvidence,
  before: PositionRange,
  after: PositionRange,
): BisectChange | undefined {
  const findingsIn = ([first, last]: PositionRange): VariantEvidence[] =>
    positions.slice(first, last + 1).map(({ finding }) => finding);
  const unit = unitOf(positions[0]);
  return changeOf(findingsIn(before), findingsIn(after), problem.history, unit);
}

function changeOf(
  before: readonly VariantEvidence[],
  after: readonly VariantEvidence[],
  history: BisectEvidence['problem']['history'],
  unit: number,
): BisectChange | undefined {
  const levelsOf = (findings: readonly VariantEvidence[]) => findings.flatMap(({ levels }) => levels);
  const [left, right] = [levelsOf(before), levelsOf(after)];
  const known = left.length + right.length - 2 + history.degreesOfFreedom;
  if (left.length === 0 || right.length === 0 || known < 1) return undefined;
  const [whole, half] = [left, right].map((levels) => unit * Math.exp(mean(levels)));
  const rates = { before: whole ?? 0, after: half ?? 0 };
  // A rate of 0 has a placeholder, which is not reported.
  if (after.every(({ values }) => values.every((value) => value === 0))) {
    return { change: -1, low: -1, high: -1, before: rates.before, after: 0 };
  }
  const evidence = pooledEvidence(left.map(asMeasurement), right.map(asMeasurement), history);
  const { low, high } = boundsOf(evidence, level);
  return {
    change: asRatio(evidence.effect),
    low: asRatio(low),
    high: asRatio(high),
    ...rates,
  };
}

const asMeasurement = (level: number): Measurement => ({ value: Math.exp(level) });

/** The metric's value at level 0; 1 if levels are relative to the same trial instead of absolute. */
function unitOf(good: RangePosition | undefined): number {
  if (good === undefined || good.finding.values.length === 0) return 1;
  const { values, levels } = good.finding;
  return Math.exp(mean(values.map(Math.log)) - mean([...levels]));
}

function revertOf(
  { isVerified }: BisectPlan,
  answer: BisectAnswer,
  { findings, positions, problem }: BisectEvidence,
): BisectResult['revert'] {
  const reverted = findings.get(revertedName);
  const bad = positions.at(-1);
  if (!isVerified || answer.kind !== 'culprit' || !reverted || !bad) return undefined;
  const { failure, values } = reverted;
  if (failure !== undefined) return { kind: 'impossible', why: failure.fault.message };
  const change = changeOf([bad.finding], [reverted], problem.history, unitOf(positions[0]));
  return change && { kind: 'measured', values: [...values], change };
}

/** Variants of the culprit's parent and of the culprit; empty for any other conclusion. */
export function variantsToProfile(
  answer: BisectAnswer,
  { positions }: Pick<BisectEvidence, 'positions'>,
): { base: string; patched: string } | undefined {
  if (answer.kind !== 'culprit') return undefined;
  const at = positions.findIndex(({ first }) => first === answer.revision);
  const [base, patched] = [positions[at - 1]?.form.variant, positions[at]?.form.variant];
  return base === undefined || patched === undefined ? undefined : { base, patched };
}

function profilesOf(
  { profile, cell }: BisectPlan,
  journal: readonly JournalEntry[],
  answer: BisectAnswer,
  evidence: BisectEvidence,
): BisectResult['profiles'] {
  const variants = variantsToProfile(answer, evidence);
  if (profile === undefined || variants === undefined) return [];
  return Object.entries(variants).map(([name, variant]) => ({
    ...profileOf(journal, cell, variant),
    variant: name,
  }));
}
