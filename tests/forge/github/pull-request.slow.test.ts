import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  fetchPullRequest,
  mayWrite,
  pullRequestFromEvent,
  pullRequestNumber,
  pullRequestsOfBranch,
  pullRequestsWithHead,
} from '../../../src/forge/github/pull-request.ts';
import { patchSchema } from '../../../src/model/patch.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { eventNames, payloadsOf } from '../../fakes/github/webhooks.ts';

const repository = 'freebsd/freebsd-src';
let github: FakeGitHub;

beforeEach(async () => {
  github = await startFakeGitHub({
    repository,
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
  });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const examples = payloadsOf('pull_request');

test("every published example of a pull_request event is read as GitHub's own pull request #2", () => {
  expect(examples.length).toBeGreaterThan(20);
  for (const payload of examples) {
    const search = pullRequestFromEvent('pull_request', payload);
    if (search.kind !== 'found') expect.fail(search.why);
    expect(patchSchema.parse(search.pullRequest)).toEqual({
      kind: 'pull-request',
      repository: 'Codertocat/Hello-World',
      number: 2,
      title: 'Update the README with new information.',
      author: 'Codertocat',
      url: 'https://github.com/Codertocat/Hello-World/pull/2',
      baseBranch: 'master',
      baseCommit: expect.stringMatching(/^[0-9a-f]{40}$/),
      headCommit: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
    });
    expect(search.headRepository).toBe('Codertocat/Hello-World');
  }
});

test('the head repository of a deleted fork is null, and a deleted author is a ghost', () => {
  const { pull_request: whole } = examples[0] as { pull_request: { head: object } };
  const payload = { pull_request: { ...whole, user: null, head: { ...whole.head, repo: null } } };
  expect(pullRequestFromEvent('pull_request', payload)).toMatchObject({
    kind: 'found',
    headRepository: null,
    pullRequest: { author: 'ghost' },
  });
});

test.each(['push', 'issues'])('the event %s has no pull request, which is an error', (eventName) => {
  expect(pullRequestFromEvent(eventName, payloadsOf(eventName)[0])).toEqual({
    kind: 'not-found',
    why: `The payload of the ${eventName} event has an unexpected value at pull_request: Invalid input: expected object, received undefined.`,
  });
});

test('finds no pull request in an example of another event, under any event name', () => {
  const others = eventNames.filter((name) => !name.startsWith('pull_request'));
  const kinds = others.flatMap(payloadsOf).map((payload) => pullRequestFromEvent('pull_request', payload).kind);
  expect(kinds.length).toBeGreaterThan(200);
  expect(new Set(kinds)).toEqual(new Set(['not-found']));
});

test('a payload that is not as described is refused with the place in it', () => {
  const { pull_request: whole } = examples[0] as { pull_request: { head: object } };
  const payload = { pull_request: { ...whole, head: { ...whole.head, sha: 'main; reboot' } } };
  expect(pullRequestFromEvent('pull_request', payload)).toEqual({
    kind: 'not-found',
    why: 'The payload of the pull_request event has an unexpected value at pull_request.head.sha: expected a full commit ID.',
  });
});

test('no payload makes reading it throw', () => {
  fc.assert(
    fc.property(fc.anything(), (payload) => {
      expect(pullRequestFromEvent('pull_request', payload).kind).toBe('not-found');
    }),
  );
});

test('a dispatched number is read with and without its #', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999 }), (number) => {
      expect(pullRequestNumber(`#${number}`)).toBe(number);
      expect(pullRequestNumber(` ${number} `)).toBe(number);
    }),
  );
});

test.each(['', '#', '0', '#-1', '1.5', '1e3', '12 13', 'D27401', '1; reboot'])(
  'a dispatched %j is no number of a pull request',
  (input) => {
    expect(pullRequestNumber(input)).toBeUndefined();
  },
);

test('a pull request is fetched by its number', async () => {
  const search = await fetchPullRequest(await hastyOctokit(github), repository, 123);
  expect(search).toEqual({
    kind: 'found',
    headRepository: 'alice/freebsd-src',
    pullRequest: {
      kind: 'pull-request',
      repository,
      number: 123,
      title: 'ipfw: find states faster',
      author: 'alice',
      url: 'https://github.com/freebsd/freebsd-src/pull/123',
      baseBranch: 'main',
      baseCommit: 'a'.repeat(40),
      headCommit: 'b'.repeat(40),
    },
  });
});

test('a number that no pull request has is for the one who dispatched it to put right', async () => {
  const search = await fetchPullRequest(await hastyOctokit(github), repository, 124);
  expect(search).toEqual({
    kind: 'not-found',
    why: 'There is no pull request #124 of freebsd/freebsd-src, or the token cannot see it: check the number, and that the job has `pull-requests: read`.',
  });
});

test('a GitHub that fails for a while is asked again', async () => {
  github.faults.order('pulls/get', { kind: 'broken', status: 502 }, 2);
  const search = await fetchPullRequest(await hastyOctokit(github), repository, 123);
  expect(search.kind).toBe('found');
  expect(github.requests.map(({ status }) => status)).toEqual([502, 502, 200]);
});

