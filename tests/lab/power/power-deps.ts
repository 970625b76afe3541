// Real dependencies of power controllers with another clock, and with a record of what was run.
import { setTimeout } from 'node:timers/promises';
import { type PowerDeps, realPowerDeps } from '../../../src/lab/power/power.ts';

/** Real dependencies, in which a second of waiting takes this long. */
export const depsWhere = (secondSeconds: number): PowerDeps => ({
  ...realPowerDeps,
  sleep: (seconds) => setTimeout(seconds * secondSeconds * 1000),
});

/** Real dependencies, in which waiting takes no time; `slept` has its seconds. */
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
