// The story of a patch: what is judged, on which testbed, by which runs, and what comes of it.

import { touchedCells } from './build/touched.ts';
import { pathsThatCount, placesLeftAlone, testbedsThatDiffer } from './build/unchanged.ts';
import { type GivenKernels, makingOf, type Variant, variantsByMaking } from './build/variant.ts';
import type { Config } from './config/schema.ts';
import { assembleResult, unchangedResult } from './experiment/assemble.ts';
import { runExperiment } from './experiment/experiment.ts';
import type { ExperimentEvent } from './experiment/experiment-event.ts';
import { earlierEntries, type HistoryFile, historyEntries } from './experiment/history.ts';
import { type Entry, journalIn, readJournal } from './experiment/journal.ts';
import { finishedAt } from './experiment/next-blast.ts';
import {
  cellsOf,
  extendPlan,
  hasPlan,
  makePlan,
  type Plan,
  readPlan,
  readRules,
  replacePlan,
  writePlan,
} from './experiment/plan.ts';
import { refuseUsed } from './experiment/plan-file.ts';
import type { Repository } from './patch/repository.ts';
import { outcomeName } from './report/headline.ts';
import { explained, readResult } from './report/read.ts';
import { writeResult } from './report/write.ts';
import type { Reserved } from './testbed/testbed.ts';
import { reasonOf } from './words/one-line.ts';
import { type Patch, shortId } from './words/patch.ts';
import type { Result } from './words/result.ts';
import { type Cell, cellName } from './words/scenario.ts';
import { UsageError } from './words/usage-error.ts';
import { brokenOff } from './words/use-outcome.ts';

export type GateRequest = {
  patch: Patch;
  config: Config;
  /** Names of testbeds of the configuration, any of which would do, the first best. */
  testbeds: readonly string[];
  /** Decides the order of runs: the same seed gives the same order. */
  seed: number;
  /** What is measured; absent: all that the configuration has. */
  cells?: readonly Cell[];
  /** Absent: they are built. */
  kernels?: GivenKernels | undefined;
  /** Whether also a patch is measured that changes nothing which is laid or booted. */
  isMeasuredAnyway?: boolean;
  /** Whether patched, which is base, is booted from another link of it: measured anyway, and only where kernels are built. */
  isRelinked?: boolean;
};

/** All that a gate touches of the world. */
export type World = {
  repository: Repository;
  /** Waits for one of the testbeds; throws where none is to be had. */
  reserve(testbeds: readonly string[], patch: Patch): Promise<Reserved>;
  history: HistoryFile;
  now(): Date;
  onEvent(event: ExperimentEvent): void;
  signal: AbortSignal;
};

/**
 * Judges a patch; leaves the plan, the journal, raw logs, `result.json` and `report.md` in the work directory. Where it
 * changes nothing that any of the testbeds would lay there is no plan: nothing is reserved, and that is the result.
 */
export async function gate(request: GateRequest, directory: string, world: World): Promise<Result> {
  const { patch, config } = request;
  if (request.isRelinked) refuseUnlinkable(request);
  await refuseUsed(directory);
  const rules = await readRules(config);
  const history = earlierEntries(await world.history.read(), world.now());
  const variants = await variantsByMaking(request, world.repository);
  const testbeds =
    request.isMeasuredAnyway || request.isRelinked
      ? request.testbeds
      : await testbedsThatDiffer({ ...request, variants }, world.repository);
  const planOn = async (testbed: string): Promise<Plan> => {
    const ours = variants.get(makingOf(config, testbed, request.kernels)) ?? [];
    const first = await cellsTouched(testbed, ours, request, world.repository);
    return makePlan({ ...request, testbed, rules, first }, ours, history);
  };
  if (testbeds.length === 0) {
    const [first = ''] = request.testbeds;
    const leftAlone = await placesLeftAlone(first, { ...request, variants }, world.repository);
    const result = unchangedResult(await planOn(first), leftAlone, world.now());
    await writeResult(directory, result);
    return result;
  }

  return onTestbed(testbeds, patch, world, outcomeName, async (reserved) => {
    const plan = await planOn(reserved.name);
    await writePlan(directory, plan);
    tellFirst(plan, world);
    return carryOut(plan, directory, reserved, world);
  });
}

/** The cells that come first; none where git cannot list what differs, as between trees far apart. */
async function cellsTouched(
  testbed: string,
  [base, patched]: readonly Variant[],
  { config, cells = cellsOf(config) }: GateRequest,
  repository: Repository,
): Promise<readonly Cell[]> {
  if (base === undefined || patched === undefined) return [];
  const on = { config, testbed };
  const changed = await pathsThatCount(base, patched, on, repository).catch(() => []);
  return touchedCells(changed, cells, on);
}

function tellFirst({ cells }: Plan, { onEvent }: World): void {
  const first = cells.flatMap(({ cell, isFirst }) => (isFirst ? cellName(cell) : []));
  if (first.length === 0) return;
  const text = `Of the files that the patch changes these cells depend most, and come first: ${first.join(', ')}.`;
  onEvent({ kind: 'told', text });
}

