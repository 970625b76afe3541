// Admission from an event to a request: commits, approval, and replies to people without it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Admission, type AdmitDeps, noticeName } from '../../src/action/admission.ts';
import { admit, admitAcceptance } from '../../src/action/admit.ts';
import { readRequest, requestText } from '../../src/action/approved-request.ts';
import { readerOn } from '../../src/action/pull-request-reader.ts';
import type { Trigger } from '../../src/action/trigger.ts';
import { githubSchema } from '../../src/config/github.ts';
import { applyOverrides } from '../../src/config/overrides.ts';
import { namingStyles } from '../../src/config/parameters.ts';
import type { Config } from '../../src/config/schema.ts';
import { testbedsFor } from '../../src/config/select-testbeds.ts';
import { fetchPullRequest } from '../../src/forge/github/pull-request.ts';
import type { Occasion } from '../../src/forge/patch/authorize.ts';
import type { BisectOverrides } from '../../src/forge/patch/bisect-command.ts';
import { openRepository, RepositoryError } from '../../src/forge/patch/repository.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { type DataIndex, emptyIndex } from '../../src/publish/data-branch/layout.ts';
import { type CommentUpdate, composeComment } from '../../src/publish/reporters/comment-text.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { aConfig } from '../fakes/plan.ts';
import { commit, git, newRepository, plantHistory } from '../fakes/repository.ts';
import { aCell, aResult, revision } from '../fakes/result.ts';
import { times } from '../random.ts';

const repositoryName = 'example/router';
const noon = '2026-11-20T12:00:00Z';

let github: FakeGitHub;
let commits: { directory: string; base: string; older: string; head: string };
/** Commits from which a configuration was read. */
let configsOf: string[];

/** Shared by all tests, because they only read objects. */
beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
  git(directory, 'init', '--quiet', '--initial-branch=main');
  const base = commit(directory, { a: '0' }, {}, 'The base');
  const older = commit(directory, { a: '1' }, {}, 'A first try');
  const head = commit(directory, { a: '2' }, {}, 'A second try');
  commits = { directory, base, older, head };
});

afterAll(() => rmSync(commits.directory, { recursive: true }));

