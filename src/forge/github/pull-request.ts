// Reads a pull request from an event's payload, or fetches it by number.

import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import type { PullRequest } from '../../model/patch.ts';
import { type Octokit, placeOf } from './client.ts';
import { type GithubFailure, githubFailure } from './failure.ts';

export type FoundPullRequest = {
  kind: 'found';
  pullRequest: PullRequest;
  /** `owner/name` of the repository with the head branch; null if it was deleted. */
  headRepository: string | null;
};

/** `not-found`: the request is wrong; `failed`: GitHub or the network failed. */
type PullRequestSearch = FoundPullRequest | { kind: 'not-found'; why: string } | { kind: 'failed'; why: string };

/** @param payload JSON of the file `GITHUB_EVENT_PATH`, for a `pull_request` or `pull_request_target` event */
export function pullRequestFromEvent(eventName: string, payload: unknown): PullRequestSearch {
  const event = z.object({ pull_request: pullRequestDocument }).safeParse(payload);
  if (event.success) return found(event.data.pull_request);
  return { kind: 'not-found', why: misread(`The payload of the ${eventName} event`, event.error) };
}

export function pullRequestNumber(input: string): number | undefined {
  const [, digits] = /^#?([1-9]\d{0,9})$/.exec(input.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** @param repository `owner/name` */
export async function fetchPullRequest(
  octokit: Octokit,
  repository: string,
  number: number,
): Promise<PullRequestSearch> {
  const { owner, repo } = placeOf(repository);
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
      owner,
      repo,
      pull_number: number,
    });
    const document = pullRequestDocument.safeParse(data);
    if (document.success) return found(document.data);
    return { kind: 'failed', why: misread(`GitHub's answer for #${number}`, document.error) };
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return notFetched(failure, `#${number} of ${repository}`);
  }
}

export async function pullRequestsWithHead(
  octokit: Octokit,
  repository: string,
  headCommit: string,
): Promise<FoundPullRequest[]> {
  const { owner, repo } = placeOf(repository);
  const list = () =>
    octokit.paginate('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', {
      owner,
      repo,
      commit_sha: headCommit,
      per_page: 100,
    });
  const documents = await answered(list, `the pull requests with the head ${headCommit}`);
  return openWithHead(documents, headCommit);
}

/** Returns the pull request that merged a commit, if any. Throws if GitHub does not reply. */
export async function mergedAs(octokit: Octokit, repository: string, commit: string): Promise<number | undefined> {
  const list = async () => {
    try {
      return await octokit.paginate('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', {
        ...placeOf(repository),
        commit_sha: commit,
        per_page: 100,
      });
    } catch (error) {
      const failure = githubFailure(error);
      if (failure?.kind === 'answered' && [404, 422].includes(failure.status)) return [];
      throw error;
    }
  };
  const documents = await answered(list, `the pull request of ${commit}`);
  const isHere = (name: string) => name.toLowerCase() === repository.toLowerCase();
  return documents.find(({ merged_at, base }) => merged_at !== null && isHere(base.repo.full_name))?.number;
}

/** Searches by the branch of a fork, as the repository itself may lack its commits. */
export async function pullRequestsOfBranch(
  octokit: Octokit,
  repository: string,
  head: { owner: string; branch: string; commit: string },
): Promise<FoundPullRequest[]> {
  const { owner, repo } = placeOf(repository);
  const list = () =>
    octokit.paginate('GET /repos/{owner}/{repo}/pulls', {
      owner,
      repo,
      state: 'open',
      head: `${head.owner}:${head.branch}`,
      per_page: 100,
    });
  const documents = await answered(list, `the pull requests of ${head.owner}:${head.branch}`);
  return openWithHead(documents, head.commit);
}

function openWithHead(documents: readonly { state: string }[], headCommit: string): FoundPullRequest[] {
  return documents
    .filter(({ state }) => state === 'open')
    .flatMap((document) => pullRequestDocument.safeParse(document).data ?? [])
    .map(found)
    .filter(({ pullRequest }) => pullRequest.headCommit === headCommit);
}

/** `#7 and #9`. */
export const numbersOf = (all: readonly FoundPullRequest[]): string =>
  all.map(({ pullRequest }) => `#${pullRequest.number}`).join(' and ');

export async function mayWrite(octokit: Octokit, repository: string, login: string): Promise<boolean> {
  const { owner, repo } = placeOf(repository);
  const permission = async () => {
    try {
      const { data } = await octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
        owner,
        repo,
        username: login,
      });
      return data.permission;
    } catch (error) {
      const failure = githubFailure(error);
      if (failure?.kind === 'answered' && failure.status === 404) return 'none';
      throw error;
    }
  };
  // GitHub reports "maintain" as write, and "triage" as read.
  return ['admin', 'write'].includes(await answered(permission, `the permissions of ${login}`));
}

async function answered<Data>(request: () => Promise<Data>, what: string): Promise<Data> {
  try {
    return await request();
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    const why = `GitHub did not return ${what} (${failure.detail}): run the job again.`;
    throw new Error(why, { cause: error });
  }
}

/** Forty digits, or 64 in a repository that uses SHA-256. */
const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'expected a full commit ID');

/** Properties that events and the REST API have in common. */
const pullRequestDocument = z.object({
  number: bounded.id,
  title: bounded.line,
  html_url: bounded.url,
  /** Null if the account was deleted; GitHub then shows "ghost". */
  user: z.object({ login: bounded.word }).nullable(),
  base: z.object({ ref: bounded.word, sha: commit, repo: z.object({ full_name: bounded.word }) }),
  head: z.object({ sha: commit, repo: z.object({ full_name: bounded.word }).nullable() }),
});

function found(document: z.infer<typeof pullRequestDocument>): FoundPullRequest {
  return {
    kind: 'found',
    pullRequest: {
      kind: 'pull-request',
      repository: document.base.repo.full_name,
      number: document.number,
      title: document.title,
      author: document.user?.login ?? 'ghost',
      url: document.html_url,
      baseBranch: document.base.ref,
      baseCommit: document.base.sha,
      headCommit: document.head.sha,
    },
    headRepository: document.head.repo?.full_name ?? null,
  };
}

function misread(what: string, error: z.ZodError): string {
  const [issue] = error.issues;
  return `${what} has an unexpected value at ${issue?.path.join('.') || 'its top'}: ${issue?.message}.`;
}

function notFetched(failure: GithubFailure, pullRequest: string): PullRequestSearch {
  if (failure.kind === 'answered' && failure.status === 404) {
    const why = `There is no pull request ${pullRequest}, or the token cannot see it: check the number, and that the job has \`pull-requests: read\`.`;
    return { kind: 'not-found', why };
  }
  const why = `GitHub did not return the pull request ${pullRequest} (${failure.detail}): run the job again.`;
  return { kind: 'failed', why };
}
