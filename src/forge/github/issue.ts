// Creates each issue on GitHub once, finds it by the marker at its beginning, and updates it.
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { type Octokit, placeOf } from './client.ts';
import { type GithubFailure, githubFailure } from './failure.ts';

export type IssuePlace = { octokit: Octokit; repository: string };

export type Label = { name: string; color: string; description: string };

/** `unsure`: GitHub may have created it, but the response was lost. */
type MadeIssue = { kind: 'made'; number: number } | { kind: 'refused' | 'unsure'; failure: GithubFailure };

/**
 * Creates an issue, without a second try if the response is lost: GitHub would create a second one. So octokit's
 * retries are off, except for a rate limit, after which GitHub has done nothing.
 */
export async function createIssue(
  { octokit, repository }: IssuePlace,
  { title, body, label }: { title: string; body: string; label: string },
): Promise<MadeIssue> {
  const { owner, repo } = placeOf(repository);
  try {
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues', {
      owner,
      repo,
      title,
      body,
      labels: [label],
      request: { retries: 0 },
    });
    return { kind: 'made', number: bounded.id.parse(data.number) };
  } catch (error) {
    if (error instanceof z.ZodError) {
      const detail = "GitHub's answer has no number of an issue";
      return { kind: 'unsure', failure: { kind: 'no-answer', detail: detail } };
    }
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return { kind: isRefusal(failure) ? 'refused' : 'unsure', failure };
  }
}

/** A proxy's 408 leaves open if GitHub carried out the request. */
const isRefusal = (failure: GithubFailure): boolean =>
  failure.kind === 'rate-limited' ||
  (failure.kind === 'answered' && failure.status >= 400 && failure.status < 500 && failure.status !== 408);

/**
 * Returns the number of the oldest issue, open or closed, by `creator` whose text begins with the marker. Undefined if
 * GitHub lists none, as for some time after its creation. Throws octokit's errors.
 *
 * @param search.since earliest time of its creation.
 */
export async function findIssue(
  { octokit, repository }: IssuePlace,
  { creator, marker, since }: { creator: string; marker: string; since: Date },
): Promise<number | undefined> {
  const { owner, repo } = placeOf(repository);
  const listed = await octokit.paginate('GET /repos/{owner}/{repo}/issues', {
    owner,
    repo,
    creator,
    state: 'all',
    since: isoSeconds(since),
    sort: 'created',
    direction: 'asc',
    per_page: 100,
  });
  return listed.find((issue) => isOurs(issue, creator, marker))?.number;
}

/** GitHub rejects fractions of seconds. */
const isoSeconds = (date: Date): string => date.toISOString().replace(/\.\d+/, '');

export async function readIssue(
  { octokit, repository }: IssuePlace,
  number: number,
  creator: string,
): Promise<string | undefined> {
  const { owner, repo } = placeOf(repository);
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', {
      owner,
      repo,
      issue_number: number,
    });
    return isOurs(data, creator, '') ? (data.body ?? '') : undefined;
  } catch (error) {
    if (isGone(githubFailure(error))) return undefined;
    throw error;
  }
}

export async function updateIssue(
  { octokit, repository }: IssuePlace,
  number: number,
  { closedAs, ...text }: { title: string; body: string; closedAs?: 'completed' | 'not_planned' | undefined },
): Promise<void> {
  const { owner, repo } = placeOf(repository);
  await octokit.request('PATCH /repos/{owner}/{repo}/issues/{issue_number}', {
    owner,
    repo,
    issue_number: number,
    ...text,
    ...(closedAs && { state: 'closed', state_reason: closedAs }),
  });
}

export async function replaceLabel(
  place: IssuePlace,
  number: number,
  { old, label }: { old: string; label: Label },
): Promise<void> {
  const { octokit, repository } = place;
  const { owner, repo } = placeOf(repository);
  await makeLabel(place, label);
  const issue = { owner, repo, issue_number: number };
  await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
    ...issue,
    labels: [label.name],
  });
  try {
    const url = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}';
    await octokit.request(url, { ...issue, name: old });
  } catch (error) {
    // The label was removed before, or the response to the first try was lost.
    if (!isGone(githubFailure(error))) throw error;
  }
}

/** True if the issue was deleted, or moved to a repository that the token cannot read. */
export const isGone = (failure: GithubFailure | undefined): boolean =>
  failure?.kind === 'answered' && [404, 410].includes(failure.status);

/** Keeps the colour of an existing label. Throws octokit's errors. */
export async function makeLabel({ octokit, repository }: IssuePlace, label: Label): Promise<'made' | 'was there'> {
  try {
    const url = 'POST /repos/{owner}/{repo}/labels';
    await octokit.request(url, { ...placeOf(repository), ...label });
    return 'made';
  } catch (error) {
    if (isThereAlready(error)) return 'was there';
    throw error;
  }
}

/** GitHub returns 422 for any invalid request; the code gives the reason. */
const isThereAlready = (error: unknown): boolean => error instanceof Error && error.message.includes('already_exists');

/** Excludes pull requests, which are issues too, but never ours. */
const isOurs = ({ user, body, pull_request }: ListedIssue, creator: string, marker: string): boolean =>
  pull_request === undefined && user?.login === creator && (body ?? '').startsWith(marker);

type ListedIssue = {
  user: { login: string } | null;
  body?: string | null | undefined;
  pull_request?: unknown;
};
