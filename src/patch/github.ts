// Which pull request is meant: read from the payload of an event, or fetched by the number that was dispatched.
import type { Octokit } from 'octokit';
import { z } from 'zod';
import { type GithubFailure, githubFailure } from './github-error.ts';
import type { PullRequest } from './patch.ts';

export type FoundPullRequest = {
  kind: 'found';
  pullRequest: PullRequest;
  /** `owner/name` of the repository that the head was pushed to; null where that one was deleted. */
  headRepository: string | null;
};

/** `not-found` is for the one who asked to put right, `failed` is GitHub's or the network's fault. */
export type PullRequestSearch =
  | FoundPullRequest
  | { kind: 'not-found'; why: string }
  | { kind: 'failed'; why: string };

/** The pull request of a `pull_request` event: `payload` is the JSON in the file `GITHUB_EVENT_PATH`. */
export function pullRequestFromEvent(eventName: string, payload: unknown): PullRequestSearch {
  if (eventName !== 'pull_request') {
    const why = `The event ${eventName} names no pull request to gate: run ppsgate on pull_request, or on workflow_dispatch with a number.`;
    return { kind: 'not-found', why };
  }
  const event = z.object({ pull_request: pullRequestDocument }).safeParse(payload);
  if (event.success) return found(event.data.pull_request);
  return { kind: 'not-found', why: misread('The payload of the pull_request event', event.error) };
}

/** The pull request that a person typed as `#123` or `123`, or undefined where it is neither. */
export function pullRequestNumber(input: string): number | undefined {
  const [, digits] = /^#?([1-9]\d{0,9})$/.exec(input.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Pull request `number` as it is at this moment in `repository`, an `owner/name`. */
export async function fetchPullRequest(
  octokit: Octokit,
  repository: string,
  number: number,
): Promise<PullRequestSearch> {
  const [owner = '', repo = ''] = repository.split('/');
  try {
    const { data } = await octokit.rest.pulls.get({ owner, repo, pull_number: number });
    const document = pullRequestDocument.safeParse(data);
    if (document.success) return found(document.data);
    return { kind: 'failed', why: misread(`GitHub's answer for #${number}`, document.error) };
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return notFetched(failure, `#${number} of ${repository}`);
  }
}

/** Forty digits, or 64 in a repository that uses SHA-256. */
const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'expected a full commit id');

/** What is used of the JSON that events and the REST API have in common. */
const pullRequestDocument = z.object({
  number: z.int().positive(),
  title: z.string(),
  html_url: z.url(),
  /** Null where the account was deleted, which GitHub then calls "ghost". */
  user: z.object({ login: z.string() }).nullable(),
  base: z.object({ sha: commit, repo: z.object({ full_name: z.string() }) }),
  head: z.object({ sha: commit, repo: z.object({ full_name: z.string() }).nullable() }),
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
      baseCommit: document.base.sha,
      headCommit: document.head.sha,
    },
    headRepository: document.head.repo?.full_name ?? null,
  };
}

function misread(what: string, error: z.ZodError): string {
  const [issue] = error.issues;
  return `${what} is not as GitHub describes it, at ${issue?.path.join('.') || 'its top'}: ${issue?.message}.`;
}

function notFetched(failure: GithubFailure, pullRequest: string): PullRequestSearch {
  if (failure.kind === 'answered' && failure.status === 404) {
    const why = `There is no pull request ${pullRequest}, or the token may not see it: check the number, and that the job has \`pull-requests: read\`.`;
    return { kind: 'not-found', why };
  }
  const why = `GitHub did not tell what pull request ${pullRequest} is (${failure.said}): run the job again.`;
  return { kind: 'failed', why };
}
