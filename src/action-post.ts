// Entry of the GitHub Action's clean-up at the end of the job, which runs after a kill too.
import { guardOutput } from './action/log.ts';

guardOutput();
const { cleanUp } = await import('./action/clean-up.ts');
await cleanUp();