/** carol may write, dan is on the list; #7 comes from a fork, #8 from a branch of the repository itself. */
beforeEach(async () => {
  const { base, older, head } = commits;
  configsOf = [];
  const pullRequest = { title: 'Drop 254', author: 'alice', baseCommit: base, headCommit: head };
  github = await startFakeGitHub({
    repository: repositoryName,
    pullRequests: [
      { ...pullRequest, number: 7, headRepository: 'alice/router' },
      { ...pullRequest, number: 8, headCommit: older, headRepository: repositoryName },
    ],
  });
  Object.assign(github.state.permissions, { carol: 'write', erin: 'triage' });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

const config = aConfig({ github: githubSchema.parse({ people: ['dan'] }) });

const both = aConfig({ families: ['inet4', 'inet6'] });

async function depsOf(changes: Partial<AdmitDeps & { config: Config }> = {}): Promise<AdmitDeps> {
  return {
    pullRequests: readerOn(await hastyOctokit(github), repositoryName),
    repository: openRepository(commits.directory),
    async readConfig(of) {
      configsOf.push(of);
      return changes.config ?? config;
    },
    readRevision: () => expect.fail('no revision is asked for'),
    nameOf(read, overrides) {
      testbedsFor(applyOverrides(read, overrides, namingStyles.comment), overrides.testbed);
      return 'ppsgate';
    },
    checkBisection(read, overrides) {
      testbedsFor(applyOverrides(read, overrides, namingStyles.comment), overrides.testbed);
    },
    naming: namingStyles.comment,
    commit: commits.base,
    priority: undefined,
    ...changes,
  };
}

const admitted = async (trigger: Trigger, changes?: Parameters<typeof depsOf>[0]) =>
  admit(trigger, await depsOf(changes));

async function event(number: number, occasion: Occasion): Promise<Trigger> {
  const found = await fetchPullRequest(await hastyOctokit(github), repositoryName, number);
  if (found.kind !== 'found') throw new Error(found.why);
  return { kind: 'pull-request', found, occasion };
}

const pushed = (number: number, by: string) => event(number, { kind: 'pushed', by });

const labelled = (by: string, label = 'ppsgate', at = noon) => event(7, { kind: 'labelled', by, label, at });

const comment = (text: string, by = 'carol', number = 7): Trigger => ({
  kind: 'comment',
  number,
  id: 31,
  by,
  at: noon,
  text,
});

const dispatched = (patch: string, overrides = {}): Trigger => ({
  kind: 'dispatched',
  by: 'carol',
  patch,
  overrides,
});

/** Our comment on #7, as if ppsgate had written it with these. */
function remembered(changes: Partial<CommentUpdate> = {}, before?: string): string {
  const at = new Date('2026-11-20T11:00:00Z');
  const { head: headCommit } = commits;
  const body = composeComment(before, 'So it stands.', {
    name: 'ppsgate',
    run: 41,
    headCommit,
    overrides: {},
    at,
    ...changes,
  });
  github.state.comments = [{ id: 11, number: 7, author: 'github-actions[bot]', body: body ?? '' }];
  return body ?? '';
}

/** #9 has the head of #7, and goes to another branch. */
function alsoAtHead(): void {
  const seventh = github.state.pullRequests.find(({ number }) => number === 7);
  if (seventh === undefined) throw new Error('There is a #7.');
  github.state.pullRequests.push({ ...seventh, number: 9, baseRef: 'lax' });
}

/** A request, as the next job reads it. */
function requestOf(admission: Admission) {
  if (admission.kind !== 'gate') throw new Error(`${admission.kind}: ${admission.why}`);
  expect(readRequest(requestText(admission.request))).toEqual(admission.request);
  return admission.request;
}

const refused = (why: RegExp, name = noticeName) => ({
  kind: 'refused',
  config,
  name,
  pullRequest: expect.objectContaining({ number: 7 }),
  why: expect.stringMatching(why),
});

describe('a level', () => {
  const marker = '<!-- ppsgate change 0123456789ab -->';
  const anIssue = (author: string, body: string) => {
    const times = { createdAt: noon, updatedAt: noon };
    const about = { title: 'Slower', labels: [], state: 'open' as const, reason: null };
    github.state.issues.push({ number: 12, author, body, ...about, ...times });
  };
  const acceptedBy = async (by: string, number = 12) =>
    admitAcceptance({ number, by }, { octokit: await hastyOctokit(github), repositoryName });

  test('is accepted in our issue by who may write', async () => {
    anIssue('github-actions[bot]', `${marker}\n\nSlower.`);
    expect(await acceptedBy('carol')).toMatchObject({ kind: 'accept', id: '0123456789ab' });
  });

  // A user without write access writes `/ppsgate accept`. Defence: The permission is checked, and no reply means no
  // approval.
  test.each(['dan', 'erin', 'mallory', 'nobody'])('is not accepted by %s', async (by) => {
    anIssue('github-actions[bot]', marker);
    expect(await acceptedBy(by)).toMatchObject({ kind: 'nothing' });
  });

  test('is not accepted in an issue of another author, in spite of its text', async () => {
    anIssue('mallory', marker);
    expect(await acceptedBy('carol')).toMatchObject({ kind: 'nothing' });
  });

  test.each(['', 'Slower.', ` ${marker}`, '<!-- ppsgate change $(reboot) -->'])(
    'is not accepted in an issue of ours that is of no change: %j',
    async (body) => {
      anIssue('github-actions[bot]', body);
      expect(await acceptedBy('carol')).toMatchObject({ kind: 'nothing' });
    },
  );
});

describe('a pull request that is pushed', () => {
  test('from a branch of the repository itself is measured at its head', async () => {
    const admission = await admitted(await pushed(8, 'bob'));
    expect(requestOf(admission)).toEqual({
      patch: {
        kind: 'pull-request',
        repository: repositoryName,
        number: 8,
        title: 'Drop 254',
        author: 'alice',
        url: 'https://github.com/example/router/pull/8',
        baseBranch: 'main',
        baseCommit: commits.base,
        headCommit: commits.older,
      },
      overrides: {},
      priority: 'patch',
      purpose: 'patch',
    });
  });

  // A patch changes `ppsgate.yml` to be admitted or to pass. Defence: The file is read from the base commit.
  test('uses the configuration of its base, never of its head', async () => {
    await admitted(await pushed(8, 'bob'));
    await admitted(comment(`/ppsgate run ${commits.head}`));
    expect(new Set(configsOf)).toEqual(new Set([commits.base]));
  });

  test('from a fork is refused in the comment of the gate, which then names its head', async () => {
    expect(await admitted(await pushed(7, 'alice'))).toEqual(
      refused(
        /^Thank you for #7: because it comes from alice\/router, .* written \/ppsgate run [0-9a-f]{40}\.$/,
        'ppsgate',
      ),
    );
  });
});

describe('the label', () => {
  // A push follows the approval. Defence: An approval covers one commit: that of the label's event, or the one that the
  // command names.
  test('put by a maintainer approves the head as the event has it', async () => {
    remembered();
    const trigger = await labelled('carol');
    for (const pullRequest of github.state.pullRequests) pullRequest.headCommit = 'c'.repeat(40);
    const { patch } = requestOf(await admitted(trigger));
    expect(patch.headCommit).toBe(commits.head);
  });

  test('put a second after a push does not approve the pushed head', async () => {
    remembered({ headCommit: commits.older });
    expect(await admitted(await labelled('carol'))).toEqual(
      refused(/may have been pushed after the label was added: read it, then write/),
    );
  });

  test('has the configured name', async () => {
    remembered();
    const renamed = { ...config, github: githubSchema.parse({ label: 'to the lab' }) };
    const trigger = await labelled('carol', 'to the lab');
    expect((await admitted(trigger, { config: renamed })).kind).toBe('gate');
  });
});

describe('a pull request that is opened again, or sent to another branch', () => {
  const revived = (number: number, by: string) => event(number, { kind: 'revived', by });
  const title = '🟢 #7 loses nothing that matters: 1.00 % at most, where 2 % would matter';

  const ofDan = () => {
    for (const pullRequest of github.state.pullRequests) pullRequest.author = 'dan';
  };

  test('is measured where there was approval for its head before', async () => {
    ofDan();
    remembered({ title });
    expect((await admitted(await revived(7, 'dan'))).kind).toBe('gate');
  });

  // A pull request is reopened after another user pushed to its fork. Defence: GitHub does not say who pushed, so the
  // head must have been approved before.
  test('is refused where another person may have pushed its head', async () => {
    ofDan();
    remembered({ headCommit: commits.older, title });
    expect(await admitted(await revived(7, 'dan'))).toEqual(
      refused(/^Thank you for #7: because it comes from alice\/router/, 'ppsgate'),
    );
  });
});

describe('/ppsgate run', () => {
  test('with the head of a fork measures it, with the requested overrides', async () => {
    const text = `/ppsgate run ${commits.head} forwarding inet4 margin=1% runs=20`;
    const { patch, overrides, priority } = requestOf(await admitted(comment(text)));
    expect(patch.headCommit).toBe(commits.head);
    expect(overrides).toEqual({
      scenarios: 'forwarding',
      families: 'inet4',
      margin: '1%',
      maxRuns: '20',
    });
    expect(priority).toBe('patch');
  });

  test('with a short id needs our own comment with the head, no copy of it by others', async () => {
    const short = comment(`/ppsgate run ${commits.head.slice(0, 12)}`);
    expect(await admitted(short)).toEqual(refused(new RegExp(`/ppsgate run ${commits.head}\\.$`)));
    remembered();
    expect((await admitted(short)).kind).toBe('gate');
    const [ours] = github.state.comments;
    const quoted = { id: 12, number: 7, author: 'alice', body: ours?.body ?? '' };
    github.state.comments = [quoted];
    expect((await admitted(short)).kind).toBe('refused');
    github.state.comments = [{ ...quoted, author: 'github-actions[bot]', body: `> quoted\n\n${quoted.body}` }];
    expect((await admitted(short)).kind).toBe('refused');
  });

  test('alone approves a head that our comment has named before', async () => {
    remembered();
    expect((await admitted(comment('/ppsgate run'))).kind).toBe('gate');
  });

  test('alone is none where no comment has named the head', async () => {
    const unseen = refused(/may have been pushed after the command: read it, and write/);
    expect(await admitted(comment('/ppsgate run'))).toEqual(unseen);
  });

  // A refused command replaces the verdict. Defence: The reply is posted beside the comment with the verdict.
  test.each(['mallory', 'alice', 'erin'])(
    'by %s is refused beside the comment of the gate, and not in its place',
    async (by) => {
      remembered();
      const text = `/ppsgate run ${commits.head}`;
      expect(await admitted(comment(text, by))).toEqual(refused(new RegExp(`^Thank you, ${by}: `)));
    },
  );

  test('is carried out for a closed pull request that it names', async () => {
    for (const pullRequest of github.state.pullRequests) pullRequest.state = 'closed';
    expect((await admitted(comment('/ppsgate run', 'carol', 8))).kind).toBe('gate');
  });

  test('for a pull request that is gone fails by a sentence', async () => {
    await expect(admitted(comment('/ppsgate run', 'carol', 9))).rejects.toThrow(
      new UsageError(
        'There is no pull request #9 of example/router, or the token cannot see it: check the number, and that the job has `pull-requests: read`.',
      ),
    );
  });

  test.each([
    ['/ppsgate rnu', 'there is no command "rnu"; write /ppsgate run'],
    ['/ppsgate run $(reboot)', 'run takes no "$(reboot)"; write /ppsgate run'],
    ['/ppsgate run forwading', expect.stringMatching(/^scenarios: .*"forwading"; did you mean `forwarding`\?/)],
    ['/ppsgate run margin=much', expect.stringMatching(/^margin: .*much/)],
    ['/ppsgate run runs=0', expect.stringMatching(/^runs: expected a whole number/)],
    ['/ppsgate run ipv4', expect.stringMatching(/^scenarios: .*"ipv4"; did you mean the family `inet4`\?$/)],
    ['/ppsgate run testbed=mars', expect.stringMatching(/mars/)],
  ])('%j gets a reply on what is wrong, and measures nothing', async (text, why) => {
    const admission = await admitted(comment(text, 'carol', 8));
    expect(admission).toMatchObject({ kind: 'mistaken', why });
    expect((await admitted(comment(text, 'dan', 8))).kind).toBe('mistaken');
    expect(await admitted(comment(text, 'mallory', 8))).toEqual({ kind: 'nothing', why });
  });

  test('reports a base without configuration to people with write access', async () => {
    const readConfig = () => Promise.reject(new UsageError('The base has no ppsgate.yml.'));
    const kinds = ['carol', 'mallory'].map(async (by) => {
      const admission = await admitted(comment('/ppsgate run', by, 8), { readConfig });
      return [by, admission.kind, admission.kind !== 'gate' && admission.why];
    });
    expect(await Promise.all(kinds)).toEqual([
      ['carol', 'mistaken', 'The base has no ppsgate.yml.'],
      ['mallory', 'nothing', 'The base has no ppsgate.yml.'],
    ]);
  });
});

describe('a person on the list without write access', () => {
  test('does not reuse for a later head the request of a person with write access', async () => {
    remembered({ overrides: { margin: '50%' } });
    const command = `/ppsgate rerun ${commits.head}`;
    expect(await admitted(comment(command, 'dan'))).toEqual(refused(/as configured in ppsgate\.yml/));
    expect((await admitted(comment(command, 'carol'))).kind).toBe('gate');
  });
});

describe('/ppsgate rerun', () => {
  test('measures the last request again, after new patches', async () => {
    remembered({ overrides: { margin: '1%', families: 'inet4' } });
    const request = requestOf(await admitted(comment('/ppsgate rerun')));
    expect(request.overrides).toEqual({ margin: '1%', families: 'inet4' });
    expect(request).toMatchObject({ priority: 'rerun', patch: { headCommit: commits.head } });
    expect(request.extend).toBeUndefined();
  });

  test('without a remembered request measures as configured', async () => {
    const { overrides } = requestOf(await admitted(comment(`/ppsgate rerun ${commits.head}`)));
    expect(overrides).toEqual({});
  });

  test('with a scenario or testbed that is no longer configured gets a reply with the reason', async () => {
    remembered({ overrides: { scenarios: 'pf-mine' } });
    const admission = await admitted(comment('/ppsgate rerun'));
    expect(admission).toMatchObject({ kind: 'mistaken', why: expect.stringContaining('pf-mine') });
  });
});

describe('/ppsgate extend', () => {
  const title = '🟡 #7 may lose 2 % or not';

  test('continues the run that gave the last verdict on the head', async () => {
    remembered({ run: 42 }, remembered({ overrides: { margin: '1%' }, title }));
    const request = requestOf(await admitted(comment('/ppsgate extend runs=40')));
    expect(request.extend).toEqual({ run: 41, maxRuns: '40' });
    expect(request.priority).toBe('rerun');
  });

  test.each<[string, () => unknown]>([
    ['there was no verdict', () => remembered()],
    [
      'the verdict was of an earlier push',
      () => remembered({ run: 42 }, remembered({ title, headCommit: commits.older })),
    ],
  ])('says what to do where %s', async (_, before) => {
    before();
    expect(await admitted(comment('/ppsgate extend'))).toMatchObject({
      kind: 'mistaken',
      why: `There is no experiment to extend for ${commits.head.slice(0, 12)}: write /ppsgate run first.`,
    });
  });
});

describe('/ppsgate bisect', () => {
  const bisection = (admission: Admission) => {
    if (admission.kind !== 'bisect') throw new Error(`${admission.kind}: ${admission.why}`);
    expect(readRequest(requestText(admission.request))).toEqual(admission.request);
    return admission.request;
  };

  /** The command that the answer to another one names. */
  function commandIn(admission: Admission): string {
    const [, command] = /and write (\/ppsgate bisect .*)\.$/.exec(admission.why) ?? [];
    if (command === undefined) throw new Error(`${admission.kind}: ${admission.why}`);
    return command;
  }

  /** Requests the list first, and then sends its approval. */
  const approved = async (text: string, changes?: Parameters<typeof depsOf>[0]) =>
    bisection(await admitted(comment(commandIn(await admitted(comment(text), changes))), changes));

  test('is of the commits of the pull request, from where it parted to its head', async () => {
    const request = await approved(`/ppsgate bisect ${commits.head}`);
    expect(request).toEqual({
      command: 'bisect',
      patch: expect.objectContaining({ number: 7, headCommit: commits.head }),
      good: commits.base,
      bad: commits.head,
      isOwn: true,
      cell: { scenario: 'forwarding', family: 'inet4' },
      overrides: {},
      priority: 'patch',
    });
  });

  test('is of commits that are named, as they are then', async () => {
    const text = '/ppsgate bisect main~2 main~1 inet6 fix-up=main:main~1 skip=main~2..main max-boots=9';
    const request = bisection(await admitted(comment(text), { config: both }));
    const { base, older, head } = commits;
    expect(request).toMatchObject({
      good: base,
      bad: older,
      cell: { scenario: 'forwarding', family: 'inet6' },
      overrides: { fixUp: `${head}:${older}`, skip: `${base}..${head}`, maxBoots: '9' },
    });
  });

  test('resolves a branch that the checkout has only of its origin', async () => {
    git(commits.directory, 'update-ref', 'refs/remotes/origin/stable', commits.older);
    const request = bisection(await admitted(comment('/ppsgate bisect main~2 stable')));
    expect(request.bad).toBe(commits.older);
  });

  test('measures the worst cell of the newest result that the data branch has', async () => {
    const { directory, head } = commits;
    const losing = (scenario: string, family: 'inet4' | 'inet6', change: number) =>
      aCell({ kind: 'regression' }, { change, low: change, high: change }, { scenario, family });
    const worst = { scenario: 'nftables-stateful', family: 'inet6' } as const;
    const cells = [losing('forwarding', 'inet4', -0.05), losing(worst.scenario, worst.family, -0.2)];
    const outcome = { kind: 'judged', verdict: 'regression', cells } as const;
    const results = ['results/2026/1', 'results/2026/2', 'results/2026/3'];
    const index: DataIndex = {
      ...emptyIndex,
      results: results.map((path, at) => ({
        path,
        at: noon,
        testbed: 'fake',
        patch: at === 2 ? '#8' : '#7',
        outcome: 'regression',
        others: [],
        bytes: 1,
      })),
    };
    const files = {
      'index.json': JSON.stringify(index),
      'results/2026/1/result.json': JSON.stringify(aResult()),
      'results/2026/2/result.json': JSON.stringify(aResult({ outcome })),
      'results/2026/3/result.json': '{}',
    };
    git(directory, 'checkout', '--quiet', '--detach');
    const data = commit(directory, files);
    git(directory, 'checkout', '--quiet', 'main');
    git(directory, 'update-ref', 'refs/remotes/origin/ppsgate-data', data);
    const { cell } = await approved(`/ppsgate bisect ${head}`, { config: both });
    expect(cell).toEqual(worst);
    const asked = await approved(`/ppsgate bisect ${head} inet4`, { config: both });
    expect(asked.cell).toEqual({ scenario: 'forwarding', family: 'inet4' });
    git(directory, 'update-ref', '-d', 'refs/remotes/origin/ppsgate-data');
  });

  // `/ppsgate bisect HEAD` builds commits that are in no diff of the pull request, or on no branch. Defence: All
  // commits are listed by full ids first; the approval names a digest of that list.
  test('of a fork lists each commit with its full id, and is approved as that list', async () => {
    const { older, head } = commits;
    const listed = await admitted(comment(`/ppsgate bisect ${head} inet4`));
    expect(listed).toEqual({
      ...refused(/ may build each of these 2 commits and run it on the testbed: read all of them, /),
      what: 'no bisection',
      commits: [older, head],
    });
    const command = commandIn(listed);
    expect(command).toContain(`/ppsgate bisect ${head} `);
    expect(bisection(await admitted(comment(command))).cell.family).toBe('inet4');
    const byHand: Trigger = {
      kind: 'dispatched',
      by: 'carol',
      patch: '#7',
      overrides: {},
      bisect: { kind: 'bisect', overrides: {}, commit: head },
    };
    expect(await admitted(byHand)).toMatchObject({ kind: 'refused', commits: [older, head] });
  });

  test('with the approval of another list is refused, and lists the commits again', async () => {
    const { directory, base, older, head } = commits;
    const command = commandIn(await admitted(comment(`/ppsgate bisect ${head}`)));
    // The same head tree by another way: a commit was added and removed within the pull request.
    const tree = `${head}^{tree}`;
    const hidden = git(directory, 'commit-tree', `${base}^{tree}`, '-p', older, '-m', 'Hidden');
    const forced = git(directory, 'commit-tree', tree, '-p', hidden, '-m', 'A second try');
    const seventh = github.state.pullRequests.find(({ number }) => number === 7);
    Object.assign(seventh ?? {}, { headCommit: forced });
    expect(await admitted(comment(command))).toEqual({
      ...refused(/ instead of /),
      what: 'no bisection',
    });
    const listed = await admitted(comment(command.replace(head, forced)));
    expect(listed).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/^The commits differ from the list that you named\. /),
      commits: [older, hidden, forced],
    });
    expect(bisection(await admitted(comment(commandIn(listed)))).bad).toBe(forced);
  });

  test('of named commits lists those that are on no branch, at any pull request', async () => {
    const { directory, older, head } = commits;
    const tree = `${head}^{tree}`;
    const loose = git(directory, 'commit-tree', tree, '-p', older, '-m', 'Fetched from a fork');
    const fixUp = git(directory, 'commit-tree', tree, '-p', older, '-m', 'Another one');
    const text = `/ppsgate bisect main~2 ${loose} fix-up=${fixUp}`;
    const listed = await admitted(comment(text, 'carol', 8));
    expect(listed).toMatchObject({ kind: 'refused', commits: [loose, fixUp] });
    expect((await admitted(comment(commandIn(listed), 'carol', 8))).kind).toBe('bisect');
    expect((await admitted(comment('/ppsgate bisect main~2 main', 'carol', 8))).kind).toBe('bisect');
    const byHand: Trigger = {
      kind: 'dispatched',
      by: 'carol',
      patch: `main~2..${loose}`,
      overrides: {},
      bisect: { kind: 'bisect', overrides: {} },
    };
    await expect(admitted(byHand)).rejects.toThrow(new RegExp(` The list: ${loose}$`));
  });

  // A pull request has thousands of commits, so that the list is not read. Defence: A list has at most 100 commits,
  // else the command is refused.
  test('of more commits than a person can read is neither listed nor admitted', async () => {
    const directory = newRepository();
    const ids = plantHistory(
      directory,
      Array.from({ length: 102 }, () => ({})),
    );
    const [base = '', head = ''] = [ids.at(0), ids.at(-1)];
    const seventh = github.state.pullRequests.find(({ number }) => number === 7);
    Object.assign(seventh ?? {}, { baseCommit: base, headCommit: head });
    const repository = openRepository(directory);
    const many = await admitted(comment(`/ppsgate bisect ${head}`), { repository });
    expect(many).toMatchObject({ kind: 'mistaken', why: expect.stringMatching(/ more than 100 /) });
    Object.assign(seventh ?? {}, { baseCommit: ids[1] });
    const listed = await admitted(comment(`/ppsgate bisect ${head}`), { repository });
    expect(listed).toMatchObject({ kind: 'refused', commits: ids.slice(2) });
  });

  test.each([
    ['/ppsgate bisect', /^#8 has one commit, so there is nothing to bisect: write /],
    ['/ppsgate bisect main nowhere', /^bad: "nowhere" is not a commit, branch or tag of /],
    ['/ppsgate bisect main~2 main fix-up=gone', /^fix-up: "gone" is not a commit, /],
    ['/ppsgate bisect main~2 main skip=main~2..gone', /^skip: "gone" is not a commit, /],
    ['/ppsgate bisect main~2 main forwarding testbed=mars', /mars/],
    ['/ppsgate bisect main~2 main forwading', /"forwading"; did you mean `forwarding`/],
    ['/ppsgate bisect main..my-branch', /; write \/ppsgate bisect main my-branch$/],
  ])('%j gets a reply on what is wrong, and measures nothing', async (text, why) => {
    const told = { why: expect.stringMatching(why) };
    expect(await admitted(comment(text, 'carol', 8))).toMatchObject({ kind: 'mistaken', ...told });
  });

  test('started manually bisects a range, named commits, or a pull request', async () => {
    const { base, older, head } = commits;
    const asked = (patch: string, overrides: BisectOverrides): Trigger => ({
      kind: 'dispatched',
      by: 'carol',
      patch,
      overrides: {},
      bisect: { kind: 'bisect', overrides },
    });
    const byHand = async (patch: string, overrides: BisectOverrides = {}) =>
      bisection(await admitted(asked(patch, overrides)));
    expect(await byHand('main~2..main')).toMatchObject({ good: base, bad: head });
    expect(await byHand('', { good: 'main~1', bad: 'main' })).toMatchObject({
      good: older,
      bad: head,
      patch: { kind: 'range', baseCommit: older, headCommit: head },
    });
    const named = await byHand('#7', { good: 'main~1', bad: 'main' });
    expect(named).toMatchObject({ good: older, bad: head, patch: { number: 7 } });
    await expect(admitted(asked('', {}))).rejects.toThrow(/needs a good and a bad commit/);
    await expect(admitted(asked('', { good: 'main' }))).rejects.toThrow(/needs a good and a bad commit/);
  });
});

describe('a command that measures nothing', () => {
  test.each(['carol', 'dan'])('%s may cancel', async (by) => {
    expect(await admitted(comment('/ppsgate cancel', by))).toMatchObject({
      kind: 'cancel',
      pullRequest: { number: 7 },
      why: `${by} cancelled it.`,
    });
  });

  test('a stranger may not cancel', async () => {
    expect(await admitted(comment('/ppsgate cancel', 'mallory'))).toEqual({
      ...refused(/^Thank you, mallory: runs for #7 are not cancelled; people with write access to /),
      what: 'not cancelled',
    });
  });

  test('gives help to any user', async () => {
    expect(await admitted(comment('/ppsgate help', 'mallory'))).toMatchObject({ kind: 'help' });
    expect(await admitted(comment('/ppsgate', 'mallory'))).toMatchObject({ kind: 'help' });
  });
});

describe('a manual run', () => {
  test.each(['#8', '8'])('%s measures the pull request, with the requested overrides', async (name) => {
    const request = requestOf(await admitted(dispatched(name, { margin: '1%' })));
    expect(request).toMatchObject({ patch: { number: 8 }, overrides: { margin: '1%' } });
  });

  // A push precedes a manual start with `#123`, or a re-run. Defence: The head of a fork must be named.
  test('a fork’s pull request must be named by its head, which may have changed since', async () => {
    expect(await admitted(dispatched('#7'))).toEqual(refused(/start a run with [0-9a-f]{40} in/));
    const short = commits.head.slice(0, 12);
    expect(await admitted(dispatched(short))).toEqual(refused(/start a run with [0-9a-f]{40} in/));
    expect((await admitted(dispatched(commits.head))).kind).toBe('gate');
  });

  // A commit in the clone begins like the one that a maintainer means in `bisect GOOD BAD`, `fix-up=` or a manual
  // start. Defence: Short ids name only commits of branches and tags.
  test('the first digits of a commit that is on no branch name nothing', async () => {
    const { directory, head } = commits;
    const tree = `${head}^{tree}`;
    const loose = git(directory, 'commit-tree', tree, '-p', head, '-m', 'Fetched from a fork');
    const short = loose.slice(0, 12);
    const why = /so write the full ID/;
    for (const patch of [short, `main..${short}`, `main..${short}~0`, `main..v1-1-g${short}`]) {
      await expect(admitted(dispatched(patch))).rejects.toThrow(why);
    }
    git(directory, 'update-ref', 'refs/remotes/pull/7/merge', loose);
    await expect(admitted(dispatched(`main..${short}`))).rejects.toThrow(why);
    const bisected = comment(`/ppsgate bisect main~2 ${short}`, 'carol', 8);
    expect(await admitted(bisected)).toMatchObject({
      kind: 'mistaken',
      why: expect.stringMatching(why),
    });
    git(directory, 'update-ref', '-d', 'refs/remotes/pull/7/merge');
    expect((await admitted(dispatched(`main..${loose}`))).kind).toBe('gate');
  });

  test('a commit that several pull requests have as their head is refused', async () => {
    alsoAtHead();
    await expect(admitted(dispatched(commits.head))).rejects.toThrow(
      new UsageError(
        `patch: #7 and #9 have the head ${commits.head}: write /ppsgate run ${commits.head} in the intended one.`,
      ),
    );
  });

  test('a commit that is the head of a pull request is that pull request', async () => {
    const { patch } = requestOf(await admitted(dispatched(commits.older)));
    expect(patch).toMatchObject({ kind: 'pull-request', number: 8, headCommit: commits.older });
  });

  test('any other commit is measured against the one before it', async () => {
    const { directory, head } = commits;
    const next = commit(directory, { a: '3' }, {}, 'A third try');
    const { patch } = requestOf(await admitted(dispatched(next.slice(0, 10))));
    expect(patch).toEqual({
      kind: 'range',
      title: 'A third try',
      author: 'Alice',
      baseCommit: head,
      headCommit: next,
    });
    expect(configsOf).toEqual([head]);
  });

  test('a range is measured from its one end to its other', async () => {
    const { directory, base, head } = commits;
    git(directory, 'branch', 'mine', head);
    const { patch } = requestOf(await admitted(dispatched(`${base.slice(0, 10)}..mine`)));
    expect(patch).toMatchObject({ kind: 'range', baseCommit: base, headCommit: head });
  });

  test.each(['', 'main', '#', '$(reboot)', 'D', 'D0', '1; reboot', 'abc', '--help'])(
    '%j is refused with the valid forms',
    async (name) => {
      await expect(admitted(dispatched(name))).rejects.toThrow(
        new UsageError(
          `patch: expected a pull request like #123, a revision like D27401, a commit or a range like main..my-branch, found "${name}".`,
        ),
      );
    },
  );

  // A manual start of `$(reboot)..main` or `--upload-pack=…`. Defence: git gets only commit names, after
  // `--end-of-options`, never through a shell.
  test.each(['$(reboot)..main', '--upload-pack=reboot..main', 'f'.repeat(40), '1234567'])(
    '%j names nothing that the repository has',
    async (name) => {
      await expect(admitted(dispatched(name))).rejects.toThrow(RepositoryError);
    },
  );
});

describe('a revision', () => {
  type Dispatched = Extract<Trigger, { kind: 'dispatched' }>;

  /** Requests to Phabricator. */
  async function admittedRevision(more: Partial<Dispatched>, changes: Partial<AdmitDeps> = {}) {
    const read: Dispatched[] = [];
    const trigger: Dispatched = {
      kind: 'dispatched',
      by: 'bench-bot',
      patch: 'D27401:80700',
      overrides: {},
      ...more,
    };
    const admission = await admitted(trigger, {
      async readRevision(asked) {
        read.push(asked);
        return { patch: revision, config };
      },
      ...changes,
    });
    return { admission, read, trigger };
  }

  test.each(['D27401:80700', 'D27401', 'diff:80700', 'https://phabricator.example/D27401?id=80700'])(
    'that a job was started for is measured as it was read: %s',
    async (patch) => {
      const { admission, read, trigger } = await admittedRevision({ patch });
      expect(read).toEqual([trigger]);
      expect(requestOf(admission)).toMatchObject({
        patch: revision,
        overrides: {},
        purpose: 'patch',
      });
      expect(admission.why).toBe('bench-bot started it for D27401.');
    },
  );

  test('is reported under the key of the requesting relay, and to the waiting build', async () => {
    const place = { key: 'PHID-HMBT-a', build: 'PHID-HMBD-a' };
    const { admission, read } = await admittedRevision({ ...place, overrides: { earlier: 'all' } });
    expect(read).toMatchObject([{ ...place, overrides: { earlier: 'all' } }]);
    expect(requestOf(admission)).toMatchObject({
      relay: place,
      overrides: { earlier: 'all' },
    });
  });

  test('is queued as a patch, unless the job is run again', async () => {
    const { admission } = await admittedRevision({});
    expect(requestOf(admission).priority).toBe('patch');
    const again = await admittedRevision({}, { priority: 'rerun' });
    expect(requestOf(again.admission).priority).toBe('rerun');
  });

  test('uses the configuration that it was read with, and requests nothing from GitHub', async () => {
    const own = { ...config, scenarios: ['forwarding'] };
    const readRevision = async () => ({ patch: revision, config: own });
    const { admission } = await admittedRevision({}, { readRevision });
    expect(admission).toMatchObject({ kind: 'gate', config: own });
    expect(configsOf).toEqual([]);
  });

  test.each([{ key: '../a' }, { key: 'a b' }, { build: 'PHID-DREV-a' }])(
    'with an invalid key or build is not measured: %j',
    async (place) => {
      await expect(admittedRevision(place)).rejects.toThrow();
    },
  );

  test('whose diffs are bisected has them in a line, each with all files of one diff', async () => {
    const { directory, base, older, head } = commits;
    const patch = { ...revision, baseCommit: base, headCommit: base };
    const diffs = [older, head].map((headCommit, index) => ({ diff: 80345 + index, headCommit }));
    const of = async (bisect: BisectOverrides, earlier: typeof diffs) => {
      const trigger: Trigger = {
        kind: 'dispatched',
        by: 'bench-bot',
        patch: 'D27401:80700',
        overrides: {},
        bisect: { kind: 'bisect', overrides: bisect },
        key: 'PHID-XACT-a',
      };
      const read: Dispatched[] = [];
      const admission = await admitted(trigger, {
        async readRevision(asked) {
          read.push(asked);
          return { patch: { ...patch, earlier }, config };
        },
      });
      return { admission, asked: read[0]?.overrides };
    };
    const { admission, asked } = await of({}, diffs);
    if (admission.kind !== 'bisect') throw new Error(admission.why);
    const { bad, ...request } = admission.request;
    expect(asked).toEqual({ earlier: 'all' });
    expect(request).toMatchObject({
      good: base,
      isOwn: true,
      relay: { key: 'PHID-XACT-a' },
    });
    const line = git(directory, 'log', '--format=%s %T', '--first-parent', `${base}..${bad}`);
    const treeOf = (commit: string) => git(directory, 'rev-parse', `${commit}^{tree}`);
    expect(line.split('\n')).toEqual([
      `D${revision.number} diff ${revision.diff} ${treeOf(base)}`,
      `D${revision.number} diff 80346 ${treeOf(head)}`,
      `D${revision.number} diff 80345 ${treeOf(older)}`,
    ]);
    const named = await of({ good: base, bad: head }, []);
    expect(named).toMatchObject({
      asked: { earlier: 'none' },
      admission: { request: { good: base, bad: head, isOwn: false } },
    });
    await expect(of({}, [])).rejects.toThrow(/^D\d+ has no earlier diff than \d+ that applies/);
  });
});

describe('a button of the check', () => {
  const button = (headCommit: string, more = {}): Trigger => ({
    kind: 'button',
    by: 'carol',
    button: 'rerun',
    headCommit,
    ...more,
  });

  test('measures the commit of its check, with the last overrides', async () => {
    remembered({ overrides: { margin: '1%' } });
    const request = requestOf(await admitted(button(commits.head)));
    expect(request).toMatchObject({
      patch: { number: 7, headCommit: commits.head },
      overrides: { margin: '1%' },
      priority: 'rerun',
    });
  });

  test('extends an inconclusive gate', async () => {
    remembered({ title: '🟡 #7 may lose 2 % or not' });
    const { extend } = requestOf(await admitted(button(commits.head, { button: 'extend' })));
    expect(extend).toEqual({ run: 41 });
  });

  // Several pull requests share the button of a check. Defence: The check names its pull request, or nothing is
  // measured.
  test('is for the pull request that its check was made for, of several with one head', async () => {
    alsoAtHead();
    for (const number of [7, 9]) {
      const { patch } = requestOf(await admitted(button(commits.head, { number })));
      expect(patch).toMatchObject({ number });
    }
    expect((await admitted(button(commits.head, { number: 8 }))).kind).toBe('nothing');
  });

  test('measures nothing if the check does not name its gate', async () => {
    alsoAtHead();
    expect(await admitted(button(commits.head))).toEqual({
      kind: 'nothing',
      why: `#7 and #9 have the head ${commits.head}: write /ppsgate rerun in the intended one.`,
    });
  });

  test('pressed by a stranger is refused, for GitHub does not promise who may', async () => {
    const admission = await admitted(button(commits.head, { by: 'mallory' }));
    expect(admission).toEqual(refused(/^Thank you, mallory: /));
  });
});

describe('a push to the default branch', () => {
  const push = (before: string): Trigger => ({ kind: 'push', before, after: commits.head });

  test('is measured against what was there before', async () => {
    const request = requestOf(await admitted(push(commits.base)));
    expect(request).toMatchObject({
      patch: { kind: 'range', baseCommit: commits.base, headCommit: commits.head },
      priority: 'rerun',
      purpose: 'history',
    });
    expect(configsOf).toEqual([commits.base]);
  });

  test.each([
    ['was nothing', '0'.repeat(40)],
    ['is gone after a forced push', 'd'.repeat(40)],
  ])('is measured against its parent where what was before %s', async (_, before) => {
    const { patch } = requestOf(await admitted(push(before)));
    expect(patch.baseCommit).toBe(commits.older);
  });
});

describe('a branch of a merge queue', () => {
  const branch = `gh-readonly-queue/main/pr-8-${'c'.repeat(40)}`;

  test('is measured upon what it would be merged upon, before patches, and as that wants it', async () => {
    const { base, head } = commits;
    const request = requestOf(await admitted({ kind: 'queued', branch, base, head }));
    expect(request).toMatchObject({
      patch: { kind: 'range', baseCommit: commits.base, headCommit: commits.head },
      overrides: {},
      priority: 'release',
      purpose: 'patch',
      queue: branch,
    });
    expect(configsOf).toEqual([commits.base]);
  });
});

test('at night the head of the default branch is measured against itself', async () => {
  const request = requestOf(await admitted({ kind: 'schedule', commit: commits.head }));
  expect(request).toMatchObject({
    patch: { kind: 'range', baseCommit: commits.head, headCommit: commits.head },
    purpose: 'nightly',
  });
});

test('the priority of the job overrides that of the trigger', async () => {
  const release = { priority: 'release' as const };
  for (const trigger of [await pushed(8, 'bob'), comment('/ppsgate rerun', 'carol', 8)]) {
    expect(requestOf(await admitted(trigger, release)).priority).toBe('release');
  }
});

// GitHub fails while permissions are requested. Defence: No reply means no approval.
test('approves nothing if GitHub does not report who may write', async () => {
  github.faults.order('repos/get-collaborator-permission-level', { kind: 'broken', status: 502 }, 9);
  await expect(admitted(comment(`/ppsgate run ${commits.head}`))).rejects.toThrow(
    'GitHub did not return the permissions of carol (502 Server Error): run the job again.',
  );
});

test('no text of a stranger has a fork measured', async () => {
  const deps = await depsOf();
  const { head } = commits;
  remembered();
  const word = fc.constantFrom('run', 'rerun', 'extend', 'cancel', head, 'runs=4', '\n', 'by=carol');
  const text = fc.oneof(
    fc.array(word, { maxLength: 4 }).map((words) => `/ppsgate ${words.join(' ')}`),
    fc.string({ unit: 'binary' }).map((rest) => `/ppsgate ${rest}`),
  );
  await fc.assert(
    fc.asyncProperty(text, async (written) => {
      const { kind } = await admit(comment(written, 'mallory'), deps);
      expect(['refused', 'mistaken', 'help', 'nothing']).toContain(kind);
    }),
    { numRuns: times(15) },
  );
});
