// The check run of a gate on GitHub, from its queue to its conclusion and its links.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PullRequest } from '../../../src/model/patch.ts';
import {
  checkIsForAnother,
  closeOpenCheckRun,
  openCheckRun,
  pullRequestOfCheckRun,
} from '../../../src/publish/reporters/check-run.ts';
import {
  cancelledOutcome,
  outcomeOfFailure,
  outcomeOfResult,
  type ReportedOutcome,
} from '../../../src/publish/reporters/outcome.ts';
import { outcomeMarkdown, outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aResult, passing, unchanged } from '../../fakes/result.ts';

const pullRequest: PullRequest = {
  kind: 'pull-request',
  repository: 'freebsd/freebsd-src',
  number: 123,
  title: 'ipfw: find states faster',
  author: 'alice',
  url: 'https://github.com/freebsd/freebsd-src/pull/123',
  baseBranch: 'main',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
};
const detailsUrl = 'https://github.com/freebsd/freebsd-src/actions/runs/1';
const estimate = { place: 2, of: 3, expectedSeconds: 2400 };
const text = 'waiting for hp-t540: 2 of 3 in line, about 40 min; hp-t540 is held by alice@lab1 (#12)';
const passed = passing();
const title = '🟢 #7 loses nothing that matters: 1.00 % at most, where 2 % would matter';

let github: FakeGitHub;
let said: string[];

