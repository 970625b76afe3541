// Approval of a pull request, and of which commit, before it runs on the lab's hardware.
import { expect, test } from 'vitest';
import { type AuthorizationRules, authorize, type Occasion } from '../../../src/forge/patch/authorize.ts';
import type { PullRequest } from '../../../src/model/patch.ts';

const head = 'b'.repeat(40);
const other = 'c'.repeat(40);
/** Another commit with the same first twelve digits, which takes 39 s on one core. */
const twin = `${'b'.repeat(12)}${'e'.repeat(28)}`;

type Found = { pullRequest: PullRequest; headRepository: string | null };

const from = (headRepository: string | null, changes: Partial<PullRequest> = {}): Found => ({
  pullRequest: {
    kind: 'pull-request',
    repository: 'freebsd/freebsd-src',
    number: 123,
    title: 'ipfw: find states faster',
    author: 'alice',
    url: 'https://github.com/freebsd/freebsd-src/pull/123',
    baseCommit: 'a'.repeat(40),
    headCommit: head,
    ...changes,
  },
  headRepository,
});
const own = from('freebsd/freebsd-src');
const fork = from('alice/freebsd-src');

const noon = '2026-11-20T12:00:00Z';
const seen = { headCommit: head, since: '2026-11-20T11:59:00Z' };

/** carol may write, dan is on the list. */
const rules: AuthorizationRules = {
  people: ['Dan'],
  label: 'ppsgate',
  mayWrite: async (login) => login === 'carol',
  measured: [],
};

const pushed = (by: string) => ({ kind: 'pushed', by }) as const;
const revived = (by: string) => ({ kind: 'revived', by }) as const;
const labelled = (by: string, label = 'ppsgate') => ({ kind: 'labelled', by, at: noon, label }) as const;
const commanded = (by: string, commit?: string, more: object = {}) =>
  ({ kind: 'commanded', by, at: noon, ...(commit !== undefined && { commit }), ...more }) as const;
const bisected = (by: string, areNamed: boolean, commit?: string) =>
  ({ kind: 'bisected', by, at: noon, areNamed, ...(commit !== undefined && { commit }) }) as const;

type Row = [what: string, kind: string, Occasion, Found, Partial<AuthorizationRules>?];

