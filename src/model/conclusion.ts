// What the end of a gate, or of any command, means to whoever waits for it.
import type { BisectResult } from './bisect-result.ts';
import type { CellVerdict, Result } from './result.ts';

/** Each upshot as the number that a program ends with. */
export const exitCodes = {
  pass: 0,
  patchAtFault: 1,
  /** What was asked for cannot be done. */
  usage: 2,
  /** Nobody can say. */
  undecided: 3,
  /** The lab kept it from being said. */
  infrastructure: 4,
  cancelled: 130,
} as const;

export type Upshot = keyof typeof exitCodes;

export function upshotOfResult({ outcome }: Pick<Result, 'outcome'>): Upshot {
  switch (outcome.kind) {
    case 'judged':
      return upshotOfVerdict(outcome.verdict);
    case 'unchanged':
      return 'pass';
    case 'out-of-disk':
      return 'infrastructure';
    default:
      return 'patchAtFault';
  }
}

/** Whether a bisection tells of commits, one or a few, that changed the rate. */
export function upshotOfBisection({ answer }: Pick<BisectResult, 'answer'>): Upshot {
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

/** The worst of several gates of one patch: the patch's own fault weighs most, a pass least. */
export const worstUpshot = (upshots: readonly Upshot[]): Upshot =>
  byWeight.find((upshot) => upshots.includes(upshot)) ?? 'pass';

const byWeight = ['patchAtFault', 'infrastructure', 'undecided'] as const;

export function upshotOfVerdict(verdict: CellVerdict['kind']): Upshot {
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

/** An error that is not of the lab says so itself, by a property `upshot`. */
export function upshotOfError(error: unknown): Upshot {
  if (!(error instanceof Error && 'upshot' in error)) return 'infrastructure';
  const { upshot } = error;
  return isUpshot(upshot) ? upshot : 'infrastructure';
}

const isUpshot = (value: unknown): value is Upshot =>
  typeof value === 'string' && Object.hasOwn(exitCodes, value);
