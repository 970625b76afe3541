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
import type { FakePullRequest } from '../../fakes/github/state.ts';
import { eventNames, payloadsOf } from '../../fakes/github/webhooks.ts';

const repository = 'freebsd/freebsd-src';
const [base, head, other] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];
let github: FakeGitHub;

beforeEach(async () => {
  const patch = { title: 'ipfw: find states faster', author: 'alice', headRepository: 'alice/freebsd-src' };
  const pullRequests = [{ number: 123, ...patch, baseCommit: base, headCommit: head }];
  github = await startFakeGitHub({ repository, pullRequests });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const examples = payloadsOf('pull_request');
const [example] = examples as [{ pull_request: { head: object } }];
const changed = (changes: object) => ({ pull_request: { ...example.pull_request, ...changes } });

describe('an event', () => {
  test('of every published example has GitHub’s own pull request #2', () => {
    expect(examples.length).toBeGreaterThan(20);
    for (const payload of examples) {
      const search = pullRequestFromEvent('pull_request', payload);
      if (search.kind !== 'found') expect.fail(search.why);
      expect(search.headRepository).toBe('Codertocat/Hello-World');
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
    }
  });

  test('may have no repository of a deleted fork, and no author', () => {
    const payload = changed({ user: null, head: { ...example.pull_request.head, repo: null } });
    const found = { kind: 'found', headRepository: null, pullRequest: { author: 'ghost' } };
    expect(pullRequestFromEvent('pull_request', payload)).toMatchObject(found);
  });

  test('without a pull request has none, under any name', () => {
    const others = eventNames.filter((name) => !name.startsWith('pull_request'));
    const kinds = others.flatMap(payloadsOf).map((payload) => pullRequestFromEvent('pull_request', payload).kind);
    expect(kinds.length).toBeGreaterThan(200);
    expect(new Set(kinds)).toEqual(new Set(['not-found']));
  });

  test('that is not as described is refused with the place in it', () => {
    const search = pullRequestFromEvent('x', changed({ head: { ...example.pull_request.head, sha: 'main; reboot' } }));
    expect(search).toEqual({ kind: 'not-found', why: expect.stringContaining(' at pull_request.head.sha: ') });
  });

  test('never makes reading it throw', () => {
    fc.assert(
      fc.property(fc.anything(), (payload) => {
        expect(pullRequestFromEvent('pull_request', payload).kind).toBe('not-found');
      }),
    );
  });
});

test('a dispatched number is read with and without its #', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999 }), (number) => {
      expect([`#${number}`, ` ${number} `].map(pullRequestNumber)).toEqual([number, number]);
    }),
  );
});

test.each(['', '#', '0', '#-1', '1.5', '1e3', '12 13', 'D27401', '1; reboot'])(
  'a dispatched %j is no number of a pull request',
  (input) => {
    expect(pullRequestNumber(input)).toBeUndefined();
  },
);

describe('a pull request', () => {
  const fetched = async (number: number) => fetchPullRequest(await hastyOctokit(github), repository, number);

  test('is fetched by its number', async () => {
    expect(await fetched(123)).toEqual({
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
        baseCommit: base,
        headCommit: head,
      },
    });
  });

  test.each([
    ['is not found by another number', 124, 0, 'not-found', [404]],
    ['is requested again where GitHub fails for a while', 123, 2, 'found', [502, 502, 200]],
    ['is not fetched where GitHub keeps failing', 123, 9, 'failed', [502, 502, 502, 502]],
  ])('%s', async (_, number, failures, kind, statuses) => {
    github.faults.order('pulls/get', { kind: 'broken', status: 502 }, failures);
    expect((await fetched(number)).kind).toBe(kind);
    expect(github.requests.map(({ status }) => status)).toEqual(statuses);
  });
});

describe('permission to write', () => {
  const may = async (login: string) => mayWrite(await hastyOctokit(github), repository, login);

  test.each([
    ['admin', true],
    ['maintain', true],
    ['write', true],
    ['triage', false],
    ['read', false],
    ['none', false],
  ] as const)('is of the role %s: %s', async (role, expected) => {
    github.state.permissions.Bob = role;
    expect(await may('bob')).toBe(expected);
  });

  test.each(['nobody-at-all', 'alice', 'dependabot[bot]', '../../user'])(
    'is not of %j, without a role',
    async (login) => {
      expect(await may(login)).toBe(false);
    },
  );

  test('is unknown, which is an error, where GitHub refuses to tell', async () => {
    github.faults.order('repos/get-collaborator-permission-level', { kind: 'read-only' });
    await expect(may('bob')).rejects.toThrow('GitHub did not return the permissions of bob');
  });
});

describe('the open pull requests', () => {
  const withHead = async (commit: string) => pullRequestsWithHead(await hastyOctokit(github), repository, commit);
  const ofBranch = async (changes: object = {}) => {
    const branch = { owner: 'alice', branch: 'changes', commit: head, ...changes };
    return pullRequestsOfBranch(await hastyOctokit(github), repository, branch);
  };
  const another = (changes: Partial<FakePullRequest>) => {
    const [first] = github.state.pullRequests;
    if (first !== undefined) github.state.pullRequests.push({ ...first, number: 124, ...changes });
  };
  const close = () => {
    for (const one of github.state.pullRequests) one.state = 'closed';
  };
  const numbersOf = (found: Awaited<ReturnType<typeof withHead>>) => found.map(({ pullRequest }) => pullRequest.number);

  test('are found by their head, for any target branch', async () => {
    another({ baseRef: 'stable/14' });
    expect(await withHead(head)).toMatchObject([
      { kind: 'found', pullRequest: { number: 123, headCommit: head, baseBranch: 'main' } },
      { pullRequest: { number: 124, baseBranch: 'stable/14' } },
    ]);
    expect(await withHead(other)).toEqual([]);
  });

  test('are found among more than a page of closed ones', async () => {
    close();
    for (let number = 200; number < 320; number++) another({ number, state: 'closed' });
    another({ number: 400, state: 'open' });
    expect(numbersOf(await withHead(head))).toEqual([400]);
  });

  test('are an error if GitHub does not reply', async () => {
    const operation = 'repos/list-pull-requests-associated-with-commit';
    github.faults.order(operation, { kind: 'broken', status: 502 }, 9);
    await expect(withHead(head)).rejects.toThrow('GitHub did not return the pull requests with the head');
  });

  test('are found by the owner of the fork, its branch and the commit', async () => {
    another({ headRepository: 'mallory/freebsd-src' });
    expect(numbersOf(await ofBranch())).toEqual([123]);
    close();
    expect(await ofBranch()).toEqual([]);
  });

  test.each([
    ['another owner', { owner: 'mallory' }],
    ['another branch', { branch: 'change' }],
    ['an earlier push', { commit: other }],
    ['a branch that holds more than a name', { branch: 'changes&head=bob:changes' }],
  ])('are none for %s', async (_, changes) => {
    expect(await ofBranch(changes)).toEqual([]);
  });
});
