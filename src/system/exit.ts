// How the program ends: one number for whoever called it, one sentence for a person.
import { conclusionOfError, exitCodes } from '../model/conclusion.ts';

type Options = {
  debug?: boolean;
  notify?: (sentence: string) => void;
  /** What `work` leaves to be told where it throws, after the reason. */
  lastWords?: readonly string[];
};

/**
 * Does a command's work and ends the program as it went: `work` gets a signal that a first Ctrl-C or
 * SIGTERM aborts, so that it can clean up; a second one ends it at once.
 */
export async function runToExit(
  work: (signal: AbortSignal) => Promise<number>,
  { debug = false, notify = sayOnStderr, lastWords = [] }: Options = {},
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
    process.exitCode = cancel.signal.aborted
      ? exitCodes.cancelled
      : exitCodes[conclusionOfError(error)];
    if (!cancel.signal.aborted) notify(told(error, debug));
    for (const sentence of lastWords) notify(sentence);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

const sayOnStderr = (sentence: string) => void process.stderr.write(`ppsgate: ${sentence}\n`);

function told(error: unknown, debug: boolean): string {
  if (!(error instanceof Error)) return String(error);
  return debug ? (error.stack ?? error.message) : error.message;
}
