// Pauses that end early when no caller waits for them any more.
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after so many seconds, or earlier when `signal` is aborted. */
export type Pause = (seconds: number, signal: AbortSignal) => Promise<unknown>;

/** Resolves, where node's own rejects, when the signal is aborted. */
export const realPause: Pause = (seconds, signal) =>
  sleep(seconds * 1000, undefined, { signal }).catch(() => {});
