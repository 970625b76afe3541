// Tests events up to the report, with the project's workflow, that of `ppsgate init`, and real packets. tests/action/ has
// all other triggers and refusals.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { labLeftovers } from '../../src/lab/netns/embedded-lab.ts';
import { composeComment } from '../../src/publish/reporters/comment-text.ts';
import { readResult } from '../../src/report/read-result.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { pullRequestDocument } from '../fakes/github/documents.ts';
import { commitAt, entryAt } from '../fakes/github/git-objects.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakePullRequest } from '../fakes/github/state.ts';
import { describeWith, labPrograms } from '../needs.ts';
import { type Job, type JobRequest, jobFiles, runJob, startJob } from './act.ts';
import { type Example, labWorkflow, makeExample, noOps, oneJobWorkflow, publisher, workflow } from './example.ts';
import { giveTokens } from './job-tokens.ts';

const repository = 'example/router';
const fork = 'mallory/router';
const harmless = ['# Packets that must not even be tracked are dropped here.'];
/** About as much as all that the base does with a packet. */
const costly = noOps(800);
/** A title that a stranger may give a pull request. */
const hostile = '@everyone `</details><img src=x onerror=1> \u001b[2J ::set-output name=verdict::improvement';
const nothingAdmitted = { go: 'false', bisect: 'false', cancel: 'false' };

let runs = 0;

