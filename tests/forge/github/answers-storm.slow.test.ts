// Jobs that answer while GitHub is well, slow, half well or away, and that are killed again and again.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { expect, test } from 'vitest';
import type { PullRequest } from '../../../src/model/patch.ts';
import { readMemory } from '../../../src/publish/reporters/comment-text.ts';
import type { AnsweringJobsPlan } from '../../fakes/answering-jobs.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { startProgram } from '../../fakes/program.ts';
import { times } from '../../random.ts';

const repository = 'example/router';
const pullRequests = 20;
const runsOfEach = times(1);
/** Each has the jobs of some pull requests, one after another. */
const runners = 3;
/** Upper bound on the kills of a runner. */
const maxDeaths = 2;

test('each job has one check in the end, and each pull request one comment, of its last job', async () => {
  const patches = Array.from({ length: pullRequests }, (_, index) => patchOf(index + 1));
  const github = await startFakeGitHub({
    repository,
    pullRequests: patches.map((patch) => ({ ...patch, headRepository: repository })),
  });
  const directory = temporaryFolder();
  const jobs = patches.flatMap((patch) =>
    Array.from({ length: runsOfEach }, (_, count) => ({ run: 100 * patch.number + count, patch })),
  );
  const generator = xoroshiro128plus(19);
  const chance = () => uniformFloat64(generator);

  const run = (plan: AnsweringJobsPlan) => startProgram('answering-jobs', plan).ended;
  const shared = { url: github.url, directory, haste: 100 };
  let deaths = 0;
  const live = async (own: AnsweringJobsPlan['jobs']) => {
    for (let lives = 0; lives < maxDeaths; lives++) {
      const diesAfter = Math.ceil(chance() * 60);
      const { signal, stderr } = await run({ ...shared, jobs: own, diesAfter });
      expect(stderr).toBe('');
      if (signal === null) return;
      deaths += 1;
    }
    expect(await run({ ...shared, jobs: own })).toEqual({ code: 0, signal: null, stderr: '' });
  };
  let isOver = false;
  const weather = async () => {
    while (!isOver) {
      become(github, chance);
      await sleep(50 + chance() * 300);
    }
  };
  const sky = weather();
  await Promise.all(
    Array.from({ length: runners }, (_, runner) => live(jobs.filter(({ patch }) => patch.number % runners === runner))),
  );
  isOver = true;
  await sky;

  expect(deaths).toBeGreaterThanOrEqual(runners);
  expect(readdirSync(directory)).toHaveLength(jobs.length);
  const checks = github.state.checkRuns.map(({ externalId, status, conclusion }) =>
    [externalId, status, conclusion].join(' '),
  );
  const expected = jobs.map(
    ({ run, patch }) => `#${patch.number} main https://github.com/${repository}/actions/runs/${run} completed success`,
  );
  expect(checks.toSorted()).toEqual(expected.toSorted());
  for (const { number } of patches) {
    const comments = github.state.comments.filter((comment) => comment.number === number);
    const last = 100 * number + runsOfEach - 1;
    expect(comments.map(({ body }) => readMemory(body)?.run)).toEqual([last]);
  }
  await github.stop();
  expect(github.violations).toEqual([]);
});

const patchOf = (number: number): PullRequest => ({
  kind: 'pull-request',
  repository,
  number,
  title: 'A patch',
  author: 'alice',
  url: `https://github.com/${repository}/pull/${number}`,
  baseBranch: 'main',
  baseCommit: 'a'.repeat(40),
  headCommit: String(number).padStart(40, '0'),
});

/** Well half of the time; slow, away, or answering one call in two. */
function become({ faults }: FakeGitHub, random: () => number): void {
  faults.clear();
  const which = Math.floor(random() * 8);
  const down = [{ kind: 'broken', status: 502 }, { kind: 'reset' }] as const;
  if (which === 0) faults.byChance({ random, share: 1, kinds: down });
  if (which === 1) faults.byChance({ random, share: 0.5 });
  if (which === 2) faults.byChance({ random, share: 1, kinds: [{ kind: 'slow', milliseconds: 30 }] });
}
