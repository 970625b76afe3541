// Entry of the GitHub Action.
import { runAction } from './action/main.ts';

await runAction();
