// The commit status, for branch rules that require statuses instead of checks.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  cancelledOutcome,
  outcomeOfError,
  outcomeOfResult,
  type ReportedOutcome,
} from '../../../src/publish/reporters/outcome.ts';
import { openStatus } from '../../../src/publish/reporters/status.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aResult, passing, pullRequest, unchanged } from '../../fakes/result.ts';

const repository = 'example/router';
const detailsUrl = 'https://github.com/example/router/actions/runs/41';
let github: FakeGitHub;
let said: string[];

beforeEach(async () => {
  const { baseCommit, headCommit, title, author } = pullRequest;
  const patch = { number: 7, title, author, baseCommit, headCommit, headRepository: repository };
  github = await startFakeGitHub({ repository, pullRequests: [patch] });
  said = [];
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

/** A status that does not wait before it tries again. */
async function open(settings?: Parameters<typeof hastyOctokit>[1]) {
  const octokit = await hastyOctokit(github, settings);
  return openStatus(
    octokit,
    { repository, patch: pullRequest },
    {
      name: 'ppsgate',
      detailsUrl,
      log: { info: (line) => said.push(line), warn: (line) => said.push(`warning: ${line}`) },
      pause(seconds, signal) {
        const { promise, resolve } = Promise.withResolvers<void>();
        if (seconds < 30 || signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
        return promise;
      },
    },
  );
}

const estimate = { place: 2, of: 3, expectedSeconds: 2400 };

test('while the gate lasts it is pending, on the head and by its name', async () => {
  const status = await open();
  status.waiting(estimate, 'waiting for shelf-3');
  await expect
    .poll(() => github.state.statuses)
    .toMatchObject([
      {
        commit: pullRequest.headCommit,
        state: 'pending',
        context: 'ppsgate',
        description: '2 of 3 in line, about 40 min',
        targetUrl: detailsUrl,
      },
    ]);
  await status.leaveOpen();
});

describe('it ends', () => {
  const verdict = (kind: 'no-regression' | 'regression' | 'inconclusive') =>
    outcomeOfResult(aResult({ outcome: { kind: 'judged', verdict: kind, cells: [] } }), {});

  test.each<[string, ReportedOutcome, string]>([
    ['a pass as success', verdict('no-regression'), 'success'],
    ['a patch that changes nothing installed as success', outcomeOfResult(unchanged, {}), 'success'],
    ['a loss as failure', verdict('regression'), 'failure'],
    ['an inconclusive result as failure', verdict('inconclusive'), 'failure'],
    ['what could not be measured as error', outcomeOfError(new Error('No route.')), 'error'],
    ['what was cancelled as error', cancelledOutcome, 'error'],
  ])('%s', async (_, ending, state) => {
    await (await open()).conclude(ending);
    expect(github.state.statuses).toMatchObject([{ state }]);
  });

  test.each(['🔴'.repeat(200), `${'x'.repeat(139)}🔴y`])(
    'with at most 140 characters, none of four bytes: %s',
    async (title) => {
      await (await open()).conclude({ kind: 'uncounted', measured: passing(), title, why: '' });
      const [{ description } = { description: null }] = github.state.statuses;
      expect(description?.length).toBeLessThanOrEqual(140);
      expect(description).not.toMatch(/[\u{d800}-\u{dfff}\u{10000}-\u{10ffff}]/u);
    },
  );
});

test('a token that may write no statuses: one notice, and no further tries', async () => {
  const status = await open({ token: github.tokenWith({ checks: 'write' }) });
  status.measuring('shelf-3');
  await expect.poll(() => said).toHaveLength(1);
  await status.conclude(cancelledOutcome);
  expect(said).toEqual([expect.stringContaining('`permissions: statuses: write`')]);
  expect(github.requests).toHaveLength(1);
});
