// State of the fake GitHub, and the shape of the calls on it.
import { commitAt, commitFiles, emptyRepository, type Git } from './git-objects.ts';

export type FakePullRequest = {
  number: number;
  title: string;
  author: string;
  baseCommit: string;
  headCommit: string;
  /** `owner/name`. Never null, as GitHub's description does not cover a deleted fork. */
  headRepository: string;
  /** Branch names; default: `main` and `changes`. */
  baseRef?: string;
  headRef?: string;
  /** Names. */
  labels?: string[];
  /** Only collaborators may comment on it. */
  isLocked?: boolean;
  /** Deleted by an administrator, permanently. */
  isDeleted?: boolean;
  state?: 'open' | 'closed';
  /** Commit of the default branch that it became; absent if it was not merged. */
  mergeCommit?: string;
  /** Time of the last push, label or edit; default: noon of 2026-11-20. */
  updatedAt?: string;
};

/** An issue that is no pull request; the two share their numbers. */
export type FakeIssue = {
  number: number;
  title: string;
  author: string;
  body: string;
  /** Names. */
  labels: string[];
  state: 'open' | 'closed';
  reason: 'completed' | 'not_planned' | null;
  createdAt: string;
  /** Time of the last change. */
  updatedAt: string;
  isLocked?: boolean;
  isDeleted?: boolean;
};

/** Issue or pull request: has comments and labels. */
export type Conversation = FakePullRequest | FakeIssue;

export type FakeComment = {
  id: number;
  /** Number of its pull request or issue. */
  number: number;
  author: string;
  body: string;
};

export type FakeCheckRun = {
  id: number;
  name: string;
  headCommit: string;
  externalId: string | null;
  detailsUrl: string | null;
  status: string;
  conclusion: string | null;
  title: string | null;
  summary: string | null;
  /** Set once they were sent; annotations accumulate. */
  text?: string;
  annotations?: Annotation[];
  actions?: { label: string; description: string; identifier: string }[];
};

export type Annotation = {
  path: string;
  start_line: number;
  end_line: number;
  annotation_level: 'notice' | 'warning' | 'failure';
  message: string;
  title?: string | undefined;
  raw_details?: string | undefined;
};

/** Names on GitHub's pages; its API reports `maintain` as write and `triage` as read, and has the name as well. */
export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';

export type FakeReaction = { id: number; commentId: number; author: string; content: string };

export type FakeLabel = { name: string; color: string; description: string | null };

export type FakeStatus = {
  id: number;
  commit: string;
  author: string;
  state: string;
  context: string;
  description: string | null;
  targetUrl: string | null;
};

export type FakeWorkflowRun = {
  id: number;
  /** The workflow's name and file, such as `.github/workflows/gate.yml`. */
  name: string;
  path: string;
  event: string;
  headCommit: string;
  headBranch: string;
  /** `owner/name`. */
  headRepository: string;
  status: string;
  conclusion: string | null;
  /** Title by the workflow's `run-name`; absent: the workflow's name. */
  displayTitle?: string;
  /** Number of lists that still lack it: GitHub shows a run some seconds after its event. */
  missingIn?: number;
};

/** A workflow that listens to `repository_dispatch`. */
export type FakeListener = {
  eventType: string;
  /** Its `run-name`. */
  runName: (payload: Readonly<Record<string, unknown>>) => string;
  /** See `missingIn` of its runs. */
  missingIn: number;
};

export type FakeDispatch = { eventType: string; payload: Readonly<Record<string, unknown>> };

export type FakeArtifact = {
  id: number;
  /** Id of its workflow run. */
  runId: number;
  name: string;
  bytes: Buffer;
};

export type State = {
  /** `owner/name` of the only repository. */
  repository: string;
  /** Objects and refs; initially a branch `main` with one commit. */
  git: Git;
  defaultBranch: string;
  /** A private repository is readable only with `contents: read`, and for users with a role. */
  isPrivate: boolean;
  /** Roles by login; an author of anything here exists even without one. */
  permissions: Record<string, Role>;
  pullRequests: FakePullRequest[];
  /** Oldest first. */
  issues: FakeIssue[];
  /** Delay until lists show a new issue. */
  issuesListedAfterSeconds: number;
  /** The clock of issues. */
  now: () => Date;
  /** Oldest first. */
  comments: FakeComment[];
  /** Oldest first. */
  checkRuns: FakeCheckRun[];
  reactions: FakeReaction[];
  /** Labels of the repository. */
  labels: FakeLabel[];
  /** Oldest first. */
  statuses: FakeStatus[];
  /** Oldest first. */
  workflowRuns: FakeWorkflowRun[];
  listeners: FakeListener[];
  /** Oldest first. */
  dispatches: FakeDispatch[];
  artifacts: FakeArtifact[];
};

export type Call = {
  /** The fake's address, for the links between pages. */
  url: URL;
  params: Readonly<Record<string, string>>;
  body: Readonly<Record<string, unknown>>;
  caller: Caller;
};

/** User of the token. A token of a workflow or an app belongs to an installation, not to a user. */
export type Caller = { kind: 'installation' | 'user'; login: string };

/** `body` is sent as JSON, `bytes` as they are. */
export type Answer = {
  status: number;
  body?: unknown;
  bytes?: Buffer;
  headers?: Record<string, string>;
};

export type Operation = (state: State, call: Call) => Answer;

/** GraphQL's id of the repository. */
export const repositoryNodeId = 'R_1';

export const notFound: Answer = { status: 404, body: { message: 'Not Found', status: '404' } };

export function firstState(options: {
  repository: string;
  pullRequests: FakePullRequest[];
  comments?: readonly Omit<FakeComment, 'id'>[];
}): State {
  const git = emptyRepository();
  commitFiles(git, 'main', { 'README.md': '# An example\n' }, 'Begin');
  return {
    repository: options.repository,
    git,
    defaultBranch: 'main',
    isPrivate: false,
    permissions: {},
    pullRequests: options.pullRequests,
    issues: [],
    issuesListedAfterSeconds: 0,
    now: () => new Date(),
    comments: (options.comments ?? []).map((comment, index) => ({ ...comment, id: 1001 + index })),
    checkRuns: [],
    reactions: [],
    labels: [],
    statuses: [],
    workflowRuns: [],
    listeners: [],
    dispatches: [],
    artifacts: [],
  };
}

export function isTheRepository(state: State, params: Call['params']): boolean {
  return `${params.owner}/${params.repo}`.toLowerCase() === state.repository.toLowerCase();
}

/** An operation on the only repository; for any other it finds nothing. */
export const inRepository =
  (operation: Operation): Operation =>
  (state, call) =>
    isTheRepository(state, call.params) ? operation(state, call) : notFound;

/** The commit that a branch, or a full id, names. */
export function commitOf(state: State, ref: string): string | undefined {
  const id = state.git.refs.get(`refs/heads/${ref}`) ?? ref;
  const isHead = state.pullRequests.some(({ headCommit }) => headCommit === id);
  return isHead || commitAt(state.git, id) !== undefined ? id : undefined;
}

/** GitHub's refusal of a well-formed value: 422, with the field in `errors`. */
export function invalid(resource: string, field: string, code: string, message?: string): Answer {
  const documentation_url = 'https://docs.github.com/rest';
  const error = { resource, field, code, ...(message !== undefined && { message }) };
  return {
    status: 422,
    body: { message: 'Validation Failed', errors: [error], documentation_url },
  };
}

/** The id after the highest. */
export function nextId(first: number, kept: readonly { id: number }[]): number {
  return Math.max(first - 1, ...kept.map(({ id }) => id)) + 1;
}
