// Chooses the next boot by plan, journal and costs only, so that a resumed bisection decides the same.

import type { RevisionFault } from '../../model/bisect-result.ts';
import type { JournalEntry } from '../experiment/journal.ts';
import type { BisectPlan } from './bisect-plan.ts';
import { type BisectEvidence, evidenceOf } from './evidence.ts';
import {
  alsoInformative,
  nextBuilds,
  nextStep,
  probabilities,
  type SearchCosts,
  type SearchOutcome,
} from './search.ts';
import { isShared, maxTriesOf, positionsPerTrial } from './trials.ts';

export type NextBoot =
  | {
      kind: 'measure';
      /** Several only if they share a trial, together with both ends. */
      variants: string[];
      why: string;
    }
  | { kind: 'ended'; ending: SearchOutcome }
  /** Without a measurable good end there is nothing to compare with. */
  | { kind: 'good-failed'; fault: RevisionFault }
  /** The lab repeatedly yields no measurement of the variant. */
  | { kind: 'stuck'; variant: string; why: string };

export type BuildCosts = {
  runMinutes: number;
  buildMinutes: number;
  isReady(variant: string): boolean;
};

export const noCosts: BuildCosts = { runMinutes: 1, buildMinutes: 0, isReady: () => true };

export function nextOf(plan: BisectPlan, entries: readonly JournalEntry[], costs: BuildCosts): NextBoot {
  const evidence = evidenceOf(plan, entries);
  const { positions, problem } = evidence;
  const [good, bad] = [positions.at(0), positions.at(-1)];
  if (good === undefined || bad === undefined) throw new RangeError('A range has two ends.');
  if (good.finding.failure?.isSure) {
    return { kind: 'good-failed', fault: good.finding.failure.fault };
  }
  if (problem.boots < problem.mostBoots) {
    const again = tryAgain(plan, entries, evidence);
    if (again !== undefined) return again;
  }
  const step = nextStep(problem, costsOf(evidence, costs));
  if (step.kind === 'ended') return step;
  const anyway = [...new Set([0, problem.steps, step.position])];
  const beside = isShared(plan) ? alsoInformative(problem, anyway, positionsPerTrial - 1) : [];
  const variants = [step.position, ...beside].flatMap((position) => positions[position]?.form.variant ?? []);
  return measuring(plan, evidence, variants, step.why);
}

const costsOf = ({ positions }: BisectEvidence, { runMinutes, buildMinutes, isReady }: BuildCosts): SearchCosts => ({
  runMinutes,
  waitMinutes: (position) => (isReady(positions[position]?.form.variant ?? '') ? 0 : buildMinutes),
});

function measuring(
  plan: BisectPlan,
  { positions }: BisectEvidence,
  variants: readonly string[],
  why: string,
): NextBoot {
  const ends = [positions.at(0), positions.at(-1)].flatMap((end) => end?.form.variant ?? []);
  const together = isShared(plan) ? [...new Set([...ends, ...variants])] : [...variants];
  return { kind: 'measure', variants: together, why };
}

/**
 * Repeats at once a boot without a measurement, a build that failed once (it costs no boot), and a failed end. Also
 * tries the next form of a failed revision at once. The search decides on other repeats.
 */
function tryAgain(plan: BisectPlan, entries: readonly JournalEntry[], evidence: BisectEvidence): NextBoot | undefined {
  const { positions, problem } = evidence;
  const unfinished = positions.filter(({ finding, isNextForm }, index) => {
    if (problem.skipped.has(index)) return false;
    const isEnd = index === 0 || index === positions.length - 1;
    const { lost, failure } = finding;
    const isUnsure = failure?.isSure === false && (isEnd || failure.fault.kind === 'build-failed');
    return lost !== undefined || isUnsure || isNextForm;
  });
  const stuck = unfinished.find(({ finding }) => (finding.lost?.times ?? 0) >= maxTriesOf(plan));
  if (stuck !== undefined) {
    return { kind: 'stuck', variant: stuck.form.variant, why: stuck.finding.lost?.why ?? '' };
  }
  const [first] = unfinished;
  if (first === undefined) return undefined;
  const { variant } = first.form;
  const base = positions[0]?.form.variant ?? '';
  if (lacksControl(entries, variant, base)) {
    return measuring(plan, evidence, [base], 'check that base works');
  }
  const why = first.isNextForm ? 'try a possible fix' : 'try again';
  return measuring(plan, evidence, [variant], why);
}

export const hasEnded = (plan: BisectPlan, entries: readonly JournalEntry[]): boolean =>
  nextOf(plan, entries, noCosts).kind === 'ended';

/** True if a variant failed since the testbed was last opened, and base has not been measured there since. */
function lacksControl(entries: readonly JournalEntry[], variant: string, base: string): boolean {
  return entries.reduce((isLacking, entry) => {
    if (entry.kind === 'started') return false;
    if (entry.kind === 'measured') {
      return isLacking && !entry.runs.some((run) => run.variant === base);
    }
    if (entry.kind !== 'failed' || !entry.variants?.includes(variant)) return isLacking;
    return isLacking || entry.lacksControl === true;
  }, false);
}

const maxBuildsAhead = 3;
const maxKept = 4;

/** Orders the builds: the next to measure, possible successors, then ready ends and some near the likeliest change. */
export function wantedVariants(
  plan: BisectPlan,
  entries: readonly JournalEntry[],
  next: readonly string[],
  isReady: (variant: string) => boolean,
): string[] {
  const { positions, problem } = evidenceOf(plan, entries);
  const variantAt = (position: number) => positions[position]?.form.variant ?? '';
  const isBuilt = (position: number) => isReady(variantAt(position)) || next.includes(variantAt(position));
  const ahead = nextBuilds(problem, isBuilt, maxBuildsAhead).map(variantAt);
  const chances = probabilities(problem);
  const likeliest = chances.indexOf(Math.max(...chances));
  const there = positions.map((_, position) => position).filter((one) => isReady(variantAt(one)));
  const near = there
    .toSorted((a, b) => Math.abs(a - likeliest) - Math.abs(b - likeliest))
    .slice(0, maxKept)
    .map(variantAt);
  const ends = [0, positions.length - 1].map(variantAt);
  return [...new Set([...next, ...ends.filter((end) => !isReady(end)), ...ahead, ...ends, ...near])];
}
