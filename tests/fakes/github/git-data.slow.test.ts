// The objects must be git's own, and the ref must not move under a writer, as published data depends on both.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Octokit } from '../../../src/forge/github/client.ts';
import { temporaryFolder } from '../folder.ts';
import { writeRepository } from './git-folder.ts';
import { commitFiles, emptyRepository } from './git-objects.ts';
import { hastyOctokit } from './hasty-octokit.ts';
import { appToken, type FakeGitHub, personalToken, startFakeGitHub } from './server.ts';

const where = { owner: 'example', repo: 'router' };
const zeros = '0'.repeat(40);
let github: FakeGitHub;
let octokit: Octokit;

beforeEach(async () => {
  github = await startFakeGitHub({ repository: 'example/router', pullRequests: [] });
  octokit = await hastyOctokit(github);
});

afterEach(() => github.stop());

/** Creates a commit of one file on no branch, through the API. */
async function newCommit(content: string, parents: string[] = []): Promise<string> {
  const tree = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
    ...where,
    tree: [{ path: 'results/7/report.md', mode: '100644', type: 'blob', content }],
  });
  const commit = { ...where, message: content, tree: tree.data.sha, parents };
  const { data } = await octokit.request('POST /repos/{owner}/{repo}/git/commits', commit);
  return data.sha;
}

async function move(beforeOid: string, afterOid: string, force = false): Promise<unknown> {
  const { repository } = await octokit.graphql<{ repository: { id: string } }>(
    'query($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }',
    where,
  );
  const refUpdates = [{ name: 'refs/heads/data', beforeOid, afterOid, force }];
  return octokit.graphql('mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }', {
    input: { repositoryId: repository.id, refUpdates },
  });
}

test('the real git finds nothing wrong with a repository, and reads in it what was written', async () => {
  const first = await newCommit('one');
  await octokit.request('POST /repos/{owner}/{repo}/git/refs', {
    ...where,
    ref: 'refs/heads/data',
    sha: first,
  });
  const { data: blob } = await octokit.request('POST /repos/{owner}/{repo}/git/blobs', {
    ...where,
    content: Buffer.from([0, 255, 10]).toString('base64'),
    encoding: 'base64',
  });
  const { data: commit } = await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
    ...where,
    commit_sha: first,
  });
  const { data: tree } = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
    ...where,
    base_tree: commit.tree.sha,
    tree: [
      { path: 'results/7/report.md', mode: '100644', type: 'blob', sha: null },
      { path: 'results.json', mode: '100755', type: 'blob', content: '{}' },
      { path: 'results/8/raw', mode: '100644', type: 'blob', sha: blob.sha },
    ],
  });
  const { data: second } = await octokit.request('POST /repos/{owner}/{repo}/git/commits', {
    ...where,
    message: 'Zweiter Stand: größer',
    tree: tree.sha,
    parents: [first],
    author: { name: 'ppsgate', email: 'ppsgate@example.org', date: '2026-02-03T04:05:06Z' },
  });
  await move(first, second.sha);

  const folder = join(temporaryFolder(), 'router.git');
  mkdirSync(folder);
  writeRepository(github.state.git, folder);
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args]).toString();
  git('fsck', '--strict', '--no-dangling');
  expect(git('rev-parse', 'data').trim()).toBe(second.sha);
  expect(git('ls-tree', '-r', '--name-only', 'data').trim().split('\n')).toEqual(['results.json', 'results/8/raw']);
  expect(git('log', '-1', '--format=%an %at %s', 'data').trim()).toBe(
    `ppsgate ${Date.UTC(2026, 1, 3, 4, 5, 6) / 1000} Zweiter Stand: größer`,
  );
  const clone = join(folder, '../clone');
  execFileSync('git', ['clone', '--quiet', '--no-local', '--branch', 'data', folder, clone]);
  expect(github.violations).toEqual([]);
});

