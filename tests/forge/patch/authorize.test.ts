// Tests the approval of patches, and of which commit, before they run on the lab's hardware.
import { expect, test } from 'vitest';
import { type AuthorizationRules, authorize, type Occasion } from '../../../src/forge/patch/authorize.ts';
import type { PullRequest } from '../../../src/model/patch.ts';

const head = 'b'.repeat(40);

const pullRequest: PullRequest = {
  kind: 'pull-request',
  repository: 'freebsd/freebsd-src',
  number: 123,
  title: 'ipfw: find states faster',
  author: 'alice',
  url: 'https://github.com/freebsd/freebsd-src/pull/123',
  baseCommit: 'a'.repeat(40),
  headCommit: head,
};

const own = { pullRequest, headRepository: 'freebsd/freebsd-src' };
const fork = { pullRequest, headRepository: 'alice/freebsd-src' };

/** carol may write, dan is on the list. */
const rules: AuthorizationRules = {
  people: ['Dan'],
  label: 'ppsgate',
  mayWrite: async (login) => login === 'carol',
  measured: [],
};

const authorizationOf = async (occasion: Occasion, found: typeof own = fork, more = {}) =>
  authorize(occasion, found, { ...rules, ...more });

const noon = '2026-11-20T12:00:00Z';

test('a pull request from a branch of the repository itself is allowed', async () => {
  expect(await authorizationOf({ kind: 'pushed', by: 'bob' }, own)).toEqual({
    kind: 'allowed',
    why: expect.stringContaining('only people with write permission can push'),
  });
});

// Attack run/fork: A fork opens a pull request. Defence: It is refused until a user with write access approves it.
test('one from a fork is refused, with the way for a maintainer to run it', async () => {
  expect(await authorizationOf({ kind: 'pushed', by: 'alice' })).toEqual({
    kind: 'refused',
    why: 'Thank you for #123: because it comes from alice/freebsd-src, it runs on the testbed only after a maintainer of freebsd/freebsd-src has read bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbband then added the label ppsgate or written /ppsgate run bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.',
  });
});

// Attack run/similar-name: The fork was deleted, or its repository has a similar name. Defence: Only the repository's
// exact name counts as the repository itself.
test('one from a fork that was deleted since is refused', async () => {
  const authorization = await authorize({ kind: 'pushed', by: 'alice' }, { pullRequest, headRepository: null }, rules);
  expect(authorization).toEqual({ kind: 'refused', why: expect.stringContaining('was deleted') });
});

// Attack run/similar-name
test('a repository whose name only begins like ours is a fork like any other', async () => {
  const found = { pullRequest, headRepository: 'freebsd/freebsd-src2' };
  expect((await authorizationOf({ kind: 'pushed', by: 'alice' }, found)).kind).toBe('refused');
});

test.each(['carol', 'dan'])('the fork of %s is allowed as it is pushed', async (author) => {
  const found = { ...fork, pullRequest: { ...pullRequest, author } };
  expect((await authorizationOf({ kind: 'pushed', by: author }, found)).kind).toBe('allowed');
});

// Attack run/other-pusher: Another user pushes to the fork of an approved author. Defence: The pusher is checked as
// well as the author.
test('refuses a push by another user to the fork of an author with write access', async () => {
  const found = { ...fork, pullRequest: { ...pullRequest, author: 'carol' } };
  expect((await authorizationOf({ kind: 'pushed', by: 'mallory' }, found)).kind).toBe('refused');
});

test('does not approve a pull request that is opened again: another user may have pushed the head', async () => {
  const found = { ...fork, pullRequest: { ...pullRequest, author: 'dan' } };
  const revived = { kind: 'revived', by: 'dan' } as const;
  expect((await authorizationOf(revived, found)).kind).toBe('refused');
  expect((await authorizationOf(revived, found, { measured: ['c'.repeat(40)] })).kind).toBe('refused');
  expect((await authorizationOf(revived, found, { measured: [head] })).kind).toBe('allowed');
  expect((await authorizationOf(revived, fork, { measured: [head] })).kind).toBe('refused');
  expect((await authorizationOf({ ...revived, by: 'mallory' }, own)).kind).toBe('allowed');
});

const labelled = { kind: 'labelled', label: 'ppsgate', at: noon } as const;

// Attack run/label: A user without write access sets the label. Defence: The permission of the user who set it is
// checked.
test('the label approves the head where a maintainer puts it', async () => {
  const more = { seen: { headCommit: head, since: '2026-11-20T11:59:00Z' } };
  expect((await authorizationOf({ ...labelled, by: 'carol' }, fork, more)).kind).toBe('allowed');
  expect((await authorizationOf({ ...labelled, by: 'mallory' }, fork, more)).kind).toBe('refused');
  // The list is of people whose patches are run, not of those who answer for others'.
  expect((await authorizationOf({ ...labelled, by: 'dan' }, fork, more)).kind).toBe('refused');
});

