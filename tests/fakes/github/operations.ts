// What the fake GitHub does: every operation takes the state and a call, changes the state, and answers.
import { commentDocument, profileDocument, pullRequestDocument } from './documents.ts';

export type FakePullRequest = {
  number: number;
  title: string;
  author: string;
  baseCommit: string;
  headCommit: string;
  /** `owner/name`. Never null: GitHub's description does not know that a fork can be deleted. */
  headRepository: string;
};

export type FakeComment = {
  id: number;
  /** Of the pull request that it stands on. */
  number: number;
  author: string;
  body: string;
};

export type State = {
  /** `owner/name`: the only repository there is. */
  repository: string;
  pullRequests: FakePullRequest[];
  /** Oldest first. */
  comments: FakeComment[];
};

export type Call = {
  /** Where the fake listens, for the links between pages. */
  url: URL;
  params: Readonly<Record<string, string>>;
  body: Readonly<Record<string, unknown>>;
  caller: Caller;
};

/** Whose token it is: a workflow's own is an installation's, and belongs to no user. */
export type Caller = { kind: 'installation' | 'user'; login: string };

export type Answer = { status: number; body?: unknown; headers?: Record<string, string> };

type Operation = (state: State, call: Call) => Answer;

/** GitHub's own limit: it counts characters, and says the number in its refusal. */
const longestBody = 65_536;

const notFound: Answer = { status: 404, body: { message: 'Not Found', status: '404' } };

export const operations: Readonly<Record<string, Operation>> = {
  'users/get-authenticated': (_state, { caller }) =>
    caller.kind === 'user'
      ? { status: 200, body: profileDocument(caller.login) }
      : { status: 403, body: { message: 'Resource not accessible by integration' } },

  'pulls/get': (state, call) => {
    const pullRequest = pullRequestOf(state, call, call.params.pull_number);
    if (pullRequest === undefined) return notFound;
    return { status: 200, body: pullRequestDocument(state, pullRequest) };
  },

  'issues/list-comments': (state, call) => {
    const pullRequest = pullRequestOf(state, call, call.params.issue_number);
    if (pullRequest === undefined) return notFound;
    const comments = state.comments.filter(({ number }) => number === pullRequest.number);
    return onePage(
      comments.map((comment) => commentDocument(state, comment)),
      call.url,
    );
  },

  'issues/create-comment': (state, call) => {
    const pullRequest = pullRequestOf(state, call, call.params.issue_number);
    if (pullRequest === undefined) return notFound;
    const body = String(call.body.body);
    const refusal = refusedBody(body);
    if (refusal !== undefined) return refusal;
    const id = Math.max(1000, ...state.comments.map((comment) => comment.id)) + 1;
    const comment = { id, number: pullRequest.number, author: call.caller.login, body };
    state.comments.push(comment);
    return { status: 201, body: commentDocument(state, comment) };
  },

  'issues/update-comment': (state, call) => {
    const comment = commentOf(state, call);
    if (comment === undefined) return notFound;
    const body = String(call.body.body);
    const refusal = refusedBody(body);
    if (refusal !== undefined) return refusal;
    comment.body = body;
    return { status: 200, body: commentDocument(state, comment) };
  },

  'issues/delete-comment': (state, call) => {
    const comment = commentOf(state, call);
    if (comment === undefined) return notFound;
    state.comments.splice(state.comments.indexOf(comment), 1);
    return { status: 204 };
  },
};

function pullRequestOf(
  state: State,
  { params }: Call,
  number: string | undefined,
): FakePullRequest | undefined {
  if (!isTheRepository(state, params)) return undefined;
  return state.pullRequests.find((pullRequest) => pullRequest.number === Number(number));
}

function commentOf(state: State, { params }: Call): FakeComment | undefined {
  if (!isTheRepository(state, params)) return undefined;
  return state.comments.find(({ id }) => id === Number(params.comment_id));
}

function isTheRepository(state: State, params: Call['params']): boolean {
  return `${params.owner}/${params.repo}`.toLowerCase() === state.repository.toLowerCase();
}

function refusedBody(body: string): Answer | undefined {
  if (body.trim() === '') return invalidBody("Body can't be blank");
  if (body.length <= longestBody) return undefined;
  return invalidBody(`Body is too long (maximum is ${longestBody} characters)`);
}

function invalidBody(message: string): Answer {
  const error = { resource: 'IssueComment', code: 'unprocessable', field: 'data', message };
  const documentation_url = 'https://docs.github.com/rest/issues/comments';
  return {
    status: 422,
    body: { message: 'Validation Failed', errors: [error], documentation_url },
  };
}

/** A page of at most 100 (30 unless asked otherwise), and in `Link` the ways to the others. */
function onePage(documents: readonly object[], url: URL): Answer {
  const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 100);
  const page = Number(url.searchParams.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(documents.length / size));
  const links = [
    ...(page > 1 ? [linkTo(url, 'prev', page - 1), linkTo(url, 'first', 1)] : []),
    ...(page < last ? [linkTo(url, 'next', page + 1), linkTo(url, 'last', last)] : []),
  ];
  return {
    status: 200,
    body: documents.slice((page - 1) * size, page * size),
    ...(links.length > 0 && { headers: { link: links.join(', ') } }),
  };
}

function linkTo(url: URL, relation: string, page: number): string {
  const target = new URL(url);
  target.searchParams.set('page', String(page));
  return `<${target}>; rel="${relation}"`;
}
