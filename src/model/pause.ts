// Pauses that an abort ends early.
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after that many seconds, or earlier when `signal` is aborted. */
export type Pause = (seconds: number, signal: AbortSignal) => Promise<unknown>;

/** Resolves on abort; Node's own function rejects. */
export const realPause: Pause = (seconds, signal) => sleep(seconds * 1000, undefined, { signal }).catch(() => {});
