// Finds the next trial from the plan and the journal alone, so that a resumed experiment does the same.
import { type InterimResult, interimResults, type RunCounts, runCounts } from '../../analysis/stats/interim-result.ts';
import { cellVerdict } from '../../analysis/stats/verdict.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { CellVerdict } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import { type CellProgress, cellsSoFar, isLimited, isOfVerdict, type TrialTries } from './cells.ts';
import type { JournalEntry } from './journal.ts';
import type { Plan } from './plan.ts';

type DecidedCell = { cell: Cell; verdict: CellVerdict; counts: RunCounts };

type PlannedRuns = Pick<Plan, 'cells' | 'trials' | 'policy'>;

export type NextTrial = {
  trial: PlannedTrial;
  attempt: number;
  done: number;
  of: number;
  /** Reason why the previous attempt does not count. */
  why?: string;
};

/**
 * Serves undecided cells, then other variants of decided ones. Repeats an invalid run at once while its variant is
 * booted, and other failed trials last.
 */
export function nextTrial(plan: PlannedRuns, entries: readonly JournalEntry[]): NextTrial | undefined {
  const cells = interimResults(cellsSoFar(plan, entries), plan.policy);
  const open = cells
    .flatMap(openTrials)
    .toSorted((a, b) => a.tries.length - b.tries.length || a.trial.number - b.trial.number);
  const next = open.find((one) => isStillBooted(one, entries.at(-1))) ?? open[0];
  if (next === undefined) return undefined;
  const { trial, tries } = next;
  return { trial, attempt: tries.length + 1, ...trialCount(cells), ...whyAgain(tries) };
}

/**
 * Another boot costs more than a trial, but this boot may have caused a second invalid run. A boot has no effect on a
 * limit of sender or receiver.
 */
const isStillBooted = ({ trial, tries }: TrialTries, last: JournalEntry | undefined): boolean =>
  last?.kind === 'measured' &&
  last.summary.number === trial.number &&
  trial.runs.length === 1 &&
  tries.length === 1 &&
  !isLimited(last) &&
  last.runs.some(({ validity }) => validity.kind === 'invalid');

function whyAgain(tries: readonly JournalEntry[]): Pick<NextTrial, 'why'> {
  const last = tries.at(-1);
  if (last?.kind === 'failed') return { why: last.reason };
  if (last?.kind !== 'measured') return {};
  const faults = last.runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity.reason : []));
  const [fault] = faults;
  const silent = last.runs.find(({ pps }) => pps === 0);
  if (fault === undefined) {
    return {
      why: silent ? `${silent.variant} forwarded nothing` : 'it was an outlier',
    };
  }
  return { why: `${faults.length} of ${last.runs.length} runs do not count: ${fault}` };
}

/** Undefined while work remains. */
export function finishedAt(plan: Plan, entries: readonly JournalEntry[]): string | undefined {
  const last = entries.at(-1);
  const isFinished = last?.kind === 'finished' && nextTrial(plan, entries) === undefined;
  return isFinished ? last.at : undefined;
}

/** Other variants are measured in as many pairs as patched, and no more. */
function openTrials({ input, judgement, closed, stopped }: InterimResult<CellProgress>): TrialTries[] {
  if (stopped) return [];
  const pairs = closed ? (judgement?.analysis.pairs ?? 0) : input.nextPairs;
  const beside = input.trials.filter(
    (one) => one.needed && !isOfVerdict(one) && one.trial.runs.every((run) => run.pair <= pairs),
  );
  return closed ? beside : [...input.open, ...beside];
}

export function decidedCells(plan: PlannedRuns, entries: readonly JournalEntry[]): DecidedCell[] {
  const closed = interimResults(cellsSoFar(plan, entries), plan.policy).filter(
    (one) => one.closed && openTrials(one).length === 0,
  );
  return closed.map((interim) => ({
    cell: interim.input.cell,
    verdict: cellVerdict(interim, plan.policy),
    counts: runCounts(
      { ...interim.input, pairs: interim.judgement?.analysis.pairs ?? interim.input.closedPairs },
      plan.policy.metric,
    ),
  }));
}

function trialCount(cells: readonly InterimResult<CellProgress>[]): { done: number; of: number } {
  const trials = cells.flatMap((cell) => {
    const due = new Set(openTrials(cell));
    const open = new Set([...cell.input.open, ...due]);
    return cell.input.trials.map((one) => {
      const isDone = !open.has(one) && one.tries.some(({ kind }) => kind === 'measured');
      const mayCome = cell.closed ? due.has(one) : isOfVerdict(one) || one.needed;
      return { isDone, isAhead: mayCome && !isDone };
    });
  });
  const done = trials.filter(({ isDone }) => isDone).length;
  return { done, of: done + trials.filter(({ isAhead }) => isAhead).length };
}