/** Throws a `UsageError` where patched is not base, or no kernel is built of which another link could be made. */
function refuseUnlinkable({ patch, config, testbeds, kernels }: GateRequest): void {
  if (patch.baseCommit !== patch.headCommit) {
    throw new UsageError(
      `Another link is measured of one commit, found ${shortId(patch.baseCommit)} and ${shortId(patch.headCommit)}: name the same commit twice, like main..main.`,
    );
  }
  const unlinkable = testbeds.find((name) => {
    const testbed = config.testbeds[name];
    return testbed?.kind !== 'freebsd' || testbed.builder === undefined;
  });
  if (kernels === undefined && unlinkable === undefined) return;
  throw new UsageError(
    `Another link is made of kernels that are built, and ${unlinkable ?? 'this gate'} ${unlinkable ? 'has no builder' : 'was given kernels'}: ask for a FreeBSD testbed with a \`builder\`, without kernels of your own.`,
  );
}

/**
 * Goes on with a gate that was cut short: the plan of its work directory, less what its journal holds; with
 * `maxRunsPerVariant` also with one that stayed inconclusive, for so many runs. One that has finished, or had nothing to
 * measure, is told again, and needs no testbed.
 */
export async function resumeGate(
  directory: string,
  world: World,
  maxRunsPerVariant?: number,
): Promise<Result> {
  const unplanned = await unplannedResult(directory);
  if (unplanned !== undefined) return unplanned;
  const written = await readPlan(directory);
  const plan = maxRunsPerVariant === undefined ? written : extendPlan(written, maxRunsPerVariant);
  const journal = await readJournal(journalIn(directory));
  const finished = finishedAt(plan, journal);
  if (finished !== undefined) {
    world.onEvent({ kind: 'finished-before', at: finished });
    const kept = await readResult(directory).catch(() => undefined);
    return kept?.finishedAt === finished ? kept : conclude(plan, journal, directory, world);
  }
  const { patch, testbed } = plan;
  return onTestbed([testbed], patch, world, outcomeName, async (reserved) => {
    if (plan !== written) await replacePlan(directory, plan);
    return carryOut(plan, directory, reserved, world);
  });
}

/** What was found before there was anything to plan; undefined where there is a plan, or nothing at all. */
async function unplannedResult(directory: string): Promise<Result | undefined> {
  if (await hasPlan(directory)) return undefined;
  const kept = await readResult(directory).catch(() => undefined);
  return kept?.outcome.kind === 'unchanged' ? kept : undefined;
}

/**
 * Does the work on a testbed that is ours meanwhile, and gives it back whatever came of it; `nameOf` says that for the
 * log of reservations.
 */
export async function onTestbed<Told>(
  testbeds: readonly string[],
  patch: Patch,
  world: Pick<World, 'reserve' | 'onEvent'>,
  nameOf: (told: Told) => string,
  work: (reserved: Reserved) => Promise<Told>,
): Promise<Told> {
  const reserved = await world.reserve(testbeds, patch);
  return thenGivenBack(
    () => reserved,
    world,
    nameOf,
    () => work(reserved),
  );
}

/** Does the work, and gives back whatever testbed it has by then. */
export async function thenGivenBack<Told>(
  ours: () => Reserved | undefined,
  { onEvent }: Pick<World, 'onEvent'>,
  nameOf: (told: Told) => string,
  work: () => Promise<Told>,
): Promise<Told> {
  let outcome = 'ended';
  try {
    const result = await work();
    outcome = nameOf(result);
    return result;
  } catch (error) {
    outcome = brokenOff(reasonOf(error));
    // Whatever broke when the testbed was lost broke for that.
    ours()?.signal.throwIfAborted();
    throw error;
  } finally {
    const trouble = await ours()?.giveBack(outcome);
    if (trouble !== undefined) onEvent({ kind: 'warning', text: trouble });
  }
}

async function carryOut(
  plan: Plan,
  directory: string,
  reserved: Reserved,
  world: World,
): Promise<Result> {
  const { now, onEvent } = world;
  const signal = AbortSignal.any([world.signal, reserved.signal]);
  const testbed = await reserved.open(plan.traffic);
  try {
    const options = { plan, testbed, directory, now, onEvent, signal };
    return await conclude(plan, await runExperiment(options), directory, world);
  } finally {
    await testbed.restore();
  }
}

/** The history first: a result that is there has taught it. */
async function conclude(
  plan: Plan,
  journal: readonly Entry[],
  directory: string,
  { history, onEvent }: World,
): Promise<Result> {
  const warn = (text: string) => onEvent({ kind: 'warning', text });
  const { result, profiles } = await explained(assembleResult(plan, journal), directory, warn);
  await history.append(historyEntries(result));
  await writeResult(directory, result, profiles, warn);
  return result;
}
