// Publishes to the data branch on GitHub. The branch has a single commit, replaced each time, so that clones stay
// small.

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { emptyTrend, type Trend } from '../../analysis/trend/nightly-runs.ts';
import { type Octokit, placeOf } from '../../forge/github/client.ts';
import { type GithubFailure, githubFailure, isBreakdown, whyNotDone } from '../../forge/github/failure.ts';
import type { HistoryEntry } from '../../gate/experiment/history.ts';
import * as bounded from '../../model/bounds.ts';
import type { TrendIndex } from '../../model/trend.ts';
import {
  type DataRules,
  editedFiles,
  emptyIndex,
  historyPath,
  indexPath,
  type NextFiles,
  nextFiles,
  type Publication,
  type PublishedPaths,
  parseHistory,
  parseIndex,
  type StoredData,
} from './layout.ts';
import { type DataPlace, linkTo, linkToImage } from './links.ts';
import {
  isNeeded,
  isRecent,
  parseTrendIndex,
  readNightlyRuns,
  trendIndexPath,
  type YearFilter,
} from './trend-files.ts';

type PublishedData =
  | { kind: 'published'; commit: string; links: PublishedLinks[] }
  | { kind: 'not-published'; why: string };

type PublishedLinks = PublishedPaths;

type DataOptions = Omit<DataRules, 'now' | 'isSite'> & {
  now(): Date;
  /** Pauses before a retry if another publisher was faster. */
  pause?: (seconds: number) => Promise<unknown>;
  /** Draws a number from 0 to 1, so that colliding publishers do not collide again. */
  random?: () => number;
};

/**
 * Adds results to the branch in one commit, or without results updates its badges; creates a missing branch. Keeps
 * concurrent publications; publishing a result again replaces it. Never throws for a failure of GitHub or the network:
 * `why` is then a sentence on it.
 */
export async function publishToBranch(
  octokit: Octokit,
  place: DataPlace,
  publications: readonly Publication[],
  options: DataOptions,
): Promise<PublishedData> {
  const isSite = place.pages !== undefined;
  const work: BranchUpdate<PublishedPaths[]> = {
    isWanted: isNeeded(publications),
    next(stored) {
      const rules = { ...options, isSite, now: options.now() };
      const { published, ...files } = nextFiles(stored, publications, rules);
      return { ...files, answer: published };
    },
  };
  try {
    const { commit, answer: published } = await publishPatiently(branchOf(octokit, place), work, patient(options));
    return { kind: 'published', commit, links: published.map((paths) => linksOf(place, paths)) };
  } catch (error) {
    if (error instanceof BranchError) return { kind: 'not-published', why: error.message };
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return { kind: 'not-published', why: whyNot(failure, branchOf(octokit, place)) };
  }
}

/**
 * Returns an empty history if there is no branch. Needs `contents: read`. Throws an Error of one sentence if GitHub
 * does not reply.
 */
export async function readHistory(
  octokit: Octokit,
  place: Pick<DataPlace, 'repository' | 'branch'>,
): Promise<HistoryEntry[]> {
  const branch = branchOf(octokit, place);
  return readable('history', place, async () => {
    const tip = await readTip(branch, 'top');
    return tip === undefined ? [] : parseHistory(await readText(branch, tip, historyPath));
  });
}

/**
 * Reads the branch's trend, with the nightly runs of `testbed` in the newest two years; empty if there is no branch.
 * Needs `contents: read`. Throws an Error of one sentence if GitHub does not reply, or the trend is unreadable.
 */
export async function readBranchTrend(
  octokit: Octokit,
  place: Pick<DataPlace, 'repository' | 'branch'>,
  testbed: string,
): Promise<Trend> {
  const branch = branchOf(octokit, place);
  return readable('trend', place, async () => {
    const tip = await readTip(branch, 'trend');
    if (tip === undefined) return emptyTrend;
    const isWanted: YearFilter = (series, year) => series.testbed === testbed && isRecent(series, year);
    const trend = await readTrend(branch, tip, isWanted, unreadable('trend', place));
    return trend ?? emptyTrend;
  });
}

