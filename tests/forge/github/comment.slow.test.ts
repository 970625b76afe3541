// The only comment on a pull request, and the client that writes it, through failures of GitHub.
import fc from 'fast-check';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createOctokit } from '../../../src/forge/github/client.ts';
import { publishComment } from '../../../src/forge/github/comment.ts';
import { githubFailure } from '../../../src/forge/github/failure.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, personalToken, startFakeGitHub } from '../../fakes/github/server.ts';
import { times } from '../../random.ts';

const pullRequest = { repository: 'freebsd/freebsd-src', number: 123 };
const marker = '<!-- ppsgate:hp-t540 -->';
const bot = 'github-actions[bot]';
const queued = { author: bot, body: `${marker}\nqueued` };
const chatter = { author: 'bob', body: 'ping' };

let github: FakeGitHub;

beforeEach(async () => {
  const patch = { number: 123, title: 'x', author: 'alice', headRepository: pullRequest.repository };
  const commits = { baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) };
  github = await startFakeGitHub({ repository: pullRequest.repository, pullRequests: [{ ...patch, ...commits }] });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

async function publish(body: string, settings?: Parameters<typeof hastyOctokit>[1]) {
  const octokit = await hastyOctokit(github, settings);
  const options = { marker, pause: async () => {} };
  return publishComment(octokit, pullRequest, () => `${marker}\n${body}`, options);
}

/** Comments that are there before. */
function given(...comments: { author: string; body: string }[]): void {
  github.state.comments.push(...comments.map((comment, index) => ({ ...comment, id: 1001 + index, number: 123 })));
}

const bodies = () => github.state.comments.map(({ author, body }) => `${author}: ${body.replace(marker, 'OURS')}`);
const statusesOf = (operation: string) =>
  github.requests.filter(({ operationId }) => operationId === operation).map(({ status }) => status);

const url = 'https://github.com/freebsd/freebsd-src/pull/123#issuecomment-1001';

test('one comment is created with its marker as the first line, and then updated in place', async () => {
  expect(await publish('queued')).toEqual({ kind: 'created', url });
  expect(github.state.comments[0]?.body).toBe(`${marker}\nqueued`);
  expect(await publish('no regression')).toEqual({ kind: 'updated', url });
  expect(bodies()).toEqual([`${bot}: OURS\nno regression`]);
});

test('it is found on the third page among 250', async () => {
  given(...Array(249).fill(chatter), queued);
  expect(await publish('no regression')).toMatchObject({ kind: 'updated' });
  expect(bodies()).toHaveLength(250);
  expect(bodies().at(-1)).toBe(`${bot}: OURS\nno regression`);
});

test('of two of our own the older one stays', async () => {
  given(queued, { author: bot, body: `${marker}\nlost` });
  expect(await publish('no regression')).toEqual({ kind: 'updated', url });
  expect(bodies()).toEqual([`${bot}: OURS\nno regression`]);
});

test('a second one of ours that cannot be deleted is only logged', async () => {
  given(queued, { author: bot, body: `${marker}\nlost` });
  github.faults.order('issues/delete-comment', { kind: 'read-only' });
  const logged: string[] = [];
  expect(await publish('no regression', { log: (message) => logged.push(message) })).toMatchObject({ kind: 'updated' });
  expect(logged).toHaveLength(1);
});

// A comment of another person looks like ours.
test('other people’s comments are neither read nor changed, nor ours for another testbed', async () => {
  given(
    { author: 'mallory', body: `${marker}\nno regression, trust me` },
    { author: bot, body: '<!-- ppsgate:other -->\nqueued' },
    { author: bot, body: `a user quoted ${marker}` },
  );
  const before = bodies();
  expect(await publish('regression')).toMatchObject({ kind: 'created' });
  expect(bodies()).toEqual([...before, `${bot}: OURS\nregression`]);
});

test('that of a person’s token is found by that person’s login', async () => {
  given(queued);
  const settings = { token: personalToken };
  expect(await publish('queued', settings)).toMatchObject({ kind: 'created' });
  expect(await publish('no regression', settings)).toMatchObject({ kind: 'updated' });
  expect(bodies()).toEqual([`${bot}: OURS\nqueued`, 'ppsgate-lab: OURS\nno regression']);
});

type Statuses = (number | 'no answer')[];

test.each<[string, Fault, Statuses, number?]>([
  ['graphql/viewer', { kind: 'broken', status: 500 }, [500, 200]],
  ['issues/list-comments', { kind: 'broken', status: 500 }, [500, 200, 200]],
  ['issues/list-comments', { kind: 'cut' }, ['no answer', 200, 200]],
  ['issues/create-comment', { kind: 'broken', status: 500 }, [500, 201]],
  ['issues/create-comment', { kind: 'reset' }, ['no answer', 201]],
  // It was created, but the answer was lost.
  ['issues/create-comment', { kind: 'broken', status: 502, carriedOut: true }, [502]],
  ['issues/create-comment', { kind: 'reset', carriedOut: true }, ['no answer']],
  ['issues/create-comment', { kind: 'cut' }, ['no answer']],
  ['issues/create-comment', { kind: 'rate-limit', seconds: 5, status: 403 }, [403, 201]],
  ['issues/create-comment', { kind: 'rate-limit', seconds: 5, status: 429 }, [429, 201]],
  ['issues/list-comments', { kind: 'secondary-rate-limit', seconds: 30, status: 403 }, [403, 403, 200, 200], 2],
  ['issues/list-comments', { kind: 'secondary-rate-limit', seconds: 30, status: 429 }, [429, 429, 200, 200], 2],
])('one comment comes of it when %s meets %j', async (operation, fault, statuses, count = 1) => {
  github.faults.order(operation, fault, count);
  expect(await publish('no regression')).toEqual({ kind: 'created', url });
  expect(bodies()).toEqual([`${bot}: OURS\nno regression`]);
  expect(statusesOf(operation)).toEqual(statuses);
});

test('an answer that takes too long is requested again', async () => {
  github.faults.order('issues/list-comments', { kind: 'slow', milliseconds: 60_000 });
  expect(await publish('no regression', { answerSeconds: 0.3 })).toMatchObject({ kind: 'created' });
});

const whys = new Map<string, string>();

test.each<[string, boolean, string, Fault, Statuses]>([
  ['the token may only read', true, 'issues/create-comment', { kind: 'read-only' }, [403]],
  ['a rate limit lasts long', false, 'issues/create-comment', { kind: 'rate-limit', seconds: 3000 }, [403]],
  ['a secondary one lasts long', false, 'graphql/viewer', { kind: 'secondary-rate-limit', seconds: 900 }, [403]],
  [
    'a short one comes back time and again',
    false,
    'issues/create-comment',
    { kind: 'secondary-rate-limit', seconds: 10 },
    [403, 403, 403],
  ],
  ['GitHub keeps failing', false, 'issues/create-comment', { kind: 'broken', status: 503 }, [503, 503, 503, 503]],
])('nothing is published when %s; that is final: %s', async (what, isFinal, operation, fault, statuses) => {
  github.faults.order(operation, fault, 99);
  const published = await publish('no regression');
  expect(published).toMatchObject({ kind: 'not-published', isFinal });
  expect(statusesOf(operation)).toEqual(statuses);
  if ('why' in published) whys.set(what, published.why);
});

test.each<[string, boolean, () => ReturnType<typeof publish>]>([
  ['GitHub rejects the token', true, () => publish('x', { token: 'gho_secret' })],
  ['the body is longer than GitHub takes', true, () => publish('x'.repeat(65_536))],
  [
    'the pull request is not there',
    true,
    () => {
      github.state.pullRequests.length = 0;
      return publish('x');
    },
  ],
  [
    'the address refuses connections',
    false,
    async () => publishComment(await hastyOctokit({ url: 'http://127.0.0.1:1' }), pullRequest, () => 'x', { marker }),
  ],
])('nothing is published when %s; that is final: %s', async (what, isFinal, attempt) => {
  const published = await attempt();
  expect(published).toMatchObject({ kind: 'not-published', isFinal });
  expect(bodies()).toEqual([]);
  if ('why' in published) whys.set(what, published.why);
});

test('each reason has a sentence, without the token', async () => {
  const text = [...whys].map(([what, why]) => `${what}\n  ${why.replace(/\d{4}-\S+Z/, 'TIME')}\n`).join('');
  expect(text).not.toContain('gho_secret');
  await expect(text).toMatchFileSnapshot('golden/comment-failures.txt');
});

test('a rejected token is in no log', async () => {
  const logged: string[] = [];
  await publish('x', { token: 'gho_secret', log: (message) => logged.push(message) });
  expect(`${logged}`).not.toContain('gho_secret');
});

// A flood of comments.
test('never posts two comments, and posts one when it reports one, through any failure', async () => {
  const operationId = fc.constantFrom(
    ...['graphql/viewer', 'issues/list-comments', 'issues/create-comment', 'issues/update-comment'],
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
        if (published.kind !== 'not-published') expect(bodies()).toEqual([`${bot}: OURS\n${body}`]);
      }
      github.faults.clear();
    }),
    { numRuns: times(8) },
  );
});

