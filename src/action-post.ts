// Entry of what the GitHub Action leaves to be done when the job ends, however it ends.
import { cleanUp } from './action/clean-up.ts';

await cleanUp();
