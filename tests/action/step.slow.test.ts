// Tests a step of a job like GitHub's runner: the runner's reading of the step, by commands in its log and by its
// files.
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GateRequest } from '../../src/action/approved-request.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { pullRequestDocument } from '../fakes/github/documents.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakePullRequest } from '../fakes/github/state.ts';
import { hostileComments } from '../fakes/hostile-comments.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { type Ran, runStep, type Step } from '../fakes/runner.ts';
import type { Command } from '../fakes/runner-commands.ts';
import { describeWith } from '../needs.ts';

const repository = 'example/router';

let github: FakeGitHub;
let workspace: string;
/** The pull request of a stranger with a fork. */
let pullRequest: FakePullRequest;

beforeEach(async () => {
  workspace = newRepository();
  const config = 'testbeds: { lab: { kind: embedded-linux } }\nscenarios: [forwarding]\n';
  const baseCommit = commit(workspace, { 'ppsgate.yml': config });
  const headCommit = commit(workspace, { a: '1' });
  const headRepository = 'mallory/router';
  const [number, title, author] = [7, 'A change', 'mallory'];
  pullRequest = { number, title, author, baseCommit, headCommit, headRepository };
  github = await startFakeGitHub({ repository, pullRequests: [pullRequest] });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

function run(command: string, event: Step['event'], step: Partial<Step> = {}): Promise<Ran> {
  return runStep({
    entry: 'action.js',
    workspace,
    repository,
    apiUrl: github.url,
    event,
    inputs: { COMMAND: command, TOKEN: installationToken },
    ...step,
  });
}

function comment(body: string, login = 'mallory'): Step['event'] {
  const user = { login, id: 1 };
  github.state.comments.push({ id: 501, number: 7, author: login, body });
  const about = { id: 501, body, user, created_at: '2026-11-20T12:00:00Z' };
  const issue = { number: 7, pull_request: {}, user: { login: 'mallory', id: 1 } };
  const payload = { action: 'created', sender: user, issue, comment: about };
  return { name: 'issue_comment', payload };
}

describe.each(['admit', 'gate'])('a mistyped command, to %s,', (command) => {
  beforeEach(() => {
    github.state.permissions.carol = 'write';
  });

  test.each([
    ['/ppsgate rnu', '### 🤔 ppsgate did not understand', '; write /ppsgate run`'],
    ['/ppsgate run --margn 5%', '### 🤔 ppsgate did not understand', '; write /ppsgate run`'],
    ['/ppsgate run margin=much', '### 🤔 ppsgate did not understand', 'margin: '],
    ['/ppsgate', '### ppsgate', '| `/ppsgate run` |'],
  ])('is answered, and fails no job: %s', async (text, heading, words) => {
    const ran = await run(command, comment(text, 'carol'));
    expect(ran.exitCode, ran.log).toBe(0);
    expect(ran.commands.filter(({ name }) => name === 'error')).toEqual([]);
    const [, answer, ...more] = github.state.comments;
    expect(answer?.body).toContain(heading);
    expect(answer?.body).toContain(words);
    expect(more).toEqual([]);
    expect(github.state.checkRuns).toEqual([]);
  });

  // Strangers mistype commands to get replies or fail jobs. Defence: An author without approval gets no reply, and a
  // mistyped command fails nothing.
  test('by a stranger gets no reply, and fails no job', async () => {
    const ran = await run(command, comment('/ppsgate rnu'));
    expect(ran.exitCode, ran.log).toBe(0);
    expect(github.state.comments).toMatchObject([{ body: '/ppsgate rnu' }]);
  });
});

describe('a command of a stranger', () => {
  const refused = { go: 'false', bisect: 'false', cancel: 'false' };

  /** But for the token, which is masked in both of its forms. */
  const commandsOf = ({ commands }: Ran): Command[] => {
    const secrets = [installationToken, btoa(`x-access-token:${installationToken}`)];
    return commands.filter(({ name, data }) => name !== 'add-mask' || !secrets.includes(data));
  };

  // Text contains `##[set-output name=directory;]…` or `::set-output …`. Defence: One writer prints all text of the
  // action and removes runner commands; outputs are set by files only.
  test.each(hostileComments.map((body, index) => [body, index % 2 === 0 ? 'admit' : 'gate'] as const))(
    'in a comment sets no output and no state: %j to %s',
    async (body, command) => {
      const ran = await run(command, comment(body));
      expect(commandsOf(ran), ran.log).toEqual([]);
      expect(ran.outputs).toEqual(command === 'admit' ? refused : {});
      expect(ran.state).toEqual({});
      expect(ran.exitCode, ran.log).toBe(0);
      expect(ran.log).toMatch(/; write \/ppsgate|: expected /);
      expect(github.state.comments).toHaveLength(1);
    },
  );

  test('as the head of another workflow’s measurement sets no output', async () => {
    const head_sha = '##[set-output name=go;]true';
    const head_repository = { owner: { login: 'mallory' } };
    const payload = { workflow_run: { id: 1, head_sha, head_branch: 'x', head_repository } };
    const ran = await run('publish', { name: 'workflow_run', payload });
    expect(ran.log).toContain('No open pull request has # #[set-output name=go;]true as its head');
    expect(commandsOf(ran)).toEqual([]);
    expect(ran.outputs).toEqual({});
  });

  test('ends the step if the runner accepts outputs only as commands', async () => {
    const environment = { GITHUB_OUTPUT: '' };
    const ran = await run('admit', comment('/ppsgate help'), { environment });
    expect(commandsOf(ran)).toMatchObject([
      { name: 'error', data: expect.stringContaining('sets no file in GITHUB_OUTPUT') },
    ]);
    expect(ran.exitCode).toBe(4);
  });
});

const opened = (): Step['event'] => ({
  name: 'pull_request',
  payload: {
    action: 'opened',
    sender: { login: 'mallory' },
    pull_request: pullRequestDocument(github.state, pullRequest),
  },
});

describe('the check of what waits for approval', () => {
  const checks = () => github.state.checkRuns.map(({ conclusion, title }) => [conclusion, title]);
  const queued = ['neutral', '⏸️ not measured yet: the merge queue measures it'];

  /** The base leaves pull requests without a request to a merge queue. */
  const leaveToQueue = () => {
    const written = 'testbeds: { lab: { kind: embedded-linux } }\nscenarios: [forwarding]\n';
    const config = `${written}github: { unasked: neutral }\n`;
    pullRequest.baseCommit = commit(workspace, { 'ppsgate.yml': config });
    pullRequest.headCommit = commit(workspace, { a: '2' });
  };

  test('is neutral if a merge queue measures the patch anyway, and is reported once', async () => {
    leaveToQueue();
    for (const _ of ['opened', 'and again']) await run('admit', opened());
    expect(checks()).toEqual([queued]);
  });

  // A failed pull request is reopened to get the neutral check. Defence: Only a commit without any check gets it.
  test('does not take the place of what was measured', async () => {
    leaveToQueue();
    await run('admit', opened());
    for (const check of github.state.checkRuns) check.conclusion = 'failure';
    await run('admit', opened());
    expect(checks()).toEqual([['failure', queued[1]]]);
  });
});

test('a branch of a merge queue has the check of pull requests, on the commit that would be merged', async () => {
  const { baseCommit, headCommit } = pullRequest;
  const branch = `gh-readonly-queue/main/pr-7-${baseCommit}`;
  const merge_group = {
    head_sha: headCommit,
    head_ref: `refs/heads/${branch}`,
    base_sha: baseCommit,
    base_ref: 'refs/heads/main',
  };
  const payload = { action: 'checks_requested', merge_group };
  const { outputs, log } = await run('admit', { name: 'merge_group', payload });
  expect(outputs, log).toMatchObject({ go: 'true', subject: 'gh-readonly-queue/main/pr-7' });
  expect(github.state.checkRuns).toMatchObject([{ name: 'ppsgate', headCommit, status: 'queued' }]);
  expect(github.state.comments).toEqual([]);
});

describe('the artifact', () => {
  test('is in the place where workflows look for it', async () => {
    const { outputs, temporary } = await run('gate', opened());
    expect(outputs).toEqual({ directory: join(temporary, 'ppsgate') });
    expect(readdirSync(join(temporary, 'ppsgate'))).toEqual(['failure.json']);
  });
});

test('the end of a job completes what several gates of it have left open', async () => {
  const names = ['ppsgate: left', 'ppsgate: right'];
  const url = `https://github.com/${repository}/pull/7`;
  const own = { kind: 'pull-request', repository, url, baseBranch: 'main' } as const;
  const { headRepository: _, ...known } = pullRequest;
  const patch = { ...own, ...known };
  const request: GateRequest = { patch, overrides: {}, priority: 'patch', purpose: 'patch' };
  const ran = await run(
    'gate',
    { name: 'push', payload: {} },
    {
      entry: 'action-post.js',
      state: { 'open-reporters': JSON.stringify(names.map((name) => ({ name, request }))) },
    },
  );
  expect(ran.exitCode).toBe(0);
  const titles = github.state.comments.map(({ body }) => body.split('\n')[0]);
  expect(titles).toEqual(names.map((name) => `<!-- ${name} -->`));
  for (const { body } of github.state.comments) expect(body).toContain('not measured: cancelled');
});

describeWith(['root'], 'what root has left there', () => {
  // An earlier job has left files in the work directory. Defence: Files of root are given to the runner's user, who
  // empties the folder before each job.
  test('belongs to who runs the runner when the job has ended', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'trials'));
    writeFileSync(join(folder, 'trials/log'), '');
    const { log } = await run(
      'gate',
      { name: 'push', payload: {} },
      {
        entry: 'action-post.js',
        state: { lease: folder },
        environment: { SUDO_UID: '4711', SUDO_GID: '4712' },
      },
    );
    for (const path of ['', 'trials', 'trials/log']) {
      expect(statSync(join(folder, path)), log).toMatchObject({ uid: 4711, gid: 4712 });
    }
  });
});
