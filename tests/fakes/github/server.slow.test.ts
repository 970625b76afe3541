// A fake that reports no violations would make every test that expects none worthless.
import { expect, test } from 'vitest';
import { startFakeGitHub } from './server.ts';
import { installationToken } from './tokens.ts';

const issues = '/repos/freebsd/freebsd-src/issues';

test.each([
  ['a body', 'POST', `${issues}/123/comments`, '{"text":"hello"}', /^issues\/create-comment was asked wrongly: .*body/],
  ['a query', 'GET', `${issues}/123/comments?perpage=100`, null, /^issues\/list-comments was asked wrongly: /],
  ['an operation', 'GET', '/repos/freebsd/freebsd-src/hooks', null, /^GET \S+hooks is not in openapi.json\.$/],
  ['an answer', 'GET', `${issues}/124/comments`, null, /^issues\/list-comments was answered wrongly: \/0\/body/],
  ['a query of GraphQL', 'POST', '/graphql', '{"query":"{ viewer { id } }"}', /^graphql is not known to be asked/],
])('%s that GitHub does not describe is a violation, and has no effect', async (_, method, path, body, said) => {
  const patch = { title: 'x', author: 'alice', headRepository: 'alice/freebsd-src' };
  const commits = { baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) };
  const github = await startFakeGitHub({
    repository: 'freebsd/freebsd-src',
    pullRequests: [123, 124].map((number) => ({ number, ...patch, ...commits })),
    comments: [{ number: 124, author: 'bob', body: 1 as unknown as string }],
  });
  const headers = { authorization: `Bearer ${installationToken}`, 'content-type': 'application/json' };
  expect((await fetch(github.url + path, { method, headers, body })).status).toBe(500);
  expect(github.violations).toEqual([expect.stringMatching(said)]);
  expect(github.state.comments).toHaveLength(1);
  await github.stop();
});
