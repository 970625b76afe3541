// Assembles the result of an experiment from its plan and journal. Deterministic.
import packageJson from '../../../package.json' with { type: 'json' };
import { withLimits } from '../../analysis/stats/cell-limits.ts';
import { interimResults } from '../../analysis/stats/interim-result.ts';
import { cellResult, worstVerdict } from '../../analysis/stats/verdict.ts';
import { maxIgnoredPaths, type Outcome, type Result } from '../../model/result.ts';
import { offeredTraffic } from '../../model/traffic.ts';
import { isJudged } from '../../model/variant-name.ts';
import { cellsSoFar, leftOutIn } from './cells.ts';
import { baseNumbers } from './history.ts';
import type { JournalEntry } from './journal.ts';
import type { Plan } from './plan.ts';
import { profilesOf } from './profiles.ts';

/** Returns the interim result of an unfinished experiment. */
export function assembleResult(plan: Plan, journal: readonly JournalEntry[]): Result {
  const started = journal.findLast((entry) => entry.kind === 'started');
  const warned = journal.flatMap((entry) => (entry.kind === 'warned' ? entry.text : []));
  return withLimits({
    schemaVersion: 1,
    generator: { name: 'ppsgate', version: packageJson.version },
    patch: plan.patch,
    variants: plan.variants.map(({ variant, commit, folder, files }) => ({
      name: variant,
      commit,
      ...(folder !== undefined && { folder }),
      files: files.map(({ path, source, sha256 }) => ({
        path,
        ...(source !== undefined && { source }),
        sha256,
      })),
    })),
    testbed: {
      name: plan.testbed,
      ...(plan.kind !== undefined && { kind: plan.kind }),
      fingerprint: started?.fingerprint ?? {},
      // A resumed gate prepares its testbed again.
      warnings: [...new Set([...(started?.warnings ?? []), ...warned])],
    },
    policy: plan.policy,
    traffic: { ...offeredTraffic(plan.traffic), measureSeconds: plan.traffic.measureSeconds },
    seed: plan.seed,
    startedAt: journal.at(0)?.at ?? epoch,
    finishedAt: journal.at(-1)?.at ?? epoch,
    trials: journal.flatMap((entry) => (entry.kind === 'measured' ? entry.summary : [])),
    leftOut: leftOutIn(journal),
    outcome: outcomeOf(plan, journal),
  });
}

/** Returns the result of an experiment that is not needed. `ignoredPaths` are files without effect on the testbed. */
export function unchangedResult(plan: Plan, ignoredPaths: readonly string[], now: Date): Result {
  const at = now.toISOString();
  const outcome: Outcome = {
    kind: 'unchanged',
    ...(ignoredPaths.length > 0 && { ignoredPaths: ignoredPaths.slice(0, maxIgnoredPaths) }),
  };
  return { ...assembleResult(plan, []), startedAt: at, finishedAt: at, outcome };
}

const epoch = new Date(0).toISOString();

function outcomeOf(plan: Plan, journal: readonly JournalEntry[]): Outcome {
  const last = journal.findLast((entry) => entry.kind !== 'started' && entry.kind !== 'warned' && !leavesOut(entry));
  if (last?.kind === 'rejected') return last.rejection;
  const others = plan.variants.map(({ variant }) => variant).filter((name) => !isJudged(name));
  const cells = interimResults(cellsSoFar(plan, journal), plan.policy).map((interim) => {
    const ofBase = baseNumbers(interim.input.runs, plan.policy.metric);
    const result = cellResult(interim, plan.policy, ofBase, others);
    const { earlierGates } = interim.input;
    return {
      ...result,
      ...(earlierGates && { earlierGates }),
      profiles: profilesOf(plan, journal, result.cell),
    };
  });
  return { kind: 'judged', verdict: worstVerdict(cells), cells };
}

const leavesOut = (entry: JournalEntry): boolean => entry.kind === 'rejected' && !isJudged(entry.variant);
