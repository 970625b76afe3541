// Reads a repository's pull requests on GitHub for an admission.
import type { Octokit } from '../forge/github/client.ts';
import { findComment } from '../forge/github/comment.ts';
import { fetchPullRequest, mayWrite, pullRequestsWithHead } from '../forge/github/pull-request.ts';
import { UsageError } from '../model/usage-error.ts';
import { markerOf } from '../publish/reporters/comment-text.ts';
import type { PullRequestReader } from './admission.ts';

/** @param repository `owner/name` */
export const readerOn = (octokit: Octokit, repository: string): PullRequestReader => ({
  async find(number) {
    const found = await fetchPullRequest(octokit, repository, number);
    if (found.kind === 'failed') throw new Error(found.why);
    if (found.kind === 'not-found') throw new UsageError(found.why);
    return found;
  },
  withHead: (commit) => pullRequestsWithHead(octokit, repository, commit),
  mayWrite: (login) => mayWrite(octokit, repository, login),
  commentOf: (pullRequest, name) => findComment(octokit, pullRequest, markerOf(name)),
});