const rows: Row[] = [
  ['a push to a branch of the repository itself', 'allowed', pushed('bob'), own],
  // It runs a stranger's code: a user with write access must approve it first.
  ['a push to a fork by a stranger', 'refused', pushed('alice'), fork],
  ['a push to a fork that was deleted since', 'refused', pushed('alice'), from(null)],
  ['a push to a repository whose name begins like ours', 'refused', pushed('alice'), from('freebsd/freebsd-src2')],
  ['a push to a fork of an author with write access', 'allowed', pushed('carol'), from('x/y', { author: 'carol' })],
  ['a push to a fork of an author on the list', 'allowed', pushed('dan'), from('x/y', { author: 'dan' })],
  ['a push by another to the fork of an approved author', 'refused', pushed('eve'), from('x/y', { author: 'carol' })],
  // Another user may have pushed its head.
  ['reopening a fork of an approved author', 'refused', revived('dan'), from('x/y', { author: 'dan' })],
  [
    'reopening after another head was measured',
    'refused',
    revived('dan'),
    from('x/y', { author: 'dan' }),
    { measured: [other] },
  ],
  [
    'reopening after its head was measured',
    'allowed',
    revived('dan'),
    from('x/y', { author: 'dan' }),
    { measured: [head] },
  ],
  ['reopening a stranger’s fork after its head was measured', 'refused', revived('dan'), fork, { measured: [head] }],
  ['reopening a branch of the repository itself', 'allowed', revived('eve'), own],

  ['the label by a maintainer, who had seen the head', 'allowed', labelled('carol'), fork, { seen }],
  ['the label by a stranger', 'refused', labelled('eve'), fork, { seen }],
  // The list is of people whose patches are run, not of those who answer for others'.
  ['the label by a person on the list', 'refused', labelled('dan'), fork, { seen }],
  ['the label at a branch of the repository itself', 'allowed', labelled('carol'), own],
  ['another label', 'ignored', labelled('carol', 'bug'), fork],

  ['a command of a stranger', 'refused', commanded('eve', head), fork],
  ['a command by a maintainer that names the head', 'allowed', commanded('carol', head), fork],
  ['a command by a person on the list that names the head', 'allowed', commanded('dan', head), fork],
  ['a command that names an older head', 'refused', commanded('carol', 'ccccccc'), fork, { seen }],
  ['a command for a head that was known before', 'allowed', commanded('carol'), fork, { seen }],
  ['a command for a branch of the repository itself', 'allowed', commanded('carol'), own],
  ['a short id of a head that no comment showed', 'refused', commanded('carol', 'bbbbbbb', { verb: 'rerun' }), fork],
  ['a short id of a head that our comment showed', 'allowed', commanded('carol', 'bbbbbbb'), fork, { seen }],
  ['a short id at a branch of the repository itself', 'allowed', commanded('carol', 'bbbbbbb'), own],
  [
    'a short id of a head like one that was shown before',
    'refused',
    commanded('carol', 'b'.repeat(12)),
    fork,
    { seen: { ...seen, before: [twin] } },
  ],
  [
    'a full id of a head like another',
    'allowed',
    commanded('carol', head),
    fork,
    { seen: { ...seen, before: [twin] } },
  ],
  [
    'a short id of a head unlike others',
    'allowed',
    commanded('carol', 'bb'),
    fork,
    { seen: { ...seen, before: [other] } },
  ],
  ['a margin of one’s own by a maintainer', 'allowed', commanded('carol', head, { isOtherwise: true }), fork],
  ['a margin of one’s own by a person on the list', 'refused', commanded('dan', head, { isOtherwise: true }), fork],

  ['a bisection of named commits by a maintainer', 'allowed', bisected('carol', true), fork],
  ['a bisection of named commits by a person on the list', 'refused', bisected('dan', true, head), fork],
  ['a bisection of the fork’s commits by a person on the list', 'refused', bisected('dan', false, head), fork],
  ['a bisection of an unseen head', 'refused', bisected('carol', false), fork],
  ['a bisection of a head that was known before', 'allowed', bisected('carol', false), fork, { seen }],
  ['a bisection of a named head', 'allowed', bisected('carol', false, head), fork],
  ['a bisection of an older head', 'refused', bisected('carol', false, 'ccccccc'), fork],
  ['a bisection of a short id', 'refused', bisected('carol', false, 'b'.repeat(12)), fork],
  ['a bisection of the repository’s own branch', 'allowed', bisected('carol', false), own],

  ['a cancellation by a person on the list', 'allowed', { kind: 'cancelled', by: 'dan' }, fork],
  ['a cancellation by a stranger', 'refused', { kind: 'cancelled', by: 'eve' }, fork],

  ['the button on the check of the head', 'allowed', { kind: 'pressed', by: 'carol', commit: head }, fork],
  ['the button, pressed by a stranger', 'refused', { kind: 'pressed', by: 'eve', commit: head }, fork],
  ['the button on an old check', 'refused', { kind: 'pressed', by: 'carol', commit: other }, fork],

  // GitHub allows only people with write access to start a run by hand.
  ['a start by hand for the repository’s own branch', 'allowed', { kind: 'dispatched', by: 'eve' }, own],
  ['a start by hand that names a fork’s head', 'allowed', { kind: 'dispatched', by: 'eve', commit: head }, fork],
  ['a start by hand with a short id', 'refused', { kind: 'dispatched', by: 'eve', commit: 'b'.repeat(12) }, fork],
  ['a start by hand of a fork without its head', 'refused', { kind: 'dispatched', by: 'carol' }, fork],
];

test('allows or refuses each occasion, and says why', async () => {
  const texts = rows.map(async ([what, expected, occasion, found, more = {}]) => {
    const { kind, why } = await authorize(occasion, found, { ...rules, ...more });
    expect(kind, what).toBe(expected);
    return `${what}: ${kind}\n  ${why}`;
  });
  const whole = `${(await Promise.all(texts)).join('\n')}\n`;
  await expect(whole.replaceAll(head, 'HEAD')).toMatchFileSnapshot('golden/authorize.txt');
});

const unseen = [
  ['never', undefined],
  ['only afterwards', { headCommit: head, since: '2026-11-20T12:00:01Z' }],
  ['a moment before, as clocks go', { headCommit: head, since: '2026-11-20T11:59:55Z' }],
  ['for another head', { headCommit: other, since: '2026-11-20T11:00:00Z' }],
] as const;

test.each(unseen)('no head is named by a command or the label if the head was known %s', async (_, seen) => {
  for (const occasion of [commanded('carol'), labelled('carol')]) {
    expect((await authorize(occasion, fork, { ...rules, seen })).kind).toBe('refused');
  }
});

// A second commit has the same first digits as the one that was read.
test.each(['b'.repeat(7), 'b'.repeat(12), 'b'.repeat(39)])('does not admit a twin of %s', async (commit) => {
  for (const seen of [undefined, { headCommit: head, since: '2026-11-20T11:00:00Z' }]) {
    const found = from('alice/freebsd-src', { headCommit: twin });
    expect((await authorize(commanded('carol', commit), found, { ...rules, seen })).kind).toBe('refused');
  }
});