test('an error that is not about GitHub is no answer of GitHub', () => {
  expect(githubFailure(new TypeError('x is not a function'))).toBeUndefined();
});

/** The production client, with responses from here. */
async function stubbed(apiUrl: string, respond: () => Response) {
  vi.stubGlobal('fetch', async () => respond());
  onTestFinished(() => void vi.unstubAllGlobals());
  const quiet = () => {};
  return createOctokit({ token: personalToken, apiUrl, log: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
}

// Octokit throws a plain error for it.
test('a rate limit of GraphQL, which has status 200, is recognized', async () => {
  const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded.' }];
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3000) };
  const octokit = await stubbed('https://api.github.com', () => Response.json({ data: null, errors }, { headers }));
  expect(await octokit.graphql('{ viewer { login } }').then(() => undefined, githubFailure)).toEqual({
    kind: 'rate-limited',
    until: 'for up to an hour',
    detail: 'API rate limit exceeded.',
  });
});

test.for(['https://api.github.com', 'https://api.octocorp.ghe.com'])(
  'two writes on %s are a second apart',
  async (url) => {
    const writtenAt: number[] = [];
    const octokit = await stubbed(url, () => {
      writtenAt.push(performance.now());
      return Response.json({});
    });
    const write = { owner: 'freebsd', repo: 'freebsd-src', content: '' };
    const asked = performance.now();
    await Promise.all([1, 2].map(() => octokit.request('POST /repos/{owner}/{repo}/git/blobs', write)));
    // Measures from the second request: a busy machine may have sent the first one late.
    expect((writtenAt[1] ?? asked) - asked).toBeGreaterThan(950);
  },
);
