// Workflow runs, their starts and ends, and their artifacts.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { repositoryDocument } from '../documents.ts';
import { pageOf } from '../pages.ts';
import {
  type FakeArtifact,
  type FakeWorkflowRun,
  inRepository,
  nextId,
  notFound,
  type Operation,
  type State,
} from '../state.ts';
import { payloadsOf } from '../webhooks.ts';

/** GitHub's published example of a workflow run. */
const [example] = payloadsOf('workflow_run') as [{ workflow_run: { head_commit: object; [key: string]: unknown } }];

export const actionsOperations = {
  'actions/get-workflow-run': inRepository((state, { params }) => {
    const run = state.workflowRuns.find(({ id }) => id === Number(params.run_id));
    return run === undefined ? notFound : { status: 200, body: workflowRunDocument(state, run) };
  }),

  'actions/list-workflow-runs-for-repo': inRepository((state, { url }) => {
    const event = url.searchParams.get('event');
    const found = state.workflowRuns.filter((run) => [run.event, null].includes(event));
    const shown = found.filter(({ missingIn = 0 }) => missingIn === 0).toReversed();
    for (const run of found) run.missingIn = Math.max(0, (run.missingIn ?? 0) - 1);
    const { items, ...others } = pageOf(shown, url);
    const workflow_runs = items.map((run) => workflowRunDocument(state, run));
    return { status: 200, body: { total_count: shown.length, workflow_runs }, ...others };
  }),

  'actions/cancel-workflow-run': inRepository((state, { params }) => {
    const run = state.workflowRuns.find(({ id }) => id === Number(params.run_id));
    if (run === undefined) return notFound;
    if (run.status === 'completed') {
      const message = 'Cannot cancel a workflow run that is completed.';
      return { status: 409, body: { message, status: '409' } };
    }
    Object.assign(run, { status: 'completed', conclusion: 'cancelled' });
    return { status: 202, body: {} };
  }),

  'repos/create-dispatch-event': inRepository((state, { body }) => {
    const { event_type: eventType, client_payload: payload } = dispatch.parse(body);
    state.dispatches.push({ eventType, payload });
    for (const listener of state.listeners.filter((one) => one.eventType === eventType)) {
      state.workflowRuns.push({
        id: nextId(9001, state.workflowRuns),
        name: 'gate',
        path: '.github/workflows/gate.yml',
        event: 'repository_dispatch',
        headCommit: state.git.refs.get(`refs/heads/${state.defaultBranch}`) ?? '',
        headBranch: state.defaultBranch,
        headRepository: state.repository,
        status: 'queued',
        conclusion: null,
        displayTitle: listener.runName(payload),
        missingIn: listener.missingIn,
      });
    }
    return { status: 204 };
  }),

  'actions/list-workflow-run-artifacts': inRepository((state, { params, url }) => {
    const name = url.searchParams.get('name');
    const found = state.artifacts.filter(
      (one) => one.runId === Number(params.run_id) && [one.name, null].includes(name),
    );
    const { items, ...others } = pageOf(found.toReversed(), url);
    const artifacts = items.map((artifact) => artifactDocument(state, artifact));
    return { status: 200, body: { total_count: found.length, artifacts }, ...others };
  }),

  'actions/download-artifact': inRepository((state, { params, url }) => {
    const artifact = state.artifacts.find(({ id }) => id === Number(params.artifact_id));
    if (artifact === undefined || params.archive_format !== 'zip') return notFound;
    // Another host, like GitHub's storage: a client that follows must not send the token there.
    const location = `http://localhost:${url.port}/_artifacts/${artifact.id}.zip`;
    return { status: 302, headers: { location } };
  }),
} satisfies Record<string, Operation>;

const dispatch = z.object({
  event_type: z.string(),
  client_payload: z.record(z.string(), z.unknown()).default({}),
});

/** GitHub's response, also embedded in a `workflow_run` event. */
export function workflowRunDocument(state: State, run: FakeWorkflowRun): object {
  const text = JSON.stringify(example.workflow_run)
    .replaceAll('octo-org/octo-repo', state.repository)
    .replaceAll(String(example.workflow_run.id), String(run.id));
  return {
    ...JSON.parse(text),
    id: run.id,
    name: run.name,
    path: run.path,
    display_title: run.displayTitle ?? run.name,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion,
    head_sha: run.headCommit,
    head_branch: run.headBranch,
    head_commit: { ...example.workflow_run.head_commit, id: run.headCommit },
    repository: repositoryDocument(state),
    head_repository: repositoryDocument(state, run.headRepository),
    pull_requests: [],
  };
}

function artifactDocument(state: State, artifact: FakeArtifact): object {
  const { id, runId, name, bytes } = artifact;
  const url = `https://api.github.com/repos/${state.repository}/actions/artifacts/${id}`;
  return {
    id,
    node_id: `MDg6QXJ0aWZhY3Q${id}`,
    name,
    size_in_bytes: bytes.length,
    url,
    archive_download_url: `${url}/zip`,
    expired: false,
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    created_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-04-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    workflow_run: { id: runId, repository_id: 1, head_repository_id: 1 },
  };
}