describeWith(['root', 'act', 'git', ...labPrograms], 'the action in a workflow', () => {
  let folder: string;
  let example: Example;
  let github: FakeGitHub;
  let pullRequest: FakePullRequest;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'ppsgate-action-'));
    example = makeExample(join(folder, 'router'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeEach(async () => {
    const { baseCommit } = example;
    pullRequest = {
      number: 7,
      title: hostile,
      author: 'alice',
      baseCommit,
      headCommit: example.push(harmless),
      headRepository: repository,
    };
    github = await startFakeGitHub({ repository, pullRequests: [pullRequest] });
    github.state.permissions.carol = 'write';
  });

  afterEach(async () => {
    await github.stop();
    expect(github.violations).toEqual([]);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
    expect(generators()).toEqual([]);
    for (const body of ourComments()) {
      expect(body.replaceAll(/(`+)[^`].*?\1/g, '')).not.toMatch(/@everyone|<img|\p{Cc}\[/u);
    }
  });

  const request = (eventName: string, payload: object, more: Partial<JobRequest> = {}): JobRequest => {
    const directory = more.directory ?? example.directory;
    const path = more.workflow ?? workflow;
    if (more.token === undefined) giveTokens(join(directory, path), github.tokenWith);
    return {
      directory,
      workflow: path,
      eventName,
      payload,
      repository,
      apiUrl: github.url,
      token: github.tokenWith({}),
      runId: ++runs,
      temporary: temporaryFolder(),
      ...more,
    };
  };

  const onPullRequest = (by: string, more: object = {}) => ({
    action: 'synchronize',
    number: 7,
    sender: { login: by },
    pull_request: pullRequestDocument(github.state, pullRequest),
    ...more,
  });
  const pushed = (): JobRequest => request('pull_request_target', onPullRequest('alice'));
  const labelling = { action: 'labeled', label: { name: 'ppsgate' } };
  const labelled = (by: string, more: Partial<JobRequest> = {}): JobRequest =>
    request('pull_request_target', onPullRequest(by, labelling), more);

  const commented = (by: string, body: string): JobRequest => {
    const id = 501;
    github.state.comments.push({ id, number: 7, author: by, body });
    const user = { login: by, id: 1 };
    const comment = { id, body, created_at: '2026-11-20T12:00:00Z', user, author_association: 'MEMBER' };
    const issue = { number: 7, pull_request: {}, user: { id: 2 } };
    const payload = { action: 'created', sender: user, issue, comment };
    return request('issue_comment', payload, { workflow: labWorkflow });
  };

  /** ppsgate's own comment has named the head for an hour: later acts at it approve it. */
  const nameHead = () => {
    const at = new Date('2026-11-20T11:00:00Z');
    const of = { name: 'ppsgate', run: 1, headCommit: pullRequest.headCommit, at };
    const body = composeComment(undefined, 'It waits.', of) ?? '';
    github.state.comments.push({ id: 500, number: 7, author: 'github-actions[bot]', body });
  };

  const ourComments = () =>
    github.state.comments.flatMap(({ author, body }) => (author === 'github-actions[bot]' ? body : []));

  /** Kinds of the flamegraphs that the comment links, and that the data branch has. */
  const linkedGraphs = (): string[] => {
    const { git } = github.state;
    const tree = commitAt(git, git.refs.get('refs/heads/ppsgate-data') ?? '')?.tree ?? '';
    const links = (ourComments()[0] ?? '').matchAll(
      /\[(\w+)\]\(https:\/\/github\.com\/example\/router\/blob\/ppsgate-data\/([^)]+\.svg)\)/g,
    );
    return [...links].flatMap(([, kind = '', path = '']) => (entryAt(git, tree, path) ? kind : []));
  };

  test('fails a push that costs packets, and outputs the measurement', async () => {
    pullRequest.headCommit = example.push(costly);
    const event = pushed();
    const job = await runJob(event);

    const { verdict, headline, conclusion } = acceptedVerdict(job, 'regression');
    expect(job.errors).toEqual([]);
    expect(jobFiles(event, 'ppsgate/result.json')).toEqual([job.outputs['result-path']]);
    const { outcome } = await readResult(dirname(job.outputs['result-path'] ?? ''));
    if (outcome.kind !== 'judged') expect.fail(`the outcome is ${outcome.kind}`);
    const measured = outcome.cells.flatMap((cell) => cell.runs);
    const valid = measured.filter(({ validity }) => validity.kind === 'valid');
    // Sixteen pairs; fewer than fifteen are no verdict.
    expect(measured.length).toBeGreaterThanOrEqual(32);
    if (verdict === 'regression') expect(valid.length).toBeGreaterThanOrEqual(30);
    expect(Math.min(...valid.map((run) => run.pps))).toBeGreaterThan(0);

    expect(ourComments()).toEqual([expect.stringContaining(headline)]);
    // The measuring job's, and the publishing job's.
    expect(job.summaries).toHaveLength(2);
    for (const summary of job.summaries) expect(ourComments()[0]).toContain(summary.trim());
    expect(job.outputs).toEqual({
      ...nothingAdmitted,
      go: 'true',
      request: expect.stringContaining(pullRequest.headCommit),
      subject: '#7',
      verdict,
      'result-path': expect.stringMatching(/\/result\.json$/),
      'report-path': expect.stringMatching(/\/report\.md$/),
      directory: dirname(job.outputs['result-path'] ?? ''),
    });
    const { headCommit } = pullRequest;
    const title = expect.stringContaining(headline.replace(' ppsgate:', ''));
    expect(github.state.checkRuns).toMatchObject([{ name: 'ppsgate', headCommit, conclusion, title }]);
  });

  test("measures a fork's patch at a command beside a lab with its own runner, and draws its profiles", async () => {
    pullRequest.headRepository = fork;
    const job = await runJob(
      commented('carol', `/ppsgate run ${pullRequest.headCommit} margin=40% runs=12 profile=1s`),
    );

    const { headline, conclusion } = acceptedVerdict(job, 'no-regression');
    expect(github.state.reactions).toMatchObject([{ commentId: 501, content: 'eyes' }]);
    expect(ourComments()).toEqual([expect.stringContaining(headline)]);
    expect(ourComments()[0]).toContain('(a loss of 40 % of its speed)');
    expect(github.state.checkRuns).toMatchObject([{ status: 'completed', conclusion }]);
    // Drawn by the job that publishes, from the stacks in the artifact.
    if (conclusion === 'success') expect(new Set(linkedGraphs())).toEqual(new Set(['base', 'patched', 'difference']));
    expect(github.requests.filter(({ status }) => status === 403)).toEqual([]);
  });

  test("admits a fork's patch at a maintainer's label", async () => {
    pullRequest.headRepository = fork;
    nameHead();
    const { outputs, log } = await runJob(labelled('carol', { job: 'admit' }));
    const admitted = { go: 'true', request: expect.stringContaining(pullRequest.headCommit) };
    expect(outputs, log).toMatchObject(admitted);
  });

  test.each<[string, () => JobRequest]>([
    ['push', pushed],
    ['label', () => labelled('mallory')],
    ['command', () => commented('mallory', '/ppsgate run')],
  ])("refuses a fork's patch at a stranger's %s, and measures nothing", async (_, event) => {
    pullRequest.headRepository = fork;
    const requested = event();
    const job = await runJob(requested);
    expect(job.outputs, job.log).toEqual(nothingAdmitted);
    expect(jobFiles(requested, 'ppsgate/*')).toEqual([]);
    expect(ourComments()).toEqual([expect.stringContaining('waits for a maintainer')]);
    expect(github.state.checkRuns).toEqual([]);
  });

  test('reports a refusal of a job that may only read by another workflow', async () => {
    Object.assign(pullRequest, { author: 'mallory', headRepository: fork });
    const token = github.tokenWith({ contents: 'read' });
    const gate = labelled('mallory', { workflow: oneJobWorkflow, eventName: 'pull_request', token });
    const refused = await runJob(gate);
    expect(refused.outputs.verdict, refused.log).toBeUndefined();
    expect(ourComments()).toEqual([]);

    const workflow_run = {
      id: gate.runId,
      event: 'pull_request',
      conclusion: 'success',
      head_sha: pullRequest.headCommit,
      head_branch: 'changes',
      head_repository: { full_name: fork, owner: { login: 'mallory' } },
    };
    await runJob(request('workflow_run', { workflow_run }, { workflow: publisher }));
    expect(ourComments()).toEqual([expect.stringContaining('waits for a maintainer')]);
    expect(github.state.checkRuns).toEqual([]);
  });

  test('leaves no lab and no generator when it is killed while packets flow', async () => {
    // A trial longer than the timeout: those of the other tests end in about 2 s.
    const patient = makeExample(join(folder, 'patient'), { traffic: { measure: '10 s', runsPerTrial: 32 } });
    const { baseCommit, directory } = patient;
    Object.assign(pullRequest, { baseCommit, headCommit: patient.push(harmless) });
    const event = request('pull_request', onPullRequest('alice'), { directory, workflow: oneJobWorkflow });
    const { act, ended } = startJob(event);
    const isMeasuring = () =>
      jobFiles(event, 'ppsgate/experiment.json').length > 0 &&
      generators().length > 0 &&
      github.state.checkRuns.length > 0;
    await expect.poll(isMeasuring, { timeout: 120_000 }).toBe(true);
    // Cancels the job: act kills the step at once, and then runs its clean-up.
    act.kill('SIGINT');
    const job = await ended;

    expect(job.stages, job.log).toContain('Post ./');
    expect(job.exitCode).not.toBe(0);
    expect(job.outputs).not.toHaveProperty('verdict');
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
    expect(github.state.checkRuns).toMatchObject([{ conclusion: 'cancelled' }]);
    expect(ourComments()).toEqual([expect.stringContaining('not measured: cancelled')]);
  });
});

