// Admission from an event to a request: commits, approval, and replies to people without it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Admission, type AdmitDeps, noticeName } from '../../src/action/admission.ts';
import { admit, admitAcceptance } from '../../src/action/admit.ts';
import { readRequest, requestText } from '../../src/action/approved-request.ts';
import type { Trigger } from '../../src/action/trigger.ts';
import { githubSchema } from '../../src/config/github.ts';
import { applyOverrides } from '../../src/config/overrides.ts';
import { namingStyles } from '../../src/config/parameters.ts';
import type { Config } from '../../src/config/schema.ts';
import { testbedsFor } from '../../src/config/select-testbeds.ts';
import type { Occasion } from '../../src/forge/patch/authorize.ts';
import type { BisectOverrides } from '../../src/forge/patch/bisect-command.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { type DataIndex, emptyIndex } from '../../src/publish/data-branch/layout.ts';
import { type CommentUpdate, composeComment, markerOf } from '../../src/publish/reporters/comment-text.ts';
import { hastyOctokit } from '../fakes/github/hasty-octokit.ts';
import { startFakeGitHub } from '../fakes/github/server.ts';
import { aConfig } from '../fakes/plan.ts';
import { commit, git, newRepository, plantHistory } from '../fakes/repository.ts';
import { aCell, aResult, revision } from '../fakes/result.ts';
import { anyCharacter, times } from '../random.ts';

const repositoryName = 'example/router';
const noon = '2026-11-20T12:00:00Z';

/** Shared by all tests, because they only read objects. */
const directory = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
git(directory, 'init', '--quiet', '--initial-branch=main');
const base = commit(directory, { a: '0' }, {}, 'The base');
const older = commit(directory, { a: '1' }, {}, 'A first try');
const head = commit(directory, { a: '2' }, {}, 'A second try');
const short = head.slice(0, 12);

afterAll(() => rmSync(directory, { recursive: true }));

type Found = Awaited<ReturnType<AdmitDeps['pullRequests']['find']>>;
type Comment = { author: string; body: string };

let pullRequests: Found[];
/** Comments on #7. */
let comments: Comment[];
/** Commits from which a configuration was read. */
let configsOf: string[];

const bot = 'github-actions[bot]';

function found(number: number, headCommit: string, headRepository: string): Found {
  const url = `https://github.com/${repositoryName}/pull/${number}`;
  const about = { number, url, title: 'Drop 254', author: 'alice', baseBranch: 'main', baseCommit: base, headCommit };
  return { kind: 'found', headRepository, pullRequest: { kind: 'pull-request', repository: repositoryName, ...about } };
}

/** carol may write, dan is on the list; #7 comes from a fork, #8 from a branch of the repository itself. */
beforeEach(() => {
  configsOf = [];
  comments = [];
  pullRequests = [found(7, head, 'alice/router'), found(8, older, repositoryName)];
});

const reader: AdmitDeps['pullRequests'] = {
  find: async (number) => structuredClone(numbered(number)),
  withHead: async (commit) => pullRequests.filter(({ pullRequest }) => pullRequest.headCommit === commit),
  mayWrite: async (login) => login === 'carol',
  commentOf: async ({ number }, name) =>
    comments.find(({ author, body }) => number === 7 && author === bot && body.startsWith(markerOf(name)))?.body,
};

const numbered = (number: number): Found =>
  pullRequests.find(({ pullRequest }) => pullRequest.number === number) ?? expect.fail(`There is no #${number}.`);

const config = aConfig({ github: githubSchema.parse({ people: ['dan'], label: 'to the lab' }) });

const both = aConfig({ families: ['inet4', 'inet6'] });

type Changes = Partial<AdmitDeps & { config: Config }>;

