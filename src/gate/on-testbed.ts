// Reserves a testbed for some work, and releases it afterwards.
import type { Reserved } from '../lab/testbed.ts';
import { endedEarly } from '../model/lease-outcome.ts';
import { reasonOf } from '../model/one-line.ts';
import type { Patch } from '../model/patch.ts';
import type { GateDeps } from './gate-deps.ts';

export async function onTestbed<Found>(
  testbeds: readonly string[],
  patch: Patch,
  deps: Pick<GateDeps, 'reserve' | 'onEvent'>,
  nameOf: (found: Found) => string,
  work: (reserved: Reserved) => Promise<Found>,
): Promise<Found> {
  const reserved = await deps.reserve(testbeds, patch);
  return thenReleased(
    () => reserved,
    deps,
    nameOf,
    () => work(reserved),
  );
}

/** Works, then releases the testbed that it holds at the end, if any. */
export async function thenReleased<Found>(
  ours: () => Reserved | undefined,
  { onEvent }: Pick<GateDeps, 'onEvent'>,
  nameOf: (found: Found) => string,
  work: () => Promise<Found>,
): Promise<Found> {
  let outcome = 'ended';
  try {
    const found = await work();
    outcome = nameOf(found);
    return found;
  } catch (error) {
    outcome = endedEarly(reasonOf(error));
    // A failure after the loss of the lease is caused by it.
    ours()?.signal.throwIfAborted();
    throw error;
  } finally {
    const trouble = await ours()?.giveBack(outcome);
    if (trouble !== undefined) onEvent({ kind: 'warning', text: trouble });
  }
}
