// Pull requests and their repository, which are read but never changed here.
import { headLabelOf, pullRequestDocument } from '../documents.ts';
import { onePage } from '../pages.ts';
import {
  type Answer,
  type Call,
  type Conversation,
  type FakePullRequest,
  inRepository,
  isTheRepository,
  notFound,
  type Operation,
  type State,
} from '../state.ts';

export const pullRequestOperations = {
  'pulls/get': (state, call) => {
    const pullRequest = pullRequestOf(state, call, call.params.pull_number);
    if (pullRequest === undefined || pullRequest.isDeleted) return notFound;
    return { status: 200, body: pullRequestDocument(state, pullRequest) };
  },

  'pulls/list': inRepository((state, { url }) => {
    const { state: wanted = 'open', head, base } = Object.fromEntries(url.searchParams);
    const found = state.pullRequests.filter(
      (one) =>
        !one.isDeleted &&
        [one.state ?? 'open', 'all'].includes(wanted) &&
        [headLabelOf(one), undefined].includes(head) &&
        [one.baseRef ?? state.defaultBranch, undefined].includes(base),
    );
    return listed(state, found.toReversed(), url);
  }),

  'repos/list-pull-requests-associated-with-commit': inRepository((state, { params, url }) => {
    const found = state.pullRequests.filter(
      ({ headCommit, mergeCommit, isDeleted }) => [headCommit, mergeCommit].includes(params.commit_sha) && !isDeleted,
    );
    return listed(state, found, url);
  }),
} satisfies Record<string, Operation>;

export function pullRequestOf(state: State, { params }: Call, number: string | undefined): FakePullRequest | undefined {
  if (!isTheRepository(state, params)) return undefined;
  return state.pullRequests.find((pullRequest) => pullRequest.number === Number(number));
}

/** Finds the pull request or issue of /issues/NUMBER: GitHub returns 410 for a deleted one. */
export function onConversation(operation: (state: State, call: Call, conversation: Conversation) => Answer): Operation {
  return inRepository((state, call) => {
    const isMeant = ({ number }: Conversation) => number === Number(call.params.issue_number);
    const found = state.pullRequests.find(isMeant) ?? state.issues.find(isMeant);
    if (found === undefined) return notFound;
    if (found.isDeleted) return { status: 410, body: { message: 'This issue was deleted', status: '410' } };
    return operation(state, call, found);
  });
}

function listed(state: State, found: readonly FakePullRequest[], url: URL): Answer {
  return onePage(
    found.map((pullRequest) => pullRequestDocument(state, pullRequest)),
    url,
  );
}
