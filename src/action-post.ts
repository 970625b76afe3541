// Runs the GitHub Action's clean-up at the end of the job, even after a kill.
import { guardOutput } from './action/log.ts';

guardOutput();
const { cleanUp } = await import('./action/clean-up.ts');
await cleanUp();
