// Tests that no report contains a path of the controller, for any error; the log has the whole error.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../src/action/approved-request.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { openConduit } from '../../../src/forge/phabricator/conduit.ts';
import { readJournal } from '../../../src/gate/experiment/journal.ts';
import { openSqlite } from '../../../src/gate/reserve/store/sqlite.ts';
import { exitCodes } from '../../../src/model/conclusion.ts';
import type { PullRequest } from '../../../src/model/patch.ts';
import { openCheckRun } from '../../../src/publish/reporters/check-run.ts';
import { openComment } from '../../../src/publish/reporters/comment.ts';
import { conclusionOf, outcomeOfError } from '../../../src/publish/reporters/outcome.ts';
import { outcomeMarkdown, outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import { combineReporters, type Reporter } from '../../../src/publish/reporters/reporter.ts';
import { openRevisionReporter } from '../../../src/publish/reporters/revision-comment.ts';
import { openStatus } from '../../../src/publish/reporters/status.ts';
import { HostError } from '../../../src/system/host/host-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { startFakeGitHub } from '../../fakes/github/server.ts';
import { startPhabricator } from '../../fakes/phabricator/server.ts';
import { commit, newRepository } from '../../fakes/repository.ts';

const pullRequest: PullRequest = {
  kind: 'pull-request',
  repository: 'example/router',
  number: 7,
  title: 'Faster',
  author: 'alice',
  url: 'https://github.com/example/router/pull/7',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
};

/** Folders in which the errors below were made. */
const ours = /ppsgate-test-|\/home\/op/;

const failures: [string, (folder: string) => Promise<unknown>][] = [
  ['a directory that is no repository', (folder) => openRepository(folder).resolve('main')],
  [
    'an overlay outside of the repository',
    async () => {
      const directory = newRepository();
      return openRepository(directory).list(commit(directory, { file: '' }), '/elsewhere/dut');
    },
  ],
  ['a file that Node cannot open', (folder) => readFile(join(folder, 'my lab', 'key'))],
  ['a configuration that is not there', (folder) => loadConfig(join(folder, 'ppsgate.yml'))],
  ['a journal', (folder) => readJournal(join(folder, 'a file', 'journal.jsonl'))],
  ['a store of reservations', (folder) => openSqlite(folder, { now: () => 0 })],
  [
    'an upload to a machine',
    async () => {
      throw new HostError(
        'upload-failed',
        'Cannot lay /var/tmp/x.tar from /home/op/my kernels/x.tar on DUT: no space; check both.',
      );
    },
  ],
];

async function errorOf(fail: (folder: string) => Promise<unknown>): Promise<Error> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'a file'), '');
  const error = await fail(folder).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new TypeError('Nothing went wrong.');
}

describe('no path of the controller is posted', () => {
  test.each(failures)('%s', async (_, fail) => {
    const error = await errorOf(fail);
    expect(error.message).toMatch(new RegExp(`${ours.source}|/elsewhere`));
    const ending = outcomeOfError(error);
    expect(`${outcomeTitle(ending)} ${outcomeMarkdown(ending)} ${ending.message}`).not.toMatch(ours);
    expect(ending.message).toContain('[path]');
    expect(failureOf(error)).toEqual({
      exitCode: exitCodes[conclusionOf(ending)],
      said: ending.message,
      isRefused: false,
    });
  });
});

test('progress is posted without paths as well', () => {
  const told: string[] = [];
  const answer: Reporter = {
    queued: (text) => void told.push(text),
    waiting: (_, text) => void told.push(text),
    measuring: (testbed, line = '') => void told.push(`${testbed}: ${line}`),
    conclude: async () => 'delivered',
    addLinks: async () => {},
    leaveOpen: async () => {},
  };
  const all = combineReporters([answer]);
  all.queued('/home/op/queue');
  all.waiting({ place: 1, of: 1 }, 'for /home/op/store');
  all.measuring('shelf-3', 'installed /home/op/kernel');
  all.measuring('shelf-3');
  expect(told).toEqual(['[path]', 'for [path]', 'shelf-3: installed [path]', 'shelf-3: ']);
});

const log = { info() {}, warn() {} };
const whole = { depth: null, maxStringLength: null, maxArrayLength: null };
const detailsUrl = 'https://ci.example.org/1';
/** Only the last attempt waits. */
const pause = async (seconds: number, signal: AbortSignal) => {
  if (seconds < 30) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
};
const broken = () => errorOf((folder) => openRepository(folder).resolve('main'));

test('neither a check, a comment nor a status on GitHub has one', async () => {
  const { repository, number, title, author, baseCommit, headCommit } = pullRequest;
  const patch = { number, title, author, baseCommit, headCommit, headRepository: repository };
  const github = await startFakeGitHub({ repository, pullRequests: [patch] });
  const octokit = await hastyOctokit(github);
  const subject = { repository, patch: pullRequest };
  const shared = { name: 'ppsgate', detailsUrl, log, pause, now: () => new Date(0) };
  const answer = combineReporters([
    openCheckRun(octokit, subject, { ...shared, undecided: 'failure', isOwnApp: false }),
    openComment(octokit, pullRequest, { ...shared, run: 1, overrides: {} }),
    openStatus(octokit, subject, shared),
  ]);
  await answer.conclude(outcomeOfError(await broken()));
  await github.stop();
  expect(inspect(github.state, whole)).toContain('[path] is not a git repository: name');
  expect(inspect(github.state, whole)).not.toMatch(ours);
});

test('neither a comment nor a build on Phabricator has one', async () => {
  const phabricator = await startPhabricator();
  const raw = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n';
  const author = phabricator.addUser('author');
  const revision = phabricator.addRevision({ author, title: 'Faster', diff: { raw } });
  const plan = phabricator.addBuildPlan({ uri: 'http://127.0.0.1:9/', name: 'pps' });
  const { buildPHID: build } = await phabricator.startBuild(revision, plan);
  const conduit = openConduit({ ...phabricator, log });
  const answer = openRevisionReporter(
    conduit,
    { number: revision.id, diff: 1 },
    { build, run: '7', undecided: 'failure', details: detailsUrl, log, pause },
  );
  await answer.conclude(outcomeOfError(await broken()));
  await phabricator.stop();
  expect(inspect(phabricator.state, whole)).toContain('[path] is not a git repository: name');
  expect(inspect(phabricator.state, whole)).not.toMatch(ours);
});
