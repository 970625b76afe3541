// Reads the outcomes of several gates from one artifact: each gate has its own.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readOutcomes } from '../../src/action/artifact-outcomes.ts';
import { parseConfig } from '../../src/config/load.ts';
import { assembleResult } from '../../src/gate/experiment/assemble.ts';
import { makePlan } from '../../src/gate/experiment/plan.ts';
import { recompute } from '../../src/gate/experiment/recompute.ts';
import type { PullRequest } from '../../src/model/patch.ts';
import type { Result } from '../../src/model/result.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { jobHere } from '../fakes/job.ts';
import { journalOf, still } from '../fakes/journal.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { twoRacks } from '../fakes/two-racks.ts';
import { zipOf } from '../fakes/zip.ts';

const repository = 'example/router';
const config = parseConfig(`${twoRacks}scenarios: [forwarding]\neach: [left, right]\n`, {
  path: 'ppsgate.yml',
  home: '/',
});

let github: FakeGitHub;
let workspace: string;
let patch: PullRequest;

beforeEach(async () => {
  workspace = newRepository();
  const baseCommit = commit(workspace, { 'dut/nftables.conf': '# one\n' });
  const headCommit = commit(workspace, { 'dut/nftables.conf': '# two\n' });
  const pullRequest = { number: 7, title: 'A change', author: 'alice', baseCommit, headCommit };
  github = await startFakeGitHub({
    repository,
    pullRequests: [{ ...pullRequest, headRepository: repository }],
  });
  const url = 'https://github.com/example/router/pull/7';
  patch = { kind: 'pull-request', repository, url, baseBranch: 'main', ...pullRequest };
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

function resultOn(testbed: string): Result {
  const overlays = ['base', 'patched'].map((variant, index) => {
    const own = index === 0 ? patch.baseCommit : patch.headCommit;
    return { variant, commit: own, files: [] };
  });
  const plan = makePlan({ patch, config, testbed, seed: 6 }, overlays, []);
  return assembleResult(plan, journalOf(plan, still));
}

async function outcomesOf(results: readonly Result[], judge = recompute): ReturnType<typeof readOutcomes> {
  const entries = results.map((result, index) => ({
    name: `result-${index + 1}.json`,
    content: JSON.stringify(result),
  }));
  github.state.artifacts.push({ id: 7001, runId: 42, name: 'ppsgate-result', bytes: zipOf(entries) });
  const event = { name: 'pull_request' };
  const { context } = await jobHere({ github, workspace, command: 'publish', event, config });
  const request = { patch, overrides: {}, priority: 'patch', purpose: 'patch' } as const;
  const now = new Date('2026-11-23T12:00:00Z');
  const retry = { until: now, now: () => now, pause: async () => {} };
  return readOutcomes({ request, runId: 42, isTrusted: true }, { config, context, retry, judge });
}

test('a result whose numbers cannot be judged leaves every other gate its outcome', async () => {
  const failing: typeof recompute = (claimed, asked) => {
    if (claimed.testbed.name === 'left') throw new RangeError('Degrees of freedom are a positive number.');
    return recompute(claimed, asked);
  };
  expect(await outcomesOf([resultOn('left'), resultOn('right')], failing)).toMatchObject([
    { reportedOutcome: { kind: 'unmeasured', message: expect.stringContaining('Degrees of freedom') }, mayPass: false },
    { reportedOutcome: { kind: 'measured' } },
  ]);
});
