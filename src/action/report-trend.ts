// Reports lasting changes of the default branch in issues, once they are on the data branch.
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
import { type AlertsDeps, reportChanges } from '../publish/reporters/alerts.ts';
import { postReply } from '../publish/reporters/revision-comment.ts';
import { type JobContext, revisionDepsOf } from './job.ts';
import { log } from './log.ts';

export async function reportTrend(context: JobContext, config: Config, testbeds: readonly string[]): Promise<void> {
  const store = trendStore(context, config);
  if (!config.trend.issues || store === undefined) return;
  try {
    for (const testbed of new Set(testbeds)) {
      const trend = await store.read(testbed);
      const changes = trend.index.changes.filter((change) => change.testbed === testbed);
      await reportChanges(changes, depsOf(context, config, store, trend));
    }
  } catch (error) {
    log.warn(`Changes of the default branch were not reported (${reasonOf(error)}).`);
  }
}

/** Also closes its issue. Throws an Error for a failed write, and a `UsageError` without a branch or directory. */
export async function acceptLevel(context: JobContext, config: Config, id: string): Promise<void> {
  const store = trendStore(context, config);
  if (store === undefined) {
    throw new UsageError(
      'Changes of the default branch are not stored: name a branch in `github.data.branch` of ppsgate.yml.',
    );
  }
  const now = new Date();
  const index = await store.edit((before) => accepted(before, id, now) ?? before);
  const change = index.changes.find((one) => one.id === id);
  if (change?.state !== 'accepted') {
    log.warn(`The change ${id} is not open, so there is nothing to accept.`);
    return;
  }
  if (!config.trend.issues) return;
  const trend = await store.read(change.testbed);
  await reportChanges([change], depsOf(context, config, store, trend));
}

type TrendStore = {
  read(testbed: string): Promise<Trend>;
  edit: AlertsDeps['edit'];
  /** URL of a result's folder; absent for a directory, which no server shows. */
  result?: (path: string) => string;
};

function trendStore({ octokit, inputs: { job } }: JobContext, { github }: Config): TrendStore | undefined {
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

function depsOf(context: JobContext, config: Config, store: TrendStore, { index, nightlyRuns }: Trend): AlertsDeps {
  const { octokit, inputs } = context;
  const { repository, serverUrl } = inputs.job;
  const commentRevision = commentOnRevision(context, config);
  return {
    octokit,
    repository,
    serverUrl,
    nightlyRuns,
    log,
    marginRatio: config.gate.marginRatio,
    links: { compareUrl: index.compareUrl, result: store.result },
    edit: store.edit,
    onlyCommitOf: (change) => onlyCommitOf(change, context),
    ...(commentRevision && { commentOnRevision: commentRevision }),
  };
}

/** Returns the only commit of the range along first parents, as nightly runs measure only those. */
async function onlyCommitOf({ good, bad }: TrendChange, { repository }: JobContext): Promise<string | undefined> {
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

/** Comments only on the configured server: commit messages may name others. */
function commentOnRevision(context: JobContext, config: Config): AlertsDeps['commentOnRevision'] | undefined {
  if (config.phabricator === undefined || context.inputs.conduitToken === '') return undefined;
  const { conduit } = revisionDepsOf(context, config);
  return async (commit, text, key) => {
    const message = await context.repository.message(await context.repository.resolve(commit));
    const number = landedRevision(message, conduit.url);
    if (number === undefined) return undefined;
    return { attempt: await postReply(conduit, number, text, key), name: `D${number}` };
  };
}
