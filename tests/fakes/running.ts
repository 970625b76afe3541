// Reads the state of a process from ps(1).
import { spawnSync } from 'node:child_process';

/** Begins with a letter such as `S` or `T`; empty without a process. */
export const stateOf = (id: number): string =>
  spawnSync('ps', ['-o', 'stat=', '-p', String(id)], { encoding: 'utf8' }).stdout.trim();

/** False for a zombie, too. */
export const isRunning = (id: number): boolean => /^[^Z]/.test(stateOf(id));
