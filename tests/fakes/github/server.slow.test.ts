// The fake must be able to report violations: otherwise a test that expects none could not fail.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGitHub, installationToken, personalToken, startFakeGitHub } from './server.ts';

const comments = '/repos/freebsd/freebsd-src/issues/123/comments';
let github: FakeGitHub;

beforeEach(async () => {
  github = await startFakeGitHub({
    repository: 'freebsd/freebsd-src',
    pullRequests: [
      {
        number: 123,
        title: 'ipfw: find states faster',
        author: 'alice',
        baseCommit: 'a'.repeat(40),
        headCommit: 'b'.repeat(40),
        headRepository: 'alice/freebsd-src',
      },
    ],
    comments: [1, 2, 3].map((nth) => ({ number: 123, author: 'bob', body: `comment ${nth}` })),
    login: 'ppsgate-lab',
  });
});

afterEach(() => github.stop());

function call(path: string, init: RequestInit = {}, token = installationToken): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(`${github.url}${path}`, { headers, ...init });
}

test('a body that GitHub does not describe is a violation, answered with its reason', async () => {
  const answer = await call(comments, { method: 'POST', body: '{"text":"hello"}' });
  expect(answer.status).toBe(500);
  expect(github.violations).toEqual([
    "issues/create-comment was asked wrongly: /requestBody must have required property 'body'.",
  ]);
  expect(github.state.comments).toHaveLength(3);
});

test('a query that GitHub does not describe is a violation', async () => {
  expect((await call(`${comments}?perpage=100`)).status).toBe(500);
  expect(github.violations).toEqual([expect.stringContaining('issues/list-comments was asked')]);
});

test('an operation that is not in the description is a violation', async () => {
  expect((await call('/repos/freebsd/freebsd-src/hooks')).status).toBe(500);
  expect(github.violations).toEqual(['GET /repos/freebsd/freebsd-src/hooks is not in openapi.json.']);
});

test('an answer that GitHub does not describe is a violation', async () => {
  Object.assign(github.state.comments[0] ?? {}, { id: 'not a number' });
  expect((await call(comments)).status).toBe(500);
  expect(github.violations).toEqual([expect.stringContaining('was answered wrongly: /0/id')]);
});

test('a token that GitHub never gave out, or none, is refused', async () => {
  expect((await call('/user', {}, 'x')).status).toBe(401);
  expect((await call('/user', { headers: {} })).status).toBe(401);
});

test('a token of a person names its owner, and one of a workflow does not', async () => {
  const person = await call('/user', {}, personalToken);
  expect(await person.json()).toMatchObject({ login: 'ppsgate-lab', type: 'User' });
  expect((await call('/user')).status).toBe(403);
});

test('a list comes in pages that name each other', async () => {
  const first = await call(`${comments}?per_page=2`);
  expect(await first.json()).toMatchObject([{ body: 'comment 1' }, { body: 'comment 2' }]);
  const [, next = ''] = /<([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
  const second = await call(next.replace(github.url, ''));
  expect(await second.json()).toMatchObject([{ body: 'comment 3' }]);
  expect(second.headers.get('link')).not.toContain('rel="next"');
});

test('a missing resource is not found', async () => {
  for (const path of [comments.replace('123', '124'), comments.replace('freebsd-src', 'ports')]) {
    expect((await call(path)).status).toBe(404);
  }
  const gone = await call('/repos/freebsd/freebsd-src/issues/comments/9', { method: 'DELETE' });
  expect(gone.status).toBe(404);
  expect(github.violations).toEqual([]);
});
