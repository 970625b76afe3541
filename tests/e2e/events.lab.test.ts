// Tests every event that requests a measurement up to the report, with the project's workflows and those of `ppsgate
// init`.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { labLeftovers } from '../../src/lab/netns/embedded-lab.ts';
import { composeComment } from '../../src/publish/reporters/comment-text.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { pullRequestDocument } from '../fakes/github/documents.ts';
import { commitAt, entryAt } from '../fakes/github/git-objects.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakePullRequest } from '../fakes/github/state.ts';
import { describeWith, labPrograms } from '../needs.ts';
import { acceptedVerdict } from './accepted-verdict.ts';
import { type JobRequest, runJob } from './act.ts';
import { type Example, labWorkflow, makeExample, oneJobWorkflow, publisher, workflow } from './example.ts';
import { giveTokens } from './job-tokens.ts';

const repository = 'example/router';
const harmless = ['# Packets that must not even be tracked are dropped here.'];
/** Titles that a stranger may give a pull request. */
const hostile = '@everyone `</details><img src=x onerror=1> \u001b[2J ::set-output name=verdict::improvement';
/** The kinds of flamegraphs; on a machine that is too busy for a verdict, there may be none. */
const graphs = ['base', 'patched', 'difference'];
let runs = 100;

/** GitHub gives the workflow of a fork a token that may only read. */
const inOneJob = { workflow: oneJobWorkflow, eventName: 'pull_request' };

