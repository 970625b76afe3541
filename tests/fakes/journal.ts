// Experiments like a gate's, trial by trial, on a testbed with only the numbers made up.

import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { interimResults } from '../../src/analysis/stats/interim-result.ts';
import { cellsSoFar } from '../../src/gate/experiment/cells.ts';
import type { JournalEntry } from '../../src/gate/experiment/journal.ts';
import type { Plan } from '../../src/gate/experiment/plan.ts';
import type { PlannedTrial } from '../../src/model/planned-trial.ts';
import { aRun, unfit } from './result.ts';

const at = '2026-11-20T12:00:00.000Z';

export type NumbersDeps = {
  /** Rate of patched, as a ratio to base. */
  speed: number;
  noiseRatio: number;
  /** Shares of failed trials, and of invalid runs. */
  failingRatio: number;
  unfitRatio: number;
  random: () => number;
};

/** The needed trials, until every cell is closed. */
export function journalOf(plan: Plan, deps: NumbersDeps, before: readonly JournalEntry[] = []): JournalEntry[] {
  const entries: JournalEntry[] = [...before];
  for (;;) {
    const interim = interimResults(cellsSoFar(plan, entries), plan.policy);
    const next = interim.filter(({ closed }) => !closed).flatMap(({ input }) => input.open)[0];
    if (next === undefined) return entries;
    entries.push(entryOf(next.trial, next.tries.length + 1, deps));
  }
}

function entryOf(trial: PlannedTrial, attempt: number, deps: NumbersDeps): JournalEntry {
  const { number, cell, runs } = trial;
  const { speed, noiseRatio, failingRatio, unfitRatio, random } = deps;
  if (random() < failingRatio) {
    return { kind: 'failed', at, trial: number, reason: 'The sender has died.' };
  }
  const summary = { number, attempt, cell, startedAt: at, trafficSeconds: 2, offeredPps: 3e6 };
  return {
    kind: 'measured',
    at,
    summary: { ...summary, logs: `trials/${number}` },
    runs: runs.map((run) => {
      const noise = 1 + noiseRatio * (random() + random() - 1);
      const pps = 8e5 * noise * (run.variant === 'patched' ? speed : 1);
      const validity = random() < unfitRatio ? unfit('A hole.') : aRun().validity;
      const costs = { nsPerPacket: 1e9 / pps, instructionsPerPacket: 1e10 / pps };
      return aRun({ ...run, trial: number, attempt, pps, ...costs, validity });
    }),
  };
}

/** Base and patched are equal, and nothing fails. */
export const still: NumbersDeps = {
  speed: 1,
  noiseRatio: 0,
  failingRatio: 0,
  unfitRatio: 0,
  random: () => 0.5,
};

/** A generator that is repeatable by its seed. */
export function drawn(seed: number): () => number {
  const random = xoroshiro128plus(seed);
  return () => uniformFloat64(random);
}
