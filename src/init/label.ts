// The label by which a maintainer gives leave to a pull request: made on GitHub, or the command that makes it.

import { type Octokit, placeOf } from '../github/client.ts';
import { type GithubFailure, githubFailure } from '../github/failure.ts';
import { leaveLabel } from './workflows.ts';

/** `why` is one sentence, `command` a line for a shell. */
export type PlacedLabel =
  | { kind: 'created' | 'unchanged'; repository: string }
  | { kind: 'not-created'; why: string; command: string };

const color = '1d76db';
const description = 'ppsgate may measure this pull request as it stands';

/** Never throws for what GitHub or the network did. */
export async function createLabel(octokit: Octokit, repository: string): Promise<PlacedLabel> {
  const { owner, repo } = placeOf(repository);
  try {
    await octokit.request('POST /repos/{owner}/{repo}/labels', {
      owner,
      repo,
      name: leaveLabel,
      color,
      description,
    });
    return { kind: 'created', repository };
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    if (isThereAlready(error)) return { kind: 'unchanged', repository };
    return labelByHand(whyNot(failure, repository), repository);
  }
}

/** Leaves the label to whoever makes it with GitHub's own program, gh(1). */
export function labelByHand(why: string, repository: string | undefined): PlacedLabel {
  const of = repository ?? 'OWNER/NAME';
  const command = `gh label create ${leaveLabel} --repo ${of} --color ${color} --description "${description}"`;
  return { kind: 'not-created', why, command };
}

/** GitHub answers 422 for whatever it does not like, and says which by a code. */
const isThereAlready = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('already_exists');

function whyNot(failure: GithubFailure, repository: string): string {
  const what = `The label ${leaveLabel} was not made on ${repository}`;
  if (failure.kind === 'no-answer') return `${what}: GitHub cannot be reached (${failure.said}).`;
  return `${what}: GitHub answered ${failure.said}.`;
}
