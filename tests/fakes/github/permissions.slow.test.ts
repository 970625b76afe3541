// The fake grants a job exactly the permissions of its workflow, and records those that it used.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hastyOctokit } from './hasty-octokit.ts';
import { operations } from './operations.ts';
import { accessFor, type Permissions } from './permissions.ts';
import { type FakeGitHub, startFakeGitHub } from './server.ts';

const where = { owner: 'example', repo: 'router' };
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

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

async function clientWith(permissions: Permissions) {
  const token = github.tokenWith(permissions);
  return { token, octokit: await hastyOctokit(github, { token }) };
}

const comment = { ...where, issue_number: 7, body: 'Hello' };

test('a write needs its permission', async () => {
  const { octokit } = await clientWith({ contents: 'write', checks: 'write' });
  await expect(octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment)).rejects.toThrow(
    'Resource not accessible by integration',
  );
  expect(github.state.comments).toEqual([]);
});

test.each<Permissions>([{ issues: 'write' }, { 'pull-requests': 'write' }])(
  'either of two permissions will do, and the one that did is kept: %j',
  async (permissions) => {
    const { token, octokit } = await clientWith(permissions);
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment);
    const [scope] = Object.keys(permissions);
    expect(github.used[token]).toEqual([`${scope}: write`]);
  },
);

test('public data is read with any token, and private data is not', async () => {
  const { token, octokit } = await clientWith({});
  const wanted = { ...where, path: 'README.md' };
  await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', wanted);
  expect(github.used[token]).toBeUndefined();

  github.state.isPrivate = true;
  await expect(octokit.request('GET /repos/{owner}/{repo}/contents/{path}', wanted)).rejects.toMatchObject({
    status: 403,
  });
  const reader = await clientWith({ contents: 'write' });
  await reader.octokit.request('GET /repos/{owner}/{repo}/contents/{path}', wanted);
  expect(github.used[reader.token]).toEqual(['contents: read']);
});

test('refuses an artifact of a public repository without a permission', async () => {
  const { octokit } = await clientWith({ contents: 'write' });
  const wanted = { ...where, artifact_id: 1, archive_format: 'zip' };
  await expect(
    octokit.request('GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}', wanted),
  ).rejects.toMatchObject({
    status: 403,
  });
});

test('GraphQL refuses in its own way', async () => {
  const { octokit } = await clientWith({ contents: 'read' });
  const input = { repositoryId: 'R_1', refUpdates: [] };
  await expect(
    octokit.graphql('mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }', { input }),
  ).rejects.toMatchObject({ errors: [{ type: 'FORBIDDEN' }] });
});

test('an expired token is no token', async () => {
  const { token, octokit } = await clientWith({});
  github.expire(token);
  await expect(octokit.request('GET /repos/{owner}/{repo}', where)).rejects.toThrow('Bad credentials');
});

test('for each operation it is known what it needs', () => {
  for (const operationId of Object.keys(operations)) {
    expect(accessFor(github.state, operationId, undefined).kind).not.toBe('refused');
  }
});
