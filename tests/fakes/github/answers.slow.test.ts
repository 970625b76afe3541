// Refusals and oddities of GitHub that code must handle: the fake must have them, too.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Octokit } from '../../../src/forge/github/client.ts';
import { commitFiles } from './git-objects.ts';
import { hastyOctokit } from './hasty-octokit.ts';
import { appToken, type FakeGitHub, startFakeGitHub } from './server.ts';

const where = { owner: 'example', repo: 'router' };
const head = 'b'.repeat(40);
let github: FakeGitHub;
let octokit: Octokit;

beforeEach(async () => {
  const pullRequest = {
    number: 7,
    title: 'Change the rules',
    author: 'alice',
    baseCommit: 'a'.repeat(40),
    headCommit: head,
    headRepository: 'alice/router',
    headRef: 'faster',
  };
  github = await startFakeGitHub({
    repository: 'example/router',
    pullRequests: [pullRequest],
    comments: [{ number: 7, author: 'bob', body: '/ppsgate rerun' }],
  });
  octokit = await hastyOctokit(github);
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

test('a role that GitHub calls by an older name keeps its own beside it', async () => {
  Object.assign(github.state.permissions, { Carol: 'maintain', dave: 'triage' });
  const levelOf = async (username: string) => {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
      ...where,
      username,
    });
    return [data.permission, data.role_name];
  };
  expect(await levelOf('carol')).toEqual(['write', 'maintain']);
  expect(await levelOf('dave')).toEqual(['read', 'triage']);
  expect(await levelOf('alice')).toEqual(['read', 'read']);
  await expect(levelOf('nobody')).rejects.toMatchObject({ status: 404 });
  github.state.isPrivate = true;
  expect(await levelOf('alice')).toEqual(['none', 'none']);
});

test('a reaction stands once, however often it is given', async () => {
  const react = async () => {
    const reaction = { ...where, comment_id: 1001, content: 'eyes' } as const;
    return (await octokit.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', reaction))
      .status;
  };
  expect([await react(), await react()]).toEqual([201, 200]);
  expect(github.state.reactions).toMatchObject([{ commentId: 1001, author: 'github-actions[bot]' }]);
});

test('labels are made, given and taken, and what is not there cannot be taken', async () => {
  const issue = { ...where, issue_number: 7 };
  const label = { ...where, name: 'ppsgate', color: '00ff00' };
  await octokit.request('POST /repos/{owner}/{repo}/labels', label);
  await expect(octokit.request('POST /repos/{owner}/{repo}/labels', label)).rejects.toThrow('already_exists');
  await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
    ...issue,
    labels: ['PPSgate'],
  });
  expect((await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/labels', issue)).data).toMatchObject([
    { name: 'ppsgate', color: '00ff00' },
  ]);
  await octokit.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
    ...issue,
    name: 'ppsgate',
  });
  await expect(
    octokit.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
      ...issue,
      name: 'ppsgate',
    }),
  ).rejects.toThrow('Label does not exist');
});

test('a locked conversation takes no comment, and a deleted one is gone', async () => {
  const [pullRequest] = github.state.pullRequests;
  const comment = { ...where, issue_number: 7, body: 'Hello' };
  Object.assign(pullRequest ?? {}, { isLocked: true });
  await expect(
    octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment),
  ).rejects.toMatchObject({ status: 403 });
  Object.assign(pullRequest ?? {}, { isDeleted: true });
  await expect(
    octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment),
  ).rejects.toMatchObject({ status: 410 });
  await expect(
    octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...where, pull_number: 7 }),
  ).rejects.toMatchObject({
    status: 404,
  });
});

test('a status has at most 140 characters', async () => {
  const status = { ...where, sha: head, state: 'success', context: 'ppsgate' } as const;
  await octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
    ...status,
    description: 'x'.repeat(140),
  });
  await expect(
    octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
      ...status,
      description: 'x'.repeat(141),
    }),
  ).rejects.toMatchObject({ status: 422 });
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', {
    ...where,
    ref: head,
  });
  expect(data).toMatchObject([{ state: 'success', context: 'ppsgate' }]);
});

const action = { label: 'Run again', description: 'Measure it once more', identifier: 'rerun' };
const line = { path: 'pf.conf', start_line: 1, end_line: 1, message: 'Slow' } as const;

test.each([
  ['a fourth action', { actions: [action, action, action, action] }],
  ['a long label', { actions: [{ ...action, label: 'x'.repeat(21) }] }],
  ['a long summary', { output: { title: 'x', summary: 'x'.repeat(65_536) } }],
  ['a long title', { output: { title: 'x'.repeat(65_536), summary: 'x' } }],
  [
    'a fifty-first annotation',
    {
      output: {
        title: 'x',
        summary: 'x',
        annotations: Array.from({ length: 51 }, () => ({ ...line, annotation_level: 'notice' })),
      },
    },
  ],
])('a check run with %s is refused', async (_what, more) => {
  const url: string = 'POST /repos/{owner}/{repo}/check-runs';
  await expect(octokit.request(url, { ...where, name: 'ppsgate', head_sha: head, ...more })).rejects.toMatchObject({
    status: 422,
  });
  expect(github.state.checkRuns).toEqual([]);
});

