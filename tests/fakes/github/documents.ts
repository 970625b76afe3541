// The fake's state as GitHub's JSON documents, valid by GitHub's OpenAPI description.
import {
  type FakeCheckRun,
  type FakeComment,
  type FakeIssue,
  type FakeLabel,
  type FakePullRequest,
  repositoryNodeId,
  type State,
} from './state.ts';
import { payloadsOf } from './webhooks.ts';

/** GitHub's published example of an opened pull request, #2 of Codertocat/Hello-World. */
const [example] = payloadsOf('pull_request') as [{ pull_request: ExampleDocument }];

type ExampleDocument = {
  user: object;
  base: { repo: object };
  head: { repo: object };
};

export function pullRequestDocument(state: State, pullRequest: FakePullRequest): object {
  const document = exampleFor(state.repository, pullRequest.number);
  return {
    ...document,
    auto_merge: null, // came after the example was published
    title: pullRequest.title,
    state: pullRequest.state ?? 'open',
    updated_at: pullRequest.updatedAt ?? '2026-11-20T12:00:00Z',
    locked: pullRequest.isLocked ?? false,
    labels: (pullRequest.labels ?? []).map((name) => labelDocument(state, labelOf(state, name))),
    user: userDocument(pullRequest.author),
    ...(pullRequest.mergeCommit !== undefined && {
      merged_at: '2026-11-20T12:00:00Z',
      merge_commit_sha: pullRequest.mergeCommit,
    }),
    base: {
      ...document.base,
      ref: pullRequest.baseRef ?? state.defaultBranch,
      sha: pullRequest.baseCommit,
    },
    head: {
      ...document.head,
      ref: headRefOf(pullRequest),
      label: headLabelOf(pullRequest),
      sha: pullRequest.headCommit,
      repo: { ...document.head.repo, full_name: pullRequest.headRepository },
    },
  };
}

/** GitHub's published example of an issue. */
const [issueExample] = payloadsOf('issues') as [{ issue: object }];

export function issueDocument(state: State, issue: FakeIssue): object {
  const { number, title, body, author, labels, createdAt, updatedAt } = issue;
  const text = JSON.stringify(issueExample.issue)
    .replaceAll('Codertocat/Hello-World', state.repository)
    .replaceAll(/\bissues\/1\b/g, `issues/${number}`);
  return {
    ...JSON.parse(text),
    number,
    title,
    body,
    state: issue.state,
    state_reason: issue.reason,
    user: userDocument(author),
    labels: labels.map((name) => labelDocument(state, labelOf(state, name))),
    assignee: null,
    assignees: [],
    milestone: null,
    closed_at: issue.state === 'closed' ? updatedAt : null,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** `owner:branch`, by which pull requests are searched. */
export function headLabelOf(pullRequest: FakePullRequest): string {
  return `${pullRequest.headRepository.split('/')[0]}:${headRefOf(pullRequest)}`;
}

function headRefOf({ headRef = 'changes' }: FakePullRequest): string {
  return headRef;
}

/** A label of the repository; GitHub's default colour is grey. */
export function labelOf(state: State, name: string): FakeLabel {
  const isCalled = (label: FakeLabel) => label.name.toLowerCase() === name.toLowerCase();
  return state.labels.find(isCalled) ?? { name, color: 'ededed', description: '' };
}

export function labelDocument(state: State, label: FakeLabel): object {
  const url = `https://api.github.com/repos/${state.repository}/labels`;
  const { name, color, description } = label;
  return {
    id: 3001 + Math.max(0, state.labels.indexOf(label)),
    node_id: `LA_${name}`,
    url: `${url}/${encodeURIComponent(name)}`,
    name,
    color,
    description,
    default: false,
  };
}

export function repositoryDocument(state: State, repository = state.repository): object {
  return {
    ...exampleFor(repository, 1).base.repo,
    node_id: repositoryNodeId,
    default_branch: state.defaultBranch,
    private: state.isPrivate,
    visibility: state.isPrivate ? 'private' : 'public',
    has_discussions: false,
    network_count: 0,
    subscribers_count: 0,
  };
}

export function commentDocument(state: State, comment: FakeComment): object {
  const repository = `https://api.github.com/repos/${state.repository}`;
  const kind = state.issues.some(({ number }) => number === comment.number) ? 'issues' : 'pull';
  const [owner] = state.repository.split('/');
  return {
    id: comment.id,
    node_id: `IC_${comment.id}`,
    url: `${repository}/issues/comments/${comment.id}`,
    html_url: `https://github.com/${state.repository}/${kind}/${comment.number}#issuecomment-${comment.id}`,
    issue_url: `${repository}/issues/${comment.number}`,
    body: comment.body,
    user: userDocument(comment.author),
    author_association: comment.author === owner ? 'OWNER' : 'NONE',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    performed_via_github_app: null,
  };
}

export function checkRunDocument(state: State, checkRun: FakeCheckRun): object {
  const { id, name, status, conclusion, title, summary, text = null, annotations = [] } = checkRun;
  const url = `https://api.github.com/repos/${state.repository}/check-runs/${id}`;
  const page = `https://github.com/${state.repository}/runs/${id}`;
  return {
    id,
    node_id: `CR_${id}`,
    head_sha: checkRun.headCommit,
    external_id: checkRun.externalId,
    url,
    html_url: page,
    details_url: checkRun.detailsUrl ?? page,
    status,
    conclusion,
    started_at: '2026-01-01T00:00:00Z',
    completed_at: status === 'completed' ? '2026-01-01T01:00:00Z' : null,
    output: {
      title,
      summary,
      text,
      annotations_count: annotations.length,
      annotations_url: `${url}/annotations`,
    },
    name,
    check_suite: { id: 1 },
    app: null,
    pull_requests: [],
  };
}

export function userDocument(login: string): object {
  const user = JSON.stringify(exampleFor('a/b', 1).user).replaceAll('Codertocat', login);
  return { ...JSON.parse(user), type: login.endsWith('[bot]') ? 'Bot' : 'User' };
}

/** The example, with the names, numbers and links of another pull request. */
function exampleFor(repository: string, number: number): ExampleDocument {
  const text = JSON.stringify(example.pull_request)
    .replaceAll('Codertocat/Hello-World', repository)
    .replaceAll(/\b(pulls?|issues)\/2\b/g, `$1/${number}`);
  return { ...JSON.parse(text), number };
}
