// Tells people what has lastingly changed on the default branch, once that is on the data branch.
import { randomUUID } from 'node:crypto';
import { accepted } from '../analysis/trend/change-history.ts';
import type { Trend } from '../analysis/trend/nightly-runs.ts';
import type { Config } from '../config/schema.ts';
import { landedRevision } from '../forge/phabricator/revision.ts';
import { reasonOf } from '../model/one-line.ts';
import type { TrendChange, TrendIndex } from '../model/trend.ts';
import { UsageError } from '../model/usage-error.ts';
import { publishTrend, readBranchTrend } from '../publish/data-branch/branch.ts';
import { publishTrendToDirectory, readDirectoryTrend } from '../publish/data-branch/directory.ts';
import { type DataPlace, linkTo } from '../publish/data-branch/links.ts';
import { type AlertsDeps, tellChanges } from '../publish/reporters/alerts.ts';
import { say } from '../publish/reporters/revision-comment.ts';
import { type JobContext, revisionDepsOf } from './job.ts';
import { log } from './log.ts';

/** Brings the issues of these testbeds' changes up to date. Never throws: what could not be told is a warning. */
export async function tellTrend(
  context: JobContext,
  config: Config,
  testbeds: readonly string[],
): Promise<void> {
  const kept = keptIn(context, config);
  if (!config.trend.issues || kept === undefined) return;
  try {
    for (const testbed of new Set(testbeds)) {
      const trend = await kept.read(testbed);
      const changes = trend.index.changes.filter((change) => change.testbed === testbed);
      await tellChanges(changes, depsOf(context, config, kept, trend));
    }
  } catch (error) {
    log.warn(`Changes of the default branch were not told (${reasonOf(error)}).`);
  }
}

/**
 * Takes the new level of a change for good, and ends its issue. Throws an Error of one sentence where it is not written,
 * and a `UsageError` where nothing keeps changes.
 */
export async function acceptLevel(context: JobContext, config: Config, id: string): Promise<void> {
  const kept = keptIn(context, config);
  if (kept === undefined) {
    throw new UsageError(
      'Nothing keeps the changes of the default branch: name a branch in `github.data.branch` of ppsgate.yml.',
    );
  }
  const now = new Date();
  const index = await kept.edit((before) => accepted(before, id, now) ?? before);
  const change = index.changes.find((one) => one.id === id);
  if (change?.state !== 'accepted') {
    log.warn(`The change ${id} is not open, so there is nothing to accept.`);
    return;
  }
  if (!config.trend.issues) return;
  const trend = await kept.read(change.testbed);
  await tellChanges([change], depsOf(context, config, kept, trend));
}

/** Where the branch over time is kept. */
type Kept = {
  read(testbed: string): Promise<Trend>;
  edit: AlertsDeps['edit'];
  /** The URL of the folder of a result; absent where nobody serves it. */
  result?: (path: string) => string;
};

function keptIn({ octokit, inputs: { job } }: JobContext, { github }: Config): Kept | undefined {
  const { branch, directory, pages } = github.data;
  if (branch !== undefined) {
    const { repository, serverUrl } = job;
    const place: DataPlace = { repository, branch, serverUrl, ...(pages && { pages }) };
    return {
      read: (testbed) => readBranchTrend(octokit, place, testbed),
      edit: (change) => publishTrend(octokit, place, change),
      result: (path) => linkTo(place, `${path}/report.md`),
    };
  }
  if (directory === undefined) return undefined;
  return {
    read: () => readDirectoryTrend(directory),
    edit: (change: (index: TrendIndex) => TrendIndex) => publishTrendToDirectory(directory, change),
  };
}

function depsOf(
  context: JobContext,
  config: Config,
  kept: Kept,
  { index, nightlyRuns }: Trend,
): AlertsDeps {
  const { octokit, inputs } = context;
  const { repository, serverUrl } = inputs.job;
  const tellRevision = revisionUpdates(context, config);
  return {
    ...{ octokit, repository, serverUrl, nightlyRuns, log },
    marginRatio: config.gate.marginRatio,
    links: { compareUrl: index.compareUrl, result: kept.result },
    edit: kept.edit,
    onlyCommitOf: (change) => onlyCommitOf(change, context),
    ...(tellRevision && { tellRevision }),
    now: () => new Date(),
    drawName: randomUUID,
  };
}

/** Along first parents, which is how a branch is measured. */
async function onlyCommitOf(
  { good, bad }: TrendChange,
  { repository }: JobContext,
): Promise<string | undefined> {
  if (good === bad) return undefined;
  await repository.resolve(good);
  await repository.resolve(bad);
  let only: string | undefined;
  for await (const { commit } of repository.firstParents(good, bad)) {
    if (only !== undefined) return undefined;
    only = commit;
  }
  return only;
}

/** Only the server of the configuration is told, whatever a commit's message names. */
function revisionUpdates(
  context: JobContext,
  config: Config,
): AlertsDeps['tellRevision'] | undefined {
  if (config.phabricator === undefined || context.inputs.conduitToken === '') return undefined;
  const { conduit } = revisionDepsOf(context, config);
  return async (commit, text, key) => {
    const message = await context.repository.message(await context.repository.resolve(commit));
    const number = landedRevision(message, conduit.url);
    if (number === undefined) return undefined;
    return { told: await say(conduit, number, text, key), name: `D${number}` };
  };
}