test('annotations add up, and another app may not change the check run', async () => {
  const annotations = [{ ...line, annotation_level: 'warning' as const }];
  const output = { title: 'x', summary: 'x', text: 'more', annotations };
  const { data } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
    ...where,
    name: 'ppsgate',
    head_sha: head,
    output,
    actions: [action],
  });
  const change = { ...where, check_run_id: data.id, output };
  expect(
    (await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', change)).data.output
      .annotations_count,
  ).toBe(2);
  expect(github.state.checkRuns).toMatchObject([{ text: 'more', actions: [action] }]);
  const app = await hastyOctokit(github, { token: appToken });
  await expect(app.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', change)).rejects.toThrow(
    'Invalid app_id',
  );
});

test('pull requests are found by their branch, their commit and their state', async () => {
  const list = async (search: object) =>
    (await octokit.request('GET /repos/{owner}/{repo}/pulls', { ...where, ...search })).data.map(
      ({ number }) => number,
    );
  expect(await list({ head: 'alice:faster' })).toEqual([7]);
  expect(await list({ head: 'mallory:faster' })).toEqual([]);
  Object.assign(github.state.pullRequests[0] ?? {}, { state: 'closed' });
  expect(await list({})).toEqual([]);
  expect(await list({ state: 'all' })).toEqual([7]);
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls', {
    ...where,
    commit_sha: head,
  });
  expect(data).toMatchObject([{ number: 7, state: 'closed', head: { ref: 'faster' } }]);
});

test('the files that a pull request changes are listed', async () => {
  const file = { filename: 'a/pf.conf', status: 'modified', additions: 2, deletions: 1 } as const;
  github.state.files[7] = [file];
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
    ...where,
    pull_number: 7,
  });
  expect(data).toMatchObject([{ filename: 'a/pf.conf', changes: 3 }]);
});

test('a file is read as JSON or raw, from the requested branch', async () => {
  commitFiles(github.state.git, 'data', { 'badges/main.json': '{"pps":1}' });
  const file = { ...where, path: 'badges/main.json' };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', {
    ...file,
    ref: 'data',
  });
  expect(data).toMatchObject({ type: 'file', content: btoa('{"pps":1}') });
  const raw = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', {
    ...file,
    ref: 'data',
    mediaType: { format: 'raw' },
  });
  expect(Buffer.from(raw.data as unknown as ArrayBuffer).toString()).toBe('{"pps":1}');
  await expect(octokit.request('GET /repos/{owner}/{repo}/contents/{path}', file)).rejects.toMatchObject({
    status: 404,
  });
  expect((await octokit.request('GET /repos/{owner}/{repo}', where)).data).toMatchObject({
    node_id: 'R_1',
    default_branch: 'main',
  });
});

test('an artifact is fetched from elsewhere, without the token, until it expires', async () => {
  github.state.workflowRuns.push({
    id: 42,
    name: 'gate',
    path: '.github/workflows/gate.yml',
    event: 'pull_request',
    headCommit: head,
    headBranch: 'faster',
    headRepository: 'alice/router',
    status: 'completed',
    conclusion: 'success',
    pullRequests: [7],
  });
  await fetch(`${github.url}/_artifacts/42/ppsgate%20result`, {
    method: 'PUT',
    headers: { authorization: 'Bearer ghs_workflow' },
    body: 'PK',
  });
  const run = { ...where, run_id: 42 };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/actions/runs/{run_id}', run);
  expect(data).toMatchObject({ id: 42, head_repository: { full_name: 'alice/router' } });
  const { data: list } = await octokit.request('GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts', run);
  expect(list).toMatchObject({ total_count: 1, artifacts: [{ name: 'ppsgate result' }] });
  const [artifact] = github.state.artifacts;
  const wanted = { ...where, artifact_id: artifact?.id ?? 0, archive_format: 'zip' };
  const zip = await octokit.request(
    'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
    wanted,
  );
  expect(Buffer.from(zip.data as ArrayBuffer).toString()).toBe('PK');
  Object.assign(artifact ?? {}, { isExpired: true });
  await expect(
    octokit.request('GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}', wanted),
  ).rejects.toMatchObject({
    status: 410,
  });
});

test('unchanged content is not sent again', async () => {
  const get = (headers: Record<string, string>) =>
    octokit.request('GET /repos/{owner}/{repo}/pulls/7', { ...where, headers });
  const { etag = '' } = (await get({})).headers;
  await expect(get({ 'if-none-match': etag })).rejects.toMatchObject({ status: 304 });
  Object.assign(github.state.pullRequests[0] ?? {}, { title: 'Another' });
  expect((await get({ 'if-none-match': etag })).status).toBe(200);
});

test('an event runs the workflows that listen to it, and a run that has ended is not cancelled', async () => {
  const listener = { runName: ({ key }: { key?: unknown }) => `gate ${key}`, missingIn: 1 };
  github.state.listeners = [{ eventType: 'measure', ...listener }];
  for (const [event_type, key] of [
    ['measure', 'a'],
    ['other', 'b'],
  ] as const) {
    const event = { ...where, event_type, client_payload: { key } };
    expect((await octokit.request('POST /repos/{owner}/{repo}/dispatches', event)).status).toBe(204);
  }
  const list = async (event: string) => {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/actions/runs', {
      ...where,
      event,
    });
    return data.workflow_runs.map((run) => run.display_title);
  };
  expect(await list('push')).toEqual([]);
  expect(await list('repository_dispatch')).toEqual([]);
  expect(await list('repository_dispatch')).toEqual(['gate a']);
  const cancel = () =>
    octokit.request('POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel', {
      ...where,
      run_id: 9001,
    });
  expect((await cancel()).status).toBe(202);
  expect(github.state.workflowRuns).toMatchObject([{ conclusion: 'cancelled' }]);
  await expect(cancel()).rejects.toMatchObject({ status: 409 });
});
