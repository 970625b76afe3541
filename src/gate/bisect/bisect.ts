// Bisects a range of commits on a testbed, boot by boot, to find the one that changed the rate.

import { baselineOf } from '../../analysis/stats/baseline.ts';
import { type Config, systemOf, testbedKindOf } from '../../config/schema.ts';
import type { LinearRepository } from '../../forge/patch/repository.ts';
import { builderOf } from '../../kernel/unchanged.ts';
import type { Reserved } from '../../lab/testbed.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { isCost } from '../../model/metric.ts';
import type { Patch } from '../../model/patch.ts';
import { byMetric } from '../../model/result.ts';
import type { OperatingSystem } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import { explained, readAnyResult } from '../../report/read-result.ts';
import { writeResult } from '../../report/write-reports.ts';
import { expectedDurationsOn } from '../estimate/durations.ts';
import { baseNumbers, earlierEntries, entriesOf, type HistoryEntry, historyOf } from '../experiment/history.ts';
import { type JournalEntry, journalIn, readJournal } from '../experiment/journal.ts';
import { cellsOf, readRules, rulesOn } from '../experiment/plan.ts';
import { refuseUsed } from '../experiment/plan-file.ts';
import type { GateDeps } from '../gate-deps.ts';
import { onTestbed } from '../on-testbed.ts';
import { assembleBisection } from './assemble.ts';
import {
  type BisectPlan,
  readBisectPlan,
  replaceBisectPlan,
  withMostBoots,
  withSkipped,
  writeBisectPlan,
} from './bisect-plan.ts';
import { bisectionEstimateLines } from './estimate.ts';
import type { GateFinding } from './from-gate.ts';
import { hasEnded } from './next-boot.ts';
import { type CommitRange, readRange, variantOf } from './range.ts';
import { revertedVariant } from './revert.ts';
import { type BisectVariants, runBisection } from './run-bisection.ts';

export type BisectRequest = {
  /** Commits as typed; see `RangeRequest`. */
  good: string;
  bad: string;
  /** Ids of the diffs from which commits between them were made. */
  diffs?: ReadonlyMap<string, number> | undefined;
  fixUps: readonly string[];
  skips: readonly string[];
  config: Config;
  /** Any of these testbeds of ppsgate.yml, preferred first. */
  testbeds: readonly string[];
  seed: number;
  mostBoots: number;
  /** Also measures the bad end with the culprit reverted. */
  isVerified: boolean;
  from?: GateFinding | undefined;
};

type BisectDeps = Omit<GateDeps, 'repository'> & { repository: LinearRepository };

/** Bisects a range. Writes the plan, the journal, raw logs, `result.json` and the report to the work directory. */
export async function bisect(request: BisectRequest, directory: string, deps: BisectDeps): Promise<BisectResult> {
  await refuseUsed(directory);
  const plans = await plansFor(request, deps);
  return onTestbed(request.testbeds, patchOf([...plans.values()]), deps, nameOf, async (reserved) => {
    const plan = plans.get(reserved.name);
    if (plan === undefined) throw new RangeError(`${reserved.name} was not requested.`);
    await writeBisectPlan(directory, plan);
    for (const text of bisectionEstimateLines(plan)) deps.onEvent({ kind: 'note', text });
    return carryOut(plan, directory, reserved, deps);
  });
}

/**
 * `mostBoots` also resumes an inconclusive bisection; `skips` excludes commits. A finished bisection needs no testbed.
 */
export async function resumeBisection(
  directory: string,
  deps: BisectDeps,
  { mostBoots, skips = [] }: { mostBoots?: number | undefined; skips?: readonly string[] } = {},
): Promise<BisectResult> {
  const written = await readBisectPlan(directory);
  const extended = mostBoots === undefined ? written : withMostBoots(written, mostBoots);
  const commits = await Promise.all(skips.map((name) => deps.repository.resolve(name)));
  const plan = commits.length === 0 ? extended : withSkipped(extended, commits);
  const journal = await readJournal(journalIn(directory));
  if (journal.at(-1)?.kind === 'finished' && hasEnded(plan, journal)) {
    const kept = await readAnyResult(directory).catch(() => undefined);
    const result = kept?.result;
    const isComplete = result !== undefined && 'kind' in result && result.finishedAt === journal.at(-1)?.at;
    return isComplete ? result : conclude(plan, journal, directory, deps);
  }
  return onTestbed([plan.testbed], patchOf([plan]), deps, nameOf, async (reserved) => {
    if (plan !== written) await replaceBisectPlan(directory, plan);
    return carryOut(plan, directory, reserved, deps);
  });
}

const nameOf = ({ answer }: BisectResult): string => answer.kind;

export async function planBisection(
  request: BisectRequest,
  deps: Pick<BisectDeps, 'repository' | 'history' | 'now' | 'onEvent'>,
): Promise<BisectPlan> {
  const [testbed = ''] = request.testbeds;
  const plans = await plansFor({ ...request, testbeds: [testbed] }, deps);
  const plan = plans.get(testbed);
  if (plan === undefined) throw new RangeError('No testbed was requested.');
  return plan;
}

