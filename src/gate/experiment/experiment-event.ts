// Defines the events by which an experiment reports its steps.
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
  | { kind: 'finished-before'; at: string }
  | { kind: 'warning'; text: string }
  | { kind: 'note'; text: string }
  | { kind: 'preparing'; text: string }
  | ({ kind: 'trial' } & NextTrial)
  | { kind: 'ended'; trial: PlannedTrial; entry: JournalEntry }
  /** Measurements are over, at least in this boot; profiles follow. */
  | ({ kind: 'profile' } & NextProfile)
  | { kind: 'decided'; cell: Cell; verdict: CellVerdict; counts: RunCounts };
