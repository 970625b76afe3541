// The data branch on GitHub: always a single commit, which every publication replaces, so that clones stay small.

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { HistoryEntry } from '../experiment/history.ts';
import { type Octokit, placeOf } from '../github/client.ts';
import { type GithubFailure, githubFailure, isBreakdown, whyNotDone } from '../github/failure.ts';
import {
  emptyIndex,
  historyPath,
  indexPath,
  type NextFiles,
  nextFiles,
  type Publication,
  type PublishedPaths,
  parseHistory,
  parseIndex,
  type Rules,
  type Stored,
} from './layout.ts';
import { type DataPlace, linkTo, linkToImage } from './links.ts';

type PublishedData =
  | { kind: 'published'; commit: string; links: PublishedLinks[] }
  | { kind: 'not-published'; why: string };

/** URLs in place of paths. */
type PublishedLinks = PublishedPaths;

type DataOptions = Omit<Rules, 'now' | 'isSite'> & {
  now(): Date;
  /** How to wait before another try when somebody was faster. */
  pause?: (seconds: number) => Promise<unknown>;
  /** Draws a number from 0 to 1, so that those who collided do not collide again. */
  random?: () => number;
};

/**
 * Puts results into the branch in one commit, or with none brings its badges up to date; makes the branch where there
 * is none. What others publish meanwhile is kept, and the same result again replaces itself. Never throws for what
 * GitHub or the network did: the result is then in `why`, one sentence.
 */
export async function publishToBranch(
  octokit: Octokit,
  place: DataPlace,
  publications: readonly Publication[],
  options: DataOptions,
): Promise<PublishedData> {
  try {
    const { commit, published } = await publishPatiently(branchOf(octokit, place), publications, {
      ...options,
      isSite: place.pages !== undefined,
    });
    return { kind: 'published', commit, links: published.map((paths) => linksOf(place, paths)) };
  } catch (error) {
    if (error instanceof BranchError) return { kind: 'not-published', why: error.message };
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return { kind: 'not-published', why: whyNot(failure, branchOf(octokit, place)) };
  }
}

/**
 * The history in the branch, for which a token needs `contents: read` alone; empty where there is no such branch.
 * Throws an Error of one sentence where GitHub cannot be asked.
 */
export async function readHistory(
  octokit: Octokit,
  place: Pick<DataPlace, 'repository' | 'branch'>,
): Promise<HistoryEntry[]> {
  const branch = branchOf(octokit, place);
  try {
    const tip = await readTip(branch);
    return tip === undefined ? [] : parseHistory(await readText(branch, tip, historyPath));
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    throw new Error(
      `The history in the branch ${place.branch} of ${place.repository} cannot be read (${failure.said}): run the job again, and check that it has \`permissions: contents: read\`.`,
    );
  }
}

/** Something about the branch that has to be put right first, in one sentence. */
class BranchError extends Error {}

type Branch = {
  octokit: Octokit;
  owner: string;
  repo: string;
  /** Without `refs/heads/`. */
  name: string;
};

