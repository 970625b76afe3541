// Measures a nightly run: an A/A run of one commit, then any follow-ups, under the same lease.
import { join } from 'node:path';
import { isOfOneCommit, measuresLayoutNoise } from '../analysis/trend/aa-runs.ts';
import { usualMostBoots } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { expectOnLine, patchOfRange } from '../forge/patch/commit-range.ts';
import type { LinearRepository } from '../forge/patch/repository.ts';
import { bisect, resumeBisection } from '../gate/bisect/bisect.ts';
import { hasBisectPlan } from '../gate/bisect/bisect-plan.ts';
import { gateFindingOf } from '../gate/bisect/from-gate.ts';
import { cellsAmong, hasPlan, readPlan } from '../gate/experiment/plan.ts';
import { refuseUsed } from '../gate/experiment/plan-file.ts';
import { type GateRequest, gate } from '../gate/gate.ts';
import type { GateDeps } from '../gate/gate-deps.ts';
import { gateLayoutNoise } from '../gate/layout-noise-gate.ts';
import { thenReleased } from '../gate/on-testbed.ts';
import { resumeGate } from '../gate/resume-gate.ts';
import type { Reserved } from '../lab/testbed.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { conclusionOfError, outcomeName } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { type Patch, patchName, shortId } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import { type Cell, cellName } from '../model/scenario.ts';
import type { TrendChange } from '../model/trend.ts';
import { isOfGate } from './data-branch/layout.ts';
import type { NightlyPlan } from './data-branch/nightly-plan.ts';
import type { TrendUpdate } from './data-branch/trend-files.ts';

type NightlyRequest = {
  patch: Patch;
  config: Config;
  /** Names of testbeds in ppsgate.yml, preferred first. */
  testbeds: readonly string[];
  seed: number;
};

export type NightlyDeps = Omit<GateDeps, 'repository'> & {
  repository: LinearRepository;
  /** Plan from earlier nightly runs of the testbed; undefined if there are none. */
  trend(testbed: string, patch: Patch): Promise<NightlyPlan | undefined>;
  /** Stores each result in `nightlyFolder` as soon as it is measured. */
  keep(update: TrendUpdate): Promise<void>;
};

/**
 * Measures a commit against itself under one lease of one testbed. Measures cells off their level again. Each possible
 * change gets a gate of its last good and first bad commit and, with `trend.bisect`, a bisection of a confirmed loss.
 * On Sundays it measures another layout variant, if the testbed builds several. Returns the A/A result; follow-ups have
 * their own folders, and a failure of one is only a warning.
 */
export async function nightlyRun(request: NightlyRequest, directory: string, deps: NightlyDeps): Promise<Result> {
  await refuseUsed(directory);
  return runOnOneLease(request, directory, deps);
}

/** Resumes a nightly run; returns finished parts without a testbed. Throws a `PlanError` if nothing was planned. */
export async function resumeNightly(
  request: Pick<NightlyRequest, 'config' | 'seed'>,
  directory: string,
  deps: NightlyDeps,
): Promise<Result> {
  const { patch, testbed } = await readPlan(directory);
  return runOnOneLease({ ...request, patch, testbeds: [testbed] }, directory, deps);
}

/** The first part with something to measure reserves the testbed for all parts. */
async function runOnOneLease(request: NightlyRequest, directory: string, deps: NightlyDeps): Promise<Result> {
  let lease: Reserved | undefined;
  const leased: NightlyDeps = {
    ...deps,
    async reserve(testbeds, patch) {
      lease ??= await deps.reserve(testbeds, patch);
      return { ...lease, giveBack: async () => undefined };
    },
  };
  return thenReleased(
    () => lease,
    deps,
    outcomeName,
    async () => {
      const config = { ...request.config, gate: withoutEarlyStop(request.config.gate) };
      const aaRequest = { ...request, config, isMeasuredAnyway: true };
      const result = await gateOrResume(aaRequest, directory, leased);
      await deps.keep(trendUpdateOf(result, 'nightly'));
      const next = { ...aaRequest, testbeds: [result.testbed.name] };
      await runFollowUps(result, { request: next, directory, deps: leased }).catch((error) => {
        deps.signal.throwIfAborted();
        const text = `The rest of this nightly run is skipped: ${reasonOf(error)}`;
        deps.onEvent({ kind: 'warning', text });
      });
      return result;
    },
  );
}

/** A nightly run needs every cell's level, even after an alarm in one of them. */
const withoutEarlyStop = ({ stopsAtFirst: _, ...rest }: Config['gate']): Config['gate'] => rest;

const gateOrResume = async (request: GateRequest, directory: string, deps: GateDeps, begin = gate): Promise<Result> =>
  (await hasPlan(directory)) ? resumeGate(directory, deps) : begin(request, directory, deps);

/** An A/A result of a single commit is a nightly run of the branch. Any other result follows up an earlier change. */
export function trendUpdateOf(result: Result | BisectResult, occasion: 'nightly' | 'again' = 'again'): TrendUpdate {
  const isOfOne = isOfGate(result) && isOfOneCommit(result);
  return {
    result,
    isTrusted: true,
    isDefaultBranch: isOfOne,
    ...(isOfOne && { occasion }),
  };
}

export function nightlyFolder({ result, occasion }: TrendUpdate): string {
  if (!isOfGate(result)) return bisectFolder(result.good, result.bad);
  const { baseCommit, headCommit } = result.patch;
  if (occasion === undefined) return gateFolder(baseCommit, headCommit);
  if (occasion === 'nightly') return '';
  return measuresLayoutNoise(result) ? layoutNoise : again;
}

