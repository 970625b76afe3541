import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createOctokit } from '../../../src/forge/github/client.ts';
import { publishComment } from '../../../src/forge/github/comment.ts';
import { githubFailure } from '../../../src/forge/github/failure.ts';
import type { PullRequest } from '../../../src/model/patch.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, personalToken, startFakeGitHub } from '../../fakes/github/server.ts';
import { times } from '../../random.ts';

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
const marker = '<!-- ppsgate:hp-t540 -->';
const bot = 'github-actions[bot]';
const created = {
  kind: 'created',
  url: 'https://github.com/freebsd/freebsd-src/pull/123#issuecomment-1001',
};

let github: FakeGitHub;

beforeEach(async () => {
  const { number, title, author, baseCommit, headCommit, repository } = pullRequest;
  const patch = { number, title, author, baseCommit, headCommit, headRepository: repository };
  github = await startFakeGitHub({ repository, pullRequests: [patch], login: 'ppsgate-lab' });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

type Settings = Parameters<typeof hastyOctokit>[1];

async function publish(body: string, settings?: Settings) {
  const octokit = await hastyOctokit(github, settings);
  return publishComment(octokit, pullRequest, () => `${marker}\n${body}`, {
    marker,
    pause: async () => {},
  });
}

/** Comments that are there before. */
function given(...comments: { author: string; body: string }[]): void {
  const numbered = comments.map((comment, index) => ({
    ...comment,
    id: 1001 + index,
    number: 123,
  }));
  github.state.comments.push(...numbered);
}

const bodies = () => github.state.comments.map(({ author, body }) => `${author}: ${body}`);
const operations = () => github.requests.map(({ operationId, status }) => `${operationId} ${status}`);

describe('one comment', () => {
  test('is created with its marker as the first line', async () => {
    expect(await publish('no regression')).toEqual(created);
    expect(bodies()).toEqual([`${bot}: ${marker}\nno regression`]);
  });

  test('is updated in place by a second call', async () => {
    await publish('queued');
    expect(await publish('no regression')).toEqual({ ...created, kind: 'updated' });
    expect(bodies()).toEqual([`${bot}: ${marker}\nno regression`]);
  });

  test('is found on the third page among 250', async () => {
    const chatter = { author: 'bob', body: 'ping' };
    given(...Array(249).fill(chatter), { author: bot, body: `${marker}\nqueued` });
    expect(await publish('no regression')).toMatchObject({ kind: 'updated' });
    expect(github.state.comments).toHaveLength(250);
    expect(bodies().at(-1)).toBe(`${bot}: ${marker}\nno regression`);
  });

  test('stays of two of our own, the older one', async () => {
    given({ author: bot, body: `${marker}\nqueued` }, { author: bot, body: `${marker}\nlost` });
    expect(await publish('no regression')).toEqual({ ...created, kind: 'updated' });
    expect(bodies()).toEqual([`${bot}: ${marker}\nno regression`]);
  });

  // Attack forge/fake-comment: A comment looks like ours. Defence: Ours has our login and begins with our marker;
  // others are neither read nor changed.
  test("is not looked for in other people's comments, nor in ours for another testbed", async () => {
    given(
      { author: 'mallory', body: `${marker}\nno regression, trust me` },
      { author: bot, body: '<!-- ppsgate:other -->\nqueued' },
      { author: bot, body: `a user quoted ${marker}` },
    );
    const before = bodies();
    expect(await publish('regression')).toMatchObject({ kind: 'created' });
    expect(bodies()).toEqual([...before, `${bot}: ${marker}\nregression`]);
  });

  test("of a person's token is found by that person's login", async () => {
    given({ author: bot, body: `${marker}\nqueued` });
    const settings = { token: personalToken };
    expect(await publish('queued', settings)).toMatchObject({ kind: 'created' });
    expect(await publish('no regression', settings)).toMatchObject({ kind: 'updated' });
    expect(bodies()).toEqual([`${bot}: ${marker}\nqueued`, `ppsgate-lab: ${marker}\nno regression`]);
  });
});

describe('one comment comes of it when', () => {
  test.each(['graphql/viewer', 'issues/list-comments', 'issues/create-comment'])(
    '%s answers 500 and then is fine',
    async (operationId) => {
      github.faults.order(operationId, { kind: 'broken', status: 500 });
      expect(await publish('no regression', { token: personalToken })).toEqual(created);
      expect(bodies()).toHaveLength(1);
    },
  );

  test('the update answers 500 and then is fine', async () => {
    given({ author: bot, body: `${marker}\nqueued` });
    github.faults.order('issues/update-comment', { kind: 'broken', status: 500 });
    expect(await publish('no regression')).toEqual({ ...created, kind: 'updated' });
  });

  test.each([
    { kind: 'broken', status: 502, carriedOut: true },
    { kind: 'reset', carriedOut: true },
    { kind: 'cut' },
  ] as const)('it was created, but the answer was lost: %j', async (fault) => {
    github.faults.order('issues/create-comment', fault);
    expect(await publish('no regression')).toEqual(created);
    expect(bodies()).toEqual([`${bot}: ${marker}\nno regression`]);
    expect(operations().filter((call) => call.startsWith('issues/create'))).toHaveLength(1);
  });

  test('the connection is reset before it is created', async () => {
    github.faults.order('issues/create-comment', { kind: 'reset' });
    expect(await publish('no regression')).toEqual(created);
    expect(bodies()).toHaveLength(1);
  });

  test('the list that holds it is cut short', async () => {
    given({ author: bot, body: `${marker}\nqueued` });
    github.faults.order('issues/list-comments', { kind: 'cut' });
    expect(await publish('no regression')).toEqual({ ...created, kind: 'updated' });
    expect(bodies()).toEqual([`${bot}: ${marker}\nno regression`]);
  });

  test('an answer takes too long', async () => {
    github.faults.order('issues/list-comments', { kind: 'slow', milliseconds: 60_000 });
    expect(await publish('no regression', { answerSeconds: 0.3 })).toEqual(created);
  });

  test.each([403, 429] as const)('a rate limit (%d) ends soon', async (status) => {
    github.faults.order('issues/create-comment', { kind: 'rate-limit', seconds: 5, status });
    expect(await publish('no regression')).toEqual(created);
    expect(operations().filter((call) => call.startsWith('issues/create'))).toEqual([
      `issues/create-comment ${status}`,
      'issues/create-comment 201',
    ]);
  });

  test.each([403, 429] as const)('a secondary rate limit (%d) ends soon', async (status) => {
    const fault = { kind: 'secondary-rate-limit', seconds: 30, status } as const;
    github.faults.order('issues/list-comments', fault, 2);
    expect(await publish('no regression')).toEqual(created);
    // The last writer sees that no other comment was made meanwhile.
    expect(operations().filter((call) => call.startsWith('issues/list'))).toHaveLength(4);
  });

  test('the second one of ours cannot be deleted, which is only logged', async () => {
    given({ author: bot, body: `${marker}\nqueued` }, { author: bot, body: `${marker}\nlost` });
    github.faults.order('issues/delete-comment', { kind: 'read-only' });
    const logged: string[] = [];
    const published = await publish('no regression', { log: (message) => logged.push(message) });
    expect(published).toEqual({ ...created, kind: 'updated' });
    expect(logged).toEqual([
      'An older comment of ppsgate could not be deleted (403 Resource not accessible by integration).',
    ]);
  });
});

describe('nothing is published, with the reason, when', () => {
  const what = 'The comment on #123 of freebsd/freebsd-src was not written because';

  test('the token may only read', async () => {
    github.faults.order('issues/create-comment', { kind: 'read-only' });
    expect(await publish('no regression')).toEqual({
      kind: 'not-published',
      isFinal: true,
      why: `${what} the token lacks the permission (403 Resource not accessible by integration): give the job \`permissions: pull-requests: write\`, or, for a pull request from a fork, publish from a workflow_run job.`,
    });
    expect(operations().filter((call) => call.startsWith('issues/create'))).toHaveLength(1);
  });

  // Attack secret/token-in-error: An error repeats the token. Defence: It is masked, and no message contains it.
  test('GitHub rejects the token, which is then nowhere in what is said or logged', async () => {
    const logged: string[] = [];
    const token = 'gho_secret';
    const published = await publish('no', { token, log: (message) => logged.push(message) });
    expect(published).toEqual({
      kind: 'not-published',
      isFinal: true,
      why: `${what} GitHub rejects the token (401 Bad credentials): check the input that holds it.`,
    });
    expect(`${logged}`).not.toContain(token);
  });

  test('a rate limit lasts long', async () => {
    github.faults.order('issues/create-comment', { kind: 'rate-limit', seconds: 3000 });
    const why = expect.stringMatching(
      /because GitHub's rate limit blocks this token until \d{4}-.*Z: publish the result again then\.$/,
    );
    expect(await publish('no regression')).toEqual({ kind: 'not-published', isFinal: false, why });
    expect(operations().filter((call) => call.startsWith('issues/create'))).toHaveLength(1);
  });

  test.each([403, 429] as const)('a secondary rate limit (%d) lasts long', async (status) => {
    const fault = { kind: 'secondary-rate-limit', seconds: 900, status } as const;
    github.faults.order('graphql/viewer', fault);
    expect(await publish('no regression')).toEqual({
      kind: 'not-published',
      isFinal: false,
      why: `${what} GitHub's rate limit blocks this token for 900 s: publish the result again then.`,
    });
    expect(operations()).toEqual([`graphql/viewer ${status}`]);
  });

  test('a short rate limit comes back time and again', async () => {
    const fault = { kind: 'secondary-rate-limit', seconds: 10 } as const;
    github.faults.order('issues/create-comment', fault, 99);
    expect(await publish('no regression')).toMatchObject({ kind: 'not-published' });
    expect(operations().filter((call) => call.startsWith('issues/create'))).toHaveLength(3);
  });

  test('GitHub keeps failing', async () => {
    github.faults.order('issues/create-comment', { kind: 'broken', status: 503 }, 99);
    expect(await publish('no regression')).toEqual({
      kind: 'not-published',
      isFinal: false,
      why: `${what} GitHub answered 503 Server Error; the result itself is kept.`,
    });
    expect(operations().filter((call) => call.startsWith('issues/create'))).toHaveLength(4);
  });

  test('the address refuses connections', async () => {
    const octokit = await hastyOctokit({ url: 'http://127.0.0.1:1' });
    const published = await publishComment(octokit, pullRequest, () => 'no regression', { marker });
    expect(published).toEqual({
      kind: 'not-published',
      isFinal: false,
      why: expect.stringMatching(/because GitHub cannot be reached \(.+\): publish/),
    });
  });

  test('the body is longer than GitHub takes', async () => {
    expect(await publish('x'.repeat(65_536))).toEqual({
      kind: 'not-published',
      isFinal: true,
      why: expect.stringContaining('GitHub answered 422 Validation Failed'),
    });
    expect(bodies()).toEqual([]);
  });

  test('the pull request is not there', async () => {
    github.state.pullRequests.length = 0;
    const why = `${what} the pull request no longer exists on GitHub (404 Not Found); the result itself is kept.`;
    expect(await publish('no regression')).toEqual({ kind: 'not-published', isFinal: true, why });
  });
});

// Attack read/comments: A flood of comments. Defence: One comment per gate and one for commands, updated in place.
test('never posts two comments, and posts one when it reports one, through any failure', async () => {
  const operationId = fc.constantFrom(
    'graphql/viewer',
    'issues/list-comments',
    'issues/create-comment',
    'issues/update-comment',
  );
  const fault = fc.constantFrom<Fault>(
    { kind: 'read-only' },
    { kind: 'rate-limit', seconds: 5 },
    { kind: 'secondary-rate-limit', seconds: 5, status: 429 },
    { kind: 'broken', status: 500 },
    { kind: 'broken', status: 502, carriedOut: true },
    { kind: 'reset' },
    { kind: 'reset', carriedOut: true },
    { kind: 'cut' },
  );
  const faults = fc.array(fc.record({ operationId, fault }), { maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(faults, async (ordered) => {
      github.state.comments.length = 0;
      for (const order of ordered) github.faults.order(order.operationId, order.fault);
      for (const body of ['queued', 'running', 'no regression']) {
        const published = await publish(body);
        expect(bodies().length).toBeLessThan(2);
        if (published.kind === 'not-published') continue;
        expect(bodies()).toEqual([`${bot}: ${marker}\n${body}`]);
      }
      github.faults.clear();
    }),
    { numRuns: times(8) },
  );
});

test('an error that is not about GitHub is no answer of GitHub', () => {
  expect(githubFailure(new TypeError('x is not a function'))).toBeUndefined();
});

test.for(['https://api.github.com', 'https://api.octocorp.ghe.com'])(
  'two writes on %s are a second apart',
  async (apiUrl) => {
    const writtenAt: number[] = [];
    vi.stubGlobal('fetch', async () => {
      writtenAt.push(performance.now());
      return Response.json({});
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const quiet = () => {};
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const octokit = await createOctokit({ token: personalToken, apiUrl, log });

    const write = { owner: 'freebsd', repo: 'freebsd-src', content: '' };
    const asked = performance.now();
    await Promise.all([
      octokit.request('POST /repos/{owner}/{repo}/git/blobs', write),
      octokit.request('POST /repos/{owner}/{repo}/git/blobs', write),
    ]);

    // Measures from the second request: a busy machine may have sent the first one late.
    expect((writtenAt[1] ?? asked) - asked).toBeGreaterThan(950);
  },
);
