// The main job as a whole: an event arrives, packets are forwarded, and the result reaches GitHub, by the real workflow.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { labLeftovers } from '../../src/lab/netns/embedded-lab.ts';
import { readResult } from '../../src/report/read-result.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { pullRequestDocument } from '../fakes/github/documents.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakePullRequest } from '../fakes/github/state.ts';
import { describeWith, labPrograms } from '../needs.ts';
import { acceptedVerdict } from './accepted-verdict.ts';
import { type JobRequest, jobFiles, nothingAdmitted, runJob, startJob } from './act.ts';
import { type Example, makeExample, noOps, oneJobWorkflow, workflow } from './example.ts';

const repository = 'example/router';

let runs = 0;

const harmless = ['# Packets that must not even be tracked are dropped here.'];
/** About as much as all that the base does with a packet. */
const costly = noOps(800);
describeWith(['root', 'act', 'git', ...labPrograms], 'the action in its own workflow', () => {
  let example: Example;
  let github: FakeGitHub;
  let pullRequest: FakePullRequest;
  let folder: string;

  beforeEach(async () => {
    folder = temporaryFolder();
    example = makeExample(join(folder, 'router'));
    pullRequest = {
      number: 7,
      title: 'Change the rules',
      author: 'alice',
      baseCommit: example.baseCommit,
      headCommit: example.baseCommit,
      headRepository: repository,
    };
    github = await startFakeGitHub({ repository, pullRequests: [pullRequest] });
  });

  afterEach(async () => {
    await github.stop();
    expect(github.violations).toEqual([]);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
    expect(generators()).toEqual([]);
  });

  const push = (rules: readonly string[]): void => {
    pullRequest.headCommit = example.push(rules);
  };

  const request = (eventName: string, payload: object, more: Partial<JobRequest> = {}): JobRequest => ({
    directory: example.directory,
    workflow,
    eventName,
    payload,
    repository,
    apiUrl: github.url,
    token: installationToken,
    runId: ++runs,
    temporary: mkdtempSync(join(folder, 'job-')),
    ...more,
  });
  const pushEvent = (): object => ({
    action: 'synchronize',
    number: pullRequest.number,
    pull_request: pullRequestDocument(github.state, pullRequest),
  });
  const pullRequestEvent = (): JobRequest => request('pull_request_target', pushEvent());
  const inOneJob = (): JobRequest => request('pull_request', pushEvent(), { workflow: oneJobWorkflow });
  test('fails on a patch that costs packets, and outputs the measurement', async () => {
    push(costly);
    const event = pullRequestEvent();
    const job = await runJob(event);

    const { verdict, headline, conclusion } = acceptedVerdict(job, 'regression');
    expect(job.errors).toEqual([]);
    expect(jobFiles(event, 'ppsgate/result.json')).toEqual([job.outputs['result-path']]);
    const { outcome } = await readResult(dirname(job.outputs['result-path'] ?? ''));
    if (outcome.kind !== 'judged') expect.fail(`the outcome is ${outcome.kind}`);
    const runs = outcome.cells.flatMap((cell) => cell.runs);
    const valid = runs.filter(({ validity }) => validity.kind === 'valid');
    // Sixteen pairs; fewer than fifteen are no verdict.
    expect(runs.length).toBeGreaterThanOrEqual(32);
    if (verdict === 'regression') expect(valid.length).toBeGreaterThanOrEqual(30);
    expect(Math.min(...valid.map((run) => run.pps))).toBeGreaterThan(0);

    expect(github.state.comments).toHaveLength(1);
    const [comment] = github.state.comments;
    expect(comment).toMatchObject({ id: 1001, number: 7, author: 'github-actions[bot]' });
    expect(comment?.body).toContain(headline);
    // The measuring job's, and the publishing job's.
    expect(job.summaries).toHaveLength(2);
    for (const summary of job.summaries) expect(comment?.body).toContain(summary.trim());
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
    expect(github.state.checkRuns).toMatchObject([
      {
        name: 'ppsgate',
        headCommit: pullRequest.headCommit,
        conclusion,
        title: expect.stringContaining(headline.replace(' ppsgate:', '')),
      },
    ]);
  });

  test('refuses the pull request of a fork automatically, and measures nothing', async () => {
    pullRequest.headRepository = 'mallory/router';
    push(harmless);
    const event = pullRequestEvent();
    const job = await runJob(event);

    expect(job.errors, job.log).toHaveLength(1);
    expect(job.exitCode).not.toBe(0);
    expect(jobFiles(event, 'ppsgate/*')).toEqual([]);
    expect(job.outputs).toEqual(nothingAdmitted);
    expect(github.state.comments.map(({ body }) => body)).toEqual([expect.stringContaining('waits for a maintainer')]);
    expect(github.state.checkRuns).toEqual([]);
  });

  test('leaves no lab and no generator when it is killed while packets flow', async () => {
    // A trial longer than the timeout: those of the other tests end in about 2 s.
    const traffic = { measure: '10 s', runsPerTrial: 32 };
    example = makeExample(join(folder, 'patient'), { traffic });
    pullRequest.baseCommit = example.baseCommit;
    push(harmless);
    const event = inOneJob();
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
    // The comment may be open by then, or not yet.
    const { 'comment-url': _, ...others } = job.outputs;
    expect(Object.keys(others)).toEqual(['directory']);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
    expect(github.state.checkRuns).toMatchObject([{ conclusion: 'cancelled' }]);
    expect(github.state.comments.map(({ body }) => body)).toEqual([expect.stringContaining('not measured: cancelled')]);
  });
});

/** Returns process ids of senders; a killed one is listed until its new parent notices. */
function generators(): string[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,stat=,comm='], { encoding: 'utf8' });
  const processes = listing.split('\n').map((line) => line.trim().split(/\s+/));
  return processes.flatMap(([pid = '', state = '', name = '']) =>
    name.startsWith('trafgen') && !state.startsWith('Z') ? pid : [],
  );
}
