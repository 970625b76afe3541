// What a process does, as ps(1) tells it.
import { spawnSync } from 'node:child_process';

/** Begins with a letter like `S` or `T`; empty where there is none. */
export const stateOf = (id: number): string =>
  spawnSync('ps', ['-o', 'stat=', '-p', String(id)], { encoding: 'utf8' }).stdout.trim();

/** False also for one that has ended, and that nobody has asked how. */
export const isRunning = (id: number): boolean => /^[^Z]/.test(stateOf(id));
