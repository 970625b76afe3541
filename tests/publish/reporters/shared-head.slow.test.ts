// What is said on a commit that is the head of several pull requests, or of one that was sent to another branch meanwhile.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  cancelled,
  conclusionOf,
  type Ending,
  endingOfFailure,
  endingOfResult,
  summaryOf,
  titleOf,
} from '../../../src/publish/reporters/outcome-text.ts';
import { type Answer, together } from '../../../src/publish/reporters/reporter.ts';
import { forOneBase } from '../../../src/publish/reporters/shared-head.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aResult, passing, pullRequest } from '../../fakes/result.ts';

const patch = { ...pullRequest, baseBranch: 'main' };
const passed = passing();

let github: FakeGitHub;
let told: Ending[];

beforeEach(async () => {
  const { repository, number, title, author, baseCommit, headCommit } = patch;
  github = await startFakeGitHub({
    repository,
    pullRequests: [
      {
        number,
        title,
        author,
        baseCommit,
        headCommit,
        headRepository: repository,
        baseRef: 'main',
      },
    ],
  });
  told = [];
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const ended = async (ending: Ending) => {
  const answer: Answer = {
    ...together([]),
    async ended(one) {
      told.push(one);
      return 'given';
    },
  };
  const pause = async () => {};
  await forOneBase(await hastyOctokit(github), patch, answer, { pause }).ended(ending);
  return told.at(0);
};

const alsoGoesTo = (baseRef: string, changes = {}) => {
  const [own] = github.state.pullRequests;
  if (own === undefined) throw new Error('There is a pull request.');
  github.state.pullRequests.push({ ...own, number: patch.number + 1, baseRef, ...changes });
};

/** Neither its title nor its check lets it seem to pass. */
function expectUncounted(ending: Ending | undefined, why = 'this commit goes to another branch') {
  if (ending === undefined) throw new Error('Nothing was told.');
  expect(conclusionOf(ending)).toBe('usage');
  expect(titleOf(ending)).toBe(`⚪ does not count: ${why}`);
  return summaryOf(ending);
}

describe('what is left to a merge queue', () => {
  const left = endingOfFailure('left-to-queue', 'nobody has asked');

  test('is so where the commit goes nowhere else', async () => {
    expect(await ended(left)).toEqual(left);
  });

  test('waits for leave where the commit goes to a branch that may have no queue', async () => {
    alsoGoesTo('lax');
    expect(await ended(left)).toEqual({ ...left, why: 'waits-for-leave' });
  });
});

describe('a pass on a commit', () => {
  test('is a pass where one pull request has that head', async () => {
    expect(await ended(passed)).toEqual(passed);
  });

  test('is a pass where all that have it go to the same branch', async () => {
    alsoGoesTo('main');
    expect(await ended(passed)).toEqual(passed);
  });

  test('is a pass where the one that went elsewhere is closed', async () => {
    alsoGoesTo('lax', { state: 'closed' });
    expect(await ended(passed)).toEqual(passed);
  });

  test('fails where another pull request with that head goes to another branch, and says which', async () => {
    alsoGoesTo('lax');
    const ending = await ended(passed);
    expect(expectUncounted(ending)).toBe(
      `#${patch.number} was measured for \`main\`, and #${patch.number + 1} has the same head and goes to \`lax\`: a commit has one check for all of them. Close the other, or push to one of them, and write \`/ppsgate rerun\` at the one that is to be merged.\n\n${summaryOf(passed)}`,
    );
  });

  test('fails where the pull request itself was sent to another branch while it was measured', async () => {
    for (const one of github.state.pullRequests) one.baseRef = 'stable/14';
    expectUncounted(await ended(passed));
  });

  test('fails where GitHub does not tell, for no answer is no pass', async () => {
    const operation = 'repos/list-pull-requests-associated-with-commit';
    github.faults.order(operation, { kind: 'broken', status: 502 }, 1000);
    expectUncounted(await ended(passed), 'GitHub did not tell where this commit goes');
  });

  test('passes where GitHub is not well for a while, and tells then', async () => {
    const operation = 'repos/list-pull-requests-associated-with-commit';
    github.faults.order(operation, { kind: 'broken', status: 502 }, 9);
    expect(await ended(passed)).toEqual(passed);
  });
});

test('what did not pass does not seem to when it gets its links', async () => {
  alsoGoesTo('lax');
  const linked: Ending[] = [];
  const answer = { ...together([]), linked: async (one: Ending) => void linked.push(one) };
  const bound = forOneBase(await hastyOctokit(github), patch, answer);
  await bound.ended(passed);
  await bound.linked(passing({ rerun: 'by hand' }));
  expect(linked).toHaveLength(1);
  expect(expectUncounted(linked[0])).toMatch(/one check for all of them.*Rerun: by hand/s);
});

test('what nobody could decide fails likewise, for a check that is neutral lets a patch pass', async () => {
  alsoGoesTo('lax');
  const undecided = aResult({ outcome: { kind: 'judged', verdict: 'inconclusive', cells: [] } });
  expectUncounted(await ended(endingOfResult(undecided, {})));
});

test.each([
  endingOfResult(aResult(), {}),
  ...(['patchAtFault', 'usage', 'infrastructure'] as const).map((why) => endingOfFailure(why, '')),
])('an ending that is no pass stays as it is, and GitHub is not asked', async (ending) => {
  alsoGoesTo('lax');
  expect(await ended(ending)).toBe(ending);
  expect(github.requests).toEqual([]);
});

test('a job that is cancelled says so at once', async () => {
  expect(await ended(cancelled)).toEqual(cancelled);
  expect(github.requests).toEqual([]);
});
