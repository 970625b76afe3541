// Gates on GitHub: an event that a workflow listens to, whose run is found by its name.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { startOnGithub } from '../../src/relay/start-github.ts';
import type { Fault } from '../fakes/github/faults.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, personalToken, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakeWorkflowRun } from '../fakes/github/state.ts';

const repository = 'freebsd/freebsd-src';
const { signal } = new AbortController();
const job: Job = { key: 'D7-12', revision: 7, diff: 12, overrides: {}, by: 'alice' };

let github: FakeGitHub;
let paused: number[];

beforeEach(async () => {
  github = await startFakeGitHub({ repository, pullRequests: [] });
  const runName = (payload: Readonly<Record<string, unknown>>) => `ppsgate ${payload.key}`;
  github.state.listeners = [{ eventType: 'ppsgate', runName, missingIn: 2 }];
  paused = [];
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

async function starter(options: { token?: string; repository?: string } = {}) {
  const { token = personalToken, ...others } = options;
  const octokit = await hastyOctokit(github, { token });
  const pause = async (seconds: number) => void paused.push(seconds);
  const event = 'ppsgate';
  return startOnGithub(octokit, { repository, apiUrl: github.url, event, pause, ...others });
}

const urlOf = ({ id }: { id: number }) => `https://github.com/${repository}/actions/runs/${id}`;
const page = () => `${github.url}/${repository}/actions`;

/** A run of an earlier event. */
function addRun(changes: Partial<FakeWorkflowRun> = {}): FakeWorkflowRun {
  const run: FakeWorkflowRun = {
    id: 5001 + github.state.workflowRuns.length,
    name: 'gate',
    path: '.github/workflows/gate.yml',
    event: 'repository_dispatch',
    headCommit: 'a'.repeat(40),
    headBranch: 'main',
    headRepository: repository,
    status: 'in_progress',
    conclusion: null,
    displayTitle: 'ppsgate D7-12',
    ...changes,
  };
  github.state.workflowRuns.push(run);
  return run;
}

describe('a gate is started', () => {
  test('with all overrides', async () => {
    const overrides = {
      scenarios: 'forwarding',
      families: 'inet6',
      margin: '1%',
      maxRuns: '30',
      profile: 'off',
      testbed: 'mellanox and 40G',
      earlier: 'all',
    };
    await (await starter()).start({ ...job, overrides, build: 'PHID-HMBD-x' }, false, signal);
    const { maxRuns, ...others } = overrides;
    const payload = { ...others, 'max-runs': maxRuns, patch: 'D7:12', key: 'D7-12', build: 'PHID-HMBD-x' };
    expect(github.state.dispatches).toEqual([{ eventType: 'ppsgate', payload }]);
  });

  test('or a bisection is, in the words of a comment, for GitHub takes ten properties', async () => {
    const bisect = { good: 'v1', bad: 'v2', families: 'inet6', fixUp: 'a,b:c', maxBoots: '30' };
    await (await starter()).start({ ...job, bisect }, false, signal);
    const instead = 'bisect v1 v2 inet6 fix-up=a,b:c max-boots=30';
    expect(github.state.dispatches).toEqual([
      { eventType: 'ppsgate', payload: { patch: 'D7:12', key: 'D7-12', instead } },
    ]);
    await (await starter()).start({ ...job, bisect: {} }, false, signal);
    expect(github.state.dispatches.at(-1)?.payload).toMatchObject({ instead: 'bisect' });
  });

  test('and is found when its run shows up', async () => {
    addRun({ displayTitle: 'ppsgate D7-12-again' });
    const started = await (await starter()).start(job, false, signal);
    expect(started).toEqual({ kind: 'started', where: urlOf({ id: 9001 }) });
    expect(paused).toEqual([2, 3]);
  });

  test.for(['a late run', 'no workflow that listens'])('and is reported without a run: %s', async (what) => {
    const [listener] = github.state.listeners;
    if (what === 'a late run' && listener !== undefined) listener.missingIn = 100;
    else github.state.listeners = [];
    const started = await (await starter()).start(job, false, signal);
    expect(started).toEqual({ kind: 'started', where: page() });
    expect(github.state.dispatches).toHaveLength(1);
    expect(paused.reduce((sum, seconds) => sum + seconds)).toBe(30);
  });

  test('by a token that may do no more than it needs', async () => {
    github.state.isPrivate = true;
    const token = github.tokenWith({ contents: 'write', actions: 'read' });
    const started = await (await starter({ token })).start(job, true, signal);
    expect(started.kind).toBe('started');
    expect(github.used[token]).toEqual(['actions: read', 'contents: write']);
  });
});

describe('a gate that may have been started', () => {
  test.for<Fault>([
    { kind: 'reset', carriedOut: true },
    { kind: 'broken', status: 502, carriedOut: true },
  ])('is found where it was, and not tried twice: %j', async (fault) => {
    const { start } = await starter();
    github.faults.order('repos/create-dispatch-event', fault);
    expect(await start(job, false, signal)).toMatchObject({ kind: 'failed' });
    expect(await start(job, true, signal)).toEqual({ kind: 'started', where: urlOf({ id: 9001 }) });
    expect(github.state.dispatches).toHaveLength(1);
  });

  test('is found among those of months, though it has ended', async () => {
    const run = addRun({ status: 'completed', conclusion: 'success' });
    for (let others = 0; others < 250; others++) addRun({ displayTitle: `ppsgate D8-${others}` });
    const started = await (await starter()).start(job, true, signal);
    expect(started).toEqual({ kind: 'started', where: urlOf(run) });
    expect(github.state.dispatches).toEqual([]);
  });

  test.for([
    ['another key', { displayTitle: 'ppsgate D7-123' }],
    ['another event', { event: 'push' }],
  ] as const)('is not taken for a run of %s', async ([, changes]) => {
    addRun(changes);
    await (await starter()).start(job, true, signal);
    expect(github.state.dispatches).toHaveLength(1);
  });

  test.for<[Fault, 'failed' | 'refused']>([
    [{ kind: 'broken', status: 500 }, 'failed'],
    [{ kind: 'read-only' }, 'refused'],
  ])('is not started again after an unclear answer: %j', async ([fault, kind]) => {
    github.faults.order('actions/list-workflow-runs-for-repo', fault, 100);
    expect(await (await starter()).start(job, true, signal)).toMatchObject({ kind });
    expect(github.state.dispatches).toEqual([]);
  });

  test('is not started again by a relay that ends', async () => {
    const over = new AbortController();
    const octokit = await hastyOctokit(github, { token: personalToken });
    const pause = async () => over.abort(new Error('over'));
    const options = { repository, apiUrl: github.url, event: 'ppsgate', pause };
    expect(await startOnGithub(octokit, options).start(job, true, over.signal)).toMatchObject({ kind: 'failed' });
    expect(github.state.dispatches).toEqual([]);
  });
});

describe('a gate is not started', () => {
  test.each([
    ['may only read', () => github.tokenWith({ contents: 'read' })],
    ['is unknown to GitHub', () => 'secret-token'],
  ])('by a token that %s, which is not shown', async (_, token) => {
    const { start } = await starter({ token: token() });
    const started = await start(job, false, signal);
    expect(started).toMatchObject({ kind: 'refused' });
    expect(JSON.stringify(started)).not.toContain(token());
  });

  test('to extend an experiment, which is elsewhere', async () => {
    const { start } = await starter();
    const started = await start({ ...job, extend: { key: 'D7-11' } }, false, signal);
    expect(started).toMatchObject({ kind: 'refused' });
    expect(github.requests).toEqual([]);
  });
});

describe('a gate is cancelled', () => {
  test('before its run shows up', async () => {
    const run = addRun({ missingIn: 3 });
    expect(await (await starter()).cancel(job, signal)).toBeUndefined();
    expect(run.conclusion).toBe('cancelled');
  });

  test('by its run', async () => {
    const [, run] = [addRun({ displayTitle: 'ppsgate D7-11' }), addRun()];
    addRun({ displayTitle: 'ppsgate D7-13' });
    expect(await (await starter()).cancel(job, signal)).toBeUndefined();
    const cancelled = github.state.workflowRuns.filter(({ conclusion }) => conclusion !== null);
    expect(cancelled).toEqual([{ ...run, status: 'completed', conclusion: 'cancelled' }]);
  });
});

test.for([
  ['https://api.github.com', 'https://github.com'],
  ['https://ghe.example.org/api/v3', 'https://ghe.example.org'],
  ['https://api.octocorp.ghe.com', 'https://octocorp.ghe.com'],
])('the pages of %s are at %s', async ([apiUrl = '', pages]) => {
  const octokit = await hastyOctokit(github, { token: personalToken });
  github.state.listeners = [];
  const options = { repository, apiUrl, event: 'ppsgate', pause: async () => {} };
  const started = await startOnGithub(octokit, options).start(job, false, signal);
  expect(started).toEqual({ kind: 'started', where: `${pages}/${repository}/actions` });
});
