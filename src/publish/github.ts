// The answer on GitHub: one comment on the pull request, found again by its marker and updated in place.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from 'octokit';
import { type GithubFailure, githubFailure } from '../patch/github-error.ts';
import type { PullRequest } from '../patch/patch.ts';

export type PublishedComment =
  | { kind: 'created' | 'updated'; url: string }
  | { kind: 'not-published'; why: string };

/**
 * Makes `body` our only comment with this marker on the pull request. Of several the oldest is kept and the
 * others are deleted; a comment of anybody else is left alone, whatever it holds. Never throws for what
 * GitHub or the network did: the result is then in `why`, one sentence.
 *
 * @param body Markdown without the marker, which becomes the first line of the comment.
 * @param options.marker an HTML comment, which readers do not see: `<!-- ppsgate:testbed -->`.
 * @param options.pause how to wait before a lost creation is tried again.
 */
export async function publishComment(
  octokit: Octokit,
  pullRequest: PullRequest,
  body: string,
  options: { marker: string; pause?: (seconds: number) => Promise<unknown> },
): Promise<PublishedComment> {
  const [owner = '', repo = ''] = pullRequest.repository.split('/');
  const { marker, pause = (seconds) => sleep(seconds * 1000) } = options;
  const thread = { octokit, owner, repo, number: pullRequest.number, marker, pause };
  try {
    return await putComment(thread, `${marker}\n${body}`);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return { kind: 'not-published', why: whyNot(failure, pullRequest) };
  }
}

/** Where the comment stands and what it is known by. */
type Thread = {
  octokit: Octokit;
  owner: string;
  repo: string;
  number: number;
  marker: string;
  pause: (seconds: number) => Promise<unknown>;
};

async function putComment(thread: Thread, body: string): Promise<PublishedComment> {
  const login = await ownLogin(thread.octokit);
  const [kept, ...others] = await ownComments(thread, login);
  if (kept === undefined) return createComment(thread, login, body, 1);
  const { octokit, owner, repo } = thread;
  const { data } = await octokit.rest.issues.updateComment({
    owner,
    repo,
    comment_id: kept.id,
    body,
  });
  for (const { id } of others) await deleteComment(thread, id);
  return { kind: 'updated', url: data.html_url };
}

/** GET /user is for tokens of people; to a workflow's own token GitHub refuses it. */
async function ownLogin(octokit: Octokit): Promise<string> {
  try {
    const { data } = await octokit.rest.users.getAuthenticated();
    return data.login;
  } catch (error) {
    const failure = githubFailure(error);
    if (failure?.kind === 'answered' && failure.status === 403) return 'github-actions[bot]';
    throw error;
  }
}

/** Oldest first, as GitHub lists them. */
async function ownComments(thread: Thread, login: string): Promise<{ id: number; url: string }[]> {
  const { octokit, owner, repo, number, marker } = thread;
  const comments = await octokit.paginate(octokit.rest.issues.listComments, {
    owner,
    repo,
    issue_number: number,
    per_page: 100,
  });
  return comments
    .filter(({ user, body }) => user?.login === login && body?.startsWith(marker))
    .map(({ id, html_url }) => ({ id, url: html_url }));
}

const mostCreations = 4;

/**
 * Creating is the one request that must not simply be sent again: the answer may be lost after GitHub did
 * what was asked. So octokit's own retries are off here, and before each further try we look.
 */
async function createComment(
  thread: Thread,
  login: string,
  body: string,
  tries: number,
): Promise<PublishedComment> {
  const { octokit, owner, repo, number, pause } = thread;
  try {
    const { data } = await octokit.rest.issues.createComment({
      owner,
      repo,
      issue_number: number,
      body,
      request: { retries: 0 },
    });
    return { kind: 'created', url: data.html_url };
  } catch (error) {
    if (tries === mostCreations || !mayHaveHappened(githubFailure(error))) throw error;
  }
  await pause(tries ** 2);
  const [created] = await ownComments(thread, login);
  if (created !== undefined) return { kind: 'created', url: created.url };
  return createComment(thread, login, body, tries + 1);
}

function mayHaveHappened(failure: GithubFailure | undefined): boolean {
  return failure?.kind === 'no-answer' || (failure?.kind === 'answered' && failure.status >= 500);
}

/** A second comment that stays is a blemish, not a reason to call the first one unpublished. */
async function deleteComment({ octokit, owner, repo }: Thread, comment_id: number): Promise<void> {
  try {
    await octokit.rest.issues.deleteComment({ owner, repo, comment_id });
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    octokit.log.warn(`An older comment of ppsgate's own could not be deleted (${failure.said}).`);
  }
}

function whyNot(failure: GithubFailure, { repository, number }: PullRequest): string {
  const what = `The comment on #${number} of ${repository} was not written`;
  if (failure.kind === 'no-answer') {
    return `${what} because GitHub cannot be reached (${failure.said}): publish the result again later.`;
  }
  if (failure.kind === 'rate-limited') {
    return `${what} because GitHub's rate limit shuts this token out ${failure.until}: publish the result again then.`;
  }
  if (failure.status === 403) {
    return `${what} because the token may not (${failure.said}): give the job \`permissions: pull-requests: write\`, or, for a pull request from a fork, publish from a workflow_run job.`;
  }
  if (failure.status === 401) {
    return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
  }
  return `${what} because GitHub answered ${failure.said}; the result itself is kept.`;
}

type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string) => unknown>;
type Options = NonNullable<ConstructorParameters<typeof Octokit>[0]>;

/** The longest that a rate limit is waited for, in seconds, and how often in one request. */
const longestWait = 60;
const mostWaits = 2;

/**
 * A client that tries a failed request again and waits for a short rate limit, by octokit's own plugins.
 *
 * @param settings.apiUrl as in `GITHUB_API_URL`.
 * @param settings.log never gets to see the token.
 * @param settings.answerSeconds how long one answer may take, its body included.
 * @param settings.plugins replaces single settings of the plugins; tests wait less with it.
 */
export async function createOctokit(settings: {
  token: string;
  apiUrl: string;
  log: Log;
  answerSeconds?: number;
  plugins?: Pick<Options, 'retry' | 'throttle'>;
}): Promise<Octokit> {
  const { token, apiUrl, log, answerSeconds = 30, plugins } = settings;
  const { Octokit } = await import('octokit');
  return new Octokit({
    auth: token,
    baseUrl: apiUrl,
    userAgent: 'ppsgate',
    log,
    request: { fetch: fetchWithin(answerSeconds) },
    // 429 is left to the throttling plugin, which knows how long to wait.
    retry: { doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451], ...plugins?.retry },
    throttle: {
      onRateLimit: waitWhenShort(log),
      onSecondaryRateLimit: waitWhenShort(log),
      ...plugins?.throttle,
    },
  });
}

/**
 * The whole answer within so many seconds. Its body is read here because octokit takes one that was cut
 * short for an empty one, and a list of comments without ours would make us write a second comment.
 */
function fetchWithin(seconds: number): typeof fetch {
  return async (input, init) => {
    const signal = AbortSignal.timeout(seconds * 1000);
    const response = await fetch(input, { ...init, signal });
    await response.clone().arrayBuffer();
    return response;
  };
}

/** GitHub asks to wait some seconds; true is for doing so, and then sending the request again. */
function waitWhenShort(log: Log) {
  return (seconds: number, _request: object, _octokit: object, waits: number): boolean => {
    if (seconds > longestWait || waits >= mostWaits) return false;
    log.info(`GitHub's rate limit is reached: going on in ${seconds} s.`);
    return true;
  };
}
