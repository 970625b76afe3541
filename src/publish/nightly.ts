// The story of a nightly run: a commit against itself, and at once whatever its numbers ask for, as long as the testbed is ours.
import { join } from 'node:path';
import { isOfOneCommit, isRelinked } from '../analysis/trend/aa-runs.ts';
import { usualMostBoots } from '../config/overrides.ts';
import type { Config } from '../config/schema.ts';
import { expectOnLine, patchOfRange } from '../forge/patch/commit-range.ts';
import type { LinearRepository } from '../forge/patch/repository.ts';
import { bisect, resumeBisection } from '../gate/bisect/bisect.ts';
import { hasBisectPlan } from '../gate/bisect/bisect-plan.ts';
import { gateRunsOf } from '../gate/bisect/from-gate.ts';
import { cellsAmong, hasPlan, readPlan } from '../gate/experiment/plan.ts';
import { refuseUsed } from '../gate/experiment/plan-file.ts';
import { type GateRequest, gate } from '../gate/gate.ts';
import type { GateDeps } from '../gate/gate-deps.ts';
import { thenGivenBack } from '../gate/on-testbed.ts';
import { gateRelinked } from '../gate/relinked-gate.ts';
import { resumeGate } from '../gate/resume-gate.ts';
import type { Reserved } from '../lab/testbed.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { conclusionOfError } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { type Patch, patchName, shortId } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import { type Cell, cellName } from '../model/scenario.ts';
import type { TrendChange } from '../model/trend.ts';
import { outcomeName } from '../report/headline.ts';
import { isOfGate } from './data-branch/layout.ts';
import type { NightlyPlan } from './data-branch/nightly-plan.ts';
import type { Told } from './data-branch/trend-files.ts';

type NightlyRequest = {
  /** The commit against itself. */
  patch: Patch;
  config: Config;
  /** Names of testbeds of the configuration, any of which would do, the first best. */
  testbeds: readonly string[];
  seed: number;
};

export type NightlyDeps = Omit<GateDeps, 'repository'> & {
  repository: LinearRepository;
  /** What earlier nightly runs of a testbed say of a commit against itself; undefined where none are kept. */
  trend(testbed: string, patch: Patch): Promise<NightlyPlan | undefined>;
  /** Keeps what was measured, as soon as it is; `folderOf` says where it lies. */
  keep(told: Told): Promise<void>;
};

/**
 * Measures a commit against itself, in one lease of one testbed: once more where it is off, then the last good commit of
 * each change that may be one against the first bad one, and where `trend.bisect` is on the commits between, where that
 * has lost; on Sundays, where kernels are linked often, another link of the same tree. Answers the result of the commit against itself. What is measured besides, each in a folder of its own, may
 * fail, which is a warning.
 */
export async function nightlyRun(
  request: NightlyRequest,
  directory: string,
  deps: NightlyDeps,
): Promise<Result> {
  await refuseUsed(directory);
  return wholeNightly(request, directory, deps);
}

/**
 * Goes on with a nightly run that was cut short: what is measured of it already is told again, and needs no testbed. Throws a
 * `PlanError` where nothing was planned yet.
 */
export async function resumeNightly(
  request: Pick<NightlyRequest, 'config' | 'seed'>,
  directory: string,
  deps: NightlyDeps,
): Promise<Result> {
  const { patch, testbed } = await readPlan(directory);
  return wholeNightly({ ...request, patch, testbeds: [testbed] }, directory, deps);
}

/** The first part that has something to measure reserves the testbed, and the others have it, too. */
async function wholeNightly(
  request: NightlyRequest,
  directory: string,
  deps: NightlyDeps,
): Promise<Result> {
  let lease: Reserved | undefined;
  const within: NightlyDeps = {
    ...deps,
    // The parts of a nightly run share one lease.
    async reserve(testbeds, patch) {
      lease ??= await deps.reserve(testbeds, patch);
      return { ...lease, giveBack: async () => undefined };
    },
  };
  return thenGivenBack(
    () => lease,
    deps,
    outcomeName,
    async () => {
      const config = { ...request.config, gate: measuredToTheEnd(request.config.gate) };
      const own = { ...request, config, isMeasuredAnyway: true };
      const result = await judged(own, directory, within);
      await deps.keep(toldOf(result, 'nightly'));
      const next = { ...own, testbeds: [result.testbed.name] };
      await followUp(result, { request: next, directory, deps: within }).catch((error) => {
        deps.signal.throwIfAborted();
        const text = `No more is measured of this nightly run: ${reasonOf(error)}`;
        deps.onEvent({ kind: 'warning', text });
      });
      return result;
    },
  );
}

