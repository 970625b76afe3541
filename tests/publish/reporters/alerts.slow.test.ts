// Issues about lasting changes of the branch: one issue for each change, despite failures of GitHub.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seriesKey } from '../../../src/analysis/trend/change-history.ts';
import type { NightlyRun, TrendChange } from '../../../src/model/trend.ts';
import { type AlertsDeps, reportChanges } from '../../../src/publish/reporters/alerts.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aChange, aLevel, anIndex, type FakeBranch, fakeBranch } from '../../fakes/trend.ts';

const repository = 'example/router';
const culprit = '3c'.repeat(20);
let github: FakeGitHub;
let said: string[];
let now: Date;

beforeEach(async () => {
  const commits = { baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) };
  const merged = { number: 7, title: 'Faster states', author: 'alice', ...commits, headRepository: repository };
  github = await startFakeGitHub({
    repository,
    pullRequests: [{ ...merged, state: 'closed', mergeCommit: culprit }],
  });
  said = [];
  now = new Date('2026-03-05T05:00:00Z');
  github.state.now = () => now;
  github.state.issuesListedAfterSeconds = 300;
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

async function depsOf(branch: FakeBranch, changed: Partial<AlertsDeps> = {}): Promise<AlertsDeps> {
  return {
    octokit: await hastyOctokit(github),
    repository,
    serverUrl: 'https://github.com',
    marginRatio: 0.02,
    links: {},
    nightlyRuns: new Map(),
    edit: branch.edit,
    onlyCommitOf: async () => undefined,
    log: { info: (line) => said.push(line), warn: (line) => said.push(`warning: ${line}`) },
    pause: async () => {},
    ...changed,
  };
}

/** Reports a branch with this change, and returns the branch. */
async function told(change: TrendChange, changed: Partial<AlertsDeps> = {}): Promise<FakeBranch> {
  const branch = fakeBranch(anIndex([change]));
  await notify(branch, changed);
  return branch;
}

const notify = async (branch: FakeBranch, changed: Partial<AlertsDeps> = {}): Promise<TrendChange[]> =>
  reportChanges(branch.index.changes, await depsOf(branch, changed));

/** Changes the branch's record of its only change. */
function become(branch: FakeBranch, changed: Partial<TrendChange>): void {
  const changes = branch.index.changes.map((change) => ({ ...change, ...changed }));
  branch.index = { ...branch.index, changes };
}

const alertIn = (branch: FakeBranch) => branch.index.changes[0]?.alert;
const titles = () => github.state.issues.map(({ title }) => title);
const commentsOn = (number: number) =>
  github.state.comments.filter((comment) => comment.number === number).map(({ body }) => body);
const minutes = (count: number) => {
  now = new Date(now.getTime() + count * 60_000);
};
/** The answer of the next write is lost after it was carried out. */
const lost: Fault = { kind: 'reset', carriedOut: true };

test('a confirmed loss gets an issue, whose number is kept', async () => {
  const branch = await told(aChange());
  expect(titles()).toEqual(['ipfw-stateful inet4 −4.10 % in 1a1a1a1a1a1a..2b2b2b2b2b2b (1 cell, hp-t540)']);
  expect(github.state.issues).toMatchObject([
    { labels: ['ppsgate-regression'], author: 'github-actions[bot]', state: 'open' },
  ]);
  expect(alertIn(branch)).toMatchObject({ issue: github.state.issues[0]?.number });
  expect(alertIn(branch)).not.toHaveProperty('intended');
  await notify(branch);
  expect(titles()).toHaveLength(1);
  expect(commentsOn(8)).toEqual([]);
  expect(said).toEqual([]);
});

test.each<[string, Partial<TrendChange>]>([
  ['is not confirmed', { state: 'candidate' }],
  ['a gate could not tell', { state: 'confirming' }],
  ['is a gain', { cells: [aLevel('forwarding', 0.05)] }],
  ['was over before it was reported', { state: 'recovered' }],
  ['is less time for each packet', { metric: 'nsPerPacket' }],
])('what %s gets none', async (_what, changed) => {
  await told(aChange(changed));
  expect(titles()).toEqual([]);
});

const nightlyRunsFrom = (change: TrendChange, count: number) => {
  const [level] = change.cells;
  if (level === undefined) throw new Error('no cell');
  const nightlyRun = (nth: number): NightlyRun => ({
    at: new Date(Date.parse(change.changedAt) + nth * 86_400_000).toISOString(),
    commit: change.bad,
    occasion: 'nightly',
    fingerprint: '',
    pps: [1],
    nsPerPacket: [],
    instructionsPerPacket: [],
  });
  const key = seriesKey({ testbed: change.testbed, cell: level.cell });
  return new Map([[key, Array.from({ length: count }, (_, nth) => nightlyRun(nth + 1))]]);
};

test('a testbed gets one with its own label, once its level has stayed for five nightly runs', async () => {
  const change = aChange({ state: 'testbed' });
  const branch = await told(change, { nightlyRuns: nightlyRunsFrom(change, 4) });
  expect(titles()).toEqual([]);
  await notify(branch, { nightlyRuns: nightlyRunsFrom(change, 5) });
  expect(github.state.issues).toMatchObject([{ labels: ['ppsgate-testbed'] }]);
});

test('an issue whose reply is lost is found by the next run, and not created again', async () => {
  github.faults.order('issues/create', lost);
  const branch = await told(aChange());
  expect(said).toEqual([expect.stringContaining('The issue of a change was not created or updated')]);
  minutes(11);
  await notify(branch);
  expect(alertIn(branch)).toMatchObject({ told: [], issue: 8 });
  expect(titles()).toHaveLength(1);
});

test('of two issues of simultaneous publications the next one closes the newer', async () => {
  const branch = fakeBranch(anIndex([aChange()]));
  await Promise.all([notify(branch), notify(branch)]);
  expect(alertIn(branch)).toMatchObject({ issue: 8 });
  minutes(11);
  await notify(branch);
  expect(github.state.issues).toMatchObject([
    { number: 8, state: 'open' },
    { number: 9, state: 'closed', reason: 'not_planned' },
  ]);
});

test('an issue with a stranger’s copy of the marker is not ours', async () => {
  github.faults.order('issues/create', { kind: 'broken', status: 502 });
  const branch = await told(aChange());
  const times = { createdAt: '2026-03-05T05:00:00Z', updatedAt: '2026-03-05T05:00:00Z' };
  const about = { title: 'Mine', author: 'mallory', labels: [], state: 'open' as const, reason: null };
  github.state.issues.push({ number: 66, ...about, body: '<!-- ppsgate change 0123456789ab -->', ...times });
  minutes(11);
  await notify(branch);
  expect(alertIn(branch)?.issue).toBe(67);
});

test('a token without the permission is reported once, and the next one creates the issues at once', async () => {
  const octokit = await hastyOctokit(github, { token: github.tokenWith({ contents: 'write' }) });
  const changes = [aChange(), aChange({ id: 'ba9876543210' })];
  const branch = fakeBranch(anIndex(changes));
  await notify(branch, { octokit });
  expect(said).toEqual([expect.stringMatching(/permissions: issues: write/)]);
  await notify(branch);
  expect(titles()).toHaveLength(2);
});

test('only news is posted in the issue', async () => {
  const branch = await told(aChange());
  become(branch, { cells: [aLevel('ipfw-stateful', -0.046)] });
  await notify(branch);
  expect(commentsOn(8)).toEqual([]);
  become(branch, { cells: [aLevel('ipfw-stateful', -0.052), aLevel('forwarding', -0.03)] });
  await notify(branch);
  expect(commentsOn(8)).toEqual([expect.stringContaining('The loss has grown: ')]);
  expect(titles()).toEqual([expect.stringContaining('(2 cells, hp-t540)')]);
  await notify(branch);
  expect(commentsOn(8)).toHaveLength(1);
});

test.each([
  ['recovered', 'completed', 'The old level is back.'],
  ['accepted', 'not_planned', 'The new level is accepted'],
] as const)('one that is %s is closed with a word', async (state, reason, word) => {
  const branch = await told(aChange());
  become(branch, { state });
  await notify(branch);
  expect(github.state.issues).toMatchObject([{ state: 'closed', reason }]);
  expect(commentsOn(8)).toEqual([expect.stringContaining(word)]);
});

test('posts an update once even if the reply is lost', async () => {
  const branch = await told(aChange());
  become(branch, { state: 'recovered' });
  github.faults.order('issues/create-comment', lost);
  github.faults.order('issues/update', lost);
  await notify(branch);
  await notify(branch);
  expect(commentsOn(8)).toHaveLength(1);
});

test('leaves an issue that a user has deleted', async () => {
  const branch = await told(aChange());
  Object.assign(github.state.issues[0] ?? {}, { isDeleted: true });
  become(branch, { state: 'recovered' });
  await notify(branch);
  const asked = github.requests.length;
  await notify(branch);
  // It reads only its login and the open issues.
  expect(github.requests).toHaveLength(asked + 2);
  expect(titles()).toHaveLength(1);
});

test('the pull request that it was merged by gets one comment', async () => {
  const branch = await told(aChange(), { onlyCommitOf: async () => culprit });
  await notify(branch, { onlyCommitOf: async () => culprit });
  expect(commentsOn(7)).toEqual([expect.stringContaining('#8 has the rest.')]);
  expect(alertIn(branch)).toMatchObject({ told: ['#7'], commentedCommit: culprit });
});

test('of a range names the commit that a bisection found, and of a testbed none', async () => {
  const bisection = { result: 'results/2026/x', culprit };
  const testbed = aChange({ state: 'testbed', bisection });
  await told(testbed, { nightlyRuns: nightlyRunsFrom(testbed, 5) });
  expect(commentsOn(7)).toEqual([]);
  const branch = await told(aChange({ id: 'ba9876543210' }));
  expect(commentsOn(7)).toEqual([]);
  become(branch, { bisection });
  await notify(branch);
  expect(commentsOn(7)).toHaveLength(1);
  expect(commentsOn(9)).toEqual([expect.stringContaining('A bisection found the commit: 3c3c3c3c3c3c.')]);
});

test('repeats the comment on the landed revision until Phabricator accepts it', async () => {
  const keys: string[] = [];
  const answers = [{ kind: 'failed', why: 'It is read-only.' }, { kind: 'delivered' }] as const;
  const commentOnRevision: AlertsDeps['commentOnRevision'] = async (commit, text, key) => {
    expect([commit, text]).toEqual([culprit, expect.stringContaining('/issues/8')]);
    const attempt = answers[keys.length] ?? { kind: 'delivered' };
    keys.push(key);
    return { attempt, name: 'D27401' };
  };
  const changed = { onlyCommitOf: async () => culprit, commentOnRevision };
  const branch = await told(aChange(), changed);
  await notify(branch, changed);
  await notify(branch, changed);
  expect(keys).toEqual(['change 0123456789ab', 'change 0123456789ab']);
  expect(alertIn(branch)?.told).toEqual(['#7', 'D27401']);
  expect(commentsOn(7)).toHaveLength(1);
});

test('no name of a testbed is markup', async () => {
  await told(aChange({ testbed: '@all ![](x) <b>\n# `b`' }));
  const body = github.state.issues[0]?.body ?? '';
  expect(body).toContain('`` @all ![](x) <b> # `b` ``');
});