test('a GitHub that keeps failing is named as the reason', async () => {
  github.faults.order('pulls/get', { kind: 'broken', status: 502 }, 9);
  const search = await fetchPullRequest(await hastyOctokit(github), repository, 123);
  expect(search).toEqual({
    kind: 'failed',
    why: 'GitHub did not return the pull request #123 of freebsd/freebsd-src (502 Server Error): run the job again.',
  });
});

describe('who may write', () => {
  test.each([
    ['admin', true],
    ['maintain', true],
    ['write', true],
    ['triage', false],
    ['read', false],
    ['none', false],
  ] as const)('the role %s: %s', async (role, expected) => {
    github.state.permissions.bob = role;
    expect(await mayWrite(await hastyOctokit(github), repository, 'bob')).toBe(expected);
  });

  test.each(['nobody-at-all', 'alice', 'dependabot[bot]', '../../user'])(
    '%j has no role, and may not',
    async (login) => {
      expect(await mayWrite(await hastyOctokit(github), repository, login)).toBe(false);
    },
  );

  test('by a login in any case', async () => {
    github.state.permissions.Bob = 'write';
    expect(await mayWrite(await hastyOctokit(github), repository, 'bob')).toBe(true);
  });

  test('a failing GitHub is an error, and never a yes', async () => {
    const operation = 'repos/get-collaborator-permission-level';
    github.faults.order(operation, { kind: 'read-only' });
    await expect(mayWrite(await hastyOctokit(github), repository, 'bob')).rejects.toThrow(
      'GitHub did not return the permissions of bob (403 Resource not accessible by integration): run the job again.',
    );
  });
});

const another = (changes: object) => {
  const [first] = github.state.pullRequests;
  if (first === undefined) throw new Error('There is a pull request.');
  github.state.pullRequests.push({ ...first, number: 124, ...changes });
};

describe('the pull requests with a head', () => {
  const find = async (headCommit: string) => pullRequestsWithHead(await hastyOctokit(github), repository, headCommit);

  test('are found by the very commit', async () => {
    expect(await find('b'.repeat(40))).toMatchObject([
      {
        kind: 'found',
        pullRequest: { number: 123, headCommit: 'b'.repeat(40), baseBranch: 'main' },
        headRepository: 'alice/freebsd-src',
      },
    ]);
  });

  test('are none if this commit is no head', async () => {
    expect(await find('c'.repeat(40))).toEqual([]);
  });

  test('are none if the pull request is closed', async () => {
    for (const one of github.state.pullRequests) one.state = 'closed';
    expect(await find('b'.repeat(40))).toEqual([]);
  });

  test('are the open ones of several', async () => {
    for (const one of github.state.pullRequests) one.state = 'closed';
    another({ state: 'open' });
    expect(await find('b'.repeat(40))).toMatchObject([{ pullRequest: { number: 124 } }]);
  });

  test('are all open ones, of any target branch', async () => {
    another({ baseRef: 'stable/14' });
    expect(await find('b'.repeat(40))).toMatchObject([
      { pullRequest: { number: 123, baseBranch: 'main' } },
      { pullRequest: { number: 124, baseBranch: 'stable/14' } },
    ]);
  });

  test('are found among more than a page of them', async () => {
    for (const one of github.state.pullRequests) one.state = 'closed';
    for (let number = 200; number < 320; number++) another({ number, state: 'closed' });
    another({ number: 400, state: 'open' });
    expect(await find('b'.repeat(40))).toMatchObject([{ pullRequest: { number: 400 } }]);
  });

  test('are an error if GitHub does not reply', async () => {
    const operation = 'repos/list-pull-requests-associated-with-commit';
    github.faults.order(operation, { kind: 'broken', status: 502 }, 9);
    await expect(find('b'.repeat(40))).rejects.toThrow(
      `GitHub did not return the pull requests with the head ${'b'.repeat(40)} (502 Server Error): run the job again.`,
    );
  });
});

describe('the pull requests of a branch', () => {
  const find = async (changes: object = {}) => {
    const head = { owner: 'alice', branch: 'changes', commit: 'b'.repeat(40), ...changes };
    return pullRequestsOfBranch(await hastyOctokit(github), repository, head);
  };

  test('are found by the owner of the fork, its branch, and the commit', async () => {
    expect(await find()).toMatchObject([{ pullRequest: { number: 123 } }]);
  });

  test.each([
    ['another owner', { owner: 'mallory' }],
    ['another branch', { branch: 'change' }],
    ['what was pushed before', { commit: 'c'.repeat(40) }],
    ['a branch that holds more than a name', { branch: 'changes&head=bob:changes' }],
  ])('are none for %s', async (_, changes) => {
    expect(await find(changes)).toEqual([]);
  });

  test('are none if the pull request is closed', async () => {
    for (const one of github.state.pullRequests) one.state = 'closed';
    expect(await find()).toEqual([]);
  });

  test('are not those of another who has a branch and a commit of the same names', async () => {
    for (const one of github.state.pullRequests) one.headRepository = 'mallory/freebsd-src';
    another({ number: 124, headRepository: 'alice/freebsd-src' });
    expect(await find()).toMatchObject([{ pullRequest: { number: 124 } }]);
  });
});
