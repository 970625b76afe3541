// Tests extending an experiment of an earlier run: the verification of its plan, and the refusals.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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
const again = 'write /ppsgate run to measure #7 from the start.';
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
    pullRequests: [],
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
  given(whole);
  const directory = await extended();
  expect(await readFile(join(directory, 'experiment.json'), 'utf8')).toBe(plan);
  expect(await readFile(join(directory, 'journal.jsonl'), 'utf8')).toBe('{}\n');
});

describe('it continues up to', () => {
  test('twice what was planned', async () => {
    given(whole);
    const planned = Math.max(...aPlan().cells.flatMap(({ design }) => design.budgets));
    expect(await runsToExtend(await extended(), undefined)).toBe(2 * planned);
  });

  test('the requested maximum', async () => {
    given(whole);
    const directory = await extended();
    expect(await runsToExtend(directory, '60')).toBe(60);
    await expect(runsToExtend(directory, 'many')).rejects.toThrow(UsageError);
  });
});

describe('the plan is verified of', () => {
  test.each<Partial<FakeWorkflowRun>>([
    { event: 'pull_request' },
    { event: 'workflow_dispatch' },
    { event: 'pull_request_target', headRepository: 'alice/router' },
  ])('%j, which ran the workflow of the repository itself', async (changes) => {
    given(whole, changes);
    await expect(extended()).resolves.toBeDefined();
  });

  // `/ppsgate extend` installs an attacker's plan on the DUT. Defence: Plans from a fork's own workflow or of other
  // commits are not resumed.
  test.each(['pull_request', 'pull_request_review', 'pull_request_review_comment'])(
    'no %s from a fork, which runs the workflow of the fork',
    async (event) => {
      given(whole, { event, headRepository: 'alice/router' });
      await expect(extended()).rejects.toThrow(
        new UsageError(`The experiment to extend was run by the workflow of a fork: ${again}`),
      );
    },
  );
});

describe('it explains the alternative if', () => {
  const refused = (why: RegExp) => expect(extended()).rejects.toThrow(why);

  test('the run is gone', async () => {
    await expect(extended()).rejects.toThrow(
      new UsageError(`The experiment to extend no longer exists on GitHub: ${again}`),
    );
  });

  test.each(['experiment.json', 'journal.jsonl'])('it has no %s', async (name) => {
    given(Object.fromEntries(Object.entries(whole).filter(([one]) => one !== name)));
    await refused(new RegExp(`^The experiment to extend has no ${name}: write /ppsgate run`));
  });

  test.each(['headCommit', 'baseCommit'])('its %s is another', async (key) => {
    given(whole);
    await expect(extended({ ...pullRequest, [key]: 'c'.repeat(40) })).rejects.toThrow(
      new UsageError(`The commits of the experiment to extend differ from the current ones: ${again}`),
    );
  });

  test('its plan boots a file of the runner', async () => {
    const kernel = { kind: 'archive', path: '/etc/shadow', sha256: 'a'.repeat(64) } as const;
    const variants = aPlan().variants.map((variant) => ({ ...variant, kernel }));
    given({ ...whole, 'experiment.json': JSON.stringify({ ...aPlan(), variants }) });
    await expect(extended()).rejects.toThrow(
      new UsageError(`The experiment to extend boots a kernel from a file: ${again}`),
    );
  });

  test.each(['', '{', 'null', '{"patch":{}}'])('its plan is %j', async (text) => {
    given({ ...whole, 'experiment.json': text });
    await expect(extended()).rejects.toMatchObject({ name: 'PlanError' });
  });
});
