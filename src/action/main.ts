// Runs the Action: from its inputs to the exit code of the job that they name.
import { runToExit } from '../system/exit.ts';
import { type Inputs, readInputs } from './inputs.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';

/** An error without a verdict becomes an annotation. */
export async function runAction(): Promise<void> {
  await runToExit(
    async (signal) => {
      const inputs = readInputs(process.env);
      const [{ openJob }, run] = await Promise.all([import('./open-job.ts'), jobs[inputs.command]()]);
      return run(await openJob(inputs), signal);
    },
    { notify: log.error },
  );
}

/** Imports only the modules of the job. */
const jobs: Readonly<
  Record<Inputs['command'], () => Promise<(context: JobContext, signal: AbortSignal) => Promise<number>>>
> = {
  admit: async () => (await import('./run-admit.ts')).runAdmit,
  accept: async () => (await import('./run-accept.ts')).runAccept,
  gate: async () => (await import('./run-gate.ts')).runGate,
  bisect: async () => (await import('./run-bisect.ts')).runBisect,
  publish: async () => {
    const { runPublish } = await import('./run-publish.ts');
    return (context) => runPublish(context);
  },
};
