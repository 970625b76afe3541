// From a plan and its journal to the result: the same answer however often it is computed.
import packageJson from '../../package.json' with { type: 'json' };
import type { Entry } from '../experiment/journal.ts';
import type { Plan } from '../experiment/plan.ts';
import { type Cell, cellName } from '../scenario/scenario.ts';
import { judgeCell, worstVerdict } from '../stats/verdict.ts';
import type { Outcome, Result } from './result.ts';

/** The result of an experiment that has ended; of one that has not, what its journal is worth so far. */
export function assembleResult(plan: Plan, journal: readonly Entry[]): Result {
  const { flows, frameBytes, offeredPps, measureSeconds } = plan.traffic;
  const started = journal.findLast((entry) => entry.kind === 'started');
  return {
    schemaVersion: 1,
    generator: { name: 'ppsgate', version: packageJson.version },
    patch: plan.patch,
    variants: plan.variants.map(({ variant, commit, files }) => ({
      name: variant,
      commit,
      files: files.map(({ path, sha256 }) => ({ path, sha256 })),
    })),
    testbed: { name: plan.testbed, fingerprint: started?.fingerprint ?? {} },
    policy: plan.policy,
    traffic: { flows, frameBytes, offeredPps, measureSeconds },
    seed: plan.seed,
    startedAt: journal.at(0)?.at ?? epoch,
    finishedAt: journal.at(-1)?.at ?? epoch,
    blasts: journal.flatMap((entry) => (entry.kind === 'measured' ? entry.summary : [])),
    outcome: outcomeOf(plan, journal),
  };
}

const epoch = new Date(0).toISOString();

function outcomeOf(plan: Plan, journal: readonly Entry[]): Outcome {
  const last = journal.findLast((entry) => entry.kind !== 'started');
  if (last?.kind === 'does-not-load') {
    return { kind: 'does-not-load', scenario: last.scenario, message: last.message };
  }
  const cells = plan.cells.map((cell) => {
    const runs = journal.flatMap((entry) =>
      entry.kind === 'measured' && cellName(entry.summary.cell) === cellName(cell)
        ? entry.runs
        : [],
    );
    return judgeCell(cell, runs, plan.policy, failuresOf(cell, plan, journal));
  });
  return { kind: 'judged', verdict: worstVerdict(cells), cells };
}

/** Why blasts of the cell measured nothing. */
function failuresOf(cell: Cell, plan: Plan, journal: readonly Entry[]): string[] {
  const blasts = plan.blasts.filter((blast) => cellName(blast.cell) === cellName(cell));
  const numbers = new Set(blasts.map((blast) => blast.number));
  return journal.flatMap((entry) =>
    entry.kind === 'failed' && numbers.has(entry.blast) ? entry.reason : [],
  );
}
