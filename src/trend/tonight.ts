// What earlier nights say of the one that is being measured.
import type { BisectResult } from '../words/bisect.ts';
import type { Result } from '../words/result.ts';
import type { Cell } from '../words/scenario.ts';
import type { Change } from '../words/trend.ts';

/** What is measured within one night, in the order in which that is done. */
export type Session =
  /** The commit against itself, and that once more. */
  | { occasion: 'night' | 'again'; result: Result }
  /** The last good commit of a change against its first bad one. */
  | { occasion: 'confirmation'; result: Result }
  | { occasion: 'bisection'; result: BisectResult };

export type Tonight = {
  /** The cells of the commit against itself that are off the level of the nights before. */
  cellsOff(night: Result): Cell[];
  /** Changes that a gate should look at, by all that was measured tonight. */
  wantedGates(sessions: readonly Session[]): Change[];
  /** Those that should be bisected, if they are of several commits. */
  wantedBisections(sessions: readonly Session[]): Change[];
};
