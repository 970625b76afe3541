// One of the Action's commands; what measures is loaded for those alone that measure.
import type { Inputs } from './inputs.ts';
import { openJob } from './job.ts';
import { runAdmit } from './run-admit.ts';

export async function runCommand(inputs: Inputs, signal: AbortSignal): Promise<number> {
  const context = await openJob(inputs);
  switch (inputs.command) {
    case 'admit':
      return runAdmit(context);
    case 'accept': {
      const { runAccept } = await import('./run-accept.ts');
      return runAccept(context);
    }
    case 'gate': {
      const { runGate } = await import('./run-gate.ts');
      return runGate(context, signal);
    }
    case 'bisect': {
      const { runBisect } = await import('./run-bisect.ts');
      return runBisect(context, signal);
    }
    case 'publish': {
      const { runPublish } = await import('./run-publish.ts');
      return runPublish(context);
    }
  }
}
