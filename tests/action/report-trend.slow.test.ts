// Tests a change of the default branch from the data branch to its issue, and from a command in the issue back to the
// data branch.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrendChange } from '../../src/model/trend.ts';
import { publishTrend, readBranchTrend } from '../../src/publish/data-branch/branch.ts';
import { emptyIndex } from '../../src/publish/data-branch/layout.ts';
import { reportChanges } from '../../src/publish/reporters/alerts.ts';
import { commitFiles } from '../fakes/github/git-objects.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../fakes/github/server.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { type Ran, runStep } from '../fakes/runner.ts';
import { aChange, aLevel, anIndex } from '../fakes/trend.ts';

const repository = 'example/router';
const branch = 'ppsgate-data';
let github: FakeGitHub;
let workspace: string;

beforeEach(async () => {
  workspace = newRepository();
  commit(workspace, {
    'ppsgate.yml': 'testbeds: { hp-t540: { kind: embedded-linux } }\nscenarios: [forwarding]\n',
  });
  github = await startFakeGitHub({ repository, pullRequests: [] });
  github.state.permissions.carol = 'write';
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

function keep(...changes: TrendChange[]): void {
  commitFiles(github.state.git, branch, {
    'index.json': JSON.stringify(emptyIndex),
    'trend/index.json': JSON.stringify(anIndex(changes)),
  });
}

const kept = async (): Promise<readonly TrendChange[]> => {
  const place = { repository, branch };
  const octokit = await hastyOctokit(github);
  return (await readBranchTrend(octokit, place, 'hp-t540')).index.changes;
};

function accept(number: number, login = 'carol', body = '/ppsgate accept'): Promise<Ran> {
  github.state.comments.push({ id: 501, number, author: login, body });
  const user = { login, id: 1 };
  const comment = { id: 501, body, user, created_at: '2026-11-20T12:00:00Z' };
  const payload = { action: 'created', sender: user, issue: { number, user }, comment };
  return runStep({
    entry: 'action.js',
    workspace,
    repository,
    apiUrl: github.url,
    event: { name: 'issue_comment', payload },
    inputs: { COMMAND: 'accept', TOKEN: installationToken },
    environment: { GITHUB_SHA: 'HEAD' },
  });
}

const issue = (body: string) => {
  const times = { createdAt: '2026-03-05T05:00:00Z', updatedAt: '2026-03-05T05:00:00Z' };
  const about = { title: 'Slower', labels: [], state: 'open' as const, reason: null };
  github.state.issues.push({ number: 1, author: 'github-actions[bot]', body, ...about, ...times });
};

const said = JSON.stringify({ state: 'code', cells: 1, worstRatio: -0.041 });

test('a command in the issue of a change accepts its level and closes the issue, with a reaction', async () => {
  keep(aChange({ state: 'code', alert: { issue: 1, postedText: said, told: [] } }));
  issue('<!-- ppsgate change 0123456789ab -->');
  const ran = await accept(1);
  expect(ran.exitCode, ran.log).toBe(0);
  expect(github.state.issues).toMatchObject([{ state: 'closed', reason: 'not_planned' }]);
  expect(github.state.reactions).toMatchObject([{ commentId: 501, content: 'eyes' }]);
  const [change] = await kept();
  expect(change?.state).toBe('accepted');
  expect(change?.alert.postedText).toContain('"state":"accepted"');
});

test.each([
  ['a stranger', 'mallory', '/ppsgate accept'],
  ['a remark', 'carol', 'I accept.'],
])('%s ends nothing', async (_what, login, body) => {
  keep(aChange({ state: 'code', alert: { issue: 1, postedText: said, told: [] } }));
  issue('<!-- ppsgate change 0123456789ab -->');
  const ran = await accept(1, login, body);
  expect(ran.exitCode, ran.log).toBe(0);
  expect(github.state.issues).toMatchObject([{ state: 'open' }]);
  expect(github.state.reactions).toEqual([]);
  expect((await kept())[0]?.state).toBe('code');
});

test('on a data branch in a storm, too, each change gets one issue', async () => {
  const changes = Array.from({ length: 8 }, (_, nth) =>
    aChange({ id: nth.toString(16).padStart(12, '0'), state: 'candidate' }),
  );
  keep(...changes);
  let now = new Date('2026-03-05T05:00:00Z');
  github.state.now = () => now;
  github.state.issuesListedAfterSeconds = 300;
  let drawn = 0;
  const generator = xoroshiro128plus(5);
  const random = () => uniformFloat64(generator);
  const place = { repository, branch };
  const notify = async () => {
    const octokit = await hastyOctokit(github);
    const options = { pause: async () => {}, random, now: () => now };
    const known = await readBranchTrend(octokit, place, 'hp-t540').catch(() => undefined);
    if (known === undefined) return;
    await reportChanges(known.index.changes, {
      octokit,
      repository,
      serverUrl: 'https://github.com',
      marginRatio: 0.02,
      links: {},
      nightlyRuns: new Map(),
      now: () => now,
      drawName: () => `job ${drawn++}`,
      edit: (change) => publishTrend(octokit, place, change, options),
      onlyCommitOf: async () => undefined,
      log: { info: () => {}, warn: () => {} },
      pause: async () => {},
    });
  };
  for (let nightlyRun = 0; nightlyRun < 24; nightlyRun++) {
    now = new Date(now.getTime() + 86_400_000);
    github.faults.clear();
    const octokit = await hastyOctokit(github);
    await publishTrend(octokit, place, (index) => ({
      ...index,
      changes: index.changes.map((change, nth) => {
        const age = nightlyRun - nth * 2;
        const state = age < 1 ? 'candidate' : age < 6 ? 'code' : 'recovered';
        return { ...change, state, cells: [aLevel('forwarding', age < 3 ? -0.04 : -0.07)] };
      }),
    }));
    github.faults.byChance({ random, share: 1 / 3 });
    await Promise.all([notify(), notify()]);
    now = new Date(now.getTime() + 11 * 60_000);
    await notify();
  }
  github.faults.clear();
  for (let times = 0; times < 2; times++) {
    now = new Date(now.getTime() + 86_400_000);
    await notify();
  }
  expect(github.faults.met).toBeGreaterThan(50);
  expect(github.state.issues.map(({ body }) => body.split('\n')[0]).toSorted()).toEqual(
    changes.map(({ id }) => `<!-- ppsgate change ${id} -->`),
  );
  expect(new Set(github.state.issues.map(({ state }) => state))).toEqual(new Set(['closed']));
  expect((await kept()).map(({ alert }) => alert.issue).toSorted()).toEqual(
    github.state.issues.map(({ number }) => number),
  );
});
