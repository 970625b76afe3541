// Ends the program with an exit code for the caller and one sentence for people.
import { conclusionOfError, exitCodes } from '../model/conclusion.ts';

type Options = {
  debug?: boolean;
  notify?: (sentence: string) => void;
  /** The first signal ends the process immediately, even during a computation: there is nothing to clean up. */
  endsAtOnce?: boolean;
  /** Printed after the reason if `work` throws. */
  closingLines?: readonly string[];
};

/** The first Ctrl-C or SIGTERM aborts `work`'s signal, so that it can clean up. A second one ends the process. */
export async function runToExit(
  work: (signal: AbortSignal) => Promise<number>,
  { debug = false, endsAtOnce = false, notify = writeToStderr, closingLines = [] }: Options = {},
): Promise<void> {
  const cancel = new AbortController();
  const onSignal = () => {
    if (cancel.signal.aborted) process.exit(exitCodes.cancelled);
    process.stderr.write('\nppsgate: cancelled, cleaning up …\n');
    cancel.abort(new Error('cancelled'));
  };
  if (!endsAtOnce) process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    process.exitCode = await work(cancel.signal);
  } catch (error) {
    process.exitCode = cancel.signal.aborted ? exitCodes.cancelled : exitCodes[conclusionOfError(error)];
    if (!cancel.signal.aborted)
      notify(error instanceof Error ? (debug && error.stack) || error.message : String(error));
    for (const sentence of closingLines) notify(sentence);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

const writeToStderr = (sentence: string) => void process.stderr.write(`ppsgate: ${sentence}\n`);