/** Beginning of the report of #7, if the metric is CPU time per packet. */
const headlines = {
  'no-regression': '🟢 ppsgate: #7 ',
  regression: '🔴 ppsgate: #7 takes ',
  inconclusive: '🟡 ppsgate: #7 may take ',
  invalid: '⚪ ppsgate: #7 was not measured',
};

/**
 * Returns what must follow from the verdict. Fails unless it is `right` or, as on a machine that is too busy, undecided,
 * and the exit code matches. bench/demo.ts measures how often it is right.
 */
function acceptedVerdict({ outputs, exitCode, log }: Job, right: 'no-regression' | 'regression') {
  const accepted = [right, 'inconclusive', 'invalid'] as const;
  const verdict = accepted.find((one) => one === outputs.verdict);
  if (verdict === undefined) expect.fail(`the verdict is ${outputs.verdict}:\n${log}`);
  const passes = verdict === 'no-regression';
  expect(exitCode === 0, `exit code ${exitCode} with ${verdict}`).toBe(passes);
  return { verdict, headline: headlines[verdict], conclusion: passes ? 'success' : 'failure' };
}

/** Returns process ids of senders; a killed one is listed until its new parent notices. */
function generators(): string[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,stat=,comm='], { encoding: 'utf8' });
  const processes = listing.split('\n').map((line) => line.trim().split(/\s+/));
  return processes.flatMap(([pid = '', state = '', name = '']) =>
    name.startsWith('trafgen') && !state.startsWith('Z') ? pid : [],
  );
}