async function readable<T>(
  what: string,
  place: Pick<DataPlace, 'repository' | 'branch'>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    throw new Error(
      `${unreadable(what, place)} (${failure.detail}): run the job again, and check that it has \`permissions: contents: read\`.`,
    );
  }
}

const unreadable = (what: string, place: Pick<DataPlace, 'repository' | 'branch'>): string =>
  `The ${what} in the branch ${place.branch} of ${place.repository} cannot be read`;

/** Calls `edit` again with the current index if another publisher was faster. Throws an Error of one sentence. */
export async function publishTrend(
  octokit: Octokit,
  place: Pick<DataPlace, 'repository' | 'branch'>,
  edit: (index: TrendIndex) => TrendIndex,
  options: Partial<Patience> = {},
): Promise<TrendIndex> {
  const branch = branchOf(octokit, place);
  const work: BranchUpdate<TrendIndex> = {
    isWanted: () => false,
    next(stored) {
      const { write, index } = editedFiles(stored, edit);
      return { write, remove: [], answer: index };
    },
  };
  try {
    return (await publishPatiently(branch, work, patient(options))).answer;
  } catch (error) {
    const failure = githubFailure(error);
    throw failure === undefined ? error : new BranchError(whyNot(failure, branch));
  }
}

class BranchError extends Error {}

type Branch = {
  octokit: Octokit;
  owner: string;
  repo: string;
  /** Omits `refs/heads/`. */
  name: string;
};

function branchOf(octokit: Octokit, { repository, branch }: Pick<DataPlace, 'repository' | 'branch'>): Branch {
  const { owner, repo } = placeOf(repository);
  return { octokit, owner, repo, name: branch };
}

function linksOf(place: DataPlace, paths: PublishedPaths): PublishedLinks {
  const { result, report, page, image, graphs, badges } = paths;
  const link = (path: string) => linkTo(place, path);
  return {
    ...(result !== undefined && { result: link(result) }),
    ...(report !== undefined && { report: link(report) }),
    ...(page !== undefined && { page: link(page) }),
    ...(image !== undefined && { image: linkToImage(place, image) }),
    graphs: new Map([...graphs].map(([anchor, path]) => [anchor, link(path)])),
    badges: badges.map(link),
  };
}

type BranchUpdate<T> = {
  isWanted: YearFilter;
  next(stored: StoredData): Pick<NextFiles, 'write' | 'remove'> & { answer: T };
};

type Patience = { pause: (seconds: number) => Promise<unknown>; random: () => number };

const patient = ({ pause, random }: Partial<Patience>): Patience => ({
  pause: pause ?? ((seconds) => sleep(seconds * 1000)),
  random: random ?? Math.random,
});

const maxFailures = 3;

/** Octokit has already tried each request several times. */
async function publishPatiently<T>(
  branch: Branch,
  work: BranchUpdate<T>,
  patience: Patience,
  failures = 1,
): Promise<{ commit: string; answer: T }> {
  try {
    return await publishInTurn(branch, work, patience);
  } catch (error) {
    if (failures === maxFailures || !isBreakdown(githubFailure(error))) throw error;
  }
  await patience.pause((failures + patience.random()) * 10);
  return publishPatiently(branch, work, patience, failures + 1);
}

const maxTries = 10;
const longestPauseSeconds = 30;

async function publishInTurn<T>(
  branch: Branch,
  { isWanted, next }: BranchUpdate<T>,
  { pause, random }: Patience,
): Promise<{ commit: string; answer: T }> {
  const repositoryId = await repositoryIdOf(branch);
  let refused: { at: string | undefined; error: unknown } | undefined;
  for (let tries = 1; tries <= maxTries; tries++) {
    const tip = await readTip(branch, 'all');
    // Without a faster publisher, the refusal is final.
    if (refused !== undefined && refused.at === tip?.commit) throw refused.error;
    const { answer, ...files } = next(await readStored(branch, tip, isWanted));
    const tree = await writeTree(branch, tip, files);
    // The reply to the previous try may have been lost.
    if (tip?.tree === tree) return { commit: tip.commit, answer };
    const commit = await writeCommit(branch, tree);
    const move = await moveBranch(branch, repositoryId, { from: tip?.commit, to: commit });
    if (move.kind === 'moved') return { commit, answer };
    refused = { at: tip?.commit, error: move.error };
    await pause(random() * Math.min(2 ** tries, longestPauseSeconds));
  }
  throw new BranchError(
    `${nothing(branch)} because it changed during all ${maxTries} attempts: publish the result again later.`,
  );
}

