import { expect, test } from 'vitest';
import { authorize } from '../../src/patch/authorize.ts';
import type { PullRequest } from '../../src/patch/patch.ts';

const pullRequest: PullRequest = {
  kind: 'pull-request',
  repository: 'freebsd/freebsd-src',
  number: 123,
  title: 'ipfw: find states faster',
  author: 'alice',
  url: 'https://github.com/freebsd/freebsd-src/pull/123',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
};

test('a pull request from a branch of the repository itself is allowed', () => {
  const leave = authorize('pull_request', { pullRequest, headRepository: 'freebsd/freebsd-src' });
  expect(leave).toEqual({ kind: 'allowed', why: expect.stringContaining('write permission') });
});

test('a pull request from a fork is refused, and told how a maintainer can run it', () => {
  const leave = authorize('pull_request', { pullRequest, headRepository: 'alice/freebsd-src' });
  expect(leave).toEqual({
    kind: 'refused',
    why: 'Thank you for #123: because it comes from alice/freebsd-src, it runs on the testbed only after a maintainer of freebsd/freebsd-src has read it and started ppsgate by workflow_dispatch with patch `#123`.',
  });
});

test('a pull request from a fork that was deleted since is refused', () => {
  const leave = authorize('pull_request', { pullRequest, headRepository: null });
  expect(leave).toEqual({ kind: 'refused', why: expect.stringContaining('was deleted') });
});

test('a repository whose name only begins like ours is a fork like any other', () => {
  const leave = authorize('pull_request', { pullRequest, headRepository: 'freebsd/freebsd-src2' });
  expect(leave.kind).toBe('refused');
});

test('a fork is allowed when somebody dispatched its number, which takes write permission', () => {
  const leave = authorize('workflow_dispatch', {
    pullRequest,
    headRepository: 'alice/freebsd-src',
  });
  expect(leave).toEqual({ kind: 'allowed', why: expect.stringContaining('dispatched #123') });
});
