// Gates that report to GitHub while it fails and jobs are killed, in simulated time: what people find in the end.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PullRequest } from '../../../src/model/patch.ts';
import type { Outcome } from '../../../src/model/result.ts';
import { openCheckRun } from '../../../src/publish/reporters/check-run.ts';
import { openComment } from '../../../src/publish/reporters/comment.ts';
import { readMemory } from '../../../src/publish/reporters/comment-text.ts';
import {
  cancelledOutcome,
  outcomeOfFailure,
  outcomeOfResult,
  type ReportedOutcome,
} from '../../../src/publish/reporters/outcome.ts';
import { outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import { combineReporters } from '../../../src/publish/reporters/reporter.ts';
import { openStatus } from '../../../src/publish/reporters/status.ts';
import { annotationsOf } from '../../../src/report/annotations.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { type Attempt, type Turns, takingTurns } from '../../fakes/github/turns.ts';
import { aCell, aResult } from '../../fakes/result.ts';

const repository = 'example/router';
const start = new Date('2026-11-21T12:00:00.000Z');
const never = new AbortController().signal;
const numbers = [1, 2, 3];
const headOf = (number: number) => String(number).padStart(40, '0');

let github: FakeGitHub;

beforeEach(async () => {
  const others = { title: 'A patch', author: 'alice', headRepository: repository, baseCommit: 'a'.repeat(40) };
  github = await startFakeGitHub({
    repository,
    pullRequests: numbers.map((number) => ({ ...others, number, headCommit: headOf(number) })),
  });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const message = 'sys/netinet/ip.c:12:3: error: expected ;\nsys/netinet/ip.c:14:1: error: unused';
const outcomes: Outcome[] = [
  { kind: 'judged', verdict: 'regression', cells: [aCell({ kind: 'regression' })] },
  { kind: 'judged', verdict: 'no-regression', cells: [aCell({ kind: 'no-regression' })] },
  { kind: 'build-failed', message },
];

type Gate = { run: number; patch: PullRequest; outcome: ReportedOutcome; said: string[] };

function aGate(run: number, number: number): Gate {
  const patch: PullRequest = {
    kind: 'pull-request',
    repository,
    number,
    title: 'A patch',
    author: 'alice',
    url: `https://github.com/${repository}/pull/${number}`,
    baseCommit: 'a'.repeat(40),
    headCommit: headOf(number),
  };
  const [outcome] = outcomes.slice(run % 4);
  const failed = run % 8 === 3 ? cancelledOutcome : outcomeOfFailure('infrastructure', 'The switch lost its power.');
  return {
    run,
    patch,
    outcome: outcome === undefined ? failed : outcomeOfResult(aResult({ patch, outcome }), {}),
    said: [],
  };
}

const urlOf = ({ run }: Gate) => `https://github.com/${repository}/actions/runs/${run}`;

/** Reports like a job does, or like the next job, which has only the outcome left to report. */
async function report(
  gate: Gate,
  turns: Turns,
  random: () => number,
  attempt: Attempt,
  lines = ['base boots', 'pair 1 of 8', 'pair 2 of 8'],
): Promise<void> {
  const { run, patch, said } = gate;
  const octokit = await hastyOctokit(github);
  turns.lead(octokit, attempt);
  const log = { info: (line: string) => said.push(line), warn: (line: string) => said.push(line) };
  const shared = { name: 'ppsgate', detailsUrl: urlOf(gate), pause: turns.pause, now: turns.now, log };
  const subject = { repository, patch };
  const reporter = combineReporters([
    openCheckRun(octokit, subject, { ...shared, undecided: 'failure', isOwnApp: false, isOpen: true }),
    openComment(octokit, patch, { ...shared, run, overrides: {} }),
    openStatus(octokit, subject, shared),
  ]);
  if (lines.length > 0) reporter.queued('waits for approval');
  for (const line of lines) {
    await turns.pause(random() * 90, never);
    reporter.measuring('shelf-3', line);
  }
  await reporter.conclude(gate.outcome);
}

const checksOf = (gate: Gate) =>
  github.state.checkRuns
    .filter(({ externalId }) => externalId?.split(' ').at(-1) === urlOf(gate))
    .map(({ status, title, annotations = [] }) => ({ status, title, annotations: annotations.length }));

const checkOf = ({ outcome }: Gate) => ({
  status: 'completed',
  title: outcomeTitle(outcome),
  annotations: outcome.kind === 'measured' ? annotationsOf(outcome.result).length : 0,
});

const memoriesOn = (number: number) =>
  github.state.comments.filter((comment) => comment.number === number).map(({ body }) => readMemory(body));

const breakdowns: readonly Fault[] = [
  { kind: 'broken', status: 500 },
  { kind: 'broken', status: 503 },
  { kind: 'reset' },
  { kind: 'cut' },
];
const limits: readonly Fault[] = [
  { kind: 'rate-limit', seconds: 5 },
  { kind: 'secondary-rate-limit', seconds: 5, status: 429 },
];

type Weather = {
  seed: number;
  /** Share of the calls that meet a fault. */
  share: number;
  /** The most faults of one call in a row, and of those the rate limits. */
  most: { faults: number; limits: number };
};

/** Three gates of each pull request; the third begins before the second has ended. */
async function storm({ seed, share, most }: Weather): Promise<Gate[]> {
  const generator = xoroshiro128plus(seed);
  const random = () => uniformFloat64(generator);
  const turns = takingTurns(random, start);
  let inARow = { faults: 0, limits: 0 };
  github.faults.byChance({
    random,
    get share() {
      return inARow.faults < most.faults ? share : 0;
    },
    get kinds() {
      return inARow.limits < most.limits ? [...breakdowns, ...limits] : breakdowns;
    },
  });
  /** Knows how often each call of a gate has failed in a row. */
  const attempts = (): Attempt => {
    const known = new Map<string, typeof inARow>();
    return async ({ name }, send) => {
      inARow = known.get(name) ?? { faults: 0, limits: 0 };
      const { met } = github.faults;
      let isLimit = false;
      try {
        const response = await send();
        isLimit = [403, 429].includes(response.status);
        return response;
      } finally {
        const next = { faults: inARow.faults + 1, limits: inARow.limits + Number(isLimit) };
        known.set(name, github.faults.met > met ? next : { faults: 0, limits: 0 });
      }
    };
  };
  const gates: Gate[] = [];
  const goes = (gate: Gate) => report(gate, turns, random, attempts());
  const work = numbers.map(async (number) => {
    const [first, second, third] = [number, 10 + number, 20 + number].map((run) => aGate(run, number));
    if (first === undefined || second === undefined || third === undefined) return;
    gates.push(first, second, third);
    await goes(first);
    await Promise.all([goes(second), turns.pause(random() * 120, never).then(() => goes(third))]);
  });
  await turns.until(Promise.all(work));
  github.faults.clear();
  return gates;
}

// Octokit sends a request up to four times and waits for two rate limits, so three faults in a row lose no message.
test('people find every gate as it was, and once, where no call fails more than three times in a row', async () => {
  const gates = await storm({ seed: 3, share: 0.32, most: { faults: 3, limits: 2 } });
  expect(github.faults.met).toBeGreaterThan(40);
  for (const gate of gates) expect(checksOf(gate), `run ${gate.run}`).toEqual([checkOf(gate)]);
  for (const number of numbers) {
    const [memory, ...others] = memoriesOn(number);
    expect([memory?.run, others]).toEqual([20 + number, []]);
    const verdicts = [...(memory?.last ? [memory.last] : []), ...(memory?.earlier ?? [])].map(({ run }) => run);
    const ofThis = gates.filter(({ patch, outcome }) => patch.number === number && outcome.kind === 'measured');
    const measured = ofThis.map(({ run }) => run).toReversed();
    // The second one leaves the comment to the third where that has written.
    expect(measured.filter((run) => verdicts.includes(run))).toEqual(verdicts);
    for (const run of measured) if (run !== 10 + number) expect(verdicts).toContain(run);
    expect(github.state.statuses.findLast(({ commit }) => commit === headOf(number))?.state).not.toBe('pending');
  }
  const said = gates.flatMap((gate) => gate.said);
  expect(said.filter((line) => line !== 'A later run for the same pull request writes the comment.')).toEqual([]);
});

test('nothing is given twice, and what is not there is logged, where calls fail without end', async () => {
  const gates = await storm({ seed: 7, share: 0.6, most: { faults: Infinity, limits: Infinity } });
  for (const number of numbers) {
    const memories = memoriesOn(number);
    expect(memories.length).toBeLessThan(2);
    const last = gates.find(({ run }) => run === 20 + number);
    if (memories[0]?.run !== last?.run) expect(last?.said).toContainEqual(expect.stringMatching(/^The comment on/));
  }
  for (const gate of gates) {
    const [check, ...others] = checksOf(gate);
    expect(others).toEqual([]);
    if (check?.status === 'completed') expect(check).toEqual(checkOf(gate));
    else expect(gate.said).toContainEqual(expect.stringMatching(/^The check /));
  }
});

test('a job that is killed at any request of its outcome, before or after it is carried out, is continued by the next', async () => {
  const reached: boolean[] = [];
  for (let lives = 0; !reached.includes(false); lives += 1) {
    const gate = aGate(lives + 1, 1);
    const [diesAfter, isCarriedOut] = [Math.floor(lives / 2), lives % 2 === 1];
    let sent = 0;
    await takeTurns(gate, async (_call, send) => {
      sent += 1;
      if (sent > diesAfter && !(isCarriedOut && sent === diesAfter + 1)) throw new Error('killed');
      const response = await send();
      if (sent > diesAfter) throw new Error('killed');
      return response;
    });
    reached.push(sent > diesAfter);
    await takeTurns(gate, (_call, send) => send());
    expect(checksOf(gate), `killed at ${sent}`).toEqual([checkOf(gate)]);
    expect(memoriesOn(1).map((memory) => memory?.run)).toEqual([gate.run]);
  }
  expect(reached.length).toBeGreaterThan(12);

  async function takeTurns(gate: Gate, attempt: Attempt) {
    const turns = takingTurns(() => 0, start);
    await turns.until(report(gate, turns, () => 0, attempt, []));
  }
});

test('of two runs that find no comment at the same time one is left, of the later', async () => {
  for (const runs of [
    [5, 6],
    [6, 5],
  ]) {
    github.state.comments.length = 0;
    // Serves the longest waiting one: both read before either writes.
    const turns = takingTurns(() => 0, start);
    const both = runs.map((run) =>
      report(
        aGate(run, 1),
        turns,
        () => 0,
        (_call, send) => send(),
      ),
    );
    await turns.until(Promise.all(both));
    expect(memoriesOn(1).map((memory) => memory?.run)).toEqual([6]);
  }
});