async function admitted(trigger: Trigger, changes: Changes = {}): Promise<Admission> {
  const check: AdmitDeps['checkBisection'] = (read, overrides) => {
    testbedsFor(applyOverrides(read, overrides, namingStyles.comment), overrides.testbed);
  };
  return admit(trigger, {
    pullRequests: reader,
    repository: openRepository(directory),
    async readConfig(of) {
      configsOf.push(of);
      return changes.config ?? config;
    },
    readRevision: () => expect.fail('no revision is asked for'),
    nameOf(read, overrides) {
      check(read, overrides);
      return 'ppsgate';
    },
    checkBisection: check,
    naming: namingStyles.comment,
    commit: base,
    priority: undefined,
    ...changes,
  });
}

const event = (number: number, occasion: Occasion): Trigger => ({
  kind: 'pull-request',
  found: structuredClone(numbered(number)),
  occasion,
});

const pushed = (number: number, by: string) => event(number, { kind: 'pushed', by });

const revived = () => event(7, { kind: 'revived', by: 'dan' });

const labelled = () => event(7, { kind: 'labelled', by: 'carol', label: 'to the lab', at: noon });

const comment = (text: string, by = 'carol', number = 7): Trigger => ({
  kind: 'comment',
  number,
  id: 31,
  by,
  at: noon,
  text,
});

type Dispatched = Extract<Trigger, { kind: 'dispatched' }>;

const dispatched = (patch: string, overrides = {}): Dispatched => ({
  kind: 'dispatched',
  by: 'carol',
  patch,
  overrides,
});

const button = (more = {}): Trigger => ({ kind: 'button', by: 'carol', button: 'rerun', headCommit: head, ...more });

const queue = `gh-readonly-queue/main/pr-8-${'c'.repeat(40)}`;

/** Our comment on #7, as if ppsgate had written it with these. */
function remembered(changes: Partial<CommentUpdate> = {}, before?: string): string {
  const at = new Date('2026-11-20T11:00:00Z');
  const update = { name: 'ppsgate', run: 41, headCommit: head, overrides: {}, at, ...changes };
  const body = composeComment(before, 'So it stands.', update) ?? '';
  comments = [{ author: bot, body }];
  return body;
}

const seventh = () => numbered(7).pullRequest;

/** #9 has the head of #7, and goes to another branch. */
const alsoAtHead = () => pullRequests.push(found(9, head, 'alice/router'));

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

const inconclusive = '🟡 #7 may lose 2 % or not';
const passed = '🟢 #7 loses nothing that matters: 1.00 % at most, where 2 % would matter';
const nothing = () => {};
const words = `/ppsgate run ${head} forwarding inet4 margin=1% runs=20`;
const overridesOfWords = { scenarios: 'forwarding', families: 'inet4', margin: '1%', maxRuns: '20' };
const priority = 'patch';
const ofEighth = { patch: { number: 8, headCommit: older }, overrides: {}, priority, purpose: 'patch' };
const ofRange = (baseCommit: string, headCommit = head) => ({ kind: 'range', baseCommit, headCommit });
const marginAndFamily = { margin: '1%', families: 'inet4' };
const lastOverrides = { overrides: marginAndFamily };
const ofDan = () => Object.assign(seventh(), { author: 'dan' });

const marker = '<!-- ppsgate change 0123456789ab -->';

type Setup = () => unknown;
type Making = () => Trigger | Promise<Trigger>;

