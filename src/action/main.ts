// The Action: one of its commands, from the inputs to the exit code.
import { runToExit } from '../exit.ts';
import { openJob } from './job.ts';
import { log } from './log.ts';
import { runAdmit } from './run-admit.ts';
import { runGate } from './run-gate.ts';
import { runPublish } from './run-publish.ts';

/** Ends the process with the verdict's exit code; what kept it from a verdict becomes an annotation. */
export async function runAction(): Promise<void> {
  await runToExit(runCommand, { tell: log.error });
}

async function runCommand(signal: AbortSignal): Promise<number> {
  const context = await openJob();
  switch (context.inputs.command) {
    case 'admit':
      return runAdmit(context);
    case 'gate':
      return runGate(context, signal);
    case 'publish':
      return runPublish(context);
  }
}
