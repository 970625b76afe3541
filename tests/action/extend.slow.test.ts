// Tests extending an experiment of an earlier run: the verification of its plan, and the refusals.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { artifactName, fetchExperiment, runsToExtend } from '../../src/action/extend.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import type { FakeWorkflowRun } from '../fakes/github/state.ts';
import { aPlan } from '../fakes/plan.ts';
import { pullRequest } from '../fakes/result.ts';
import { zipOf } from '../fakes/zip.ts';

const repository = 'example/router';
const plan = JSON.stringify(aPlan());
let github: FakeGitHub;

beforeEach(async () => {
  github = await startFakeGitHub({ repository, pullRequests: [] });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

/** Provides the files that run 41 left. */
function given(files: Record<string, string>, changes: Partial<FakeWorkflowRun> = {}): void {
  const run: FakeWorkflowRun = {
    id: 41,
    name: 'Gate',
    path: '.github/workflows/gate.yml',
    event: 'issue_comment',
    headCommit: pullRequest.headCommit,
    headBranch: 'main',
    headRepository: repository,
    status: 'completed',
    conclusion: 'success',
    ...changes,
  };
  github.state.workflowRuns.push(run);
  const entries = Object.entries(files).map(([name, content]) => ({ name, content }));
  const bytes = zipOf(entries);
  github.state.artifacts.push({ id: 7001, runId: 41, name: artifactName, bytes });
}

const whole = { 'experiment.json': plan, 'journal.jsonl': '{}\n', 'result.json': '{}' };

/** The work directory. */
async function extended(patch = pullRequest): Promise<string> {
  const directory = join(temporaryFolder(), 'work');
  await fetchExperiment(await hastyOctokit(github), repository, { run: 41, patch, folder: '' }, directory);
  return directory;
}

test('plan and journal of the run are installed into the work directory', async () => {
  given(whole, { event: 'pull_request' });
  const directory = await extended();
  expect(await readFile(join(directory, 'experiment.json'), 'utf8')).toBe(plan);
  expect(await readFile(join(directory, 'journal.jsonl'), 'utf8')).toBe('{}\n');
});

test('it continues up to twice what was planned, or to the requested maximum', async () => {
  given(whole);
  const directory = await extended();
  const planned = Math.max(...aPlan().cells.flatMap(({ design }) => design.budgets));
  expect(await runsToExtend(directory, undefined)).toBe(2 * planned);
  expect(await runsToExtend(directory, '60')).toBe(60);
  await expect(runsToExtend(directory, 'many')).rejects.toThrow(UsageError);
});

// An attacker's plan must not be installed on the DUT.
test.each(['pull_request', 'pull_request_review', 'pull_request_review_comment'])(
  'no plan is taken of a %s from a fork, which runs the workflow of the fork',
  async (event) => {
    given(whole, { event, headRepository: 'alice/router' });
    await expect(extended()).rejects.toThrow(/by the workflow of a fork/);
  },
);

const kernel = { kind: 'archive', path: '/etc/shadow', sha256: 'a'.repeat(64) };
const variants = aPlan().variants.map((variant) => ({ ...variant, kernel }));
const another = 'c'.repeat(40);

test.each<[string, Record<string, string> | undefined, Partial<typeof pullRequest>, RegExp]>([
  ['the run is gone', undefined, {}, /no longer exists on GitHub/],
  ['it has no plan', { 'journal.jsonl': '{}\n' }, {}, /has no experiment\.json/],
  ['it has no journal', { 'experiment.json': plan }, {}, /has no journal\.jsonl/],
  ['its head is another', whole, { headCommit: another }, /commits of the experiment to extend differ/],
  ['its base is another', whole, { baseCommit: another }, /commits of the experiment to extend differ/],
  [
    'its plan boots a file of the runner',
    { ...whole, 'experiment.json': JSON.stringify({ ...aPlan(), variants }) },
    {},
    /boots a kernel from a file/,
  ],
])('it is refused if %s', async (_, files, changes, why) => {
  if (files !== undefined) given(files);
  const refused = extended({ ...pullRequest, ...changes });
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(why);
});

test('it is refused if its plan is none', async () => {
  given({ ...whole, 'experiment.json': '{' });
  await expect(extended()).rejects.toMatchObject({ name: 'PlanError' });
});
