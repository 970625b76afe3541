// Writes ppsgate's only comment on a pull request: finds it by its marker, and updates it in place.

import { setTimeout as sleep } from 'node:timers/promises';
import type { PullRequest } from '../../model/patch.ts';
import { type Id, type Octokit, ownLogin, placeOf } from './client.ts';
import { type GithubFailure, githubFailure, isBreakdown, whyNotDone } from './failure.ts';

type PublishedComment =
  | { kind: 'created' | 'updated' | 'left'; url: string }
  /** `isFinal` if a retry would be refused as well. */
  | { kind: 'not-published'; why: string; isFinal: boolean };

/**
 * Makes the text of `compose` our only comment with this marker on the pull request or issue. Keeps the oldest of
 * several and deletes the others; never touches comments of other authors. Returns errors of GitHub or the network as
 * the sentence `why`.
 *
 * @param compose receives the present comment, if any, and returns Markdown that begins with the marker; undefined
 *   leaves it unchanged.
 * @param options.marker an HTML comment, invisible to readers: `<!-- ppsgate -->`.
 * @param options.pause waits before another try.
 */
export async function publishComment(
  octokit: Octokit,
  pullRequest: Pick<PullRequest, 'repository' | 'number'>,
  compose: Compose,
  options: { marker: string; pause?: (seconds: number) => Promise<unknown> },
): Promise<PublishedComment> {
  const { owner, repo } = placeOf(pullRequest.repository);
  const { marker, pause = (seconds) => sleep(seconds * 1000) } = options;
  const place = { octokit, owner, repo, number: pullRequest.number, marker };
  try {
    const login = await ownLogin(octokit);
    return await putComment({ ...place, login, pause }, compose);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    const isFinal = failure.kind === 'answered' && failure.status < 500;
    return { kind: 'not-published', why: whyNot(failure, pullRequest), isFinal };
  }
}

export async function findComment(
  octokit: Octokit,
  { repository, number }: Pick<PullRequest, 'repository' | 'number'>,
  marker: string,
): Promise<string | undefined> {
  const { owner, repo } = placeOf(repository);
  const login = await ownLogin(octokit);
  const [comment] = await ownComments({ octokit, owner, repo, number, marker }, login);
  return comment?.body;
}

type Compose = (before: string | undefined) => string | undefined;

type CommentLocation = {
  octokit: Octokit;
  owner: string;
  repo: string;
  number: number;
  marker: string;
};

type Thread = CommentLocation & { login: string; pause: (seconds: number) => Promise<unknown> };

const maxTries = 4;

/**
 * A write must not simply be repeated: GitHub may have done it and its response was lost, and a later run may have
 * written meanwhile. So octokit's retries are off here, and each further try reads the comments first.
 *
 * @param again.lost text that the last try may have written.
 */
async function putComment(
  thread: Thread,
  compose: Compose,
  again: { tries: number; lost?: 'created' | 'updated' } = { tries: 1 },
): Promise<PublishedComment> {
  const [kept, ...others] = await ownComments(thread, thread.login);
  const body = compose(kept?.body);
  if (body === undefined || body === kept?.body) {
    await deleteComments(thread, others);
    return { kind: body === undefined ? 'left' : (again.lost ?? 'updated'), url: kept?.url ?? '' };
  }
  const { tries } = again;
  const kind = kept === undefined ? 'created' : 'updated';
  try {
    const url = await writeComment(thread, kept?.id, body);
    await deleteComments(thread, others);
    if (kind === 'updated' || (await isOnly(thread, url))) return { kind, url };
  } catch (error) {
    if (tries === maxTries || !isBreakdown(githubFailure(error))) throw error;
    await thread.pause(tries ** 2);
  }
  return putComment(thread, compose, { tries: tries + 1, lost: kind });
}

/** Returns false if another gate was faster: its comment becomes ours. */
async function isOnly(thread: Thread, url: string): Promise<boolean> {
  const [oldest] = await ownComments(thread, thread.login);
  return oldest === undefined || oldest.url === url;
}

async function writeComment(
  { octokit, owner, repo, number }: Thread,
  comment_id: Id | undefined,
  body: string,
): Promise<string> {
  const writing = { owner, repo, body, request: { retries: 0 } };
  const { data } =
    comment_id === undefined
      ? await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
          ...writing,
          issue_number: number,
        })
      : await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
          ...writing,
          comment_id,
        });
  return data.html_url;
}

/** Oldest first, as GitHub lists them. */
async function ownComments(
  { octokit, owner, repo, number, marker }: CommentLocation,
  login: string,
): Promise<{ id: Id; url: string; body: string }[]> {
  const comments = await octokit.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    owner,
    repo,
    issue_number: number,
    per_page: 100,
  });
  return comments
    .filter(({ user, body }) => user?.login === login && body?.startsWith(marker))
    .map(({ id, html_url, body = '' }) => ({ id, url: html_url, body }));
}

/** A failed deletion only leaves a duplicate; the first comment is published. */
async function deleteComments({ octokit, owner, repo }: Thread, comments: readonly { id: Id }[]): Promise<void> {
  for (const { id } of comments) {
    try {
      await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', {
        owner,
        repo,
        comment_id: id,
      });
    } catch (error) {
      const failure = githubFailure(error);
      if (failure === undefined) throw error;
      // The first try may have deleted it, although its response was lost.
      if (failure.kind === 'answered' && failure.status === 404) continue;
      octokit.log.warn(`An older comment of ppsgate could not be deleted (${failure.detail}).`);
    }
  }
}

function whyNot(failure: GithubFailure, { repository, number }: Pick<PullRequest, 'repository' | 'number'>): string {
  const what = `The comment on #${number} of ${repository} was not written`;
  if (failure.kind === 'answered' && failure.status === 403 && isLocked.test(failure.detail)) {
    return `${what} because the conversation is locked (${failure.detail}): the result is in the job's summary.`;
  }
  if (failure.kind === 'answered' && [404, 410].includes(failure.status)) {
    return `${what} because the pull request no longer exists on GitHub (${failure.detail}); the result itself is kept.`;
  }
  return whyNotDone(what, failure, {
    again: 'publish the result',
    permission:
      'give the job `permissions: pull-requests: write`, or, for a pull request from a fork, publish from a workflow_run job',
    otherwise: '; the result itself is kept',
  });
}

const isLocked = /\block(?:ed)?\b/i;
