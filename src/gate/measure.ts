// Measures a plan on a reserved testbed, and writes the result and its reports.

import type { Reserved } from '../lab/testbed.ts';
import type { Result } from '../model/result.ts';
import { explained } from '../report/read-result.ts';
import { writeResult } from '../report/write-reports.ts';
import { assembleResult } from './experiment/assemble.ts';
import { runExperiment } from './experiment/experiment.ts';
import { historyEntries } from './experiment/history.ts';
import type { JournalEntry } from './experiment/journal.ts';
import type { Plan } from './experiment/plan.ts';
import type { GateDeps } from './gate-deps.ts';

export async function measure(plan: Plan, directory: string, reserved: Reserved, deps: GateDeps): Promise<Result> {
  const { now, onEvent } = deps;
  const signal = AbortSignal.any([deps.signal, reserved.signal]);
  const testbed = await reserved.open(plan.traffic);
  try {
    const journal = await runExperiment({ plan, testbed, directory, now, onEvent, signal });
    return await conclude(plan, journal, directory, deps);
  } finally {
    await testbed.restore();
  }
}

/** Appends to the history first, so that an existing result implies it. */
export async function conclude(
  plan: Plan,
  journal: readonly JournalEntry[],
  directory: string,
  { history, onEvent }: GateDeps,
): Promise<Result> {
  const warn = (text: string) => onEvent({ kind: 'warning', text });
  const { result, profiles } = await explained(assembleResult(plan, journal), directory, warn);
  await history.append(historyEntries(result));
  await writeResult(directory, result, profiles, warn);
  return result;
}