test('the label at a branch of the repository itself needs nothing more, as no stranger can push there', async () => {
  expect((await authorizationOf({ ...labelled, by: 'carol' }, own)).kind).toBe('allowed');
});

test('ignores other labels', async () => {
  const authorization = await authorizationOf({ ...labelled, label: 'bug', by: 'carol' });
  expect(authorization.kind).toBe('ignored');
});

// Attack run/stranger-command: A stranger writes a command. Defence: The permission of its author is checked.
test('a command of a stranger is refused', async () => {
  const authorization = await authorizationOf({
    kind: 'commanded',
    by: 'mallory',
    at: noon,
    commit: head,
  });
  expect(authorization).toEqual({
    kind: 'refused',
    why: 'Thank you, mallory: #123 runs on the testbed once a person with write access to freebsd/freebsd-src requests it.',
  });
});

test.each(['carol', 'dan'])('a command of %s that names the head approves it', async (by) => {
  const authorization = await authorizationOf({
    kind: 'commanded',
    by,
    at: noon,
    commit: head,
  });
  expect(authorization.kind).toBe('allowed');
});

/** Another commit with the same first twelve digits, which take 39 s on one core. */
const twin = `${'b'.repeat(12)}${'e'.repeat(28)}`;

// Attack run/same-digits: A second commit has the same first 12 digits as the reviewed one (39 s on one core). Defence:
// Ids are compared in full; a short id counts only for one head that our comment showed in full.
test.each(['b'.repeat(7), 'b'.repeat(12), 'b'.repeat(39)])(
  'a commit with the same first digits is not admitted by a command with %s',
  async (commit) => {
    const long = { headCommit: head, since: '2026-11-20T11:00:00Z' };
    for (const verb of ['run', 'rerun', 'extend'] as const) {
      for (const seen of [undefined, long]) {
        const found = { ...fork, pullRequest: { ...pullRequest, headCommit: twin } };
        const commanded = { kind: 'commanded', by: 'carol', at: noon, verb, commit } as const;
        expect((await authorizationOf(commanded, found, { seen })).kind).toBe('refused');
      }
    }
  },
);

test('a short id names only a head that our comment showed in full before', async () => {
  const commit = 'b'.repeat(12);
  const commanded = { kind: 'commanded', by: 'carol', at: noon, verb: 'rerun', commit } as const;
  expect(await authorizationOf(commanded)).toEqual({
    kind: 'refused',
    why: `The head is ${head}, but ${commit} may also abbreviate another commit: read it, and write /ppsgate rerun ${head}.`,
  });
  const seen = { headCommit: head, since: '2026-11-20T11:59:00Z' };
  expect((await authorizationOf(commanded, fork, { seen })).kind).toBe('allowed');
  expect((await authorizationOf(commanded, own)).kind).toBe('allowed');
});

// Attack run/same-digits
test('a short id names no head if our comment has shown another that begins like it', async () => {
  const seen = { headCommit: head, since: '2026-11-20T11:59:00Z', before: [twin] };
  const commanded = { kind: 'commanded', by: 'carol', at: noon } as const;
  const short = { ...commanded, commit: 'b'.repeat(12) };
  expect((await authorizationOf(short, fork, { seen })).kind).toBe('refused');
  expect((await authorizationOf({ ...commanded, commit: head }, fork, { seen })).kind).toBe('allowed');
  const other = { ...seen, before: ['c'.repeat(40)] };
  expect((await authorizationOf(short, fork, { seen: other })).kind).toBe('allowed');
});

test('a margin or scenarios of one’s own are for those who may write', async () => {
  const own = { kind: 'commanded', at: noon, commit: head, isOtherwise: true } as const;
  expect((await authorizationOf({ ...own, by: 'carol' })).kind).toBe('allowed');
  expect(await authorizationOf({ ...own, by: 'dan' })).toEqual({
    kind: 'refused',
    why: expect.stringContaining('you can have #123 measured as configured in ppsgate.yml'),
  });
});

// Attack run/push-after-approval
test('a command that names a commit which is no longer the head is refused', async () => {
  const authorization = await authorizationOf({
    kind: 'commanded',
    by: 'carol',
    at: noon,
    commit: 'ccccccc',
  });
  expect(authorization).toEqual({
    kind: 'refused',
    why: `The head is now ${head} instead of ccccccc: read it, and request it again.`,
  });
});

