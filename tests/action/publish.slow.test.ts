// The publishing job, from an artifact to the report on GitHub, in the test's process.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GateRequest, requestText } from '../../src/action/approved-request.ts';
import type { RetryBudget } from '../../src/action/publish-retry.ts';
import { runPublish } from '../../src/action/run-publish.ts';
import { parseConfig } from '../../src/config/load.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { patchOfRevision } from '../../src/forge/patch/revision.ts';
import { openConduit } from '../../src/forge/phabricator/conduit.ts';
import { assembleResult } from '../../src/gate/experiment/assemble.ts';
import { makePlan } from '../../src/gate/experiment/plan.ts';
import type { PullRequest } from '../../src/model/patch.ts';
import type { Pause } from '../../src/model/pause.ts';
import type { CellResult, Result } from '../../src/model/result.ts';
import { emptyIndex } from '../../src/publish/data-branch/layout.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { commitAt, commitFiles, entryAt } from '../fakes/github/git-objects.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { jobHere } from '../fakes/job.ts';
import { journalOf, still } from '../fakes/journal.ts';
import { startPhabricator } from '../fakes/phabricator/server.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { aChange, anIndex } from '../fakes/trend.ts';
import { zipOf } from '../fakes/zip.ts';

const repository = 'example/router';
const config = 'testbeds: { lab: { kind: embedded-linux } }\nscenarios: [forwarding]\n';

const installed = { 'dut/nftables.conf': '# one\n', 'sys/net/if.c': 'int if_base;\n' };

let github: FakeGitHub;
let workspace: string;
let patch: PullRequest;
/** Text of the base's ppsgate.yml. */
let written: string;

beforeEach(() => prepare((directory) => commit(directory, { a: '1' })));

/** A pull request that brings the commit which is made on its base. */
async function prepare(change: (directory: string) => string, held = config): Promise<void> {
  written = held;
  workspace = newRepository();
  const baseCommit = commit(workspace, installed);
  const headCommit = change(workspace);
  const pullRequest = { number: 7, title: 'A change', author: 'alice', baseCommit, headCommit };
  github = await startFakeGitHub({
    repository,
    pullRequests: [{ ...pullRequest, headRepository: repository }],
  });
  const url = 'https://github.com/example/router/pull/7';
  patch = { kind: 'pull-request', repository, url, baseBranch: 'main', ...pullRequest };
}

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

async function replacePullRequest(...change: Parameters<typeof prepare>): Promise<void> {
  await github.stop();
  await prepare(...change);
}

const parsed = (text: string) => parseConfig(text, { path: 'ppsgate.yml', home: '/' });

/** Result of an experiment in which patched forwards this multiple of base's rate. */
function resultOf(speed: number): Result {
  const overlays = ['base', 'patched'].map((variant, index) => {
    const own = index === 0 ? patch.baseCommit : patch.headCommit;
    return { variant, commit: own, files: [] };
  });
  const plan = makePlan({ patch, config: parsed(config), testbed: 'lab', seed: 6 }, overlays, []);
  return assembleResult(plan, journalOf(plan, { ...still, speed }));
}

/** Text that is logged while the results of an artifact are published. */
async function publish(
  result: Result,
  changes: Partial<GateRequest> = {},
  { retry, conduitToken = '' }: { retry?: RetryBudget; conduitToken?: string } = {},
): Promise<{ exitCode: number; logged: string }> {
  const bytes = zipOf([{ name: 'result.json', content: JSON.stringify(result) }]);
  github.state.artifacts = [{ id: 7001, runId: 42, name: 'ppsgate-result', bytes }];
  const request: GateRequest = { patch, overrides: {}, priority: 'patch', purpose: 'patch', ...changes };
  vi.stubEnv('INPUT_CONDUIT-TOKEN', conduitToken);
  const job = { github, workspace, command: 'publish', request: requestText(request), event: { name: 'push' } };
  const { context } = await jobHere({ ...job, config: parsed(written) });
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const exitCode = await runPublish(context, retry);
    return { exitCode, logged: write.mock.calls.join('\n').replaceAll('%25', '%') };
  } finally {
    write.mockRestore();
  }
}

const conclusions = () => github.state.checkRuns.map(({ conclusion }) => conclusion);
const comment = () => github.state.comments.map(({ body }) => body).join();

const hasHistory = (): boolean => {
  const { git } = github.state;
  const tip = commitAt(git, git.refs.get('refs/heads/ppsgate-data') ?? '');
  const entry = tip && entryAt(git, tip.tree, 'history.jsonl');
  const text = entry && git.read(entry.id)?.bytes.toString();
  return text?.includes('"testbed"') === true;
};

const cellsOf = ({ outcome }: Result): CellResult[] => (outcome.kind === 'judged' ? outcome.cells : []);

