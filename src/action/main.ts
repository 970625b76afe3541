// The Action: from its inputs to the exit code of the command that they name.
import { runToExit } from '../system/exit.ts';
import { readInputs } from './inputs.ts';
import { log } from './log.ts';

/** Ends the process with the verdict's exit code; what kept it from a verdict becomes an annotation. */
export async function runAction(): Promise<void> {
  await runToExit(
    async (signal) => {
      const inputs = readInputs(process.env);
      const { runCommand } = await import('./run-command.ts');
      return runCommand(inputs, signal);
    },
    { notify: log.error },
  );
}
