// Entry of the GitHub Action.
import { guardOutput } from './action/log.ts';

guardOutput();
const { runAction } = await import('./action/main.ts');
await runAction();
