// What the publishing job makes of an artifact: the action's own entry, as GitHub's runner starts it, and what GitHub then shows.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requestText } from '../../src/action/request.ts';
import { parseConfig } from '../../src/config/load.ts';
import { assembleResult } from '../../src/experiment/assemble.ts';
import { makePlan } from '../../src/experiment/plan.ts';
import type { PullRequest } from '../../src/words/patch.ts';
import type { CellResult, Result } from '../../src/words/result.ts';
import { commitAt, entryAt } from '../fakes/github/git-objects.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../fakes/github/server.ts';
import { journalOf, still } from '../fakes/journal.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { type Ran, runStep } from '../fakes/runner.ts';
import { type ZipEntry, zipOf } from '../fakes/zip.ts';

const repository = 'example/router';
const config = 'testbeds: { lab: { kind: embedded-linux } }\nscenarios: [forwarding]\n';

let github: FakeGitHub;
let workspace: string;
let patch: PullRequest;

beforeEach(async () => {
  workspace = newRepository();
  const baseCommit = commit(workspace, { 'ppsgate.yml': config });
  const headCommit = commit(workspace, { a: '1' });
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

/** The result of an experiment in which patched forwards so many times what base does. */
function resultOf(speed: number): Result {
  const parsed = parseConfig(config, { path: 'ppsgate.yml', home: '/' });
  const overlays = ['base', 'patched'].map((variant, index) => {
    const own = index === 0 ? patch.baseCommit : patch.headCommit;
    return { variant, commit: own, files: [] };
  });
  const plan = makePlan({ patch, config: parsed, testbed: 'lab', seed: 6 }, overlays, []);
  return assembleResult(plan, journalOf(plan, { ...still, speed }));
}

async function publish(result: Result, others: readonly ZipEntry[] = []): Promise<Ran> {
  const bytes = zipOf([{ name: 'result.json', content: JSON.stringify(result) }, ...others]);
  github.state.artifacts.push({ id: 7001, runId: 42, name: 'ppsgate-result', bytes });
  const request = { patch, ask: {}, priority: 'patch', purpose: 'patch' } as const;
  return runStep({
    ...{ entry: 'action.js', workspace, repository, apiUrl: github.url },
    event: { name: 'pull_request_target', payload: {} },
    inputs: { COMMAND: 'publish', TOKEN: installationToken, REQUEST: requestText(request) },
  });
}

const conclusions = () => github.state.checkRuns.map(({ conclusion }) => conclusion);
const comment = () => github.state.comments.map(({ body }) => body).join();
const warnings = ({ commands }: Ran) =>
  commands.flatMap(({ name, data }) => (name === 'warning' ? data : []));

const hasHistory = (): boolean => {
  const { git } = github.state;
  const tip = commitAt(git, git.refs.get('refs/heads/ppsgate-data') ?? '');
  const entry = tip && entryAt(git, tip.tree, 'history.jsonl');
  const text = entry && git.read(entry.id)?.bytes.toString();
  return text?.includes('"testbed"') === true;
};

const cellsOf = ({ outcome }: Result): CellResult[] =>
  outcome.kind === 'judged' ? outcome.cells : [];

describe('an artifact that lies', () => {
  test('by a margin of 100 % and a verdict of its own does not pass, and the comment says what was not believed', async () => {
    const result = resultOf(0.8);
    result.policy.marginRatio = 1;
    for (const cell of cellsOf(result)) cell.verdict = { kind: 'no-regression' };
    if (result.outcome.kind === 'judged') result.outcome.verdict = 'no-regression';
    const ran = await publish(result);
    expect(conclusions(), ran.log).toEqual(['failure']);
    for (const said of [comment(), warnings(ran).join('\n')]) {
      expect(said).toContain('held to a margin of 100 %, and 2 % is asked for');
      expect(said).toContain('says no-regression of forwarding inet4, and its runs say regression');
    }
  });

  test('of its testbed is refused, and teaches nothing', async () => {
    const result = resultOf(1);
    result.testbed.name = 'the fast one';
    const ran = await publish(result);
    expect(conclusions(), ran.log).toEqual(['failure']);
    expect(comment()).toContain('The result is of the testbed the fast one, and not of lab');
    expect(hasHistory()).toBe(false);
  });
});

test('an honest artifact whose profiles nobody could draw is answered without them', async () => {
  const result = resultOf(1);
  for (const cell of cellsOf(result)) {
    cell.profiles = ['base', 'patched'].map((variant) => ({
      ...{ kind: 'profiled', variant, event: 'cycles', kernel: 'Linux', seconds: 1 },
      ...{ busySamples: 1, idleSamples: 0, file: `${variant}.folded` },
    }));
  }
  const deep = `a 1\n${'a;'.repeat(10_000)}a 1\n`;
  const long = `a 1\n${'a '.repeat(4_000_000)}`;
  const ran = await publish(result, [
    { name: 'base.folded', content: deep, method: 8 },
    { name: 'patched.folded', content: long, method: 8 },
  ]);
  expect(conclusions(), ran.log).toEqual(['success']);
  expect(warnings(ran)).toEqual([
    expect.stringContaining('frames in one stack, and at most so many are read'),
    expect.stringContaining('has a line of more than 1,048,576 bytes'),
  ]);
  expect(hasHistory()).toBe(true);
});
