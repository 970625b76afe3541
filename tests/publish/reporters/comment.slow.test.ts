// The comment on a pull request as its readers see it: one for all pushes, with at most one edit a minute.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CommentOptions, openComment } from '../../../src/publish/reporters/comment.ts';
import { readMemory } from '../../../src/publish/reporters/comment-text.ts';
import { cancelledOutcome, outcomeOfResult } from '../../../src/publish/reporters/outcome.ts';
import { mellanoxBroken } from '../../fakes/bisect-result.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aResult } from '../../fakes/result.ts';

const pullRequest = {
  kind: 'pull-request',
  repository: 'example/router',
  number: 7,
  title: 'Drop protocol 254 early',
  author: 'alice',
  url: 'https://github.com/example/router/pull/7',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
} as const;
const detailsUrl = 'https://github.com/example/router/actions/runs/41';
const estimate = { place: 2, of: 3, expectedSeconds: 2400 };
const lost = outcomeOfResult(aResult(), {});

let github: FakeGitHub;
let said: string[];

beforeEach(async () => {
  const { number, title, author, baseCommit, headCommit, repository } = pullRequest;
  const patch = { number, title, author, baseCommit, headCommit, headRepository: repository };
  github = await startFakeGitHub({ repository, pullRequests: [patch] });
  said = [];
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

type Changes = Partial<CommentOptions> & {
  headCommit?: string;
  settings?: Parameters<typeof hastyOctokit>[1];
};

/** A comment whose pauses of a minute last until the test ends them; those before another try do not last. */
async function open({ headCommit = pullRequest.headCommit, settings, ...changes }: Changes = {}) {
  const pauses: (() => void)[] = [];
  const kept: string[] = [];
  const patch = { ...pullRequest, headCommit };
  const comment = openComment(await hastyOctokit(github, settings), patch, {
    name: 'ppsgate',
    run: 41,
    overrides: {},
    detailsUrl,
    log: { info: (line) => said.push(line), warn: (line) => said.push(`warning: ${line}`) },
    now: () => new Date('2026-01-01T14:05:00Z'),
    pause(seconds, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (seconds < 30 || signal.aborted) resolve();
      else if (seconds === 60) pauses.push(resolve);
      signal.addEventListener('abort', () => resolve());
      return promise;
    },
    keep: (url) => kept.push(url),
    ...changes,
  });
  /** Waits until the minute after an edit has begun, and ends it. */
  const minute = async () => {
    await expect.poll(() => pauses).toHaveLength(1);
    pauses.pop()?.();
  };
  return { comment, pauses, minute, kept };
}

const bodies = () => github.state.comments.map(({ body }) => body);
const titles = () => bodies().map((body) => /^### .*$/m.exec(body)?.[0]);
const writes = () =>
  github.requests
    .filter(({ method, path }) => method !== 'GET' && path !== '/graphql')
    .map(({ operationId, status }) => `${operationId} ${status}`);

test('it is updated from the queue to the verdict, in one comment', async () => {
  const { comment, minute, kept } = await open();
  comment.queued('waits for a runner of the lab');
  await expect.poll(titles).toEqual(['### ⏳ ppsgate: #7 waits for a runner of the lab']);
  await minute();
  comment.waiting(estimate, 'waiting for shelf-3: 2 of 3 in line');
  await expect.poll(titles).toEqual(['### ⏳ ppsgate: #7 waits for a testbed: 2 of 3 in line, about 40 min']);
  await minute();
  comment.measuring('shelf-3', 'run 3 of 20');
  await expect.poll(titles).toEqual(['### ⏳ ppsgate: #7 is being measured']);
  expect(bodies()[0]).toContain('`run 3 of 20`');
  await comment.conclude(lost);
  expect(titles()).toEqual([expect.stringMatching(/^### 🔴 ppsgate: #7 .* 10\.4 % \(forwarding inet4\)$/)]);
  expect(readMemory(bodies()[0] ?? '')?.last).toMatchObject({
    run: 41,
    title: expect.stringMatching(/^🔴 #7 .* 10\.4 % \(forwarding inet4\)$/),
  });
  expect(new Set(kept)).toEqual(new Set(['https://github.com/example/router/pull/7#issuecomment-1001']));
  expect(said).toEqual([]);
});

test('one that is left stays for the next job of the run, which continues it', async () => {
  const first = await open();
  first.comment.queued('waits for a runner of the lab');
  await first.comment.leaveOpen();
  const second = await open();
  await second.comment.conclude(lost);
  expect(titles()).toEqual([expect.stringContaining(' 10.4 %')]);
  expect(writes()).toEqual(['issues/create-comment 201', 'issues/update-comment 200']);
});

test('a bisection has a separate comment beside that of the gate, with its own text', async () => {
  const { comment: gate } = await open();
  await gate.conclude(lost);
  const about = { name: 'ppsgate bisect', subject: 'the bisection of #7' };
  const { comment } = await open(about);
  comment.queued('waits for a runner of the lab');
  await expect.poll(() => github.state.comments.length).toBe(2);
  const [of, waiting] = github.state.comments;
  expect(waiting?.body).toContain('### ⏳ ppsgate: the bisection of #7 waits for a runner of the lab');
  const request = { good: 'v1', bad: 'v2' };
  await comment.conclude({ kind: 'bisected', result: mellanoxBroken, request, links: {} });
  const [same, answer, ...more] = github.state.comments;
  expect(more).toEqual([]);
  expect([same?.body, answer?.id]).toEqual([of?.body, waiting?.id]);
  expect(answer?.body).toMatch(/^<!-- ppsgate bisect -->\n\n### 🔴 ppsgate: one of these /);
  expect(answer?.body).toContain('`/ppsgate bisect v1 v2 fix-up=431980466ff0`');
});

test('an older run does not overwrite what a newer one has written', async () => {
  const old = await open();
  old.comment.measuring('shelf-3');
  await expect.poll(() => old.pauses).toHaveLength(1);
  await (await open({ run: 42, headCommit: 'c'.repeat(40) })).comment.conclude(lost);
  const before = bodies();
  await old.comment.conclude(cancelledOutcome);
  expect(bodies()).toEqual(before);
  expect(said).toHaveLength(1);
});

test('one that people delete meanwhile is replaced', async () => {
  const { comment, pauses } = await open();
  comment.measuring('shelf-3');
  await expect.poll(() => pauses).toHaveLength(1);
  github.state.comments = [];
  await comment.conclude(lost);
  expect(titles()).toEqual([expect.stringContaining(' 10.4 %')]);
  expect(said).toEqual([]);
});

test.each<[string, () => unknown, RegExp]>([
  ['a token that may only read', () => github.tokenWith({ 'pull-requests': 'read' }), /lacks the permission \(403/],
  [
    'a conversation that is locked',
    () => Object.assign(github.state.pullRequests[0] ?? {}, { isLocked: true }),
    /the conversation is locked/,
  ],
  [
    'a pull request that was deleted',
    () => Object.assign(github.state.pullRequests[0] ?? {}, { isDeleted: true }),
    /no longer exists on GitHub \(410/,
  ],
])('%s is warned of once, and not tried again', async (_, arrange, why) => {
  const token = arrange();
  const { comment } = await open(typeof token === 'string' ? { settings: { token } } : {});
  comment.measuring('shelf-3');
  await expect.poll(() => said).toHaveLength(1);
  const { length } = github.requests;
  comment.measuring('shelf-3', 'run 2');
  await comment.conclude(lost);
  expect(said).toEqual([expect.stringMatching(why)]);
  expect(github.requests).toHaveLength(length);
  expect(bodies()).toEqual([]);
});

test.each<[string, Fault, number]>([
  ['issues/list-comments', { kind: 'broken', status: 502 }, 5],
  ['issues/create-comment', { kind: 'broken', status: 502 }, 1],
  ['issues/create-comment', { kind: 'reset', carriedOut: true }, 1],
  ['issues/create-comment', { kind: 'cut' }, 1],
  ['graphql/viewer', { kind: 'broken', status: 503 }, 5],
])('there is still one when %s meets %j', async (operation, fault, times) => {
  github.faults.order(operation, fault, times);
  const { comment } = await open();
  await comment.conclude(lost);
  expect(github.faults.met).toBeGreaterThan(0);
  expect(titles()).toEqual([expect.stringContaining(' 10.4 %')]);
  expect(said).toEqual([]);
});
