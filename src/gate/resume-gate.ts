// Resumes an interrupted gate, or extends an inconclusive one.

import { outcomeName } from '../model/conclusion.ts';
import type { Result } from '../model/result.ts';
import { readResult } from '../report/read-result.ts';
import { journalIn, readJournal } from './experiment/journal.ts';
import { finishedAt } from './experiment/next-trial.ts';
import { extendPlan, hasPlan, readPlan, replacePlan } from './experiment/plan.ts';
import type { GateDeps } from './gate-deps.ts';
import { conclude, measure } from './measure.ts';
import { onTestbed } from './on-testbed.ts';

/**
 * Measures what the work directory's journal lacks; with `maxRunsPerVariant`, up to that many runs. A gate that
 * finished, or had nothing to measure, returns its result and needs no testbed.
 */
export async function resumeGate(directory: string, deps: GateDeps, maxRunsPerVariant?: number): Promise<Result> {
  const unplanned = await unplannedResult(directory);
  if (unplanned !== undefined) return unplanned;
  const written = await readPlan(directory);
  const plan = maxRunsPerVariant === undefined ? written : extendPlan(written, maxRunsPerVariant);
  const journal = await readJournal(journalIn(directory));
  const finished = finishedAt(plan, journal);
  if (finished !== undefined) {
    deps.onEvent({ kind: 'finished-before', at: finished });
    const kept = await readResult(directory).catch(() => undefined);
    return kept?.finishedAt === finished ? kept : conclude(plan, journal, directory, deps);
  }
  return onTestbed([plan.testbed], plan.patch, deps, outcomeName, async (reserved) => {
    if (plan !== written) await replacePlan(directory, plan);
    return measure(plan, directory, reserved, deps);
  });
}

/** Returns a result without a plan; undefined if there is a plan, or no result. */
async function unplannedResult(directory: string): Promise<Result | undefined> {
  if (await hasPlan(directory)) return undefined;
  const kept = await readResult(directory).catch(() => undefined);
  return kept?.outcome.kind === 'unchanged' ? kept : undefined;
}