/** A nightly run is asked for the level of every cell, and an alarm in one of them tells nothing of the others. */
const measuredToTheEnd = ({ stopsAtFirst: _, ...rest }: Config['gate']): Config['gate'] => rest;

const judged = async (
  request: GateRequest,
  directory: string,
  deps: GateDeps,
  begin = gate,
): Promise<Result> =>
  (await hasPlan(directory)) ? resumeGate(directory, deps) : begin(request, directory, deps);

/**
 * What a result of a nightly run tells of the branch: one of a single commit is a nightly run of its own, all others are of a change
 * that was seen before.
 */
export function toldOf(
  result: Result | BisectResult,
  occasion: 'nightly' | 'again' = 'again',
): Told {
  const isOfOne = isOfGate(result) && isOfOneCommit(result);
  return {
    ...{ result, isTrusted: true, isDefaultBranch: isOfOne },
    ...(isOfOne && { occasion }),
  };
}

/** Where a part of a nightly run lies, below the work directory of the nightly run. */
export function folderOf({ result, occasion }: Told): string {
  if (!isOfGate(result)) return bisectFolder(result.good, result.bad);
  const { baseCommit, headCommit } = result.patch;
  if (occasion === undefined) return gateFolder(baseCommit, headCommit);
  if (occasion === 'nightly') return '';
  return isRelinked(result) ? relinked : again;
}

const again = 'again';
const relinked = 'relinked';
const gateFolder = (good: string, bad: string) => `gate-${shortId(good)}-${shortId(bad)}`;
const bisectFolder = (good: string, bad: string) => `bisect-${shortId(good)}-${shortId(bad)}`;

/** What git tells of a commit of the branch whose numbers are kept. */
export async function factsOf(
  commit: string,
  repository: Pick<LinearRepository, 'committedAt' | 'releaseBefore'>,
): Promise<Required<Pick<Told, 'commits' | 'releases'>>> {
  const release = await repository.releaseBefore(commit);
  return {
    commits: { [commit]: await repository.committedAt(commit) },
    releases: release === undefined ? [] : [release],
  };
}

/** What one step of a nightly run has to do with. */
type Step = { request: GateRequest; directory: string; deps: NightlyDeps };

/** Whatever the numbers of a commit against itself ask for. */
async function followUp(result: Result, step: Step): Promise<void> {
  const { request, directory, deps } = step;
  const { config, patch } = request;
  const [testbed = ''] = request.testbeds;
  const nightlyPlan = await deps.trend(testbed, patch);
  if (nightlyPlan === undefined) return;
  const all = [toldOf(result, 'nightly')];
  const keep = async (measured: Result | BisectResult) => {
    const told = toldOf(measured);
    all.push(told);
    await deps.keep(told);
  };

  const cells = nightlyPlan.cellsOff(result);
  if (cells.length > 0) {
    notify(
      deps,
      `Not where it was in the nightly runs before: ${cells.map(cellName).join(', ')}. It is measured again.`,
    );
    await keep(await judged({ ...request, cells }, join(directory, again), deps));
  }
  const each = async (
    changes: readonly TrendChange[],
    answer: (change: TrendChange) => Promise<void>,
  ) => {
    for (const change of changes) {
      const { good, bad, metric } = change;
      if (metric !== config.gate.metric || cellsIn(change, config).length === 0) continue;
      await expectOnLine([good, bad], patch.headCommit, deps.repository)
        .then(() => answer(change))
        .catch(unlessOfThis(change, deps));
    }
  };
  await each(nightlyPlan.wantedGates(all), async (change) => keep(await confirmed(change, step)));
  if (config.trend.bisect) {
    await each(nightlyPlan.wantedBisections(all), async (change) => {
      // One commit needs no search.
      if ((await deps.repository.stepsSince(change.good, change.bad)) < 2) return;
      await keep(await searched(change, all, step));
    });
  }
  if (deps.now().getUTCDay() === sunday && isLinkedOften(config, testbed)) {
    notify(
      deps,
      'Another link of the same tree is measured, as every Sunday: what builds differ in.',
    );
    await keep(await judged(request, join(directory, relinked), untaught(deps), gateRelinked));
  }
}