async function repositoryIdOf(branch: Branch): Promise<string> {
  const { octokit, owner, repo } = branch;
  const query = 'query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }';
  try {
    const answer = await octokit.graphql(query, { owner, repo });
    return z.object({ repository: z.object({ id: bounded.word }) }).parse(answer).repository.id;
  } catch (error) {
    const failure = githubFailure(error);
    if (failure?.kind !== 'answered' || failure.status !== refusedByGraphql) throw error;
    throw new BranchError(
      `${nothing(branch)} because the token cannot see the repository (${failure.detail}): check its name, and the permissions of the token.`,
    );
  }
}

/** GraphQL uses this status for refusals, too. */
const refusedByGraphql = 200;

/** Content of the branch, as far as listed; `files` maps paths to ids of blobs. */
type Tip = { commit: string; tree: string; files: ReadonlyMap<string, string>; isWhole: boolean };

/** Lists the top-level files and those of the trend, or of all folders. Undefined if there is no branch. */
async function readTip(branch: Branch, which: 'top' | 'trend' | 'all'): Promise<Tip | undefined> {
  const commit = await readRef(branch);
  if (commit === undefined) return undefined;
  const { octokit, owner, repo } = branch;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
    owner,
    repo,
    commit_sha: commit,
  });
  const tree = data.tree.sha;
  const all = which === 'all' ? await listTree(branch, tree, 'recursive') : undefined;
  if (all?.isWhole) return { commit, tree, ...all };
  const top = await listTree(branch, tree);
  const folder = top.folders.get('trend');
  const nightlyRuns =
    which === 'top' || folder === undefined ? [] : (await listTree(branch, folder, 'recursive')).files;
  const files = new Map([
    ...(all?.files ?? []),
    ...top.files,
    ...[...nightlyRuns].map(([path, id]) => [`trend/${path}`, id] as const),
  ]);
  return { commit, tree, files, isWhole: false };
}

/** GitHub lists at most 100,000 files. */
async function listTree(
  { octokit, owner, repo }: Branch,
  tree_sha: string,
  recursive?: 'recursive',
): Promise<Pick<Tip, 'files' | 'isWhole'> & { folders: ReadonlyMap<string, string> }> {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', {
    owner,
    repo,
    tree_sha,
    ...(recursive && { recursive: '1' }),
  });
  const idsOf = (wanted: string) =>
    new Map(data.tree.flatMap(({ type, path, sha }) => (type === wanted ? [[path, sha]] : [])));
  return { files: idsOf('blob'), folders: idsOf('tree'), isWhole: !data.truncated };
}

async function readRef({ octokit, owner, repo, name }: Branch): Promise<string | undefined> {
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', {
      owner,
      repo,
      ref: `heads/${name}`,
    });
    return data.object.sha;
  } catch (error) {
    const failure = githubFailure(error);
    if (failure?.kind === 'answered' && failure.status === 404) return undefined;
    throw error;
  }
}

/** Throws a BranchError if the branch is not ppsgate's: replacing it would destroy its history. */
async function readStored(branch: Branch, tip: Tip | undefined, isWanted: YearFilter): Promise<StoredData> {
  if (tip === undefined) return { index: emptyIndex, history: [] };
  const index = parseIndex(await readText(branch, tip, indexPath));
  if (index === undefined) throw foreign(nothing(branch), indexPath);
  const history = parseHistory(await readText(branch, tip, historyPath));
  const trend = await readTrend(branch, tip, isWanted, nothing(branch));
  return {
    index,
    history,
    ...(tip.isWhole && { paths: new Set(tip.files.keys()) }),
    ...(trend && { trend }),
  };
}

