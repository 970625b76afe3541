// Tests fifty gates that report to GitHub while it fails again and again: the final state for people.

import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { githubFailure } from '../../../src/forge/github/failure.ts';
import type { PullRequest } from '../../../src/model/patch.ts';
import { type Outcome, type Result, resultSchema } from '../../../src/model/result.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { publishToBranch } from '../../../src/publish/data-branch/branch.ts';
import { openCheckRun } from '../../../src/publish/reporters/check-run.ts';
import { openComment } from '../../../src/publish/reporters/comment.ts';
import { readMemory } from '../../../src/publish/reporters/comment-text.ts';
import { conclusionOf, outcomeOfResult, type ReportedOutcome } from '../../../src/publish/reporters/outcome.ts';
import { combineReporters, type Reporter, reportOutcome } from '../../../src/publish/reporters/reporter.ts';
import { openStatus } from '../../../src/publish/reporters/status.ts';
import { annotationsOf } from '../../../src/report/annotations.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { commitAt, commitFiles, entriesOf } from '../../fakes/github/git-objects.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../../fakes/github/server.ts';
import { type Attempt, type Turns, takingTurns } from '../../fakes/github/turns.ts';
import { aCell, aResult } from '../../fakes/result.ts';

const repository = 'example/router';
const runUrl = (run: number) => `https://github.com/${repository}/actions/runs/${run}`;
const start = new Date('2026-11-21T12:00:00.000Z');
const never = new AbortController().signal;

let github: FakeGitHub;