test('a tree is listed whole only on request', async () => {
  const id = commitFiles(github.state.git, 'main', { 'a/b.txt': 'b', 'a.txt': 'a' });
  const list = async (parameters: object) => {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', {
      ...where,
      tree_sha: id,
      ...parameters,
    });
    return data.tree.map(({ path }) => path);
  };
  expect(await list({})).toEqual(['README.md', 'a.txt', 'a']);
  expect(await list({ recursive: '1' })).toEqual(['README.md', 'a.txt', 'a', 'a/b.txt']);
});

test('a ref moves only from where it is expected to be', async () => {
  const first = await newCommit('one');
  const second = await newCommit('two', [first]);
  await move(zeros, first);
  await expect(move(zeros, second)).rejects.toThrow(/expected 0{40}/);
  await expect(move(second, second)).rejects.toThrow(`is at ${first}`);
  await move(first, second);
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', {
    ...where,
    ref: 'heads/data',
  });
  expect(data.object.sha).toBe(second);
  expect(github.violations).toEqual([]);
});

test('a ref moves forwards only, unless it is forced', async () => {
  const first = await newCommit('one');
  const other = await newCommit('another beginning');
  await move(zeros, first);
  await expect(move(first, other)).rejects.toThrow('not a fast forward');
  await move(first, other, true);
  await move(other, zeros);
  await expect(
    octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...where, ref: 'heads/data' }),
  ).rejects.toThrow('Not Found');
});

test('a missing object is not found, and an empty repository is a conflict', async () => {
  const wanted = { ...where, commit_sha: zeros };
  await expect(octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', wanted)).rejects.toMatchObject({
    status: 404,
  });
  github.state.git.refs.clear();
  await expect(octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', wanted)).rejects.toMatchObject({
    status: 409,
  });
  expect(github.violations).toEqual([]);
});

test('a tree that names what is not there is refused', async () => {
  const { data: head } = await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', {
    ...where,
    tree_sha: 'main',
  });
  const create = (entry: object) =>
    octokit.request('POST /repos/{owner}/{repo}/git/trees', {
      ...where,
      base_tree: head.sha,
      tree: [{ mode: '100644', type: 'blob', ...entry }],
    });
  await expect(create({ path: 'a', sha: zeros })).rejects.toThrow('not a valid blob');
  await expect(create({ path: 'a', sha: null })).rejects.toThrow('BadObjectState');
  await expect(create({ path: 'a/../b', content: '' })).rejects.toThrow('malformed path');
});

test('whose token it is can be asked', async () => {
  const login = async (token: string) => {
    const client = await hastyOctokit(github, { token });
    const { viewer } = await client.graphql<{ viewer: { login: string } }>('{ viewer { login } }');
    return viewer.login;
  };
  expect(await login('ghs_workflow')).toBe('github-actions[bot]');
  expect(await login(appToken)).toBe('ppsgate-lab[bot]');
  expect(await login(personalToken)).toBe('ppsgate-lab');
});

test.each([
  ['{ viewer { email } }', 'viewer is asked for login'],
  ['{ viewer { login }', 'ends too early'],
  ['{ viewer { login } rateLimit { cost } }', 'knows no query of viewer and rateLimit'],
  ['query($o: ID!) { repository(owner: $o, name: "router") { id } }', 'repository.owner is String!, not ID!'],
  ['query($o: String!) { viewer { login } }', 'The variable $o is not used'],
])('GraphQL that GitHub or the fake does not know is a violation: %s', async (query, why) => {
  await expect(octokit.graphql(query, { o: 'example' })).rejects.toThrow();
  expect(github.violations[0]).toContain(why);
});

test('a thousand commits are nothing', () => {
  const git = emptyRepository();
  for (let nth = 0; nth < 1000; nth++) {
    commitFiles(git, 'data', { [`results/${nth % 100}/${nth}.json`]: `{"nth":${nth}}` });
  }
  const folder = temporaryFolder();
  writeRepository(git, folder);
  const count = execFileSync('git', ['-C', folder, 'rev-list', '--count', 'data']);
  expect(Number(count)).toBe(1000);
});
