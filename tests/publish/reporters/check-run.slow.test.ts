import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PullRequest } from '../../../src/model/patch.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
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
import { outcomeMarkdown } from '../../../src/publish/reporters/outcome-text.ts';
import { type Reporter, reportOutcome } from '../../../src/publish/reporters/reporter.ts';
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

type Settings = NonNullable<Parameters<typeof hastyOctokit>[1]> & {
  url?: string;
  isOwnApp?: boolean;
  undecided?: 'failure' | 'neutral';
  isOpen?: boolean;
};

/** A check whose pauses last until the test ends them. */
async function open({
  url = github.url,
  isOwnApp = false,
  undecided = 'failure',
  isOpen = false,
  ...settings
}: Settings = {}) {
  const pauses: { seconds: number; end: () => void }[] = [];
  const subject = { repository: pullRequest.repository, patch: pullRequest };
  const check = openCheckRun(await hastyOctokit({ url }, settings), subject, {
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
  /** Waits for a pause of so many seconds, and ends it. */
  const skip = async (seconds: number) => {
    await expect.poll(() => pauses.some((one) => one.seconds === seconds)).toBe(true);
    const [first] = pauses.splice(
      pauses.findIndex((one) => one.seconds === seconds),
      1,
    );
    first?.end();
  };
  return { check, pauses, skip };
}

const operations = () => github.requests.map(({ operationId, status }) => `${operationId} ${status}`);
const shown = () => github.state.checkRuns.map(({ status, title }) => `${status}: ${title}`);

describe('one check run', () => {
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
        summary: `\`${text}\`\n\nExpected to begin at about 2026-01-01 14:45 UTC, as of 2026-01-01 14:05 UTC.\n\n[The job](${detailsUrl})`,
      },
    ]);
    await check.conclude(passed);
  });

  test('links it below its text, where an App of the site has made it', async () => {
    const { check, skip } = await open({ isOwnApp: true });
    check.queued('waits for a runner');
    await skip(10);
    expect(github.state.checkRuns).toMatchObject([{ detailsUrl, summary: 'waits for a runner' }]);
    await check.conclude(passed);
    expect(github.state.checkRuns).toMatchObject([{ detailsUrl, summary: outcomeMarkdown(passed) }]);
  });

  test('gets its links after its end, in place', async () => {
    const { check } = await open();
    await check.conclude(passed);
    await check.addLinks(passing({ rawData: '[report](report.md)' }));
    expect(github.state.checkRuns).toEqual([
      expect.objectContaining({
        status: 'completed',
        conclusion: 'success',
        summary: expect.stringMatching(/\[report\]\(report\.md\).*\n\n\[The job\]\(https:[^)]*\)$/s),
      }),
    ]);
    expect(operations()).toEqual(['checks/create 201', 'checks/update 200']);
  });

  test('is updated in place from waiting over measuring to its end', async () => {
    const { check, skip } = await open();
    check.waiting(estimate, text);
    await skip(10);
    check.measuring('hp-t540');
    await expect.poll(shown).toEqual(['in_progress: measuring on hp-t540']);
    expect(github.state.checkRuns[0]?.summary).toMatch(/^On `hp-t540`, since 2026-01-01 14:05 UTC\.\n/);
    await check.conclude(passed);

    expect(operations()).toEqual(['checks/create 201', 'checks/update 200', 'checks/update 200']);
    expect(github.state.checkRuns).toMatchObject([
      {
        name: 'ppsgate',
        status: 'completed',
        conclusion: 'success',
        title,
        summary: `${outcomeMarkdown(passed)}\n\n[The job](${detailsUrl})`,
      },
    ]);
    expect(said).toEqual([]);
  });

  test('shows of several views that came meanwhile the newest, ten seconds later', async () => {
    const { check, pauses, skip } = await open();
    for (const place of [9, 8, 7]) check.waiting({ place, of: 9 }, text);
    await expect.poll(() => pauses.map(({ seconds }) => seconds)).toEqual([10]);
    expect(shown()).toEqual(['queued: 9 of 9 in line']);
    await turnOfEventLoop();
    expect(operations()).toEqual(['checks/create 201']);

    await skip(10);
    await expect.poll(() => pauses).toHaveLength(1);
    expect(shown()).toEqual(['queued: 7 of 9 in line']);
    expect(operations()).toEqual(['checks/create 201', 'checks/update 200']);
    await check.conclude(passed);
  });
});