const again = 'again';
const layoutNoise = 'layout-noise';
const gateFolder = (good: string, bad: string) => `gate-${good}-${bad}`;
const bisectFolder = (good: string, bad: string) => `bisect-${good}-${bad}`;

export async function commitFacts(
  commit: string,
  repository: Pick<LinearRepository, 'committedAt' | 'releaseBefore'>,
): Promise<Required<Pick<TrendUpdate, 'commits' | 'releases'>>> {
  const release = await repository.releaseBefore(commit);
  return {
    commits: { [commit]: await repository.committedAt(commit) },
    releases: release === undefined ? [] : [release],
  };
}

type NightlyContext = { request: GateRequest; directory: string; deps: NightlyDeps };

async function runFollowUps(result: Result, context: NightlyContext): Promise<void> {
  const { request, directory, deps } = context;
  const { config, patch } = request;
  const [testbed = ''] = request.testbeds;
  const plan = await deps.trend(testbed, patch);
  if (plan === undefined) return;
  const updates = [trendUpdateOf(result, 'nightly')];
  const keep = async (measured: Result | BisectResult) => {
    const update = trendUpdateOf(measured);
    updates.push(update);
    await deps.keep(update);
  };

  const cells = plan.cellsOffLevel(result);
  if (cells.length > 0) {
    notify(
      deps,
      `These cells differ from earlier nightly runs and are measured again: ${cells.map(cellName).join(', ')}.`,
    );
    await keep(await gateOrResume({ ...request, cells }, join(directory, again), deps));
  }
  const each = async (changes: readonly TrendChange[], measure: (change: TrendChange) => Promise<void>) => {
    for (const change of changes) {
      const { good, bad, metric } = change;
      if (metric !== config.gate.metric || cellsIn(change, config).length === 0) continue;
      await expectOnLine([good, bad], patch.headCommit, deps.repository)
        .then(() => measure(change))
        .catch(warnOfMissingCommits(change, deps));
    }
  };
  await each(plan.changesToGate(updates), async (change) => keep(await gateChange(change, context)));
  if (config.trend.bisect) {
    await each(plan.changesToBisect(updates), async (change) => {
      // A range of one commit needs no search.
      if ((await deps.repository.stepsSince(change.good, change.bad)) < 2) return;
      await keep(await bisectChange(change, updates, context));
    });
  }
  if (deps.now().getUTCDay() === sunday && hasLayoutVariants(config, testbed)) {
    notify(deps, 'Measuring another layout variant of the same tree, as every Sunday.');
    await keep(await gateOrResume(request, join(directory, layoutNoise), withoutHistory(deps), gateLayoutNoise));
  }
}

const sunday = 0;

function hasLayoutVariants({ testbeds }: Config, name: string): boolean {
  const testbed = testbeds[name];
  return testbed?.kind === 'freebsd' && (testbed.builder?.layoutVariants ?? 1) > 1;
}

/** Runs of other commits must not enter the history that patches are compared with. */
const withoutHistory = (deps: NightlyDeps): NightlyDeps => ({
  ...deps,
  history: { ...deps.history, append: async () => {} },
});

const cellsIn = ({ cells }: TrendChange, config: Config): Cell[] =>
  cellsAmong(
    config,
    cells.map(({ cell }) => cell),
  );

async function gateChange(change: TrendChange, { request, directory, deps }: NightlyContext): Promise<Result> {
  const { good, bad } = change;
  const patch = await patchOfRange(deps.repository, `${good}..${bad}`);
  const cells = cellsIn(change, request.config);
  notify(deps, `${patchName(patch)} may have changed ${cells.map(cellName).join(', ')}: a gate compares both commits.`);
  const gateRequest = { ...request, patch, cells, isMeasuredAnyway: false };
  return gateOrResume(gateRequest, join(directory, gateFolder(good, bad)), withoutHistory(deps));
}

/** Bisects in the worst cell of the gate of both ends. */
async function bisectChange(
  change: TrendChange,
  updates: readonly TrendUpdate[],
  { request, directory, deps }: NightlyContext,
): Promise<BisectResult> {
  const { good, bad } = change;
  notify(deps, `Bisecting the commits after ${shortId(good)} up to ${shortId(bad)}.`);
  const [gated] = updates.flatMap(({ result }) => (isOfGate(result) && isOf(change, result) ? result : []));
  const from = gated && gateFindingOf(gated);
  const config = withOneCell(request.config, from?.cell ?? worstCell(change, request.config));
  const ends = { good, bad, fixUps: [], skips: [], from };
  const bounds = { mostBoots: usualMostBoots, isVerified: false };
  const bisectRequest = { ...request, ...ends, ...bounds, config };
  const folder = join(directory, bisectFolder(good, bad));
  return (await hasBisectPlan(folder))
    ? resumeBisection(folder, withoutHistory(deps))
    : bisect(bisectRequest, folder, withoutHistory(deps));
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

/** Skips a change whose commits are gone, for example after a forced push, so that it does not stop the others. */
const warnOfMissingCommits =
  ({ good, bad }: TrendChange, deps: NightlyDeps) =>
  (error: unknown): void => {
    if (conclusionOfError(error) !== 'usage') throw error;
    const text = `The change after ${shortId(good)} up to ${shortId(bad)} cannot be measured: ${reasonOf(error)}`;
    deps.onEvent({ kind: 'warning', text });
  };

const notify = ({ onEvent }: NightlyDeps, text: string): void => onEvent({ kind: 'note', text });
