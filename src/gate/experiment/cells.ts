// Derives each cell's progress from the plan and the journal alone.

import { analysisSizes } from '../../analysis/stats/design.ts';
import { type CellRuns, isEnough, validPairs } from '../../analysis/stats/interim-result.ts';
import { limitsOf } from '../../analysis/stats/limited.ts';
import { runsApart } from '../../analysis/stats/outlier.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { Rejection } from '../../model/rejection.ts';
import type { EarlierGates, Run } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { isJudged } from '../../model/variant-name.ts';
import type { JournalEntry } from './journal.ts';
import type { Plan, PlannedCell } from './plan.ts';

/** A trial and its tries; `needed` until it is complete, or was tried often enough. */
export type TrialTries = { trial: PlannedTrial; tries: JournalEntry[]; needed: boolean };

export type CellProgress = CellRuns & {
  cell: Cell;
  earlierGates?: EarlierGates;
  trials: TrialTries[];
  /** Trials of base and patched that the next analysis, or the last one, still needs. */
  open: TrialTries[];
  nextPairs: number;
};

/** A variant that cannot be measured; excludes base and patched, which would end the experiment. */
type LeftOutVariant = { variant: string; rejection: Rejection };

export const leftOutIn = (entries: readonly JournalEntry[]): LeftOutVariant[] =>
  entries.flatMap((entry) =>
    entry.kind === 'rejected' && !isJudged(entry.variant) ? { variant: entry.variant, rejection: entry.rejection } : [],
  );

export function variantsLeft({ variants }: Plan, entries: readonly JournalEntry[]): Plan['variants'] {
  const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
  return variants.filter(({ variant }) => !out.has(variant));
}

export function cellsSoFar(plan: Pick<Plan, 'cells' | 'trials'>, entries: readonly JournalEntry[]): CellProgress[] {
  const byTrial = Map.groupBy(entries, numberOf);
  const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
  return plan.cells.map((planned) => {
    const own = plan.trials.filter((trial) => isSameCell(trial.cell, planned.cell));
    const triesAt = ({ number }: PlannedTrial) => byTrial.get(number) ?? [];
    const decided = limitsOf(own.flatMap(triesAt).flatMap(runsOf));
    const all = own.map((trial) => {
      const tries = triesAt(trial).map((entry) =>
        entry.kind === 'measured' ? { ...entry, runs: entry.runs.map(decided) } : entry,
      );
      return triesOf(without(out, trial), tries);
    });
    const entriesOf = (trials: readonly TrialTries[]) => trials.flatMap(({ tries }) => tries);
    return {
      ...planned,
      ...reached(planned, all.filter(isOfVerdict)),
      trials: all.filter(({ trial }) => trial.runs.length > 0),
      runs: entriesOf(all).flatMap(runsOf),
      failures: entriesOf(all.filter(isOfVerdict)).flatMap((entry) => (entry.kind === 'failed' ? entry.reason : [])),
    };
  });
}

const runsOf = (entry: JournalEntry): Run[] => (entry.kind === 'measured' ? entry.runs : []);

const without = (out: ReadonlySet<string>, trial: PlannedTrial): PlannedTrial => ({
  ...trial,
  runs: trial.runs.filter(({ variant }) => !out.has(variant)),
});

/** True for trials with base or patched: other variants do not decide the number of runs. */
export const isOfVerdict = ({ trial }: Pick<TrialTries, 'trial'>): boolean =>
  trial.runs.some(({ variant }) => isJudged(variant));

function triesOf(trial: PlannedTrial, tries: JournalEntry[]): TrialTries {
  const most = isOfVerdict({ trial }) ? maxTriesOf(tries) : 1;
  return { trial, tries, needed: tries.length < most && !tries.some(isWhole(trial)) };
}

/** Accepts a limit of sender or receiver after two tries. */
const maxTriesOf = (tries: readonly JournalEntry[]): number => (tries.length > 0 && tries.every(isLimited) ? 2 : 3);

export const isLimited = (entry: JournalEntry): boolean =>
  entry.kind === 'measured' &&
  entry.runs
    .filter(({ variant }) => isJudged(variant))
    .every(({ validity }) => validity.kind === 'invalid' && limits.has(validity.cause));

const limits: ReadonlySet<string> = new Set(['generator-limited', 'receiver-limited']);

const isSameCell = (a: Cell, b: Cell): boolean => cellName(a) === cellName(b);

function numberOf(entry: JournalEntry): number | undefined {
  if (entry.kind === 'measured') return entry.summary.number;
  return entry.kind === 'failed' ? entry.trial : undefined;
}

const isWhole =
  ({ runs }: PlannedTrial) =>
  (entry: JournalEntry): boolean => {
    if (entry.kind !== 'measured') return false;
    const pairs = pairsOf(runs);
    return pairs === 1
      ? // A single failure proves no fault.
        entry.runs.every((run) => run.validity.kind === 'valid' && run.pps > 0)
      : isEnough(validPairs(entry.runs).length, pairs);
  };

const pairsOf = (runs: PlannedTrial['runs']): number => new Set(runs.map(({ pair }) => pair)).size;

/**
 * Returns the last interim analysis that has all its trials, and the trials that the next one lacks. Repeats outliers
 * once.
 */
function reached({ design }: PlannedCell, trials: readonly TrialTries[]) {
  let closedPairs = 0;
  for (const size of analysisSizes(design)) {
    const inLook = trials.filter(({ trial }) => trial.runs.every((run) => run.pair <= size));
    // After too many lost runs for this analysis, measuring the others would be pointless.
    if (!isEnough(size - lostPairs(inLook), size)) {
      return { closedPairs: size, nextPairs: size, open: [] };
    }
    const missing = inLook.filter(({ needed }) => needed);
    const open = missing.length > 0 ? missing : interimApart(inLook);
    if (open.length > 0) return { closedPairs, nextPairs: size, open };
    closedPairs = size;
  }
  return { closedPairs, nextPairs: closedPairs, open: [] };
}

/** Counts lost pairs in trials of at most one pair, which is measured whole or not at all. */
function lostPairs(trials: readonly TrialTries[]): number {
  const lost = trials.filter(
    ({ trial, tries, needed }) => pairsOf(trial.runs) === 1 && !needed && !tries.some(isWhole(trial)),
  );
  return new Set(lost.flatMap(({ trial }) => trial.runs.map((run) => run.pair))).size;
}

/** Returns outlying single runs that were tried only once. */
function interimApart(trials: readonly TrialTries[]): TrialTries[] {
  const single = trials.flatMap((one) => {
    const runs = one.tries.flatMap(runsOf);
    const run = runs.find(({ validity }) => validity.kind === 'valid');
    return one.trial.runs.length === 1 && run !== undefined ? { one, run } : [];
  });
  const apart = new Set(runsApart(single.map(({ run }) => run)));
  return single.flatMap(({ one, run }) => (apart.has(run) && one.tries.length === 1 ? one : []));
}