describe('text of others does nothing in it', () => {
  test.each([
    '@freebsd/committers [win](https://evil.example) ![x](https://evil.example/x.png)',
    '`</summary>`<img src=x onerror=1> \u202e #1',
    '```\n\n# Heading\n\n- [ ] task',
  ])('%j', async (hostile) => {
    const { check, pauses } = await open();
    check.waiting(estimate, `hp-t540 is held by ${hostile}`);
    await expect.poll(() => pauses).toHaveLength(1);
    const [line = '', ...rest] = github.state.checkRuns[0]?.summary?.split('\n') ?? [];
    const [, fence = '', inside = ''] = /^(`+)(.*[^`])\1$/.exec(line) ?? [];
    expect(inside).toContain('hp-t540 is held by');
    expect(inside.match(/`+/g) ?? []).not.toContain(fence);
    expect(line).not.toContain('\u202e');
    expect(rest.join('\n')).not.toMatch(/evil|img|Heading/);
    await check.conclude(passed);
  });
});

describe('the gate is not kept by', () => {
  const what = 'The check ppsgate on #123 of freebsd/freebsd-src does not show the current state';

  test('a token that may only read: one notice, and no further tries', async () => {
    github.faults.order('checks/create', { kind: 'read-only' }, 9);
    const { check } = await open();
    check.waiting(estimate, text);
    await expect.poll(() => said).toHaveLength(1);
    check.measuring('hp-t540');
    await check.conclude(passed);
    expect(said).toEqual([
      `${what} because the token lacks the permission (403 Resource not accessible by integration): give the job \`permissions: checks: write\`; the gate continues without it.`,
    ]);
    expect(operations()).toEqual(['checks/create 403']);
  });

  test('an unreachable GitHub: it backs off between tries at the end, and warns once', async () => {
    const { check, skip } = await open({ url: 'http://127.0.0.1:1' });
    check.waiting(estimate, text);
    check.measuring('hp-t540');
    const ended = check.conclude(passed);
    for (const seconds of [1, 4, 9, 16, 25, 36, 49, 60, 60]) await skip(seconds);
    await ended;
    expect(said).toEqual([
      expect.stringMatching(
        /^warning: .* because GitHub could not be notified \(.+\): if the check is required, run the job/,
      ),
    ]);
  });

  test('a GitHub that never responds: the end is tried for five minutes and no longer', async () => {
    github.faults.order('checks/create', { kind: 'slow', milliseconds: 60_000 });
    const { check, skip } = await open();
    check.measuring('hp-t540');
    const ended = check.conclude(passed);
    await skip(300);
    await ended;
    expect(said).toEqual([expect.stringMatching(/^warning: .*GitHub did not respond within 300 s/)]);
  });
});

describe('it recovers when', () => {
  test.each<Fault>([
    { kind: 'broken', status: 502 },
    { kind: 'reset' },
    { kind: 'broken', status: 502, carriedOut: true },
    { kind: 'reset', carriedOut: true },
    { kind: 'cut' },
  ])('its creation fails or the answer is lost, and there is still one: %j', async (fault) => {
    github.faults.order('checks/create', fault);
    const { check, skip } = await open();
    check.waiting(estimate, text);
    await skip(10);
    await expect.poll(shown).toEqual(['queued: 2 of 3 in line, about 40 min']);
    await check.conclude(passed);
    expect(github.state.checkRuns).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
    expect(said).toEqual([]);
  });
});

