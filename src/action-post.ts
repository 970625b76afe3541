// Entry of what the GitHub Action leaves to be done when the job ends, however it ends.
import { guardOutput } from './action/log.ts';

guardOutput();
const { cleanUp } = await import('./action/clean-up.ts');
await cleanUp();
