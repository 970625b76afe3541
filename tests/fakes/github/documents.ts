// The fake's state in GitHub's own words: whole JSON documents, valid by GitHub's OpenAPI description.
import type { FakeComment, FakePullRequest, State } from './operations.ts';
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
    user: userDocument(pullRequest.author),
    base: { ...document.base, sha: pullRequest.baseCommit },
    head: {
      ...document.head,
      sha: pullRequest.headCommit,
      repo: { ...document.head.repo, full_name: pullRequest.headRepository },
    },
  };
}

export function commentDocument(state: State, comment: FakeComment): object {
  const repository = `https://api.github.com/repos/${state.repository}`;
  const [owner] = state.repository.split('/');
  return {
    id: comment.id,
    node_id: `IC_${comment.id}`,
    url: `${repository}/issues/comments/${comment.id}`,
    html_url: `https://github.com/${state.repository}/pull/${comment.number}#issuecomment-${comment.id}`,
    issue_url: `${repository}/issues/${comment.number}`,
    body: comment.body,
    user: userDocument(comment.author),
    author_association: comment.author === owner ? 'OWNER' : 'NONE',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    performed_via_github_app: null,
  };
}

/** What GET /user says: a user, and what a public profile holds besides. */
export function profileDocument(login: string): object {
  return {
    ...userDocument(login),
    name: null,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 1,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

function userDocument(login: string): object {
  const user = JSON.stringify(exampleFor('a/b', 1).user).replaceAll('Codertocat', login);
  return { ...JSON.parse(user), type: login.endsWith('[bot]') ? 'Bot' : 'User' };
}

/** The example with its names, numbers and links made those of another pull request. */
function exampleFor(repository: string, number: number): ExampleDocument {
  const text = JSON.stringify(example.pull_request)
    .replaceAll('Codertocat/Hello-World', repository)
    .replaceAll(/\b(pulls?|issues)\/2\b/g, `$1/${number}`);
  return { ...JSON.parse(text), number };
}
