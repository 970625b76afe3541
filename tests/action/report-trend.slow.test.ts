// Tests a change of the default branch from the data branch to its issue, and from a command in the issue back to the
// data branch.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runAccept } from '../../src/action/run-accept.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { TrendChange } from '../../src/model/trend.ts';
import { readBranchTrend } from '../../src/publish/data-branch/branch.ts';
import { emptyIndex } from '../../src/publish/data-branch/layout.ts';
import { commitFiles } from '../fakes/github/git-objects.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { jobHere } from '../fakes/job.ts';
import { newRepository } from '../fakes/repository.ts';
import { aChange, anIndex } from '../fakes/trend.ts';

const repository = 'example/router';
const branch = 'ppsgate-data';
const config = parseConfig('testbeds: { hp-t540: { kind: embedded-linux } }\n', { path: 'ppsgate.yml', home: '/' });
let github: FakeGitHub;
let workspace: string;

beforeEach(async () => {
  workspace = newRepository();
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

async function accept(number: number, login = 'carol'): Promise<number> {
  const body = '/ppsgate accept';
  github.state.comments.push({ id: 501, number, author: login, body });
  const user = { login, id: 1 };
  const comment = { id: 501, body, user, created_at: '2026-11-20T12:00:00Z' };
  const payload = { action: 'created', sender: user, issue: { number, user }, comment };
  const event = { name: 'issue_comment', payload };
  const { context } = await jobHere({ github, workspace, command: 'accept', event, config });
  return runAccept(context);
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
  expect(await accept(1)).toBe(0);
  expect(github.state.issues).toMatchObject([{ state: 'closed', reason: 'not_planned' }]);
  expect(github.state.reactions).toMatchObject([{ commentId: 501, content: 'eyes' }]);
  const [change] = await kept();
  expect(change?.state).toBe('accepted');
  expect(change?.alert.postedText).toContain('"state":"accepted"');
});

test('a command of a stranger ends nothing', async () => {
  keep(aChange({ state: 'code', alert: { issue: 1, postedText: said, told: [] } }));
  issue('<!-- ppsgate change 0123456789ab -->');
  expect(await accept(1, 'mallory')).toBe(0);
  expect(github.state.issues).toMatchObject([{ state: 'open' }]);
  expect(github.state.reactions).toEqual([]);
  expect((await kept())[0]?.state).toBe('code');
});