describe('a gate completes its check', () => {
  const never = new AbortController().signal;
  const measured = (check: Reporter, work: () => Promise<ReportedOutcome>) => {
    check.measuring('hp-t540');
    return reportOutcome(check, never, work);
  };
  const ends = () => github.state.checkRuns.map(({ conclusion, title }) => ({ conclusion, title }));

  // A gate dies so that nothing fails. Defence: Anything but a pass is a failure; the check of a killed job is closed
  // as cancelled.
  test.each([
    ['no-regression', 'success', '🟢'],
    ['improvement', 'success', '🟢'],
    ['regression', 'failure', '🔴'],
    ['inconclusive', 'failure', '🟡'],
    ['invalid', 'failure', '⚪'],
  ] as const)('of the verdict %s as %s, with the report', async (verdict, conclusion, symbol) => {
    const { check } = await open();
    const result = aResult({ outcome: { kind: 'judged', verdict, cells: [] } });
    const ending = outcomeOfResult(result, {});
    expect(await measured(check, async () => ending)).toBe(ending);
    const title = expect.stringMatching(`^${symbol} #7 `);
    expect(ends()).toEqual([{ conclusion, title }]);
    expect(github.state.checkRuns[0]?.summary).toContain(`### ${symbol} ppsgate: #7 `);
  });

  test.each([
    [new UsageError('There is no such testbed.'), '⚪ not measured: the request cannot be carried out'],
    [new Error('No route.'), '⚪ not measured: a failure outside the patch'],
  ])('that throws as a failure, and throws on: %s', async (error, title) => {
    const { check } = await open();
    await expect(measured(check, () => Promise.reject(error))).rejects.toBe(error);
    expect(ends()).toEqual([{ conclusion: 'failure', title }]);
    expect(github.state.checkRuns[0]?.summary).toContain(error.message);
  });
});

const undecided = outcomeOfResult(aResult({ outcome: { kind: 'judged', verdict: 'inconclusive', cells: [] } }), {});

describe('with neutral configured for an inconclusive result', () => {
  const conclusionOf = async (ending: ReportedOutcome) => {
    const { check } = await open({ undecided: 'neutral' });
    await check.conclude(ending);
    return github.state.checkRuns[0]?.conclusion;
  };

  test('an open verdict is neutral', async () => {
    expect(await conclusionOf(undecided)).toBe('neutral');
  });

  test.each<[string, ReportedOutcome, string]>([
    ['a loss', outcomeOfResult(aResult(), {}), 'failure'],
    ['a lab that failed', outcomeOfFailure('infrastructure', 'No route.'), 'failure'],
    ['what cannot be asked', outcomeOfFailure('usage', 'No such testbed.'), 'failure'],
    ['a cancelled job', cancelledOutcome, 'cancelled'],
    ['a pass', passed, 'success'],
  ])('%s is not', async (_, ending, conclusion) => {
    expect(await conclusionOf(ending)).toBe(conclusion);
  });
});

test.each(['failure', 'neutral'] as const)(
  'a patch that changes nothing that is installed is neutral, where what is undecided is a %s',
  async (undecided) => {
    const { check } = await open({ undecided });
    await check.conclude(outcomeOfResult(unchanged, {}));
    expect(github.state.checkRuns).toMatchObject([
      { conclusion: 'neutral', title: '⚪ #7 changes nothing that the testbed installs' },
    ]);
  },
);

describe('its buttons', () => {
  const buttonsAfter = async (ending: ReportedOutcome, isOwnApp = true) => {
    const { check } = await open({ isOwnApp });
    await check.conclude(ending);
    return github.state.checkRuns[0]?.actions?.map(({ identifier }) => identifier);
  };

  test('rerun it, and extend only an inconclusive one', async () => {
    expect(await buttonsAfter(undecided)).toEqual(['extend', 'rerun']);
  });

  test.each<[string, ReportedOutcome]>([
    ['a pass', passed],
    ['a loss', outcomeOfResult(aResult(), {})],
    ['a cancelled job', cancelledOutcome],
    ['a lab that failed', outcomeOfFailure('infrastructure', 'No route.')],
  ])('run it again after %s', async (_, ending) => {
    expect(await buttonsAfter(ending)).toEqual(['rerun']);
  });

  test('are absent if no job listens for them', async () => {
    expect(await buttonsAfter(undecided, false)).toEqual([]);
  });
});

