// Creates the label that approves pull requests on GitHub, or prints the command for it.

import type { Octokit } from '../../forge/github/client.ts';
import { type GithubFailure, githubFailure } from '../../forge/github/failure.ts';
import { makeLabel } from '../../forge/github/issue.ts';
import { approvalLabel } from './workflows.ts';

/** `why` is one sentence, `command` a shell command. */
export type PlacedLabel =
  | { kind: 'created' | 'unchanged'; repository: string }
  | { kind: 'not-created'; why: string; command: string };

const color = '1d76db';
const description = 'ppsgate may measure this pull request as it stands';

/** Does not throw for failures of GitHub or the network. */
export async function createLabel(octokit: Octokit, repository: string): Promise<PlacedLabel> {
  try {
    const label = { name: approvalLabel, color, description };
    const made = await makeLabel({ octokit, repository }, label);
    return { kind: made === 'made' ? 'created' : 'unchanged', repository };
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return labelByHand(whyNot(failure, repository), repository);
  }
}

export function labelByHand(why: string, repository: string | undefined): PlacedLabel {
  const of = repository ?? 'OWNER/NAME';
  const command = `gh label create ${approvalLabel} --repo ${of} --color ${color} --description "${description}"`;
  return { kind: 'not-created', why, command };
}

function whyNot(failure: GithubFailure, repository: string): string {
  const what = `The label ${approvalLabel} was not created on ${repository}`;
  if (failure.kind === 'no-answer') return `${what}: GitHub cannot be reached (${failure.detail}).`;
  return `${what}: GitHub answered ${failure.detail}.`;
}