test.each<[string, Setup, Making, object]>([
  ['a push to a branch of the repository itself', nothing, () => pushed(8, 'bob'), ofEighth],
  [
    'a pull request opened again, whose head had approval',
    () => [ofDan(), remembered({ title: passed })],
    revived,
    { patch: { number: 7, headCommit: head } },
  ],
  ['a command with the head of a fork', nothing, () => comment(words), { overrides: overridesOfWords, priority }],
  ['a command alone for a head that our comment names', remembered, () => comment('/ppsgate run'), { priority }],
  [
    'a rerun, after new patches',
    () => remembered(lastOverrides),
    () => comment('/ppsgate rerun'),
    { ...lastOverrides, priority: 'rerun', patch: { headCommit: head } },
  ],
  [
    'an extension of the run with the last verdict on the head',
    () => remembered({ run: 42 }, remembered({ ...lastOverrides, title: inconclusive })),
    () => comment('/ppsgate extend runs=40'),
    { extend: { run: 41, maxRuns: '40' }, priority: 'rerun' },
  ],
  [
    'a manual run of #8',
    nothing,
    () => dispatched('#8', { margin: '1%' }),
    { ...ofEighth, overrides: { margin: '1%' } },
  ],
  ['a manual run of the head of #8', nothing, () => dispatched(older), ofEighth],
  ['a manual run of the head of a fork', nothing, () => dispatched(head), { patch: { number: 7, headCommit: head } }],
  ['a manual run of a range', nothing, () => dispatched(`${base.slice(0, 10)}..main`), { patch: ofRange(base) }],
  [
    'the button of a check',
    () => remembered(lastOverrides),
    () => button(),
    { ...lastOverrides, patch: { number: 7, headCommit: head }, priority: 'rerun' },
  ],
  [
    'the button that extends',
    () => remembered({ title: inconclusive }),
    () => button({ button: 'extend' }),
    { extend: { run: 41 } },
  ],
  ['the button of #7, of two with its head', alsoAtHead, () => button({ number: 7 }), { patch: { number: 7 } }],
  [
    'a push to the default branch',
    nothing,
    () => ({ kind: 'push', before: base, after: head }),
    { patch: ofRange(base), priority: 'rerun', purpose: 'history' },
  ],
  ['a first push', nothing, () => ({ kind: 'push', before: '0'.repeat(40), after: head }), { patch: ofRange(older) }],
  ['a forced push', nothing, () => ({ kind: 'push', before: 'd'.repeat(40), after: head }), { patch: ofRange(older) }],
  [
    'a merge queue, before patches',
    nothing,
    () => ({ kind: 'queued', branch: queue, base, head }),
    { patch: ofRange(base), overrides: {}, priority: 'release', purpose: 'patch', queue },
  ],
  ['a nightly run', nothing, () => ({ kind: 'schedule', commit: head }), { patch: ofRange(head), purpose: 'nightly' }],
])('measures %s', async (_, before, trigger, request) => {
  before();
  const admission = requestOf(await admitted(await trigger()));
  expect(admission).toMatchObject(request);
  expect(admission.extend !== undefined).toBe('extend' in request);
});

const unseen = /may have been pushed after the command: read it, and write/;

test.each<[string, Setup, Making, RegExp, string?]>([
  ['a push of a fork', nothing, () => pushed(7, 'alice'), /comes from alice\/router/, 'ppsgate'],
  ['a command alone for a head that no comment names', nothing, () => comment('/ppsgate run'), unseen],
  [
    'a rerun by a person on the list of overrides that need write access',
    () => remembered({ overrides: { margin: '50%' } }),
    () => comment(`/ppsgate rerun ${head}`, 'dan'),
    /as configured in ppsgate\.yml/,
  ],
  // A refused command must not replace the verdict: the reply is posted beside the comment with it.
  ['a command of a stranger', remembered, () => comment(`/ppsgate run ${head}`, 'mallory'), /^Thank you, mallory: /],
  // Its head may have changed since.
  [
    'a manual run that names a fork’s pull request',
    nothing,
    () => dispatched('#7'),
    /start a run with [0-9a-f]{40} in/,
  ],
])('refuses %s', async (_, before, trigger, why, name) => {
  before();
  expect(await admitted(await trigger())).toEqual(refused(why, name));
});

