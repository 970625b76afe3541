// Creates, lists and updates issues on GitHub.
import * as bounded from '../../model/bounds.ts';
import { type Octokit, placeOf } from './client.ts';
import { type GithubFailure, githubFailure } from './failure.ts';

export type IssuePlace = { octokit: Octokit; repository: string };

export type Label = { name: string; color: string; description: string };

/** Without octokit's retries: after a lost response, GitHub would create a second one. Throws octokit's errors. */
export async function createIssue(
  { octokit, repository }: IssuePlace,
  { title, body, label }: { title: string; body: string; label: string },
): Promise<number> {
  const { owner, repo } = placeOf(repository);
  const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues', {
    owner,
    repo,
    title,
    body,
    labels: [label],
    request: { retries: 0 },
  });
  return bounded.id.parse(data.number);
}

/**
 * Lists the open issues by `creator`, oldest first. GitHub lists a new one only after a while. Throws octokit's errors.
 */
export async function openIssues(
  { octokit, repository }: IssuePlace,
  creator: string,
): Promise<{ number: number; body: string }[]> {
  const listed = await octokit.paginate('GET /repos/{owner}/{repo}/issues', {
    ...placeOf(repository),
    creator,
    sort: 'created',
    direction: 'asc',
    per_page: 100,
  });
  return listed.filter((issue) => isOurs(issue, creator)).map(({ number, body }) => ({ number, body: body ?? '' }));
}

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
    return isOurs(data, creator) ? (data.body ?? '') : undefined;
  } catch (error) {
    if (isGone(githubFailure(error))) return undefined;
    throw error;
  }
}

export async function updateIssue(
  { octokit, repository }: IssuePlace,
  number: number,
  { closedAs, ...text }: { title?: string; body?: string; closedAs?: 'completed' | 'not_planned' | undefined },
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
const isOurs = ({ user, pull_request }: ListedIssue, creator: string): boolean =>
  pull_request === undefined && user?.login === creator;

type ListedIssue = { user: { login: string } | null; pull_request?: unknown };