test('while GitHub is away, the job fails, and reports the measurements when it is run again', async () => {
  written = `${config}github: { data: { branch: false } }\n`;
  github.faults.order(undefined, { kind: 'broken', status: 503 }, 999);
  // Only the last attempt waits that long, and it ends the test.
  const patienceSeconds = 120;
  const pause: Pause = async (seconds, signal) => {
    if (seconds === patienceSeconds) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const now = new Date('2026-11-23T12:00:00Z');
  const retry = { until: new Date(now.getTime() + patienceSeconds * 1000), now: () => now, pause };
  expect((await publish(resultOf(1), {}, { retry })).exitCode).toBe(4);
  expect(conclusions()).toEqual([]);
  github.faults.clear();
  expect((await publish(resultOf(1), {}, { retry })).exitCode).toBe(0);
  expect(conclusions()).toEqual(['success']);
  expect(github.state.comments).toHaveLength(1);
});

describe('a forged artifact', () => {
  test('with a margin of 100 % and its own verdict does not pass, and the comment lists what was not verified', async () => {
    const result = resultOf(0.8);
    result.policy.marginRatio = 1;
    for (const cell of cellsOf(result)) cell.verdict = { kind: 'no-regression' };
    if (result.outcome.kind === 'judged') result.outcome.verdict = 'no-regression';
    const { logged } = await publish(result);
    expect(conclusions()).toEqual(['failure']);
    for (const said of [comment(), logged]) {
      expect(said).toContain('used a margin of 100 %, but 2 % was requested');
      expect(said).toContain('reports no-regression for forwarding inet4, but its runs yield regression');
    }
  });

  test('with a forged testbed is refused, and adds nothing to the history', async () => {
    const result = resultOf(1);
    result.testbed.name = 'the fast one';
    await publish(result);
    expect(conclusions()).toEqual(['failure']);
    expect(comment()).toContain('The result is of the testbed the fast one instead of lab');
    expect(hasHistory()).toBe(false);
  });
});

test('a second gate of a commit is reported as that, though its result hides the first', async () => {
  const first = resultOf(0.8);
  await publish({ ...first, startedAt: '2026-11-20T11:00:00.000Z' });
  expect(comment()).not.toContain('gate of this commit');
  await publish(resultOf(1));
  expect(conclusions().at(-1)).toBe('success');
  expect(comment()).toContain('; second gate of this commit, an earlier one red');
  expect(comment()).toContain('The earlier one found a regression, which this verdict does not');
});

describe('an artifact that claims that nothing installed changes', () => {
  const claim = (testbed = 'lab'): Result => ({
    ...resultOf(1),
    testbed: { name: testbed, fingerprint: {}, warnings: [] },
    outcome: { kind: 'unchanged' },
  });

  test('is verified against the repository, and the check is neutral', async () => {
    await publish(claim());
    expect(conclusions()).toEqual(['neutral']);
    expect(comment()).toContain('#7 changes nothing that the testbed installs');
    expect(comment()).not.toContain('averaged over a trial');
    expect(hasHistory()).toBe(false);
  });

  test.each<[string, (directory: string) => string]>([
    ['changes a file', (directory) => commit(directory, { 'dut/nftables.conf': '# slow\n' })],
    [
      'brings a submodule that it has git ignore',
      (directory) => {
        const path = 'dut/sysctl.conf';
        const ignoring = `[submodule "s"]\n\tpath = ${path}\n\turl = x\n\tignore = all\n`;
        commit(directory, { '.gitmodules': ignoring });
        git(directory, 'update-index', '--add', '--cacheinfo', `160000,${'c'.repeat(40)},${path}`);
        git(directory, 'commit', '--quiet', '--allow-empty', '--message', 'A submodule');
        return git(directory, 'rev-parse', 'HEAD');
      },
    ],
  ])('does not pass where the patch %s', async (_, change) => {
    await replacePullRequest(change);
    await publish(claim());
    expect(conclusions()).toEqual(['failure']);
    expect(comment()).toContain('changes nothing that the testbed installs, but it does on lab');
  });

  test('does not pass where the patch changes a kernel, of which the testbed needs no overlay', async () => {
    const port = 'interface: cxl0, mac: "00:07:43:2e:e5:92", inet4: 198.18.0.110';
    const other = port.replace('e5:92', 'e5:9a').replace('198.18', '198.19');
    await replacePullRequest(
      (directory) => commit(directory, { 'sys/net/if.c': 'int if_patched;\n' }),
      [
        'testbeds:',
        '  rack:',
        '    kind: freebsd',
        '    dut: { host: dut, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }',
        `    senders: [{ host: tx, ${port} }]`,
        `    receiver: { host: rx, ${other} }`,
        '    builder: { host: builder }',
        'scenarios: [forwarding]',
        'traffic: { runsPerTrial: 1, measure: 60 s }',
        '',
      ].join('\n'),
    );
    await publish(claim('rack'));
    expect(conclusions()).toEqual(['failure']);
    expect(comment()).toContain('but it does on rack');
  });

  test('does not pass without proof, or where it was to be measured anyway', async () => {
    await publish(claim(), { overrides: { measureAnyway: 'true' } });
    expect(conclusions()).toEqual(['failure']);
    await replacePullRequest((directory) => commit(directory, { a: '1' }), `${config}overlay: elsewhere\n`);
    await publish(claim());
    expect(conclusions()).toEqual(['failure']);
    expect(comment()).toContain('that cannot be proven');
  });

  test.each([
    ['sys/net/if.c', 'changes nothing that the testbed installs**'],
    ['dut/nftables.conf', 'changes nothing that the testbed installs, but it does on lab'],
  ])('is proved of a revision as well, whose commits are made again: of %s', async (path, said) => {
    await using phabricator = await startPhabricator();
    const { url, token: conduitToken } = phabricator;
    workspace = newRepository();
    written = `${config}phabricator: { url: "${url}" }\n`;
    const base = commit(workspace, installed);
    const elsewhere = join(temporaryFolder(), 'clone');
    git(workspace, 'clone', '--quiet', workspace, elsewhere);
    writeFileSync(join(elsewhere, path), 'another\n');
    const author = phabricator.addUser('author');
    const diff = { raw: `${git(elsewhere, 'diff')}\n`, base };
    const { id } = phabricator.addRevision({ author, title: 'Forward', diff });
    const conduit = openConduit({ url, token: conduitToken, log: { info() {} } });
    const deps = { conduit, repository: openRepository(elsewhere), config: { branch: 'main' } };
    const revision = await patchOfRevision({ revision: id }, 'none', deps);
    await publish({ ...claim(), patch: revision }, { patch: revision }, { conduitToken });
    expect(phabricator.state.transactions.at(-1)?.comment?.raw).toContain(said);
    expect(phabricator.violations).toEqual([]);
  });
});

describe('a push to the default branch', () => {
  const pushed = { kind: 'range', title: 'A change', author: 'alice' } as const;

  /** The data branch knows of a confirmed loss that the commit before the pushed one has made. */
  const keepLoss = () => {
    const { baseCommit: good, headCommit: bad } = patch;
    const changes = [aChange({ testbed: 'lab', good, bad })];
    commitFiles(github.state.git, 'ppsgate-data', {
      'index.json': JSON.stringify(emptyIndex),
      'trend/index.json': JSON.stringify(anIndex(changes)),
    });
  };

  const publishPush = (conduitToken = '') => {
    const headCommit = commit(workspace, { a: `${github.requests.length}` });
    const range = { ...pushed, baseCommit: patch.headCommit, headCommit };
    const request = { patch: range, purpose: 'history' } as const;
    return publish({ ...resultOf(1), patch: range }, request, { conduitToken });
  };

  test('creates the issue of a change, and notifies its pull request, once', async () => {
    keepLoss();
    const [merged] = github.state.pullRequests;
    Object.assign(merged ?? {}, { state: 'closed', mergeCommit: patch.headCommit });
    await publishPush();
    expect(github.state.issues).toMatchObject([{ labels: ['ppsgate-regression'] }]);
    expect(github.state.comments).toMatchObject([{ number: 7, body: expect.stringContaining('#8 has the rest.') }]);
    await publishPush();
    expect(github.state.issues).toHaveLength(1);
    expect(github.state.comments).toHaveLength(1);
  });

  test('notifies the revision that landed', async () => {
    await using phabricator = await startPhabricator();
    const { url, token } = phabricator;
    const raw = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-0\n+1\n';
    const author = phabricator.addUser('author');
    const revision = phabricator.addRevision({ author, title: 'Forward', diff: { raw } });
    const message = `Forward\n\nDifferential Revision: ${url}/D${revision.id}\n`;
    const held = `${config}phabricator: { url: "${url}" }\n`;
    await replacePullRequest((directory) => commit(directory, { a: '1' }, {}, message), held);
    keepLoss();
    await publishPush(token);
    const told = phabricator.state.transactions.at(-1)?.comment?.raw;
    expect(told).toContain('/example/router/issues/8');
    expect(told).toContain('`ipfw-stateful inet4 −4.10 %`');
    expect(phabricator.violations).toEqual([]);
  });

  test('creates no issue if ppsgate.yml forbids it', async () => {
    await replacePullRequest((directory) => commit(directory, { a: '1' }), `${config}trend: { issues: false }\n`);
    keepLoss();
    await publishPush();
    expect(github.state.issues).toEqual([]);
  });
});
