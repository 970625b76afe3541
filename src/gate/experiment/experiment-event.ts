// Reports the steps of an experiment to its observer.
import type { RunCounts } from '../../analysis/stats/interim-result.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { CellVerdict } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import type { JournalEntry } from './journal.ts';
import type { NextTrial } from './next-trial.ts';
import type { Plan } from './plan.ts';
import type { NextProfile } from './profiles.ts';

export type ExperimentEvent =
  | { kind: 'planned'; plan: Plan }
  /** There is nothing to do any more. */
  | { kind: 'finished-before'; at: string }
  | { kind: 'warning'; text: string }
  /** An outcome, in a sentence. */
  | { kind: 'note'; text: string }
  /** Work before the next trial. */
  | { kind: 'preparing'; text: string }
  | ({ kind: 'trial' } & NextTrial)
  | { kind: 'ended'; trial: PlannedTrial; entry: JournalEntry }
  /** Nothing is measured any more, or not in this boot, and it is asked where the time went. */
  | ({ kind: 'profile' } & NextProfile)
  /** The cell gets no more runs. */
  | { kind: 'decided'; cell: Cell; verdict: CellVerdict; counts: RunCounts };
