// Provides real dependencies of power controllers with another clock, and a record of the programs run.
import { setTimeout } from 'node:timers/promises';
import { type PowerDeps, realPowerDeps } from '../../../src/lab/power/power.ts';

/** Real dependencies, with a waiting second of this length. */
export const depsWhere = (secondSeconds: number): PowerDeps => ({
  ...realPowerDeps,
  sleep: (seconds) => setTimeout(seconds * secondSeconds * 1000),
});

/** Real dependencies, in which waiting needs no time; `slept` has its seconds. */
export function timelessDeps(): PowerDeps & { readonly slept: number[] } {
  const slept: number[] = [];
  const sleep = async (seconds: number) => void slept.push(seconds);
  return { ...realPowerDeps, sleep, slept };
}

/** Returns the error's message, or fails the test. */
export async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'It went well.',
    (error: unknown) => String(error),
  );
}
