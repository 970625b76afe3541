// Reports of jobs that are killed, or write at the same time: what people find on GitHub in the end.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Octokit } from '../../../src/forge/github/client.ts';
import type { PullRequest } from '../../../src/model/patch.ts';
import type { Pause } from '../../../src/model/pause.ts';
import { openCheckRun } from '../../../src/publish/reporters/check-run.ts';
import { openComment } from '../../../src/publish/reporters/comment.ts';
import { readMemory } from '../../../src/publish/reporters/comment-text.ts';
import { outcomeOfResult } from '../../../src/publish/reporters/outcome.ts';
import { outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import { combineReporters } from '../../../src/publish/reporters/reporter.ts';
import { openStatus } from '../../../src/publish/reporters/status.ts';
import { annotationsOf } from '../../../src/report/annotations.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aResult } from '../../fakes/result.ts';

const repository = 'example/router';
const [baseCommit, headCommit] = ['a'.repeat(40), 'b'.repeat(40)];
const about = { number: 1, title: 'A patch', author: 'alice', baseCommit, headCommit };
const url = `https://github.com/${repository}/pull/1`;
const patch: PullRequest = { kind: 'pull-request', repository, url, ...about };
const message = 'sys/netinet/ip.c:12:3: error: expected ;\nsys/netinet/ip.c:14:1: error: unused';
const result = aResult({ patch, outcome: { kind: 'build-failed', message } });
const outcome = outcomeOfResult(result, {});

let github: FakeGitHub;

beforeEach(async () => {
  github = await startFakeGitHub({ repository, pullRequests: [{ ...about, headRepository: repository }] });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

type Send = () => Promise<unknown>;

const urlOf = (run: number) => `https://github.com/${repository}/actions/runs/${run}`;

/** Reports the outcome of a run. `attempt` wraps each request. */
async function report(run: number, attempt: (send: Send, method: string) => Promise<unknown>): Promise<void> {
  const octokit: Octokit = await hastyOctokit(github);
  octokit.hook.wrap('request', (request, options) => {
    const send: typeof fetch = options.request?.fetch ?? fetch;
    const tried = (...asked: Parameters<typeof fetch>) => attempt(() => send(...asked), options.method);
    // Changed in place, as octokit's other hooks already have the same object.
    options.request = { ...options.request, fetch: tried };
    return request(options);
  });
  const silent = { info() {}, warn() {} };
  const now = () => new Date('2026-11-21T12:00:00.000Z');
  // Only the time limits last.
  const pause: Pause = async (seconds, signal) => {
    if ([30, 300].includes(seconds) && !signal.aborted) await once(signal, 'abort');
  };
  const shared = { name: 'ppsgate', detailsUrl: urlOf(run), pause, now, log: silent };
  const subject = { repository, patch };
  const reporter = combineReporters([
    openCheckRun(octokit, subject, { ...shared, undecided: 'failure', isOwnApp: false, isOpen: true }),
    openComment(octokit, patch, { ...shared, run, overrides: {} }),
    openStatus(octokit, subject, shared),
  ]);
  await reporter.conclude(outcome);
}

const runsInComments = () => github.state.comments.map(({ body }) => readMemory(body)?.run);

test('a job that is killed at any request of its outcome, before or after it is carried out, is continued by the next', async () => {
  const reached: boolean[] = [];
  for (let run = 1; !reached.includes(false); run += 1) {
    const [diesAfter, isCarriedOut] = [Math.floor((run - 1) / 2), run % 2 === 0];
    let sent = 0;
    await report(run, async (send) => {
      sent += 1;
      if (sent > diesAfter && !(isCarriedOut && sent === diesAfter + 1)) throw new Error('killed');
      const response = await send();
      if (sent > diesAfter) throw new Error('killed');
      return response;
    });
    reached.push(sent > diesAfter);
    await report(run, (send) => send());
    const checks = github.state.checkRuns.filter(({ externalId }) => externalId?.endsWith(urlOf(run)));
    expect(checks, `killed at ${sent}`).toMatchObject([{ status: 'completed', title: outcomeTitle(outcome) }]);
    expect(checks[0]?.annotations).toHaveLength(annotationsOf(result).length);
    expect(runsInComments()).toEqual([run]);
  }
  expect(reached.length).toBeGreaterThan(12);
});

test.each([[[5, 6]], [[6, 5]]])('of two runs that find no comment at the same time one is left: %j', async (runs) => {
  let reads = 0;
  const bothRead = Promise.withResolvers<void>();
  const reading = async (send: Send, method: string) => {
    const response = await send();
    if (method !== 'GET') return response;
    reads += 1;
    if (github.requests.filter(({ operationId }) => operationId === 'issues/list-comments').length > 1)
      bothRead.resolve();
    await bothRead.promise;
    return response;
  };
  await Promise.all(runs.map((run) => report(run, reading)));
  expect(reads).toBeGreaterThan(1);
  expect(runsInComments()).toEqual([6]);
});
