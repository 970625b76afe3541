// Tests a step of a job like GitHub's runner: the runner's reading of the step, by commands in its log and by its
// files.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GateRequest } from '../../src/action/approved-request.ts';
import { runAdmit } from '../../src/action/run-admit.ts';
import { parseConfig } from '../../src/config/load.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { pullRequestDocument } from '../fakes/github/documents.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakePullRequest } from '../fakes/github/state.ts';
import { jobHere } from '../fakes/job.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { type Ran, runStep, type Step } from '../fakes/runner.ts';
import type { Command } from '../fakes/runner-commands.ts';
import { describeWith } from '../needs.ts';

const repository = 'example/router';
const written = 'testbeds: { lab: { kind: embedded-linux } }\nscenarios: [forwarding]\n';

let github: FakeGitHub;
let workspace: string;
/** The pull request of a stranger with a fork. */
let pullRequest: FakePullRequest;

beforeEach(async () => {
  workspace = newRepository();
  const baseCommit = commit(workspace, { 'ppsgate.yml': written });
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

/** The job in this process. */
const job = (command: string, event: Step['event']) => {
  const config = parseConfig(written, { path: 'ppsgate.yml', home: '/' });
  return jobHere({ github, workspace, command, event, config });
};

describe('a mistyped command', () => {
  beforeEach(() => {
    github.state.permissions.carol = 'write';
  });

  test.each([
    ['/ppsgate run margin=much', '### 🤔 ppsgate did not understand'],
    ['/ppsgate', '### ppsgate'],
  ])('is answered, and fails no job: %s', async (text, heading) => {
    const { context, output } = await job('admit', comment(text, 'carol'));
    expect(await runAdmit(context)).toBe(0);
    expect(readFileSync(output, 'utf8')).not.toContain('true');
    const [, answer, ...more] = github.state.comments;
    expect(answer?.body).toContain(heading);
    expect(more).toEqual([]);
    expect(github.state.checkRuns).toEqual([]);
  });
});

describe('a command of a stranger', () => {
  const refused = { go: 'false', bisect: 'false', cancel: 'false' };

  /** But for the token, which is masked in both of its forms. */
  const commandsOf = ({ commands }: Ran): Command[] => {
    const secrets = [installationToken, btoa(`x-access-token:${installationToken}`)];
    return commands.filter(({ name, data }) => name !== 'add-mask' || !secrets.includes(data));
  };

  // One writer prints all text of the action and removes runner commands; outputs are set by files only.
  test.each([
    ['admit', '/ppsgate run "margin=##[set-output name=go;]true"'],
    ['gate', '/ppsgate "\r\u2003::set-output name=directory::/etc"'],
  ])('in a comment sets no output and no state: %s', async (command, body) => {
    const ran = await run(command, comment(body));
    expect(commandsOf(ran), ran.log).toEqual([]);
    expect(ran.outputs).toEqual(command === 'admit' ? refused : {});
    expect(ran.state).toEqual({});
    expect(ran.exitCode, ran.log).toBe(0);
    expect(ran.log).toMatch(/; write \/ppsgate|: expected /);
    expect(github.state.comments).toHaveLength(1);
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

// A failed pull request must not get the neutral check by being reopened: only a commit without any check gets it.
test('what a merge queue measures anyway has a neutral check, once and not in place of another', async () => {
  const config = parseConfig(`${written}github: { unasked: neutral }\n`, { path: 'ppsgate.yml', home: '/' });
  const admit = async () => {
    const { context } = await jobHere({ github, workspace, command: 'admit', event: opened(), config });
    await runAdmit(context);
    return github.state.checkRuns.map(({ conclusion }) => conclusion);
  };
  expect(await admit()).toEqual(['neutral']);
  expect(await admit()).toEqual(['neutral']);
  for (const check of github.state.checkRuns) check.conclusion = 'failure';
  expect(await admit()).toEqual(['failure']);
});

test('a branch of a merge queue has the check of pull requests, on the commit that would be merged', async () => {
  const { baseCommit, headCommit } = pullRequest;
  const head_ref = `refs/heads/gh-readonly-queue/main/pr-7-${baseCommit}`;
  const merge_group = { head_sha: headCommit, head_ref, base_sha: baseCommit, base_ref: 'refs/heads/main' };
  const payload = { action: 'checks_requested', merge_group };
  const { context } = await job('admit', { name: 'merge_group', payload });
  expect(await runAdmit(context)).toBe(0);
  expect(github.state.checkRuns).toMatchObject([{ name: 'ppsgate', headCommit, status: 'queued' }]);
  expect(github.state.comments).toEqual([]);
});

test('the artifact is in the place where workflows look for it', async () => {
  const { outputs, temporary } = await run('gate', opened());
  expect(outputs).toEqual({ directory: join(temporary, 'ppsgate') });
  expect(readdirSync(join(temporary, 'ppsgate'))).toEqual(['failure.json']);
});

const pushEvent = { name: 'push', payload: {} };

test('the end of a job completes what several gates of it have left open', async () => {
  const names = ['ppsgate: left', 'ppsgate: right'];
  const url = `https://github.com/${repository}/pull/7`;
  const { headRepository: _, ...known } = pullRequest;
  const patch = { kind: 'pull-request', repository, url, baseBranch: 'main', ...known } as const;
  const request: GateRequest = { patch, overrides: {}, priority: 'patch', purpose: 'patch' };
  const state = { 'open-reporters': JSON.stringify(names.map((name) => ({ name, request }))) };
  const ran = await run('gate', pushEvent, { entry: 'action-post.js', state });
  expect(ran.exitCode).toBe(0);
  const titles = github.state.comments.map(({ body }) => body.split('\n')[0]);
  expect(titles).toEqual(names.map((name) => `<!-- ${name} -->`));
  for (const { body } of github.state.comments) expect(body).toContain('not measured: cancelled');
});

describeWith(['root'], 'what root has left there', () => {
  // The runner's user empties the folder before each job.
  test('belongs to who runs the runner when the job has ended', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'trials'));
    writeFileSync(join(folder, 'trials/log'), '');
    const environment = { SUDO_UID: '4711', SUDO_GID: '4712' };
    const { log } = await run('gate', pushEvent, { entry: 'action-post.js', state: { lease: folder }, environment });
    for (const path of ['', 'trials', 'trials/log']) {
      expect(statSync(join(folder, path)), log).toMatchObject({ uid: 4711, gid: 4712 });
    }
  });
});