describe('its annotations', () => {
  const failed = (message: string) => outcomeOfResult(aResult({ outcome: { kind: 'build-failed', message } }), {});

  test('are the lines at which the patch is wrong', async () => {
    const { check } = await open();
    await check.conclude(failed('/usr/src/sys/net/if.c:7:1: error: x\n../../x:1: error: y'));
    expect(github.state.checkRuns).toMatchObject([
      {
        conclusion: 'failure',
        annotations: [{ path: 'sys/net/if.c', start_line: 7, message: '/usr/src/sys/net/if.c:7:1: error: x' }],
      },
    ]);
    expect(github.state.checkRuns[0]?.annotations).toHaveLength(1);
  });

  test('are not too many for one call', async () => {
    const { check } = await open();
    await check.conclude(failed('sys/a.c:1:1: error: x\n'.repeat(1000)));
    expect(github.state.checkRuns[0]?.annotations).toHaveLength(20);
  });
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
    const [earlier] = github.state.checkRuns;
    if (earlier === undefined) expect.fail('There is a check run.');
    const another = {
      ...earlier,
      id: 2002,
      externalId: `#123 main ${detailsUrl}0`,
      status: 'queued',
    };
    github.state.checkRuns.push(another);
    const { check } = await open({ isOpen: true });
    await check.conclude(outcomeOfResult(aResult(), {}));
    expect(shown()).toEqual([
      `completed: ${title}`,
      `queued: ${title}`,
      'completed: 🔴 #7 loses 10.4 % (forwarding inet4)',
    ]);
  });
});

describe('a check that a killed job left open', () => {
  const subject = { repository: pullRequest.repository, patch: pullRequest };
  const closed = async (name = 'ppsgate') =>
    closeOpenCheckRun(await hastyOctokit(github), subject, { name, detailsUrl });
  const conclusions = () => github.state.checkRuns.map(({ conclusion }) => conclusion);

  test('is closed as cancelled', async () => {
    const { check, pauses } = await open();
    check.measuring('hp-t540');
    await expect.poll(() => pauses).toHaveLength(1);
    expect(await closed()).toBeUndefined();
    expect(github.state.checkRuns).toMatchObject([
      { status: 'completed', conclusion: 'cancelled', title: '⚪ not measured: cancelled' },
    ]);
    await check.leaveOpen();
  });

  test('stays as it is where it ended, or is of another job or of another name', async () => {
    const { check } = await open();
    await check.conclude(passed);
    const [own] = github.state.checkRuns;
    if (own === undefined) throw new Error('There is no check.');
    const running = { ...own, status: 'in_progress', conclusion: null };
    github.state.checkRuns.push(
      { ...running, id: 2002, externalId: `#123 main ${detailsUrl}2` },
      { ...running, id: 2003, name: 'ppsgate: chelsio' },
    );
    expect(await closed()).toBeUndefined();
    expect(conclusions()).toEqual(['success', null, null]);
  });
});

describe('a check on the head', () => {
  const stands = async (changes: Partial<PullRequest> = {}) => {
    const patch = { ...pullRequest, ...changes };
    const subject = { repository: pullRequest.repository, patch };
    return checkIsForAnother(await hastyOctokit(github), subject, 'ppsgate');
  };

  test('tells the pull request of it made for', async () => {
    const { check } = await open();
    await check.conclude(passed);
    const [run] = github.state.checkRuns;
    expect(pullRequestOfCheckRun(run?.externalId ?? '')).toBe(123);
    expect(pullRequestOfCheckRun(detailsUrl)).toBeUndefined();
  });

  test('that passed counts for another base, and for another pull request with this head', async () => {
    const { check } = await open();
    await check.conclude(passed);
    expect(await stands()).toBe(false);
    expect(await stands({ baseBranch: 'stable/14' })).toBe(true);
    expect(await stands({ number: 12 })).toBe(true);
  });

  test('that is neutral counts as well, as a branch rule accepts it', async () => {
    const { check } = await open({ undecided: 'neutral' });
    await check.conclude(undecided);
    expect(await stands({ baseBranch: 'stable/14' })).toBe(true);
  });

  test('that failed or is absent counts for no other', async () => {
    expect(await stands({ baseBranch: 'stable/14' })).toBe(false);
    const { check } = await open();
    await check.conclude(outcomeOfResult(aResult(), {}));
    expect(await stands({ baseBranch: 'stable/14' })).toBe(false);
  });

  test('counts for another if GitHub does not reply', async () => {
    github.faults.order('checks/list-for-ref', { kind: 'broken', status: 502 }, 9);
    expect(await stands()).toBe(true);
  });
});
