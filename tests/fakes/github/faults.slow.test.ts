// Random faults must occur, be counted, and be the same for the same numbers.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noFaultsYet } from './faults.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from './server.ts';

let github: FakeGitHub;

beforeEach(async () => {
  const pullRequest = {
    number: 7,
    title: 'Change the rules',
    author: 'alice',
    baseCommit: 'a'.repeat(40),
    headCommit: 'b'.repeat(40),
    headRepository: 'alice/router',
  };
  github = await startFakeGitHub({ repository: 'example/router', pullRequests: [pullRequest] });
});

afterEach(() => github.stop());

const write = () =>
  fetch(`${github.url}/repos/example/router/issues/7/comments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${installationToken}`, 'content-type': 'application/json' },
    body: '{"body":"Hello"}',
  });

/** Returns these numbers in turn, repeatedly. */
function numbers(...values: number[]): () => number {
  let nth = 0;
  return () => values[nth++ % values.length] ?? 0;
}

test('a share of the calls meets one, and it is counted', () => {
  const faults = noFaultsYet();
  const hundred = Array.from({ length: 100 }, (_, nth) => nth / 100);
  let nth = 0;
  const random = () => hundred[nth++ % 100] ?? 0;
  faults.byChance({ random, share: 0.25, kinds: [{ kind: 'slow', milliseconds: 0 }] });
  for (let call = 0; call < 1000; call++) faults.next('pulls/get', false);
  expect(faults.met).toBeGreaterThan(100);
  expect(faults.met).toBeLessThan(400);
  faults.clear();
  expect(faults.next('pulls/get', false)).toBeUndefined();
});

test.each([
  { last: 0.4, comments: 1 },
  { last: 0.6, comments: 0 },
])('a write may be carried out all the same: $last', async ({ last, comments }) => {
  github.faults.byChance({ random: numbers(0, 0, last), share: 0.1 });
  expect((await write()).status).toBe(502);
  expect(github.state.comments).toHaveLength(comments);
  expect(github.faults.met).toBe(1);
});

test('an ordered fault comes before one by chance', async () => {
  github.faults.byChance({ random: () => 0.5, share: 0.1 });
  github.faults.order('issues/create-comment', { kind: 'read-only' });
  expect((await write()).status).toBe(403);
  expect((await write()).status).toBe(201);
});