beforeEach(async () => {
  const { number, title, author, baseCommit, headCommit, repository } = pullRequest;
  const patch = { number, title, author, baseCommit, headCommit, headRepository: repository };
  github = await startFakeGitHub({ repository, pullRequests: [patch] });
  said = [];
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

type Settings = { isOwnApp?: boolean; undecided?: 'failure' | 'neutral'; isOpen?: boolean };

/** A check whose pauses last until the test ends them. */
async function open({ isOwnApp = false, undecided = 'failure', isOpen = false }: Settings = {}) {
  const pauses: { seconds: number; end: () => void }[] = [];
  const subject = { repository: pullRequest.repository, patch: pullRequest };
  const check = openCheckRun(await hastyOctokit(github), subject, {
    name: 'ppsgate',
    detailsUrl,
    isOwnApp,
    undecided,
    isOpen,
    log: { info: (line) => said.push(line), warn: (line) => said.push(`warning: ${line}`) },
    now: () => new Date('2026-01-01T14:05:00Z'),
    pause(seconds, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
      pauses.push({ seconds, end: resolve });
      return promise;
    },
  });
  /** Waits for the ten seconds between two updates, and ends them. */
  const skip = async () => {
    await expect.poll(() => pauses.map(({ seconds }) => seconds)).toContain(10);
    for (const { end } of pauses.splice(0)) end();
  };
  return { check, pauses, skip };
}

const operations = () => github.requests.map(({ operationId, status }) => `${operationId} ${status}`);
const shown = () => github.state.checkRuns.map(({ status, title }) => `${status}: ${title}`);

test('shows the place in the queue on the head of the pull request', async () => {
  const { check, pauses } = await open();
  check.waiting(estimate, text);
  await expect.poll(() => pauses).toHaveLength(1);
  expect(github.state.checkRuns).toEqual([
    {
      id: 2001,
      name: 'ppsgate',
      headCommit: pullRequest.headCommit,
      externalId: `#123 main ${detailsUrl}`,
      detailsUrl: null,
      status: 'queued',
      conclusion: null,
      title: '2 of 3 in line, about 40 min',
      summary: expect.stringContaining(`\`${text}\``),
    },
  ]);
  await check.conclude(passed);
});

test.each([
  [true, detailsUrl, outcomeMarkdown(passed)],
  [false, null, `${outcomeMarkdown(passed)}\n\n[The job](${detailsUrl})`],
])(
  'links the job beside its text where an App of the site has made it, else in it: %s',
  async (isOwnApp, url, summary) => {
    const { check } = await open({ isOwnApp });
    await check.conclude(passed);
    expect(github.state.checkRuns).toMatchObject([{ detailsUrl: url, summary }]);
  },
);

test('is updated in place from waiting over measuring to its end, and gets its links after that', async () => {
  const { check, skip } = await open();
  check.waiting(estimate, text);
  await skip();
  check.measuring('hp-t540');
  await expect.poll(shown).toEqual(['in_progress: measuring on hp-t540']);
  await check.conclude(passed);
  await check.addLinks(passing({ rawData: '[report](report.md)' }));
  const update = 'checks/update 200';
  expect(operations()).toEqual(['checks/create 201', update, update, update]);
  const summary = expect.stringContaining('[report](report.md)');
  expect(github.state.checkRuns).toMatchObject([{ status: 'completed', conclusion: 'success', title, summary }]);
  expect(said).toEqual([]);
});

test('is not tried again with a token that may only read, which is logged once', async () => {
  github.faults.order('checks/create', { kind: 'read-only' }, 9);
  const { check } = await open();
  check.waiting(estimate, text);
  await expect.poll(() => said).toHaveLength(1);
  check.measuring('hp-t540');
  await check.conclude(passed);
  expect(said).toEqual([expect.stringMatching(/^The check ppsgate on #123 .* `permissions: checks: write`/)]);
  expect(operations()).toEqual(['checks/create 403']);
});

test.each<Fault>([
  { kind: 'broken', status: 502 },
  { kind: 'broken', status: 502, carriedOut: true },
  { kind: 'reset', carriedOut: true },
  { kind: 'cut' },
])('is one if its creation fails or the answer is lost: %j', async (fault) => {
  github.faults.order('checks/create', fault);
  const { check, skip } = await open();
  check.waiting(estimate, text);
  await skip();
  await expect.poll(shown).toEqual(['queued: 2 of 3 in line, about 40 min']);
  await check.conclude(passed);
  expect(github.state.checkRuns).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
  expect(said).toEqual([]);
});

const judged = (verdict: 'improvement' | 'regression' | 'inconclusive' | 'invalid') =>
  outcomeOfResult(aResult({ outcome: { kind: 'judged', verdict, cells: [] } }), {});
const undecided = judged('inconclusive');
const noLab = outcomeOfFailure('infrastructure', 'No route.');

// A gate must not die so that nothing fails: anything but a pass is a failure.
test.each<[string, ReportedOutcome, string, string, string[]]>([
  ['a pass', passed, 'success', 'success', ['rerun']],
  ['a gain', judged('improvement'), 'success', 'success', ['rerun']],
  ['a loss', judged('regression'), 'failure', 'failure', ['rerun']],
  ['an inconclusive result', undecided, 'failure', 'neutral', ['extend', 'rerun']],
  ['an invalid result', judged('invalid'), 'failure', 'neutral', ['extend', 'rerun']],
  ['no change of what is installed', outcomeOfResult(unchanged, {}), 'neutral', 'neutral', ['rerun']],
  ['a broken lab', noLab, 'failure', 'failure', ['rerun']],
  ['a wrong request', outcomeOfFailure('usage', 'No such testbed.'), 'failure', 'failure', ['rerun']],
  ['a cancelled job', cancelledOutcome, 'cancelled', 'cancelled', ['rerun']],
])(
  '%s concludes it, where undecided is a failure or neutral, with buttons',
  async (_, outcome, usual, neutral, buttons) => {
    for (const setting of ['failure', 'neutral'] as const) {
      await (await open({ undecided: setting, isOwnApp: true })).check.conclude(outcome);
    }
    expect(github.state.checkRuns.map(({ conclusion }) => conclusion)).toEqual([usual, neutral]);
    expect(github.state.checkRuns[0]?.actions?.map(({ identifier }) => identifier)).toEqual(buttons);
    expect(github.state.checkRuns[0]?.title).toBe(outcomeTitle(outcome));
  },
);

test('has no buttons if no job listens for them', async () => {
  await (await open()).check.conclude(undecided);
  expect(github.state.checkRuns[0]?.actions).toEqual([]);
});

test('annotates the lines at which the patch is wrong, at most as many as one call may have', async () => {
  const failed = (message: string) => outcomeOfResult(aResult({ outcome: { kind: 'build-failed', message } }), {});
  await (await open()).check.conclude(failed('/usr/src/sys/net/if.c:7:1: error: x\n../../x:1: error: y'));
  await (await open()).check.conclude(failed('sys/a.c:1:1: error: x\n'.repeat(1000)));
  const [first, second] = github.state.checkRuns.map(({ annotations }) => annotations);
  const message = '/usr/src/sys/net/if.c:7:1: error: x';
  expect(first).toEqual([expect.objectContaining({ path: 'sys/net/if.c', start_line: 7, message })]);
  expect(second).toHaveLength(20);
});

describe('a check that the next job continues', () => {
  test('is queued, left, and then ended by the other: one check run', async () => {
    const first = await open();
    first.check.queued('waits for a runner of the lab');
    await expect.poll(shown).toEqual(['queued: waits for a runner of the lab']);
    await first.check.leaveOpen();
    first.check.measuring('hp-t540');

    const second = await open({ isOpen: true });
    await second.check.conclude(passed);
    expect(shown()).toEqual([`completed: ${title}`]);
    expect(operations()).toEqual(['checks/create 201', 'checks/list-for-ref 200', 'checks/update 200']);
  });

  test('is not that of an earlier run, nor one that is completed', async () => {
    await (await open()).check.conclude(passed);
    push({ id: 2002, externalId: `#123 main ${detailsUrl}0`, status: 'queued' });
    await (await open({ isOpen: true })).check.conclude(outcomeOfResult(aResult(), {}));
    expect(github.state.checkRuns.map(({ status }) => status)).toEqual(['completed', 'queued', 'completed']);
  });
});

/** Another check run, like the existing one. */
function push(changes: object): void {
  const [own] = github.state.checkRuns;
  if (own === undefined) throw new Error('There is no check run.');
  github.state.checkRuns.push({ ...own, ...changes });
}

describe('a check that a killed job left open', () => {
  const subject = { repository: pullRequest.repository, patch: pullRequest };
  const close = async () => closeOpenCheckRun(await hastyOctokit(github), subject, { name: 'ppsgate', detailsUrl });
  const conclusions = () => github.state.checkRuns.map(({ conclusion }) => conclusion);

  test('is closed as cancelled', async () => {
    const { check, pauses } = await open();
    check.measuring('hp-t540');
    await expect.poll(() => pauses).toHaveLength(1);
    expect(await close()).toBeUndefined();
    expect(conclusions()).toEqual(['cancelled']);
    await check.leaveOpen();
  });

  test('stays as it is where it ended, or is of another job or of another name', async () => {
    await (await open()).check.conclude(passed);
    const running = { status: 'in_progress', conclusion: null };
    push({ ...running, id: 2002, externalId: `#123 main ${detailsUrl}2` });
    push({ ...running, id: 2003, name: 'ppsgate: chelsio' });
    expect(await close()).toBeUndefined();
    expect(conclusions()).toEqual(['success', null, null]);
  });
});

describe('a check on the head', () => {
  const isForAnother = async (changes: Partial<PullRequest> = {}) => {
    const subject = { repository: pullRequest.repository, patch: { ...pullRequest, ...changes } };
    return checkIsForAnother(await hastyOctokit(github), subject, 'ppsgate');
  };
  const elsewhere = { baseBranch: 'stable/14' };

  test('names its pull request', async () => {
    await (await open()).check.conclude(passed);
    expect(pullRequestOfCheckRun(github.state.checkRuns[0]?.externalId ?? '')).toBe(123);
    expect(pullRequestOfCheckRun(detailsUrl)).toBeUndefined();
  });

  test('that passed counts for another base, and for another pull request with this head', async () => {
    expect(await isForAnother(elsewhere)).toBe(false);
    await (await open()).check.conclude(passed);
    expect(await isForAnother()).toBe(false);
    expect(await isForAnother(elsewhere)).toBe(true);
    expect(await isForAnother({ number: 12 })).toBe(true);
  });

  // A branch rule accepts a neutral check.
  test.each([
    ['neutral', true],
    ['failure', false],
  ] as const)('that is %s counts for another: %s', async (setting, counts) => {
    await (await open({ undecided: setting })).check.conclude(undecided);
    expect(await isForAnother(elsewhere)).toBe(counts);
  });

  test('counts for another if GitHub does not reply', async () => {
    github.faults.order('checks/list-for-ref', { kind: 'broken', status: 502 }, 9);
    expect(await isForAnother()).toBe(true);
  });
});