async function readTrend(branch: Branch, tip: Tip, isWanted: YearFilter, without: string): Promise<Trend | undefined> {
  if (!tip.files.has(trendIndexPath)) return undefined;
  const index = parseTrendIndex(await readText(branch, tip, trendIndexPath));
  if (index === undefined) throw foreign(without, trendIndexPath);
  const read = (path: string) => readText(branch, tip, path);
  return { index, nightlyRuns: await readNightlyRuns(read, index, isWanted) };
}

/** `without` names the act that was impossible. */
const foreign = (without: string, path: string): BranchError =>
  new BranchError(
    `${without} because its ${path} is not of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`,
  );

async function readText({ octokit, owner, repo }: Branch, tip: Tip, path: string): Promise<string> {
  const file_sha = tip.files.get(path);
  if (file_sha === undefined) return '';
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', {
    owner,
    repo,
    file_sha,
  });
  return Buffer.from(data.content, 'base64').toString();
}

/** Longer files are uploaded separately, so that no request grows with the number of results. */
const maxInlineCharacters = 100_000;

async function writeTree(
  branch: Branch,
  tip: Tip | undefined,
  { write, remove }: Pick<NextFiles, 'write' | 'remove'>,
): Promise<string> {
  const { octokit, owner, repo } = branch;
  const file = { mode: '100644', type: 'blob' } as const;
  const written = [];
  for (const [path, content] of write) {
    const isShort = content.length <= maxInlineCharacters;
    const held = isShort ? { content } : { sha: await writeBlob(branch, content) };
    written.push({ ...file, path, ...held });
  }
  const { data } = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
    owner,
    repo,
    ...(tip && { base_tree: tip.tree }),
    tree: [...written, ...remove.map((path) => ({ ...file, path, sha: null }))],
  });
  return data.sha;
}

async function writeBlob({ octokit, owner, repo }: Branch, content: string): Promise<string> {
  const { data } = await octokit.request('POST /repos/{owner}/{repo}/git/blobs', {
    owner,
    repo,
    content,
    encoding: 'utf-8',
  });
  return data.sha;
}

/** Has no parents, so that no clone contains removed files. */
async function writeCommit({ octokit, owner, repo }: Branch, tree: string): Promise<string> {
  const message = 'Results of ppsgate';
  const { data } = await octokit.request('POST /repos/{owner}/{repo}/git/commits', {
    owner,
    repo,
    message,
    tree,
    parents: [],
  });
  return data.sha;
}

type Move = { kind: 'moved' } | { kind: 'refused'; error: unknown };

const noCommit = '0'.repeat(40);

/**
 * Moves the branch if it has not moved since it was read; the REST API has no such condition. GitHub does not document
 * its message for a moved branch. So every refusal counts as one until a read shows that the branch has not moved.
 */
async function moveBranch(
  { octokit, name }: Branch,
  repositoryId: string,
  { from = noCommit, to }: { from: string | undefined; to: string },
): Promise<Move> {
  const mutation = 'mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }';
  const update = { name: `refs/heads/${name}`, beforeOid: from, afterOid: to, force: true };
  try {
    await octokit.graphql(mutation, { input: { repositoryId, refUpdates: [update] } });
    return { kind: 'moved' };
  } catch (error) {
    if (githubFailure(error) === undefined) throw error;
    return { kind: 'refused', error };
  }
}

const nothing = ({ owner, repo, name }: Branch): string =>
  `Nothing was published in the branch ${name} of ${owner}/${repo}`;

function whyNot(failure: GithubFailure, branch: Branch): string {
  const what = nothing(branch);
  const status = failure.kind === 'answered' ? failure.status : undefined;
  if (status === refusedByGraphql || status === 422) {
    return `${what} because GitHub refused it (${failure.detail}): if rules protect the branch, exempt the token, or name another branch in \`github.data.branch\`.`;
  }
  // GitHub returns 404 for anything that a token may not see.
  const known = status === 404 ? { ...failure, kind: 'answered' as const, status: 403 } : failure;
  return whyNotDone(what, known, {
    again: 'publish the result',
    permission:
      'give the job `permissions: contents: write`, or, for a pull request from a fork, publish from a workflow_run job; if rules protect the branch, exempt the token',
    otherwise: '; the result itself is kept',
  });
}