/** Each testbed has its own plan, as the build decides which kernels are equal. */
async function plansFor(
  request: BisectRequest,
  { repository, history, now, onEvent }: Pick<BisectDeps, 'repository' | 'history' | 'now' | 'onEvent'>,
): Promise<Map<string, BisectPlan>> {
  const { config } = request;
  const [cell, another] = cellsOf(config);
  if (cell === undefined || another !== undefined) {
    throw new UsageError('A bisection measures one scenario, one family and one frame size.');
  }
  const entries = earlierEntries(await history.read(), now());
  const rules = await readRules(config);
  const { good, bad, diffs, fixUps, skips, seed, mostBoots, isVerified, from } = request;
  const { traffic, profile, overlay } = config;
  const { metric, marginRatio: margin } = config.gate;
  const notify = (text: string) => onEvent({ kind: 'preparing', text });
  const ranges = new Map<string, CommitRange>();
  const rangeOn = async (testbed: string, system: OperatingSystem): Promise<CommitRange> => {
    const builder = builderOf(config, testbed);
    const key = JSON.stringify([system, builder]);
    const options = { good, bad, diffs, skips, fixUps, system, overlay, builder };
    const range = ranges.get(key) ?? (await readRange(options, repository, notify));
    ranges.set(key, range);
    return range;
  };
  const plans = new Map<string, BisectPlan>();
  for (const testbed of request.testbeds) {
    refuseBuiltGuests(config, testbed);
    const system = systemOf(config, testbed);
    const range = await rangeOn(testbed, system);
    const kind = testbedKindOf(config, testbed);
    const own = entriesOf(entries, { testbed, kind });
    const known = historyOf(own, { testbed, cell, traffic, metric });
    plans.set(testbed, {
      schemaVersion: 1,
      good,
      bad,
      fixUps: [...fixUps],
      skips: [...skips],
      range,
      testbed,
      ...(kind !== undefined && { kind }),
      system,
      overlay,
      cell,
      metric,
      traffic,
      rules: rulesOn(testbed, config, rules),
      seed,
      mostBoots,
      isVerified,
      ...(profile !== undefined && { profile }),
      ...(known !== undefined && { history: known }),
      durations: expectedDurationsOn(own, testbed, config),
      effect: from?.effect ?? (isCost(metric) ? margin : -margin),
    });
  }
  return plans;
}

function patchOf([plan]: readonly BisectPlan[]): Patch {
  const { commit: baseCommit = '' } = plan?.range.revisions.at(0) ?? {};
  const { commit: headCommit = '', author = '' } = plan?.range.revisions.at(-1) ?? {};
  const title = `Bisection from ${plan?.good} to ${plan?.bad}`;
  return { kind: 'range', title, author, baseCommit, headCommit };
}

async function carryOut(
  plan: BisectPlan,
  directory: string,
  reserved: Reserved,
  deps: BisectDeps,
): Promise<BisectResult> {
  const { now, onEvent, repository } = deps;
  const signal = AbortSignal.any([deps.signal, reserved.signal]);
  const testbed = await reserved.open(plan.traffic);
  try {
    const variants: BisectVariants = {
      of: (revision, form) => variantOf(revision, form, plan, repository),
      without: (culprit, bad) => revertedVariant({ culprit, bad }, plan, repository),
    };
    const options = { plan, testbed, variants, directory, now, onEvent, signal };
    return await conclude(plan, await runBisection(options), directory, deps);
  } finally {
    await testbed.restore();
  }
}

/** Writes the history first, so that an existing result implies it. */
async function conclude(
  plan: BisectPlan,
  journal: readonly JournalEntry[],
  directory: string,
  { history, onEvent }: BisectDeps,
): Promise<BisectResult> {
  const warn = (text: string) => onEvent({ kind: 'warning', text });
  const { result, profiles } = await explained(assembleBisection(plan, journal), directory, warn);
  await history.append(historyEntriesOf(plan, result));
  await writeResult(directory, result, profiles, warn);
  return result;
}

/** Runs of the good end count as runs of base. */
function historyEntriesOf(plan: BisectPlan, result: BisectResult): HistoryEntry[] {
  const { startedAt: at, testbed, cell, runs } = result;
  const { measureSeconds: _, ...traffic } = result.traffic;
  const numbers = byMetric((metric) => baseNumbers(runs, metric));
  if (numbers.pps.length === 0) return [];
  const [good] = plan.range.revisions;
  const commit = good?.forms.find(({ variant }) => variant === 'base')?.commit ?? '';
  const moved = baselineOf(baseNumbers(runs, plan.metric), plan.history).kind === 'moved';
  const { name, kind } = testbed;
  const about = { at, testbed: name, ...(kind !== undefined && { kind }), cell, traffic, commit };
  return [{ ...about, ...numbers, moved }];
}

/** Virtual testbeds read the range as files, so a range of kernels would show no change. */
function refuseBuiltGuests({ testbeds }: Config, name: string): void {
  const testbed = testbeds[name];
  if (testbed?.kind !== 'virtual') return;
  if (testbed.system === 'linux' && testbed.builder === undefined) return;
  const fix = testbed.system === 'linux' ? 'remove its `builder`, or ' : '';
  throw new UsageError(
    `${name} boots kernels of commits, but on virtual testbeds a bisection covers only the files of an overlay: ${fix}gate single commits.`,
  );
}