test.each<[string, Setup, () => Trigger, object]>([
  [
    'a cancellation by carol',
    nothing,
    () => comment('/ppsgate cancel'),
    { kind: 'cancel', pullRequest: { number: 7 } },
  ],
  [
    'a cancellation by a stranger',
    nothing,
    () => comment('/ppsgate cancel', 'mallory'),
    { kind: 'refused', what: 'not cancelled', name: noticeName },
  ],
  ['a request for help by any user', nothing, () => comment('/ppsgate help', 'mallory'), { kind: 'help' }],
  [
    'a rerun of a scenario that is no longer configured',
    () => remembered({ overrides: { scenarios: 'pf-mine' } }),
    () => comment('/ppsgate rerun'),
    { kind: 'mistaken' },
  ],
  [
    'an extension of a verdict on an earlier push',
    () => remembered({ run: 42 }, remembered({ title: inconclusive, headCommit: older })),
    () => comment('/ppsgate extend'),
    { kind: 'mistaken' },
  ],
  ['a button of a check without a number, of two with its head', alsoAtHead, () => button(), { kind: 'nothing' }],
  ['an acceptance', nothing, () => ({ kind: 'acceptance', number: 12, id: 31, by: 'carol' }), { kind: 'nothing' }],
])('does not measure %s', async (_, before, trigger, admission) => {
  before();
  expect(await admitted(trigger())).toMatchObject(admission);
});

test('uses the configuration of the base, never of the head', async () => {
  await admitted(await pushed(8, 'bob'));
  await admitted(comment(`/ppsgate run ${head}`));
  await admitted({ kind: 'queued', branch: queue, base, head });
  expect(new Set(configsOf)).toEqual(new Set([base]));
});

test('measures at a label the head of the event, not what was pushed after it', async () => {
  remembered();
  const trigger = await labelled();
  for (const { pullRequest } of pullRequests) pullRequest.headCommit = 'c'.repeat(40);
  expect(requestOf(await admitted(trigger)).patch.headCommit).toBe(head);
});

test('trusts a short id only after our own comment with the head', async () => {
  const trigger = comment(`/ppsgate run ${short}`);
  expect((await admitted(trigger)).kind).toBe('refused');
  remembered();
  expect((await admitted(trigger)).kind).toBe('gate');
});

test.each(['/ppsgate rnu', '/ppsgate run forwading', '/ppsgate run margin=much', '/ppsgate run testbed=mars'])(
  'replies to the mistake of people with approval only: %s',
  async (text) => {
    const kinds = ['carol', 'dan', 'mallory'].map(async (by) => (await admitted(comment(text, by, 8))).kind);
    expect(await Promise.all(kinds)).toEqual(['mistaken', 'mistaken', 'nothing']);
  },
);

test('reports a base without configuration to people with write access', async () => {
  const readConfig = () => Promise.reject(new UsageError('The base has no ppsgate.yml.'));
  const kinds = ['carol', 'mallory'].map(async (by) => admitted(comment('/ppsgate run', by, 8), { readConfig }));
  const why = 'The base has no ppsgate.yml.';
  expect(await Promise.all(kinds)).toMatchObject([
    { kind: 'mistaken', why },
    { kind: 'nothing', why },
  ]);
});

test('the priority of the job overrides that of the trigger', async () => {
  for (const trigger of [await pushed(8, 'bob'), comment('/ppsgate rerun', 'carol', 8)]) {
    expect(requestOf(await admitted(trigger, { priority: 'release' })).priority).toBe('release');
  }
});

test('no text of a stranger has a fork measured', async () => {
  remembered();
  const word = fc.constantFrom('run', 'rerun', 'extend', 'cancel', head, 'runs=4', '\n', 'by=carol');
  const text = fc.oneof(
    fc.array(word, { maxLength: 4 }).map((words) => `/ppsgate ${words.join(' ')}`),
    fc.string({ unit: anyCharacter }).map((rest) => `/ppsgate ${rest}`),
  );
  await fc.assert(
    fc.asyncProperty(text, async (written) => {
      const { kind } = await admitted(comment(written, 'mallory'));
      expect(['refused', 'mistaken', 'help', 'nothing']).toContain(kind);
    }),
    { numRuns: times(15) },
  );
});

