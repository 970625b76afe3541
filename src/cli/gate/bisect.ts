// Runs `ppsgate bisect`.

import { resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { applyOverrides, parseFrameSize, parseMostBoots, parsePriority, parseSeed } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import { type Config, withFrameSize } from '../../config/schema.ts';
import { testbedsFor } from '../../config/select-testbeds.ts';
import type { BisectOverrides } from '../../forge/patch/bisect-command.ts';
import { openRepository, withoutShortIds } from '../../forge/patch/repository.ts';
import { parseEarlier } from '../../forge/patch/revision.ts';
import { type BisectRequest, bisect, planBisection, resumeBisection } from '../../gate/bisect/bisect.ts';
import { bisectionEstimateLines, estimateBisection } from '../../gate/bisect/estimate.ts';
import { type GateFinding, gateFindingOf } from '../../gate/bisect/from-gate.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import { cellsOf, randomSeed, resumeAdvice } from '../../gate/experiment/plan.ts';
import { showProgress } from '../../gate/progress.ts';
import { inSession } from '../../gate/session.ts';
import { whoami } from '../../gate/testbeds/reserve.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { conclusionOfBisection, exitCodes } from '../../model/conclusion.ts';
import { patchName } from '../../model/patch.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { Reporter } from '../../publish/reporters/reporter.ts';
import { bisectHeadline } from '../../report/bisect-headline.ts';
import { readAnyResult } from '../../report/read-result.ts';
import { configPath, usualConfig } from '../find-config.ts';
import type { Call } from '../run.ts';
import { print, printJson } from '../table.ts';
import { bisectAndAnswer, endsOfRevision } from './bisect-revision.ts';
import { stderrLog } from './gate-call.ts';
import { isWorthResuming } from './judge-gate.ts';

type BisectOptions = {
  good?: string;
  bad?: string;
  patch?: string;
  earlier: string;
  from?: string;
  fixUp: string[];
  skip: string[];
  repository: string;
  config: string;
  testbed?: string;
  scenario?: string;
  family?: string;
  frameSize?: string;
  metric?: string;
  profile?: string;
  maxBoots?: string | undefined;
  verifyRevert?: true;
  dryRun?: true;
  priority: string;
  directory?: string;
  seed?: string;
  resume?: string;
  answer?: true;
  run?: string;
  details?: string;
  site?: string;
  json?: true;
};

/** Returns the exit code. Throws on errors, and puts the way to resume into `closingLines`. */
export async function run(options: BisectOptions, { signal, closingLines }: Call): Promise<number> {
  const written = await loadConfig(configPath(options.config));
  if (options.dryRun) return printEstimate(options, await requestOf(options, written, signal));
  await using work = new WorkDirectory('ppsgate-bisect', stderrLog.warn);
  const directory = await work.open(options);
  const result = await found(options, written, directory, signal).catch(async (error: unknown) => {
    if (await isWorthResuming(error, directory)) closingLines.push(resumeAdvice(directory, commandOf(options)));
    throw error;
  });
  if (options.json) printJson(result);
  else print(`${bisectHeadline(result)}\nReport: ${directory}/report/index.html`);
  return exitCodes[conclusionOfBisection(result)];
}

const commandOf = ({ config }: BisectOptions): string =>
  config === usualConfig ? 'ppsgate bisect' : `ppsgate bisect --config ${config}`;

async function found(
  options: BisectOptions,
  written: Config,
  directory: string,
  signal: AbortSignal,
): Promise<BisectResult> {
  const { patch = '', run, details, site } = options;
  if (options.answer && patch === '') missing('patch');
  const search = (answer?: Reporter) => searched(options, written, directory, signal, answer);
  if (!options.answer) return search();
  const links = { ...(run && { run }), ...(details && { details }), ...(site && { site }) };
  const about = { ...links, patch, overrides: overridesOf(options), config: written, signal };
  return bisectAndAnswer(about, search);
}

function overridesOf(options: BisectOptions): BisectOverrides {
  const { good, bad, earlier, scenario, family, metric, profile, testbed, maxBoots } = options;
  return {
    good,
    bad,
    ...(earlier !== 'all' && { earlier }),
    scenarios: scenario,
    families: family,
    metric,
    profile,
    testbed,
    maxBoots,
    fixUp: options.fixUp.join(','),
    skip: options.skip.join(','),
    ...(options.verifyRevert && { verifyRevert: 'true' }),
  };
}

async function searched(
  options: BisectOptions,
  written: Config,
  directory: string,
  signal: AbortSignal,
  answer: Reporter | undefined,
): Promise<BisectResult> {
  const { resume } = options;
  const request = resume === undefined ? await requestOf(options, written, signal) : undefined;
  const mostBoots = options.maxBoots === undefined ? undefined : parseMostBoots(options.maxBoots, '--max-boots');
  const config = request?.config ?? written;
  const priority = parsePriority(options.priority, '--priority');
  const repository = repositoryOf(options);
  const session = {
    config,
    signal,
    repository,
    answer,
    history: historyFile(config.history),
    output: process.stderr,
    requestFor: (patch: Parameters<typeof patchName>[0]) => ({
      priority,
      holder: { who: whoami(), purpose: 'bisect', patch: patchName(patch) },
    }),
    leaseFolder: directory,
  };
  return inSession(session, (deps) =>
    request === undefined
      ? resumeBisection(directory, { ...deps, repository }, { mostBoots, skips: options.skip })
      : bisect(request, directory, { ...deps, repository }),
  );
}

/** Rejects short ids in a clone that measures revisions: authors of diffs choose the ids of commits made of them. */
function repositoryOf({ repository, patch }: BisectOptions) {
  const opened = openRepository(resolve(repository));
  return patch === undefined ? opened : withoutShortIds(opened);
}

async function requestOf(options: BisectOptions, written: Config, signal: AbortSignal): Promise<BisectRequest> {
  const from = options.from === undefined ? undefined : await readGateFinding(options.from);
  const config = withOneCell(options, written, from);
  const ends = await endsOf(options, from, { config, signal });
  const { seed, fixUp: fixUps, skip: skips, maxBoots } = options;
  return {
    ...ends,
    fixUps,
    skips,
    config,
    from,
    testbeds: testbedsFor(config, options.testbed ?? from?.testbed, '--testbed'),
    seed: seed === undefined ? randomSeed() : parseSeed(seed, '--seed'),
    mostBoots: parseMostBoots(maxBoots, '--max-boots'),
    isVerified: options.verifyRevert === true,
  };
}

/** Named commits take precedence: a revision may be given only for its answer. */
async function endsOf(
  { good, bad, patch, earlier, repository, answer, run }: BisectOptions,
  from: GateFinding | undefined,
  surroundings: { config: Config; signal: AbortSignal },
): Promise<Pick<BisectRequest, 'good' | 'bad' | 'diffs'>> {
  if (patch && !good && !bad && from === undefined) {
    const [, first, last] = /^(.+?)\.\.\.?(.+)$/.exec(patch) ?? [];
    if (first !== undefined && last !== undefined) {
      throw new UsageError(
        `--patch: expected a revision like D27401; for commits, write --good ${excerpt(first)} --bad ${excerpt(last)}.`,
      );
    }
    const revision = { patch, earlier: parseEarlier(earlier, '--earlier') };
    const about = { ...surroundings, answer, run };
    return endsOfRevision(revision, openRepository(resolve(repository)), about);
  }
  return {
    good: good ?? from?.good ?? missing('good'),
    bad: bad ?? from?.bad ?? missing('bad'),
  };
}

function missing(name: string): never {
  throw new UsageError(`--${name} is missing: see \`ppsgate bisect --help\`.`);
}

async function readGateFinding(path: string): Promise<GateFinding> {
  const { result } = await readAnyResult(path);
  if (!('kind' in result)) return gateFindingOf(result);
  throw new UsageError(`--from: ${path} is the result of a bisection; name that of a gate.`);
}

/** Reduces the configuration to the requested cell, the gate's cell, or its only cell. */
function withOneCell(options: BisectOptions, written: Config, from: GateFinding | undefined): Config {
  const { metric, profile, frameSize } = options;
  const { scenario, family, frameBytes } = from?.cell ?? {};
  const given = {
    scenarios: options.scenario ?? scenario,
    families: options.family ?? family,
    metric,
    profile,
  };
  const config = applyOverrides(written, given, namingStyles.bisectFlag);
  const bytes = frameSize === undefined ? frameBytes : parseFrameSize(frameSize, '--frame-size');
  const one = bytes === undefined ? config : withFrameSize(config, bytes);
  const { scenarios, families, frameSizes = [] } = one;
  if (cellsOf(one).length === 1) return one;
  const chosen = [
    oneOf('--scenario', scenarios),
    oneOf('--family', families),
    oneOf(
      '--frame-size',
      frameSizes.map((size) => `${size}B`),
    ),
  ].filter((text) => text !== undefined);
  throw new UsageError(`A bisection measures one cell: name ${chosen.join(' and ')}.`);
}

const oneOf = (option: string, names: readonly string[]): string | undefined =>
  names.length > 1 ? `${option} (one of ${names.join(', ')})` : undefined;

async function printEstimate(options: BisectOptions, request: BisectRequest): Promise<number> {
  const progress = showProgress(process.stderr, request.config.gate.metric, () => performance.now());
  const plan = await planBisection(request, {
    repository: repositoryOf(options),
    history: historyFile(request.config.history),
    now: () => new Date(),
    onEvent: progress.onEvent,
  }).finally(progress.end);
  if (options.json) {
    const { range, testbed, cell, mostBoots } = plan;
    printJson({ testbed, cell, range, mostBoots, ...estimateBisection(plan) });
  } else {
    for (const line of bisectionEstimateLines(plan)) print(line);
  }
  return exitCodes.pass;
}