describeWith(['root', 'act', 'git', ...labPrograms], 'what is asked for by', () => {
  let example: Example;
  let github: FakeGitHub;
  /** The pull request of a stranger with a fork. */
  let pullRequest: FakePullRequest;
  let folder: string;

  beforeEach(async () => {
    folder = temporaryFolder();
    example = makeExample(join(folder, 'router'));
    pullRequest = {
      number: 7,
      title: hostile,
      author: 'mallory',
      baseCommit: example.baseCommit,
      headCommit: example.push(harmless),
      headRepository: 'mallory/router',
    };
    github = await startFakeGitHub({ repository, pullRequests: [pullRequest] });
    github.state.permissions.carol = 'write';
  });

  afterEach(async () => {
    await github.stop();
    expect(github.violations).toEqual([]);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
    for (const { body } of ours()) {
      expect(body.replaceAll(/(`+)[^`].*?\1/g, '')).not.toMatch(/@everyone|<img|\p{Cc}\[/u);
    }
  });

  const request = (eventName: string, payload: object, more: Partial<JobRequest> = {}): JobRequest => {
    const path = more.workflow ?? workflow;
    if (more.token === undefined) giveTokens(join(example.directory, path), github.tokenWith);
    return {
      directory: example.directory,
      workflow: path,
      eventName,
      payload: { sender: { login: 'carol' }, ...payload },
      repository,
      apiUrl: github.url,
      token: github.tokenWith({}),
      runId: ++runs,
      temporary: mkdtempSync(join(folder, 'job-')),
      ...more,
    };
  };

  const comment = (body: string, login = 'carol', id = 501) => {
    github.state.comments.push({ id, number: 7, author: login, body });
    return request('issue_comment', {
      action: 'created',
      issue: { number: 7, pull_request: {}, user: { id: 2 } },
      comment: {
        id,
        body,
        created_at: '2026-11-20T12:00:00Z',
        user: { login, id: 1 },
        author_association: 'MEMBER',
      },
    });
  };

  const labelled = (by: string, more = {}) =>
    request(
      'pull_request_target',
      {
        action: 'labeled',
        number: 7,
        label: { name: 'ppsgate' },
        sender: { login: by },
        pull_request: pullRequestDocument(github.state, pullRequest),
      },
      more,
    );

  /** ppsgate's own comment has named the head for an hour: later acts at it approve it. */
  const seen = () => {
    const { headCommit } = pullRequest;
    const at = new Date('2026-11-20T11:00:00Z');
    const body = composeComment(undefined, 'It waits.', {
      name: 'ppsgate',
      run: 1,
      headCommit,
      at,
    });
    github.state.comments.push({
      id: 500,
      number: 7,
      author: 'github-actions[bot]',
      body: body ?? '',
    });
  };

  const ours = () => github.state.comments.filter(({ author }) => author === 'github-actions[bot]');
  const refused = () => github.requests.filter(({ status }) => status === 403);
  const onDataBranch = (path: string): boolean => {
    const { git } = github.state;
    const tip = commitAt(git, git.refs.get('refs/heads/ppsgate-data') ?? '');
    return tip !== undefined && entryAt(git, tip.tree, path) !== undefined;
  };

  /** Kinds of the flamegraphs that the comment links. */
  const graphsLinked = (): string[] => {
    const links = (ours()[0]?.body ?? '').matchAll(
      /\[(\w+)\]\(https:\/\/github\.com\/example\/router\/blob\/ppsgate-data\/([^)]+\.svg)\)/g,
    );
    const found = [...links].flatMap(([, which = '', path = '']) => (onDataBranch(path) ? which : []));
    return [...new Set(found)];
  };

  test('a command in a comment is carried out, and acknowledged', async () => {
    const commit = pullRequest.headCommit;
    const job = await runJob(comment(`/ppsgate run ${commit} margin=40% runs=12 profile=1s`));

    const { conclusion } = acceptedVerdict(job, 'no-regression');
    expect(github.state.reactions).toMatchObject([{ commentId: 501, content: 'eyes' }]);
    expect(ours()).toHaveLength(1);
    expect(ours()[0]?.body).toContain('(a loss of 40 % of its speed)');
    expect(github.state.checkRuns).toMatchObject([{ conclusion }]);
    expect(onDataBranch('history.jsonl')).toBe(true);
    if (conclusion === 'success') expect(graphsLinked()).toEqual(graphs);
    expect(refused()).toEqual([]);
  });

  test("a label on a fork's patch runs with a token that may read, and another workflow answers", async () => {
    seen();
    const reads = github.tokenWith({ contents: 'read', actions: 'read' });
    const gate = labelled('carol', { ...inOneJob, token: reads });
    const measured = await runJob(gate);
    const { headline, conclusion } = acceptedVerdict(measured, 'no-regression');
    expect(ours().map(({ body }) => body)).toEqual([expect.stringContaining('It waits.')]);

    const job = await runJob(request('workflow_run', { workflow_run: runOf(gate.runId) }, { workflow: publisher }));
    expect(job.exitCode, job.log).toBe(0);
    expect(job.warnings).toEqual([]);
    expect(ours().map(({ body }) => body)).toEqual([expect.stringContaining(headline)]);
    expect(github.state.checkRuns).toMatchObject([{ headCommit: pullRequest.headCommit, conclusion }]);
  });

  const runOf = (id: number) => ({
    id,
    event: 'pull_request',
    conclusion: 'success',
    head_sha: pullRequest.headCommit,
    head_branch: 'changes',
    head_repository: { full_name: 'mallory/router', owner: { login: 'mallory' } },
  });

  test('a missing approval is reported', async () => {
    const gate = labelled('mallory', {
      ...inOneJob,
      token: github.tokenWith({ contents: 'read' }),
    });
    const refused = await runJob(gate);
    expect(refused.outputs.verdict, refused.log).toBeUndefined();
    await runJob(request('workflow_run', { workflow_run: runOf(gate.runId) }, { workflow: publisher }));
    expect(ours().map(({ body }) => body)).toEqual([
      expect.stringContaining('### ⏸️ ppsgate: #7 waits for a maintainer'),
    ]);
    expect(github.state.checkRuns).toEqual([]);
  });

  test('three jobs share the work if the lab has a separate runner', async () => {
    example = makeExample(join(folder, 'profiled'), { profile: { window: '1 s' } });
    Object.assign(pullRequest, {
      baseCommit: example.baseCommit,
      headCommit: example.push(harmless),
    });
    seen();
    const event = labelled('carol', { workflow: labWorkflow });
    const job = await runJob(event);
    const { headline, conclusion } = acceptedVerdict(job, 'no-regression');
    expect(job.outputs).toMatchObject({ go: 'true', subject: '#7' });
    expect(ours().map(({ body }) => body)).toEqual([expect.stringContaining(headline)]);
    expect(github.state.checkRuns).toMatchObject([{ status: 'completed', conclusion }]);
    // Drawn by the job that publishes, from the stacks in the artifact.
    if (conclusion === 'success') expect(graphsLinked()).toEqual(graphs);
    expect(refused()).toEqual([]);
  });
});