function branchOf(
  octokit: Octokit,
  { repository, branch }: Pick<DataPlace, 'repository' | 'branch'>,
): Branch {
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

type InnerOptions = DataOptions & Pick<Rules, 'isSite'>;

const mostFailures = 3;

/** Octokit itself has then tried each request several times. */
async function publishPatiently(
  branch: Branch,
  publications: readonly Publication[],
  options: InnerOptions,
  failures = 1,
): ReturnType<typeof publishInTurn> {
  const { pause = realPause, random = Math.random } = options;
  try {
    return await publishInTurn(branch, publications, options);
  } catch (error) {
    if (failures === mostFailures || !isBreakdown(githubFailure(error))) throw error;
  }
  await pause((failures + random()) * 10);
  return publishPatiently(branch, publications, options, failures + 1);
}

const mostTries = 10;
const longestPauseSeconds = 30;

/** Reads, computes and writes, until nobody else wrote meanwhile. */
async function publishInTurn(
  branch: Branch,
  publications: readonly Publication[],
  { now, pause = realPause, random = Math.random, ...options }: InnerOptions,
): Promise<{ commit: string; published: PublishedPaths[] }> {
  const rules = { ...options, now: now() };
  const repositoryId = await repositoryIdOf(branch);
  let refused: { at: string | undefined; error: unknown } | undefined;
  for (let tries = 1; tries <= mostTries; tries++) {
    const tip = await readTip(branch, '1');
    // Nobody was faster, so it is refused for good.
    if (refused !== undefined && refused.at === tip?.commit) throw refused.error;
    const { published, ...next } = nextFiles(await readStored(branch, tip), publications, rules);
    const tree = await writeTree(branch, tip, next);
    // As where the answer to the try before was lost.
    if (tip?.tree === tree) return { commit: tip.commit, published };
    const commit = await writeCommit(branch, tree);
    const move = await moveBranch(branch, repositoryId, { from: tip?.commit, to: commit });
    if (move.kind === 'moved') return { commit, published };
    refused = { at: tip?.commit, error: move.error };
    await pause(random() * Math.min(2 ** tries, longestPauseSeconds));
  }
  throw new BranchError(
    `${nothing(branch)} because others changed it ${mostTries} times meanwhile: publish the result again later.`,
  );
}

const realPause = (seconds: number) => sleep(seconds * 1000);

async function repositoryIdOf(branch: Branch): Promise<string> {
  const { octokit, owner, repo } = branch;
  const query =
    'query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }';
  try {
    const answer = await octokit.graphql(query, { owner, repo });
    return z.object({ repository: z.object({ id: z.string() }) }).parse(answer).repository.id;
  } catch (error) {
    const failure = githubFailure(error);
    if (failure?.kind !== 'answered' || failure.status !== refusedByGraphql) throw error;
    throw new BranchError(
      `${nothing(branch)} because the token sees no such repository (${failure.said}): check its name, and what the token may read.`,
    );
  }
}

/** GraphQL answers it whatever it says. */
const refusedByGraphql = 200;

/** What the branch holds; `files` are ids of blobs by path. */
type Tip = { commit: string; tree: string; files: ReadonlyMap<string, string>; isWhole: boolean };

/** Undefined where there is no such branch. With `recursive` files in folders are told, too. */
async function readTip(branch: Branch, recursive?: '1'): Promise<Tip | undefined> {
  const commit = await readRef(branch);
  if (commit === undefined) return undefined;
  const { octokit, owner, repo } = branch;
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
    owner,
    repo,
    commit_sha: commit,
  });
  const tree_sha = data.tree.sha;
  const listed = await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', {
    owner,
    repo,
    tree_sha,
    ...(recursive && { recursive }),
  });
  const files = new Map(
    listed.data.tree.flatMap(({ type, path, sha }) => (type === 'blob' ? [[path, sha]] : [])),
  );
  return { commit, tree: tree_sha, files, isWhole: !listed.data.truncated };
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

/** Throws a BranchError where the branch is somebody else's: it would lose its history. */
async function readStored(branch: Branch, tip: Tip | undefined): Promise<Stored> {
  if (tip === undefined) return { index: emptyIndex, history: [] };
  const index = parseIndex(await readText(branch, tip, indexPath));
  if (index === undefined) {
    throw new BranchError(
      `${nothing(branch)} because it has no ${indexPath} of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`,
    );
  }
  const history = parseHistory(await readText(branch, tip, historyPath));
  // GitHub lists up to 100,000 files, those in `results` last.
  return { index, history, ...(tip.isWhole && { paths: new Set(tip.files.keys()) }) };
}

/** Empty where there is no such file. */
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

/** Longer files are sent one by one, so that no request grows with the number of results. */
const mostInlineCharacters = 100_000;

async function writeTree(
  branch: Branch,
  tip: Tip | undefined,
  { write, remove }: Pick<NextFiles, 'write' | 'remove'>,
): Promise<string> {
  const { octokit, owner, repo } = branch;
  const file = { mode: '100644', type: 'blob' } as const;
  const written = [];
  for (const [path, content] of write) {
    const isShort = content.length <= mostInlineCharacters;
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

/** Without parents: what is not in the branch any more shall not be in a clone of it. */
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
 * Moves the branch if it is still where it was read, which the REST API cannot be asked for. GitHub does not document
 * how it words that it is not, so every refusal is taken for that until the branch is seen not to have moved.
 */
async function moveBranch(
  { octokit, name }: Branch,
  repositoryId: string,
  { from = noCommit, to }: { from: string | undefined; to: string },
): Promise<Move> {
  const mutation =
    'mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }';
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
    return `${what} because GitHub refused it (${failure.said}): where rules protect the branch, let the token pass them, or name another one in \`github.data.branch\`.`;
  }
  // What a token must not know of is not there.
  const known = status === 404 ? { ...failure, kind: 'answered' as const, status: 403 } : failure;
  return whyNotDone(what, known, {
    again: 'publish the result',
    permission:
      'give the job `permissions: contents: write`, or, for a pull request from a fork, publish from a workflow_run job; where rules protect the branch, let the token pass them',
    otherwise: '; the result itself is kept',
  });
}