const sunday = 0;

function isLinkedOften({ testbeds }: Config, name: string): boolean {
  const testbed = testbeds[name];
  return testbed?.kind === 'freebsd' && (testbed.builder?.relink ?? 1) > 1;
}

/** What commits of other days do is nothing to hold against the next patch. */
const untaught = (deps: NightlyDeps): NightlyDeps => ({
  ...deps,
  history: { ...deps.history, append: async () => {} },
});

const cellsIn = ({ cells }: TrendChange, config: Config): Cell[] =>
  cellsAmong(
    config,
    cells.map(({ cell }) => cell),
  );

/** The last good commit against the first bad one, in the cells that have changed. */
async function confirmed(change: TrendChange, { request, directory, deps }: Step): Promise<Result> {
  const { good, bad } = change;
  const patch = await patchOfRange(deps.repository, `${good}..${bad}`);
  const cells = cellsIn(change, request.config);
  notify(
    deps,
    `${patchName(patch)} may have changed ${cells.map(cellName).join(', ')}: a gate looks.`,
  );
  const asked = { ...request, patch, cells, isMeasuredAnyway: false };
  return judged(asked, join(directory, gateFolder(good, bad)), untaught(deps));
}

/** The commits of a change, in its worst cell, with what the gate of both ends has measured there. */
async function searched(
  change: TrendChange,
  all: readonly Told[],
  { request, directory, deps }: Step,
): Promise<BisectResult> {
  const { good, bad } = change;
  notify(deps, `The commits after ${shortId(good)} up to ${shortId(bad)} are bisected.`);
  const [gated] = all.flatMap(({ result }) =>
    isOfGate(result) && isOf(change, result) ? result : [],
  );
  const from = gated && gateRunsOf(gated);
  const config = withOneCell(request.config, from?.cell ?? worstCell(change, request.config));
  const ends = { good, bad, fixUps: [], skips: [], from };
  const bounds = { mostBoots: usualMostBoots, isVerified: false };
  const asked = { ...request, ...ends, ...bounds, config };
  const folder = join(directory, bisectFolder(good, bad));
  return (await hasBisectPlan(folder))
    ? resumeBisection(folder, untaught(deps))
    : bisect(asked, folder, untaught(deps));
}

const isOf = ({ good, bad }: TrendChange, { patch }: Result): boolean =>
  patch.baseCommit === good && patch.headCommit === bad;

function worstCell(change: TrendChange, config: Config): Cell | undefined {
  const names = cellsIn(change, config).map(cellName);
  const own = change.cells.filter(({ cell }) => names.includes(cellName(cell)));
  return own.toSorted((a, b) => Math.abs(b.changeRatio) - Math.abs(a.changeRatio))[0]?.cell;
}

function withOneCell(config: Config, cell: Cell | undefined): Config {
  if (cell === undefined) return config;
  const { scenario, family, frameBytes } = cell;
  const size = frameBytes === undefined ? {} : { frameSizes: [frameBytes] };
  return { ...config, scenarios: [scenario], families: [family], ...size };
}

/** A change whose commits are gone, as after a forced push, must not keep the others from being looked at. */
const unlessOfThis =
  ({ good, bad }: TrendChange, deps: NightlyDeps) =>
  (error: unknown): void => {
    if (conclusionOfError(error) !== 'usage') throw error;
    const text = `What changed after ${shortId(good)} up to ${shortId(bad)} cannot be looked at: ${reasonOf(error)}`;
    deps.onEvent({ kind: 'warning', text });
  };

const notify = ({ onEvent }: NightlyDeps, text: string): void => onEvent({ kind: 'told', text });