test('a command without a commit approves a head that was known before it was written', async () => {
  const commanded = { kind: 'commanded', by: 'carol', at: noon } as const;
  const seen = { headCommit: head, since: '2026-11-20T11:59:00Z' };
  expect((await authorizationOf(commanded, fork, { seen })).kind).toBe('allowed');
});

const unseen = [
  ['never', undefined],
  ['only afterwards', { headCommit: head, since: '2026-11-20T12:00:01Z' }],
  ['a moment before, as clocks go', { headCommit: head, since: '2026-11-20T11:59:55Z' }],
  ['for another head', { headCommit: 'c'.repeat(40), since: '2026-11-20T11:00:00Z' }],
] as const;

test.each(unseen)('a command without a head is refused if the head was known %s', async (_, seen) => {
  const commanded = { kind: 'commanded', by: 'carol', at: noon } as const;
  expect(await authorizationOf(commanded, fork, { seen })).toEqual({
    kind: 'refused',
    why: expect.stringMatching(/may have been pushed after .* write \/ppsgate run b{40}\.$/),
  });
});

test.each(unseen)('the label is refused where the head was known %s', async (_, seen) => {
  expect(await authorizationOf({ ...labelled, by: 'carol' }, fork, { seen })).toEqual({
    kind: 'refused',
    why: `The head is ${head}, which may have been pushed after the label was added: read it, then write /ppsgate run ${head}, or remove the label and add it again.`,
  });
});

test('allows a bisection of any commits only to users with write access', async () => {
  for (const areNamed of [true, false]) {
    for (const by of ['dan', 'mallory']) {
      expect(await authorizationOf({ kind: 'bisected', by, at: noon, commit: head, areNamed })).toEqual({
        kind: 'refused',
        why: `Thank you, ${by}: no bisection was started at #123; people with write access to freebsd/freebsd-src can request one with /ppsgate bisect.`,
      });
    }
    const asked: Occasion = { kind: 'bisected', by: 'carol', at: noon, commit: head, areNamed };
    expect((await authorizationOf(asked)).kind).toBe('allowed');
  }
});

test('a bisection of a fork’s own commits approves a head that was named, or known before', async () => {
  const asked: Occasion = { kind: 'bisected', by: 'carol', at: noon, areNamed: false };
  expect(await authorizationOf(asked)).toEqual({
    kind: 'refused',
    why: expect.stringMatching(/read it, and write \/ppsgate bisect b{40}\.$/),
  });
  const seen = { headCommit: head, since: '2026-11-20T11:59:00Z' };
  expect((await authorizationOf(asked, fork, { seen })).kind).toBe('allowed');
  expect((await authorizationOf({ ...asked, commit: 'ccccccc' })).kind).toBe('refused');
  expect((await authorizationOf({ ...asked, commit: 'bbbbbbbbbbbb' })).kind).toBe('refused');
  expect((await authorizationOf({ ...asked, areNamed: true })).kind).toBe('allowed');
  expect((await authorizationOf(asked, own)).kind).toBe('allowed');
});

test('a command for a branch of the repository itself names nothing, for no stranger can push there', async () => {
  const commanded = { kind: 'commanded', by: 'carol', at: noon } as const;
  expect((await authorizationOf(commanded, own)).kind).toBe('allowed');
});

test('approves the head at a start by hand, which GitHub allows only with write access', async () => {
  expect((await authorizationOf({ kind: 'dispatched', by: 'erin' }, own)).kind).toBe('allowed');
});

test('approves the commit of a check whose button a user with write access pressed', async () => {
  expect((await authorizationOf({ kind: 'pressed', by: 'carol', commit: head })).kind).toBe('allowed');
  expect((await authorizationOf({ kind: 'pressed', by: 'erin', commit: head })).kind).toBe('refused');
});

test('requires the head of a fork at a start by hand, as the person may have seen another', async () => {
  const named = { kind: 'dispatched', by: 'erin', commit: head } as const;
  expect((await authorizationOf(named)).kind).toBe('allowed');
  expect((await authorizationOf({ ...named, commit: 'bbbbbbbbbbbb' })).kind).toBe('refused');
  expect(await authorizationOf({ kind: 'dispatched', by: 'carol' })).toEqual({
    kind: 'refused',
    why: `The head of #123 is ${head}, which may have been pushed after the run was started: read it, and start a run with ${head} in place of #123.`,
  });
});

// Attack run/old-button: A button on an old check is pressed. Defence: The button approves the commit of its check
// only, and the permission of the user is checked.
test('the button of a check does not approve what was pushed after it', async () => {
  const authorization = await authorizationOf({
    kind: 'pressed',
    by: 'carol',
    commit: 'c'.repeat(40),
  });
  expect(authorization).toEqual({
    kind: 'refused',
    why: expect.stringContaining(`instead of ${'c'.repeat(40)}`),
  });
});
