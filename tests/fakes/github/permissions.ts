// Permissions that a token needs for each operation, named as in a workflow's `permissions`.
import type { State } from './state.ts';

type Scope = 'actions' | 'checks' | 'contents' | 'issues' | 'pull-requests' | 'statuses';

export type Permissions = Partial<Record<Scope, 'read' | 'write'>>;

/** A permission such as `checks: write`. */
export type Permission = `${Scope}: ${'read' | 'write'}`;

/** The permission that allows the operation; `free` needs none, `refused` lacks every sufficient one. */
export type AccessDecision = { kind: 'free' | 'refused' } | { kind: 'used'; permission: Permission };

/**
 * Checks whether a token with these permissions may do this, and by which of them.
 *
 * @param permissions undefined allows all.
 */
export function accessFor(state: State, operationId: string, permissions: Permissions | undefined): AccessDecision {
  const needed = needs[operationId];
  if (needed === undefined) throw new Error(`${operationId} is not in permissions.ts.`);
  const isPublicRead = !state.isPrivate && needed.every((one) => one.endsWith(': read'));
  if (needed.length === 0 || (isPublicRead && operationId !== download)) return { kind: 'free' };
  const permission = needed.find((one) => permissions === undefined || has(permissions, one));
  return permission === undefined ? { kind: 'refused' } : { kind: 'used', permission };
}

/** Even public data needs a permission here. */
const download = 'actions/download-artifact';

const free: Permission[] = [];
const readsContents: Permission[] = ['contents: read'];
const writesContents: Permission[] = ['contents: write'];
const readsPullRequests: Permission[] = ['pull-requests: read'];
const readsIssues: Permission[] = ['pull-requests: read', 'issues: read'];
const writesIssues: Permission[] = ['pull-requests: write', 'issues: write'];

/**
 * Any one of these suffices. None is needed if GitHub requires only `metadata`, which every token has. From
 * docs.github.com/rest/authentication/permissions-required-for-github-apps.
 */
const needs: Readonly<Record<string, readonly Permission[]>> = {
  'actions/cancel-workflow-run': ['actions: write'],
  'actions/download-artifact': ['actions: read'],
  'actions/get-workflow-run': ['actions: read'],
  'actions/list-workflow-run-artifacts': ['actions: read'],
  'actions/list-workflow-runs-for-repo': ['actions: read'],
  'artifacts/fetch': free,
  'artifacts/upload': free,
  'checks/create': ['checks: write'],
  'checks/list-for-ref': ['checks: read'],
  'checks/update': ['checks: write'],
  'git/create-blob': writesContents,
  'git/create-commit': writesContents,
  'git/create-tree': writesContents,
  'git/get-blob': readsContents,
  'git/get-commit': readsContents,
  'git/get-ref': readsContents,
  'git/get-tree': readsContents,
  graphql: free,
  'graphql/repository': free,
  'graphql/update-refs': writesContents,
  'graphql/viewer': free,
  'issues/add-labels': writesIssues,
  'issues/create': ['issues: write'],
  'issues/create-comment': writesIssues,
  'issues/create-label': writesIssues,
  'issues/delete-comment': writesIssues,
  'issues/get': readsIssues,
  'issues/list-comments': readsIssues,
  'issues/list-for-repo': readsIssues,
  'issues/remove-label': writesIssues,
  'issues/update': writesIssues,
  'issues/update-comment': writesIssues,
  'pulls/get': readsPullRequests,
  'pulls/list': readsPullRequests,
  'reactions/create-for-issue-comment': writesIssues,
  'repos/create-commit-status': ['statuses: write'],
  'repos/create-dispatch-event': writesContents,
  'repos/get-collaborator-permission-level': free,
  'repos/list-pull-requests-associated-with-commit': readsPullRequests,
};

function has(permissions: Permissions, permission: Permission): boolean {
  const [scope, level] = permission.split(': ');
  const [, granted] = Object.entries(permissions).find(([name]) => name === scope) ?? [];
  return granted === 'write' || granted === level;
}