beforeEach(async () => {
  const headCommit = 'b'.repeat(40);
  const pullRequests = Array.from({ length: 20 }, (_, index) => ({
    number: index + 1,
    title: 'A patch',
    author: 'alice',
    headRepository: repository,
    baseCommit: 'a'.repeat(40),
    headCommit,
  }));
  github = await startFakeGitHub({ repository, pullRequests });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

/** Ends of a gate, and how people see them. */
type Fate = {
  outcome?: Outcome;
  error?: Error;
  symbol: string;
  says: string;
  check: string;
  status: string;
};

const message = 'sys/netinet/ip.c:12:3: error: expected ;\nsys/netinet/ip.c:14:1: error: unused';
const red = { symbol: '🔴', check: 'failure', status: 'failure' };
const green = { symbol: '🟢', check: 'success', status: 'success' };
const judged = (cell: Parameters<typeof aCell>[0]): { outcome: Outcome } => ({
  outcome: { kind: 'judged', verdict: cell.kind, cells: [aCell(cell)] },
});

const fates: readonly Fate[] = [
  { ...judged({ kind: 'regression' }), ...red, says: 'loses 10.4 %' },
  { ...judged({ kind: 'no-regression' }), ...green, says: 'loses nothing that matters' },
  { ...judged({ kind: 'improvement' }), ...green, says: 'gains' },
  { ...judged({ kind: 'inconclusive' }), ...red, symbol: '🟡', says: 'may lose 2 % or not' },
  {
    ...judged({ kind: 'invalid', reason: 'the generator is the limit' }),
    ...red,
    symbol: '⚪',
    says: 'was not measured: too few runs count',
  },
  { outcome: { kind: 'does-not-apply', message }, ...red, says: 'does not apply' },
  { outcome: { kind: 'build-failed', message }, ...red, says: 'does not build' },
  { outcome: { kind: 'boot-failed', message }, ...red, says: 'does not boot' },
  { outcome: { kind: 'panics-under-load', message }, ...red, says: 'panics under load' },
  {
    outcome: { kind: 'out-of-disk', message: 'No space left' },
    symbol: '⚪',
    check: 'failure',
    status: 'error',
    says: 'a disk of the lab is full',
  },
  {
    error: new UsageError('There is no such testbed.'),
    symbol: '⚪',
    check: 'failure',
    status: 'error',
    says: 'not measured: the request cannot be carried out',
  },
  {
    error: new Error('The switch lost its power.'),
    symbol: '⚪',
    check: 'failure',
    status: 'error',
    says: 'not measured: a failure outside the patch',
  },
];

const overtaken = {
  symbol: '⚪',
  check: 'cancelled',
  status: 'error',
  says: 'not measured: cancelled',
} satisfies Fate;

type Gate = {
  run: number;
  patch: PullRequest;
  fate: Fate;
  /** The conclusion that it showed, if GitHub accepted it. */
  shown?: Fate;
  result?: Result;
  isPublished: boolean;
  /** Begins while the previous one runs, which is cancelled then. */
  isOvertaking: boolean;
  /** Log of the gate. */
  said: string[];
  cancel: AbortController;
  started: PromiseWithResolvers<void>;
  /** The next gate of the same pull request, if this one is not notified of its cancellation and ends later. */
  successor?: Gate;
  done: Promise<unknown>;
};

type Weather = {
  seed: number;
  /** Number of gates. */
  count: number;
  /** Share of the calls that meet a fault. */
  share: number;
  /** The most faults of one call in a row, and of those the rate limits: octokit waits for two. */
  maxInARow: number;
  maxLimits: number;
};

const bounded = { maxInARow: 3, maxLimits: 2 };
const unbounded = { maxInARow: Infinity, maxLimits: Infinity };

/** Five gates over each two pull requests, from the first view of the first one until GitHub knows all it can. */
async function storm({ seed, count, share, maxInARow, maxLimits }: Weather) {
  const generator = xoroshiro128plus(seed);
  const random = () => uniformFloat64(generator);
  const turns = takingTurns(random, start);
  let graphqlLimits = 0;
  let inARow = { faults: 0, limits: 0 };
  const allowed = () => (inARow.faults < maxInARow ? share : 0);
  github.faults.byChance({
    random,
    get share() {
      return allowed();
    },
    get kinds() {
      return inARow.limits < maxLimits ? [...breakdowns, ...limits] : breakdowns;
    },
  });

  /** Knows how often each call of each gate has failed in a row. */
  const attemptsOf = (number: number): Attempt => {
    const known = new Map<string, typeof inARow>();
    return async ({ name, isGraphql }, send) => {
      inARow = known.get(name) ?? { faults: 0, limits: 0 };
      const isLimited = isGraphql && inARow.limits < maxLimits && random() < allowed() / 5;
      const before = github.faults.met + graphqlLimits;
      if (isLimited) graphqlLimits += 1;
      let isLimit = isLimited;
      try {
        const response = isLimited ? graphqlLimit() : await send();
        isLimit ||= [403, 429].includes(response.status);
        return response;
      } finally {
        const hasFailed = github.faults.met + graphqlLimits > before;
        const { faults, limits } = inARow;
        const next = { faults: faults + 1, limits: limits + Number(isLimit) };
        const most = Math.max(maxComments.get(number) ?? 0, commentsOn(number).length);
        maxComments.set(number, most);
        known.set(name, hasFailed ? next : { faults: 0, limits: 0 });
      }
    };
  };

  const maxComments = new Map<number, number>();
  const gates: Gate[] = [];
  const numbers = Math.ceil(0.4 * count);
  for (let index = 0; index < count; index++) {
    const number = index < numbers ? index + 1 : 1 + Math.floor(random() * numbers);
    const before = gates.findLast(({ patch }) => patch.number === number);
    const isRerun = before !== undefined && random() < 0.4;
    const headCommit = isRerun ? before.patch.headCommit : push(number, index);
    const patch = aPatch(number, headCommit);
    const gate = aGate(index + 1, patch, fates[index % fates.length] ?? overtaken);
    const octokit = await hastyOctokit(github);
    turns.lead(octokit, attemptsOf(number));
    gate.isOvertaking = before !== undefined && random() < 0.7;
    if (before && gate.isOvertaking && !isRerun && random() < 0.4) before.successor = gate;
    gate.done = go(gate, { octokit, turns, random, before });
    gates.push(gate);
  }
  await turns.until(Promise.all(gates.map(({ done }) => done)));
  github.faults.clear();
  return { gates, maxComments, faultsMet: github.faults.met + graphqlLimits };
}

const breakdowns: readonly Fault[] = [
  { kind: 'broken', status: 500 },
  { kind: 'broken', status: 502 },
  { kind: 'broken', status: 503 },
  { kind: 'reset' },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'slow', milliseconds: 1 },
];
const limits: readonly Fault[] = [
  { kind: 'rate-limit', seconds: 5 },
  { kind: 'secondary-rate-limit', seconds: 5 },
  { kind: 'secondary-rate-limit', seconds: 5, status: 429 },
];

/** GraphQL reports it with 200. */
const graphqlLimit = (seconds = 5) =>
  Response.json(
    { data: null, errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded.' }] },
    {
      headers: {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + seconds),
      },
    },
  );

const aGate = (run: number, patch: PullRequest, fate: Fate): Gate => ({
  run,
  patch,
  fate,
  isPublished: false,
  isOvertaking: false,
  said: [],
  cancel: new AbortController(),
  started: Promise.withResolvers<void>(),
  done: Promise.resolve(),
});

/** A new commit on the pull request's branch. */
function push(number: number, index: number): string {
  const files = { 'sys/netinet/ip.c': `/* ${index} */\n` };
  const head = commitFiles(github.state.git, `patch-${number}`, files);
  pullRequestOf(number).headCommit = head;
  return head;
}

function pullRequestOf(number: number) {
  const found = github.state.pullRequests.find((one) => one.number === number);
  if (found === undefined) throw new Error(`There is no #${number}.`);
  return found;
}

const aPatch = (number: number, headCommit: string): PullRequest => ({
  kind: 'pull-request',
  repository,
  number,
  title: 'A patch',
  author: 'alice',
  url: `https://github.com/${repository}/pull/${number}`,
  baseCommit: 'a'.repeat(40),
  headCommit,
});

type Place = {
  octokit: Awaited<ReturnType<typeof hastyOctokit>>;
  turns: Turns;
  random: () => number;
};
type Order = { before: Gate | undefined };

/** A gate from its start, which may cancel the gate before it, to its end, which that one's precedes. */
async function go(gate: Gate, deps: Place & Order): Promise<void> {
  const { turns, random, before } = deps;
  const { isOvertaking } = gate;
  const some = (seconds: number) => turns.pause(random() * seconds, never);
  await (isOvertaking ? before?.started.promise : before?.done);
  await some(isOvertaking ? 200 : 60);
  if (isOvertaking && !before?.successor) before?.cancel.abort(new Error('cancelled'));
  gate.started.resolve();
  const answer = answerOf(gate, deps);
  const { signal } = gate.cancel;
  await reportOutcome(answer, signal, async () => {
    answer.queued('waits for approval');
    await some(20);
    answer.waiting({ place: 1, of: 2, expectedSeconds: 60 }, 'waiting for shelf-3');
    await some(30);
    signal.throwIfAborted();
    for (const line of ['base boots', 'pair 1 of 8', 'pair 2 of 8']) {
      answer.measuring('shelf-3', line);
      await some(40);
      signal.throwIfAborted();
    }
    await (before?.successor ? gate.successor : (gate.successor ?? before))?.done;
    signal.throwIfAborted();
    return endOf(gate, deps);
  }).catch(() => {});
}

/** Opens a forge like a job does. */
function answerOf(gate: Gate, { octokit, turns }: Place): Reporter {
  const { run, patch, said } = gate;
  const shared = {
    name: 'ppsgate',
    detailsUrl: runUrl(run),
    pause: turns.pause,
    now: turns.now,
    log: { info: (line: string) => said.push(line), warn: (line: string) => said.push(line) },
  };
  const subject = { repository, patch };
  const answer = combineReporters([
    openCheckRun(octokit, subject, { ...shared, undecided: 'failure', isOwnApp: false }),
    openComment(octokit, patch, { ...shared, run, overrides: {} }),
    openStatus(octokit, subject, shared),
  ]);
  return {
    ...answer,
    conclude(ending) {
      gate.shown ??= conclusionOf(ending) === 'cancelled' ? overtaken : gate.fate;
      return answer.conclude(ending);
    },
  };
}

async function endOf(gate: Gate, { octokit, turns, random }: Place): Promise<ReportedOutcome> {
  const { fate, patch } = gate;
  if (fate.outcome === undefined) throw fate.error;
  const startedAt = turns.now().toISOString();
  const result = aResult({ patch, startedAt, finishedAt: startedAt, outcome: fate.outcome });
  gate.result = result;
  const published = await publishToBranch(
    octokit,
    { repository, branch: 'ppsgate-data', serverUrl: 'https://github.com' },
    [{ result, profiles: [], isDefaultBranch: false, isTrusted: true }],
    {
      keep: { results: 1000, seconds: 365 * 86_400, bytes: 2 ** 30 },
      staleSeconds: 30 * 86_400,
      now: turns.now,
      random,
      pause: (seconds) => turns.pause(seconds, never),
    },
  );
  gate.isPublished = published.kind === 'published';
  if (published.kind === 'not-published') gate.said.push(published.why);
  return outcomeOfResult(result, {});
}

const commentsOn = (number: number): string[] =>
  github.state.comments.filter((comment) => comment.number === number).map(({ body }) => body);

/** Reads the table of earlier verdicts, newest first. */
const rowsOf = (comment: string): string[] =>
  [...comment.matchAll(/^\| `(\w{12})` \| `[\d-]+` \| `(.+?)` \|$/gm)].map(([, commit, title]) => `${commit} ${title}`);

const rowOf = ({ patch, fate }: Gate) =>
  expect.stringMatching(`^${patch.headCommit.slice(0, 12)} ${fate.symbol} #.*${fate.says}`);

const checksOf = ({ run }: Gate) =>
  github.state.checkRuns
    .filter(({ externalId }) => externalId?.split(' ').at(-1) === runUrl(run))
    .map(({ name, headCommit, status, conclusion, title, annotations }) => ({
      name,
      headCommit,
      status,
      conclusion,
      title,
      annotations: annotations?.length ?? 0,
    }));

const checkOf = ({ patch, shown = overtaken }: Gate) => ({
  name: 'ppsgate',
  headCommit: patch.headCommit,
  status: 'completed',
  conclusion: shown.check,
  title: expect.stringMatching(`^${shown.symbol} .*${shown.says}`),
  annotations: shown.outcome ? annotationsOf(aResult({ outcome: shown.outcome })).length : 0,
});

/** All files of the data branch that hold a result, against its index. */
function publishedResults(): Result[] {
  const { git } = github.state;
  const tip = commitAt(git, git.refs.get('refs/heads/ppsgate-data') ?? '');
  const read = (path: string): string => {
    const at = path
      .split('/')
      .reduce<string | undefined>(
        (tree, name) => entriesOf(git, tree ?? '')?.find((entry) => entry.name === name)?.id,
        tip?.tree,
      );
    return git.read(at ?? '')?.bytes.toString() ?? '';
  };
  const { results } = JSON.parse(read('index.json'));
  return results.map(({ path }: { path: string }) => {
    expect(read(`${path}/report.md`)).toContain('### ');
    return resultSchema.parse(JSON.parse(read(`${path}/result.json`)));
  });
}

const byNumber = (gates: readonly Gate[]) =>
  [...Map.groupBy(gates, ({ patch }) => patch.number)].toSorted(([a], [b]) => a - b);

const leftToLater = 'A later run for the same pull request writes the comment.';

const isLeft = ({ shown, successor }: Gate, line: string) =>
  (shown === overtaken || successor !== undefined) && line === leftToLater;

const resultsOf = (gates: readonly Gate[]) => gates.flatMap(({ result }) => result ?? []);

const namesOf = (results: readonly Result[]) =>
  results
    .map(({ startedAt, patch: { headCommit, ...patch } }) => JSON.stringify({ startedAt, headCommit, ...patch }))
    .toSorted();

/** The commit status counts by its last state alone. */
const statusOf = ({ patch }: Gate) => github.state.statuses.findLast(({ commit }) => commit === patch.headCommit);

/**
 * Octokit sends a request up to four times and waits for two rate limits; a comment is written in up to four tries, and
 * the last view of a updater in six. So three faults in a row of one call lose no message.
 */
describe('where no call fails more than three times in a row, two of them by rate limits', () => {
  test.each([3])('people find all of fifty gates as it was, and once: seed %d', async (seed) => {
    const { gates, maxComments, faultsMet } = await storm({
      seed,
      count: 50,
      share: 0.32,
      ...bounded,
    });
    const of = `with seed ${seed}`;
    expect(faultsMet, of).toBeGreaterThan(500);

    for (const [number, ofOne] of byNumber(gates)) {
      const [comment = '', ...others] = commentsOn(number);
      const last = ofOne.at(-1);
      expect(others, `second comments on #${number} ${of}`).toEqual([]);
      // Two that begin at once may both find none.
      const most = ofOne.some(({ isOvertaking }) => isOvertaking) ? 2 : 1;
      expect(maxComments.get(number), of).toBeLessThanOrEqual(most);
      expect(comment, of).toContain(`### ${last?.shown?.symbol} ppsgate: #${number} `);
      expect(comment, of).toContain(last?.shown?.says);
      const { run, patch } = last ?? {};
      expect(readMemory(comment), of).toMatchObject({ run, headCommit: patch?.headCommit });
      const earlier = ofOne.slice(0, -1).filter(({ shown, successor }) => shown?.outcome && !successor);
      const rows = earlier.toReversed().map(rowOf);
      expect(rowsOf(comment), `earlier verdicts of #${number} ${of}`).toEqual(rows);
      const state = last?.shown?.status;
      expect(last && statusOf(last), of).toMatchObject({ context: 'ppsgate', state });
    }
    for (const gate of gates) {
      expect(checksOf(gate), `checks of run ${gate.run} ${of}`).toEqual([checkOf(gate)]);
    }
    expect(namesOf(publishedResults()), of).toEqual(namesOf(resultsOf(gates)));
    const said = gates.flatMap((gate) => gate.said.filter((line) => !isLeft(gate, line)));
    expect(said, of).toEqual([]);
  });
});

describe('where calls fail as often as not, and without end', () => {
  test('nothing is given twice, and what is not there is said: seed 7', async () => {
    const { gates } = await storm({ seed: 7, count: 12, share: 0.55, ...unbounded });
    for (const [number, ofOne] of byNumber(gates)) {
      const comments = commentsOn(number);
      expect(comments.length, `comments on #${number}`).toBeLessThanOrEqual(1);
      const last = ofOne.at(-1);
      const isShown = comments.some((comment) => comment.includes(last?.shown?.says ?? ''));
      if (!isShown) expect(last?.said).toContainEqual(expect.stringMatching(/^The comment on/));
    }
    for (const gate of gates) {
      const checks = checksOf(gate);
      expect(checks.length, `checks of run ${gate.run}`).toBeLessThanOrEqual(1);
      const isComplete = checks[0]?.status === 'completed';
      if (isComplete) expect(checks).toEqual([checkOf(gate)]);
      else expect(gate.said).toContainEqual(expect.stringMatching(/^The check /));
    }
    const published = gates.filter(({ isPublished }) => isPublished);
    const names = namesOf(publishedResults());
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(expect.arrayContaining(namesOf(resultsOf(published))));
    for (const { result, isPublished, said } of gates) {
      if (result === undefined || isPublished) continue;
      expect(said).toContainEqual(expect.stringMatching(/^Nothing was published/));
    }
  });
});

test.each([
  [1, 2],
  [2, 1],
])('runs %d and %d that find no comment at the same time leave one, of the later', async (...runs) => {
  // Serves the longest waiting one: both read before either writes.
  const turns = takingTurns(() => 0, start);
  const patch = aPatch(1, push(1, 0));
  const ended = runs.map(async (run) => {
    const octokit = await hastyOctokit(github);
    turns.lead(octokit, (_call, send) => send());
    const gate = aGate(run, patch, fates[run] ?? overtaken);
    const outcome = gate.fate.outcome ?? { kind: 'does-not-apply', message };
    await answerOf(gate, { octokit, turns, random: () => 0 }).conclude(
      outcomeOfResult(aResult({ patch, outcome }), {}),
    );
  });
  await turns.until(Promise.all(ended));
  expect(commentsOn(1)).toEqual([expect.stringContaining(`### 🟢 ppsgate: #1 ${fates[2]?.says}`)]);
});

test.each(['checks/create', 'checks/update'])(
  'a conclusion that GitHub accepted exists once, with its annotations, though the answer to %s was lost',
  async (operationId) => {
    const turns = takingTurns(() => 0, start);
    const octokit = await hastyOctokit(github);
    turns.lead(octokit, (_call, send) => send());
    const gate = aGate(1, aPatch(1, push(1, 0)), fates[6] ?? overtaken);
    const answer = answerOf(gate, { octokit, turns, random: () => 0 });
    if (operationId === 'checks/update') {
      answer.queued('waits for approval');
      await turns.until(turns.pause(5, never));
    }
    github.faults.order(operationId, { kind: 'reset', carriedOut: true });
    const outcome = gate.fate.outcome ?? { kind: 'does-not-apply', message };
    const result = aResult({ patch: gate.patch, outcome });
    await turns.until(answer.conclude(outcomeOfResult(result, {})));
    expect(checksOf(gate)).toEqual([checkOf(gate)]);
  },
);

describe('one sentence for each undelivered report, and the result is kept, when in the middle', () => {
  /** Runs a gate that is interrupted while it measures. */
  async function gateDuring(happening: () => void): Promise<Gate> {
    const turns = takingTurns(() => 0.5, start);
    const octokit = await hastyOctokit(github);
    turns.lead(octokit, (_call, send) => send());
    const gate = aGate(1, aPatch(1, push(1, 0)), fates[6] ?? overtaken);
    void turns.pause(60, never).then(happening);
    const place = { octokit, turns, random: () => 0.5 };
    await turns.until(go(gate, { ...place, before: undefined }));
    return gate;
  }

  test('the token expires', async () => {
    const gate = await gateDuring(() => github.expire(installationToken));
    const began = (what: string) => expect.stringMatching(`^${what}.*401 Bad credentials`);
    expect(gate.said.toSorted()).toEqual(
      ['Nothing was published', 'The check', 'The comment', 'The commit status'].map(began),
    );
    expect(gate.result?.outcome).toBe(gate.fate.outcome);
    expect(commentsOn(1)).toEqual([expect.stringContaining('### ⏳ ppsgate: #1 ')]);
  });

  test('the pull request is deleted', async () => {
    const gate = await gateDuring(() => Object.assign(pullRequestOf(1), { isDeleted: true }));
    expect(gate.said).toEqual([expect.stringMatching(/^The comment .* the pull request no longer exists/)]);
    expect(checksOf(gate)).toEqual([checkOf(gate)]);
    expect(namesOf(publishedResults())).toEqual(namesOf(resultsOf([gate])));
  });

  test('the conversation is locked, at the latest before there is a comment', async () => {
    pullRequestOf(1).isLocked = true;
    const gate = await gateDuring(() => {});
    expect(gate.said).toEqual([expect.stringMatching(/^The comment .* conversation is locked/)]);
    expect(checksOf(gate)).toEqual([checkOf(gate)]);
    expect(namesOf(publishedResults())).toEqual(namesOf(resultsOf([gate])));
  });
});

test("a rate limit of GraphQL's, for which octokit throws a plain error, is recognized", async () => {
  const turns = takingTurns(() => 0, start);
  const octokit = await hastyOctokit(github);
  turns.lead(octokit, async () => graphqlLimit(3000));
  const failure = octokit.graphql('{ viewer { login } }').then(() => undefined, githubFailure);
  await turns.until(failure);
  expect(await failure).toEqual({
    kind: 'rate-limited',
    until: 'for up to an hour',
    detail: 'API rate limit exceeded.',
  });
});
