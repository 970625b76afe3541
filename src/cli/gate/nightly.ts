// Runs `ppsgate nightly`.

import { join, resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { parsePriority } from '../../config/overrides.ts';
import type { Config } from '../../config/schema.ts';
import { testbedsFor } from '../../config/select-testbeds.ts';
import { patchOfRange } from '../../forge/patch/commit-range.ts';
import { type LinearRepository, openRepository, RepositoryError } from '../../forge/patch/repository.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import { randomSeed, resumeAdvice } from '../../gate/experiment/plan.ts';
import type { GateDeps } from '../../gate/gate-deps.ts';
import { type GateSession, inSession } from '../../gate/session.ts';
import { whoami } from '../../gate/testbeds/reserve.ts';
import { refuseNoFolder, WorkDirectory } from '../../gate/work-directory.ts';
import { conclusionOfResult, exitCodes } from '../../model/conclusion.ts';
import { patchName } from '../../model/patch.ts';
import type { Result } from '../../model/result.ts';
import { UsageError } from '../../model/usage-error.ts';
import { publishToDirectory, readDirectoryTrend } from '../../publish/data-branch/directory.ts';
import { isOfGate } from '../../publish/data-branch/layout.ts';
import { planFollowUps } from '../../publish/data-branch/nightly-plan.ts';
import { commitFacts, type NightlyDeps, nightlyFolder, nightlyRun, resumeNightly } from '../../publish/nightly.ts';
import { headline } from '../../report/headline.ts';
import { explained } from '../../report/read-result.ts';
import { configPath, usualConfig } from '../find-config.ts';
import type { Call } from '../run.ts';
import { print, printJson } from '../table.ts';
import { stderrLog } from './gate-call.ts';
import { isWorthResuming } from './judge-gate.ts';

type NightlyOptions = {
  commit: string;
  repository: string;
  config: string;
  testbed?: string;
  data?: string;
  priority: string;
  directory?: string;
  resume?: string;
  json?: true;
};

/** Returns the exit code. Throws on errors, and puts the way to resume into `closingLines`. */
export async function run(options: NightlyOptions, { signal, closingLines }: Call): Promise<number> {
  const config = await loadConfig(configPath(options.config));
  const kept = options.data ?? config.github.data.directory;
  if (kept === undefined) {
    throw new UsageError(
      '--data is missing: name a folder for nightly runs, or set `github.data.directory` in ppsgate.yml.',
    );
  }
  await using work = new WorkDirectory('ppsgate-nightly', stderrLog.warn);
  refuseNoFolder(kept, '--data');
  const directory = await work.open(options);
  const place = { config, data: resolve(kept), directory };
  const result = await measured(options, place, signal).catch(async (error: unknown) => {
    if (await isWorthResuming(error, directory)) closingLines.push(resumeAdvice(directory, commandOf(options)));
    throw error;
  });
  if (options.json) printJson(result);
  else print(`${headline(result)}\nReport: ${directory}/report/index.html`);
  // A difference of a commit from itself is chance or the testbed's fault, which the nightly run exists to detect.
  const isOfLab = conclusionOfResult(result) === 'infrastructure';
  return exitCodes[isOfLab ? 'infrastructure' : 'pass'];
}

const commandOf = ({ config, data }: NightlyOptions): string =>
  ['ppsgate nightly', config === usualConfig ? [] : ['--config', config], data === undefined ? [] : ['--data', data]]
    .flat()
    .join(' ');

type Place = {
  config: Config;
  data: string;
  directory: string;
};

async function measured(
  options: NightlyOptions,
  { config, data, directory }: Place,
  signal: AbortSignal,
): Promise<Result> {
  const repository = openRepository(resolve(options.repository));
  const priority = parsePriority(options.priority, '--priority');
  const seed = randomSeed();
  const { resume, commit, testbed } = options;
  const request =
    resume === undefined
      ? {
          patch: await patchOfCommit(commit, repository),
          testbeds: testbedsFor(config, testbed, '--testbed'),
        }
      : undefined;
  const session: GateSession = {
    config,
    repository,
    signal,
    history: historyFile(config.history),
    output: process.stderr,
    requestFor: (patch) => ({
      priority,
      holder: { who: whoami(), purpose: 'nightly', patch: patchName(patch) },
    }),
    leaseFolder: directory,
  };
  return inSession(session, (deps) => {
    const ours = nightlyDeps(deps, repository, { config, data, directory });
    return request === undefined
      ? resumeNightly({ config, seed }, directory, ours)
      : nightlyRun({ ...request, config, seed }, directory, ours);
  });
}

async function patchOfCommit(commit: string, repository: LinearRepository) {
  const id = await repository.resolve(commit).catch((error: unknown) => {
    if (!(error instanceof RepositoryError)) throw error;
    throw new UsageError(`--commit: ${error.message}`);
  });
  return patchOfRange(repository, `${id}..${id}`);
}

function nightlyDeps(deps: GateDeps, repository: LinearRepository, { config, data, directory }: Place): NightlyDeps {
  const { keep, staleSeconds } = config.github.data;
  const compareUrl = config.trend.compare;
  return {
    ...deps,
    repository,
    async trend(testbed, { headCommit }) {
      const { commits } = await commitFacts(headCommit, repository);
      return planFollowUps(await readDirectoryTrend(data), { testbed, commits, now: deps.now });
    },
    async keep(update) {
      const folder = join(directory, nightlyFolder(update));
      const { result, profiles } = await explained(update.result, folder, stderrLog.warn);
      const isOfOne = update.isDefaultBranch && isOfGate(result);
      const facts = isOfOne ? await commitFacts(result.patch.headCommit, repository) : {};
      const publication = { ...update, ...facts, ...(compareUrl && { compareUrl }), profiles };
      await publishToDirectory(data, [publication], { keep, staleSeconds, now: deps.now() });
    },
  };
}
