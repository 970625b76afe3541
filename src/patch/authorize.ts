// May this patch be run on our hardware? It is hostile code until somebody with write permission stands for it.
import type { FoundPullRequest } from './github.ts';

export type Leave = { kind: 'allowed'; why: string } | { kind: 'refused'; why: string };

/** What started the job: GitHub lets only people with write permission dispatch a workflow. */
export type Trigger = 'pull_request' | 'workflow_dispatch';

/** `why` is one sentence for the one who opened the pull request. */
export function authorize(
  trigger: Trigger,
  { pullRequest, headRepository }: Pick<FoundPullRequest, 'pullRequest' | 'headRepository'>,
): Leave {
  const { number, repository } = pullRequest;
  if (trigger === 'workflow_dispatch') {
    const why = `Somebody with write permission to ${repository} dispatched #${number}.`;
    return { kind: 'allowed', why };
  }
  if (headRepository === repository) {
    const why = `The head of #${number} is in ${repository} itself, where only people with write permission can push.`;
    return { kind: 'allowed', why };
  }
  const from = headRepository ?? 'a repository that was deleted';
  const why = `Thank you for #${number}: because it comes from ${from}, it runs on the testbed only after a maintainer of ${repository} has read it and started ppsgate by workflow_dispatch with patch \`#${number}\`.`;
  return { kind: 'refused', why };
}
