// How the program ends: one number for whoever called it, one sentence for a person.
import type { CellVerdict, Result } from './words/result.ts';

export const exitCodes = {
  pass: 0,
  patchAtFault: 1,
  usage: 2,
  undecided: 3,
  infrastructure: 4,
  cancelled: 130,
} as const;

/** 0 where the patch passes, 1 where it is at fault, 3 where nobody can say, 4 where the lab kept it from being said. */
export function exitCodeOfResult({ outcome }: Pick<Result, 'outcome'>): number {
  if (outcome.kind === 'judged') return exitCodeOfVerdict(outcome.verdict);
  return outcome.kind === 'out-of-disk' ? exitCodes.infrastructure : exitCodes.patchAtFault;
}

/** Of several gates of one patch: the patch's own fault weighs most, a pass least. */
export const worstExitCode = (codes: readonly number[]): number =>
  byWeight.find((code) => codes.includes(code)) ?? exitCodes.pass;

const byWeight = [exitCodes.patchAtFault, exitCodes.infrastructure, exitCodes.undecided];

export function exitCodeOfVerdict(verdict: CellVerdict['kind']): number {
  switch (verdict) {
    case 'no-regression':
    case 'improvement':
      return exitCodes.pass;
    case 'regression':
      return exitCodes.patchAtFault;
    case 'inconclusive':
    case 'invalid':
      return exitCodes.undecided;
  }
}

// By their names, so that starting up does not load the modules that throw them.
const usageErrors = new Set([
  'ConfigError',
  'UsageError',
  'PlanError',
  'RepositoryError',
  'ResultError',
  'JournalError',
  'HistoryError',
  'BenchesError',
  'DataDirectoryError',
  'RevisionError',
  'ProfileError',
]);

export function exitCodeOfError(error: unknown): number {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PatchError') return exitCodes.patchAtFault;
  return usageErrors.has(name) ? exitCodes.usage : exitCodes.infrastructure;
}

/**
 * Does a command's work and ends the program as it went: `work` gets a signal that a first Ctrl-C or
 * SIGTERM aborts, so that it can clean up; a second one ends it at once.
 */
export async function runToExit(
  work: (signal: AbortSignal) => Promise<number>,
  {
    debug = false,
    tell = sayOnStderr,
  }: { debug?: boolean; tell?: (sentence: string) => void } = {},
): Promise<void> {
  const cancel = new AbortController();
  const onSignal = () => {
    if (cancel.signal.aborted) process.exit(exitCodes.cancelled);
    process.stderr.write('\nppsgate: cancelled, cleaning up …\n');
    cancel.abort(new Error('cancelled'));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    process.exitCode = await work(cancel.signal);
  } catch (error) {
    process.exitCode = cancel.signal.aborted ? exitCodes.cancelled : exitCodeOfError(error);
    if (!cancel.signal.aborted) tell(told(error, debug));
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

const sayOnStderr = (sentence: string) => void process.stderr.write(`ppsgate: ${sentence}\n`);

function told(error: unknown, debug: boolean): string {
  if (!(error instanceof Error)) return String(error);
  return debug ? (error.stack ?? error.message) : error.message;
}
