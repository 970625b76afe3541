// Statuses on a commit that is the head of several pull requests, or was sent to another branch meanwhile.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  conclusionOf,
  outcomeOfFailure,
  outcomeOfResult,
  type ReportedOutcome,
} from '../../../src/publish/reporters/outcome.ts';
import { outcomeMarkdown, outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import { combineReporters, type Reporter } from '../../../src/publish/reporters/reporter.ts';
import { failingOnSharedHead } from '../../../src/publish/reporters/shared-head.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aResult, passing, pullRequest } from '../../fakes/result.ts';

const patch = { ...pullRequest, baseBranch: 'main' };
const passed = passing();

let github: FakeGitHub;
let told: ReportedOutcome[];

beforeEach(async () => {
  const { repository, number, title, author, baseCommit, headCommit } = patch;
  const own = { number, title, author, baseCommit, headCommit, headRepository: repository, baseRef: 'main' };
  github = await startFakeGitHub({ repository, pullRequests: [own] });
  told = [];
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const ended = async (ending: ReportedOutcome) => {
  const answer: Reporter = {
    ...combineReporters([]),
    async conclude(one) {
      told.push(one);
      return 'delivered';
    },
  };
  const pause = async () => {};
  await failingOnSharedHead(await hastyOctokit(github), patch, answer, { pause }).conclude(ending);
  return told.at(0);
};

const alsoGoesTo = (baseRef: string, changes = {}) => {
  const [own] = github.state.pullRequests;
  if (own === undefined) throw new Error('There is a pull request.');
  github.state.pullRequests.push({ ...own, number: patch.number + 1, baseRef, ...changes });
};

/** Expects a title and a check that do not look like a pass. */
function expectUncounted(ending: ReportedOutcome | undefined) {
  if (ending === undefined) throw new Error('Nothing was told.');
  expect(conclusionOf(ending)).toBe('usage');
  expect(outcomeTitle(ending)).toMatch(/^⚪ does not count: /);
  return outcomeMarkdown(ending);
}

describe('a pull request left to a merge queue', () => {
  const left = outcomeOfFailure('left-to-merge-queue', 'it was not requested');

  test('stays so if the commit has no other target', async () => {
    expect(await ended(left)).toEqual(left);
  });

  test('waits for approval if the commit has a target without a queue', async () => {
    alsoGoesTo('lax');
    expect(await ended(left)).toEqual({ ...left, reason: 'waits-for-approval' });
  });
});

describe('a pass on a commit', () => {
  test('is a pass where one pull request has that head, and the one that went elsewhere is closed', async () => {
    expect(await ended(passed)).toEqual(passed);
    alsoGoesTo('lax', { state: 'closed' });
    expect(await ended(passed)).toEqual(passed);
  });

  // A second pull request has the same head and a lax target branch.
  test('fails if another pull request with that head has another base, and names it', async () => {
    alsoGoesTo('lax');
    expect(expectUncounted(await ended(passed))).toMatch(/#8 has the same head and targets `lax`/);
  });

  test('fails where the pull request itself was sent to another branch while it was measured', async () => {
    for (const one of github.state.pullRequests) one.baseRef = 'stable/14';
    expectUncounted(await ended(passed));
  });

  test('fails if GitHub does not reply, as no reply is no pass', async () => {
    const operation = 'repos/list-pull-requests-associated-with-commit';
    github.faults.order(operation, { kind: 'broken', status: 502 }, 1000);
    expectUncounted(await ended(passed));
  });
});

test('a failed check does not seem to pass when it gets its links', async () => {
  alsoGoesTo('lax');
  const linked: ReportedOutcome[] = [];
  const answer = {
    ...combineReporters([]),
    addLinks: async (one: ReportedOutcome) => void linked.push(one),
  };
  const bound = failingOnSharedHead(await hastyOctokit(github), patch, answer);
  await bound.conclude(passed);
  await bound.addLinks(passing({ rerun: 'by hand' }));
  expect(linked).toHaveLength(1);
  expect(expectUncounted(linked[0])).toMatch(/one check for all of them.*Rerun: by hand/s);
});

test('an inconclusive result also fails, because a neutral check lets a patch pass', async () => {
  alsoGoesTo('lax');
  const undecided = aResult({ outcome: { kind: 'judged', verdict: 'inconclusive', cells: [] } });
  expectUncounted(await ended(outcomeOfResult(undecided, {})));
});
