// A measurement for a merge queue is cancelled when the queue drops its branch.
import { setImmediate as soon } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { whileQueued } from '../../src/action/merge-queue.ts';
import { conclusionOfError } from '../../src/model/conclusion.ts';
import { commitFiles } from '../fakes/github/git-objects.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';

const repository = 'example/router';
const branch = `gh-readonly-queue/main/pr-7-${'c'.repeat(40)}`;

let github: FakeGitHub;

beforeEach(async () => {
  github = await startFakeGitHub({ repository, pullRequests: [] });
  commitFiles(github.state.git, branch, { a: '1' });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const never = new AbortController().signal;

/** Ends with its signal, or after so many requests to the queue. */
async function untilAsked(times: number, signal: AbortSignal): Promise<string> {
  while (github.requests.length < times) {
    signal.throwIfAborted();
    await soon();
  }
  return 'measured';
}

const measured = async (
  work: (signal: AbortSignal) => Promise<string>,
  { of, signal = never }: { of?: string | undefined; signal?: AbortSignal } = { of: branch },
) => {
  const octokit = await hastyOctokit(github);
  return whileQueued(of, { octokit, repository, pause: () => soon() }, signal, work);
};

test('it is measured to its end while the branch is there', async () => {
  expect(await measured((signal) => untilAsked(3, signal))).toBe('measured');
});

test('it ends, as cancelled, when the queue lets go of it', async () => {
  const ended = measured(async (signal) => {
    await untilAsked(2, signal);
    github.state.git.refs.delete(`refs/heads/${branch}`);
    return untilAsked(Number.POSITIVE_INFINITY, signal);
  });
  const error = await ended.catch((error: unknown) => error);
  expect(error).toMatchObject({
    message: expect.stringContaining('The merge queue removed gh-readonly'),
  });
  expect(conclusionOfError(error)).toBe('cancelled');
});

test('a failing GitHub ends nothing', async () => {
  github.faults.order('git/get-ref', { kind: 'broken', status: 502 }, 9);
  expect(await measured((signal) => untilAsked(9, signal))).toBe('measured');
});
