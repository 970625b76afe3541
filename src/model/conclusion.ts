// Defines the conclusion of a gate, or of any command, and its exit code.

import type { BisectResult } from './bisect-result.ts';
import type { CellVerdict, Outcome, Result } from './result.ts';

export const exitCodes = {
  pass: 0,
  patchAtFault: 1,
  usage: 2,
  undecided: 3,
  infrastructure: 4,
  cancelled: 130,
} as const;

export type Conclusion = keyof typeof exitCodes;

/** Every other outcome consists of its kind alone. */
type KnownOutcome = Outcome | { kind: Exclude<Outcome['kind'], 'judged'> };

export function conclusionOfResult({ outcome }: { outcome: KnownOutcome }): Conclusion {
  switch (outcome.kind) {
    case 'judged':
      return conclusionOfVerdict(outcome.verdict);
    case 'unchanged':
      return 'pass';
    case 'out-of-disk':
      return 'infrastructure';
    default:
      return 'patchAtFault';
  }
}

export function conclusionOfBisection({ answer }: { answer: Pick<BisectResult['answer'], 'kind'> }): Conclusion {
  switch (answer.kind) {
    case 'culprit':
    case 'group':
    case 'several':
      return 'pass';
    case 'not-reproduced':
    case 'slide':
    case 'inconclusive':
      return 'undecided';
  }
}

/** Returns the worst conclusion of several gates of one patch: the patch's own fault weighs most, a pass least. */
export const worstConclusion = (conclusions: readonly Conclusion[]): Conclusion =>
  byWeight.find((conclusion) => conclusions.includes(conclusion)) ?? 'pass';

const byWeight = ['patchAtFault', 'infrastructure', 'undecided'] as const;

export function conclusionOfVerdict(verdict: CellVerdict['kind']): Conclusion {
  switch (verdict) {
    case 'no-regression':
    case 'improvement':
      return 'pass';
    case 'regression':
      return 'patchAtFault';
    case 'inconclusive':
    case 'invalid':
      return 'undecided';
  }
}

/** Errors from outside the lab carry a property `conclusion`. */
export function conclusionOfError(error: unknown): Conclusion {
  if (!(error instanceof Error && 'conclusion' in error)) return 'infrastructure';
  const { conclusion } = error;
  return isConclusion(conclusion) ? conclusion : 'infrastructure';
}

const isConclusion = (value: unknown): value is Conclusion =>
  typeof value === 'string' && Object.hasOwn(exitCodes, value);

/** `regression`, `boot-failed`: the verdict, or the obstacle. */
export const outcomeName = ({ outcome }: Pick<Result, 'outcome'>): string =>
  outcome.kind === 'judged' ? outcome.verdict : outcome.kind;