test.each([
  ['accept', 'carol', bot, `${marker}\n\nSlower.`],
  ['nothing', 'dan', bot, marker],
  ['nothing', 'erin', bot, marker],
  ['nothing', 'carol', 'mallory', marker],
  ['nothing', 'carol', bot, ` ${marker}`],
  ['nothing', 'carol', bot, '<!-- ppsgate change $(reboot) -->'],
])('the level of a change gets %s by %s in an issue of %s: %j', async (kind, by, author, body) => {
  const github = await startFakeGitHub({ repository: repositoryName, pullRequests: [] });
  onTestFinished(github.stop);
  Object.assign(github.state.permissions, { carol: 'write', dan: 'read', erin: 'triage' });
  const about = { title: 'Slower', labels: [], state: 'open' as const, reason: null, createdAt: noon, updatedAt: noon };
  github.state.issues.push({ number: 12, author, body, ...about });
  const octokit = await hastyOctokit(github);
  expect((await admitAcceptance({ number: 12, by }, { octokit, repositoryName })).kind).toBe(kind);
});

describe('a manual run', () => {
  // A commit in the clone begins like the one that a maintainer means: short ids name only commits of branches and tags.
  test('does not find a commit that is on no branch by its first digits', async () => {
    const loose = git(directory, 'commit-tree', `${head}^{tree}`, '-p', head, '-m', 'Fetched from a fork');
    const short = loose.slice(0, 12);
    const why = /so write the full ID/;
    for (const patch of [short, `main..${short}`, `main..${short}~0`, `main..v1-1-g${short}`]) {
      await expect(admitted(dispatched(patch))).rejects.toThrow(why);
    }
    git(directory, 'update-ref', 'refs/remotes/pull/7/merge', loose);
    await expect(admitted(dispatched(`main..${short}`))).rejects.toThrow(why);
    expect((await admitted(comment(`/ppsgate bisect main~2 ${short}`, 'carol', 8))).kind).toBe('mistaken');
    git(directory, 'update-ref', '-d', 'refs/remotes/pull/7/merge');
    expect((await admitted(dispatched(`main..${loose}`))).kind).toBe('gate');
  });

  test('refuses a commit that several pull requests have as their head', async () => {
    alsoAtHead();
    await expect(admitted(dispatched(head))).rejects.toThrow(UsageError);
  });

  test('measures any other commit against the one before it', async () => {
    const next = commit(directory, { a: '3' }, {}, 'A third try');
    expect(requestOf(await admitted(dispatched(next.slice(0, 10)))).patch).toMatchObject(ofRange(head, next));
    expect(configsOf).toEqual([head]);
    git(directory, 'reset', '--quiet', '--hard', head);
  });

  test.each(['', 'main', 'D0', '$(reboot)'])('refuses the name %j', async (name) => {
    await expect(admitted(dispatched(name))).rejects.toThrow(/^patch: expected a pull request like #123/);
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
  const approved = async (text: string, changes?: Changes) =>
    bisection(await admitted(comment(commandIn(await admitted(comment(text), changes))), changes));

  test('is of the commits of the pull request, from where it parted to its head', async () => {
    const request = await approved(`/ppsgate bisect ${head}`);
    expect(request).toEqual({
      command: 'bisect',
      patch: expect.objectContaining({ number: 7, headCommit: head }),
      good: base,
      bad: head,
      isOwn: true,
      cell: { scenario: 'forwarding', family: 'inet4' },
      overrides: {},
      priority: 'patch',
    });
  });

  test('is of commits that are named, as they are then', async () => {
    const text = '/ppsgate bisect main~2 main~1 inet6 fix-up=main:main~1 skip=main~2..main max-boots=9';
    const request = bisection(await admitted(comment(text), { config: both }));
    expect(request).toMatchObject({
      good: base,
      bad: older,
      cell: { scenario: 'forwarding', family: 'inet6' },
      overrides: { fixUp: `${head}:${older}`, skip: `${base}..${head}`, maxBoots: '9' },
    });
  });

  test('measures the worst cell of the newest result that the data branch has', async () => {
    const losing = (scenario: string, family: 'inet4' | 'inet6', change: number) =>
      aCell({ kind: 'regression' }, { change, low: change, high: change }, { scenario, family });
    const worst = { scenario: 'nftables-stateful', family: 'inet6' } as const;
    const cells = [losing('forwarding', 'inet4', -0.05), losing(worst.scenario, worst.family, -0.2)];
    const outcome = { kind: 'judged', verdict: 'regression', cells } as const;
    const shared = { at: noon, testbed: 'fake', outcome: 'regression' as const, others: [], bytes: 1 };
    const results = ['#7', '#7', '#8'].map((patch, at) => ({ ...shared, path: `results/2026/${at + 1}`, patch }));
    const index: DataIndex = { ...emptyIndex, results };
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

  // It builds commits that are in no diff of the pull request.
  test('of a fork lists each commit with its full id, and is approved as that list', async () => {
    const listed = await admitted(comment(`/ppsgate bisect ${head} inet4`));
    expect(listed).toEqual({ ...refused(/ each of these 2 commits /), what: 'no bisection', commits: [older, head] });
    expect(commandIn(listed)).toContain(`/ppsgate bisect ${head} `);
    const bisect = { kind: 'bisect', overrides: {}, commit: head } as const;
    expect(await admitted({ ...dispatched('#7'), bisect })).toMatchObject({ kind: 'refused', commits: [older, head] });
  });

  test('with the approval of another list is refused, and lists the commits again', async () => {
    const command = commandIn(await admitted(comment(`/ppsgate bisect ${head}`)));
    // The same head tree by another way: a commit was added and removed within the pull request.
    const tree = `${head}^{tree}`;
    const hidden = git(directory, 'commit-tree', `${base}^{tree}`, '-p', older, '-m', 'Hidden');
    const forced = git(directory, 'commit-tree', tree, '-p', hidden, '-m', 'A second try');
    Object.assign(seventh(), { headCommit: forced });
    expect(await admitted(comment(command))).toEqual({ ...refused(/ instead of /), what: 'no bisection' });
    const listed = await admitted(comment(command.replace(head, forced)));
    expect(listed).toMatchObject({ kind: 'refused', commits: [older, hidden, forced] });
    expect(bisection(await admitted(comment(commandIn(listed)))).bad).toBe(forced);
  });

  test('of named commits lists those that are on no branch, at any pull request', async () => {
    const tree = `${head}^{tree}`;
    const loose = git(directory, 'commit-tree', tree, '-p', older, '-m', 'Fetched from a fork');
    const fixUp = git(directory, 'commit-tree', tree, '-p', older, '-m', 'Another one');
    const text = `/ppsgate bisect main~2 ${loose} fix-up=${fixUp}`;
    const listed = await admitted(comment(text, 'carol', 8));
    expect(listed).toMatchObject({ kind: 'refused', commits: [loose, fixUp] });
    expect((await admitted(comment(commandIn(listed), 'carol', 8))).kind).toBe('bisect');
    expect((await admitted(comment('/ppsgate bisect main~2 main', 'carol', 8))).kind).toBe('bisect');
    const bisect = { kind: 'bisect', overrides: {} } as const;
    await expect(admitted({ ...dispatched(`main~2..${loose}`), bisect })).rejects.toThrow(
      new RegExp(` The list: ${loose}$`),
    );
  });

  test('of more commits than a person can read is neither listed nor admitted', async () => {
    const directory = newRepository();
    const ids = plantHistory(directory, new Array(102).fill({}));
    Object.assign(seventh(), { baseCommit: ids[0], headCommit: ids.at(-1) });
    const changes = { repository: openRepository(directory) };
    const trigger = comment(`/ppsgate bisect ${ids.at(-1)}`);
    expect((await admitted(trigger, changes)).kind).toBe('mistaken');
    Object.assign(seventh(), { baseCommit: ids[1] });
    expect(await admitted(trigger, changes)).toMatchObject({ kind: 'refused', commits: ids.slice(2) });
  });

  test.each(['', ' main nowhere', ' main~2 main fix-up=gone', ' main~2 main skip=main~2..gone'])(
    'of%s is a mistake',
    async (words) => {
      expect((await admitted(comment(`/ppsgate bisect${words}`, 'carol', 8))).kind).toBe('mistaken');
    },
  );

  test('started manually bisects a range, named commits, or a pull request', async () => {
    const started = (patch: string, overrides: BisectOverrides = {}) =>
      admitted({ ...dispatched(patch), bisect: { kind: 'bisect', overrides } });
    const ends = { good: 'main~1', bad: 'main' };
    const found = { good: older, bad: head };
    expect(bisection(await started('main~2..main'))).toMatchObject({ good: base, bad: head });
    expect(bisection(await started('', ends))).toMatchObject({ ...found, patch: ofRange(older) });
    expect(bisection(await started('#7', ends))).toMatchObject({ ...found, patch: { number: 7 } });
    for (const named of [{}, { good: 'main' }]) await expect(started('', named)).rejects.toThrow(UsageError);
  });
});

describe('a revision', () => {
  const started = (more: Partial<Dispatched> = {}) => ({ ...dispatched('D27401:80700'), by: 'bench-bot', ...more });

  async function admittedRevision(trigger: Dispatched, changes: Changes = {}, patch = revision) {
    const read: Dispatched[] = [];
    const own = { ...config, scenarios: ['forwarding'] };
    const readRevision: AdmitDeps['readRevision'] = async (asked) => {
      read.push(asked);
      return { patch, config: own };
    };
    const admission = await admitted(trigger, { readRevision, ...changes });
    return { admission, read, own };
  }

  test('is measured as and with what it was read', async () => {
    const trigger = started();
    const { admission, read, own } = await admittedRevision(trigger);
    expect(read).toEqual([trigger]);
    expect(requestOf(admission)).toMatchObject({ patch: revision, overrides: {}, purpose: 'patch', priority });
    expect(admission).toMatchObject({ config: own });
    expect(configsOf).toEqual([]);
  });

  test('is reported under the key of the requesting relay, to the waiting build, in the priority of the job', async () => {
    const relay = { key: 'PHID-HMBT-a', build: 'PHID-HMBD-a' };
    const overrides = { earlier: 'all' };
    const { admission } = await admittedRevision(started({ ...relay, overrides }), { priority: 'rerun' });
    expect(requestOf(admission)).toMatchObject({ relay, overrides, priority: 'rerun' });
  });

  test('whose diffs are bisected has them in a line, each with all files of one diff', async () => {
    const diffs = [older, head].map((headCommit, index) => ({ diff: 80345 + index, headCommit }));
    const of = async (overrides: BisectOverrides, earlier: typeof diffs) => {
      const trigger = started({ bisect: { kind: 'bisect', overrides }, key: 'PHID-XACT-a' });
      const patch = { ...revision, baseCommit: base, headCommit: base, earlier };
      const { admission, read } = await admittedRevision(trigger, {}, patch);
      return { admission, asked: read[0]?.overrides };
    };
    const { admission, asked } = await of({}, diffs);
    if (admission.kind !== 'bisect') throw new Error(admission.why);
    const { bad, ...request } = admission.request;
    expect(asked).toEqual({ earlier: 'all' });
    expect(request).toMatchObject({ good: base, isOwn: true, relay: { key: 'PHID-XACT-a' } });
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
    await expect(of({}, [])).rejects.toThrow(/ has no earlier diff /);
  });
});
