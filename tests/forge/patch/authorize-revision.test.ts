// Approval of diffs before they run on the lab's hardware, for each occasion.
import { describe, expect, test } from 'vitest';
import { authorizeRevision, type RevisionOccasion } from '../../../src/forge/patch/authorize-revision.ts';
import type { Person } from '../../../src/forge/phabricator/revision.ts';

const alice: Person = { phid: 'PHID-USER-alice', name: 'alice' };
const bob: Person = { phid: 'PHID-USER-bob', name: 'bob' };
const eve: Person = { phid: 'PHID-USER-eve', name: 'eve' };

/** Alice is on the list, Bob is a member of the project, Eve is a stranger. */
const rules = {
  people: ['alice'],
  projects: ['network'],
  isMember: async (phid: string) => phid === bob.phid,
};

const diff = { number: 27401, diff: 80677 };

const judge = (occasion: RevisionOccasion) => authorizeRevision(diff, occasion, rules);

const sent = (...by: Person[]) => judge({ kind: 'sent', by });

const written = (
  by: Person,
  secondsAfter: number,
  isNamed: boolean,
  verb: 'run' | 'rerun' | 'extend' | 'bisect' = 'run',
) =>
  judge({
    kind: 'commanded',
    verb,
    by,
    isNamed,
    sentAt: new Date('2026-11-20T12:00:00Z'),
    at: new Date(Date.parse('2026-11-20T12:00:00Z') + secondsAfter * 1000),
  });

test('allows a diff by a person on the list, or by a member of a project', async () => {
  expect(await sent(alice, alice)).toEqual({
    kind: 'allowed',
    why: 'alice may have diffs measured.',
  });
  expect(await sent(bob, alice)).toEqual({
    kind: 'allowed',
    why: 'bob and alice may have diffs measured.',
  });
});

// Attack phabricator/diff: A stranger sends a diff. Defence: It is refused until one of `people` or `projects` approves
// it.
// Attack phabricator/other-sender: A stranger sends a diff to the revision of an approved author. Defence: The sender
// is checked as well as the author.
test.each([
  ['author', [eve, alice]],
  ['sender', [alice, eve]],
])('a diff whose %s is a stranger is refused, and told what gives approval', async (_, by) => {
  expect(await sent(...by)).toEqual({
    kind: 'refused',
    why: 'Thank you, eve: D27401 is not measured yet; it runs on the testbed once a member of network or a person listed in ppsgate.yml has read diff 80677 and written @ppsgate run 80677.',
  });
});

test('a command that names the diff approves it, however soon after it', async () => {
  expect(await written(bob, 1, true)).toMatchObject({ kind: 'allowed' });
});

// Attack phabricator/diff-before-command: Another diff arrives just before a command. Defence: A diff that the command
// does not name must be at least a minute old.
test('a command that names no diff approves one that was there for a minute', async () => {
  expect(await written(bob, 60, false)).toMatchObject({ kind: 'allowed' });
  expect(await written(bob, 59, false)).toEqual({
    kind: 'refused',
    why: 'Diff 80677 was uploaded just before the command: read it, and write @ppsgate run 80677.',
  });
});

test('a stranger who requests a measured diff gets a reply that it is measured', async () => {
  const at = new Date('2026-11-20T12:00:00Z');
  const when = { at, sentAt: at, isNamed: true, isMeasured: true };
  const { why } = await judge({ kind: 'commanded', verb: 'run', by: eve, ...when });
  expect(why).toBe(
    'Thank you, eve: diff 80677 of D27401 is being measured, see the comment of ppsgate; a member of network or a person listed in ppsgate.yml can have it measured again with @ppsgate rerun 80677.',
  );
});

// Attack phabricator/command: A stranger writes a command. Defence: The permission of its author is checked.
test.each([true, false])('a command of a stranger is refused (named: %s)', async (isNamed) => {
  expect(await written(eve, 3600, isNamed)).toMatchObject({ kind: 'refused' });
});

test.each([
  ['run', 'D27401 is not measured yet'],
  ['rerun', 'D27401 is not measured again yet'],
  ['extend', 'D27401 is not extended yet'],
  ['bisect', 'D27401 is not bisected yet'],
] as const)('a stranger hears what he asked for, and what one of ours would write: %s', async (verb, what) => {
  expect((await written(eve, 3600, true, verb)).why).toBe(
    `Thank you, eve: ${what}; it runs on the testbed once a member of network or a person listed in ppsgate.yml has read diff 80677 and written @ppsgate ${verb} 80677.`,
  );
  expect((await written(bob, 1, false, verb)).why).toMatch(new RegExp(`read it, and write @ppsgate ${verb} 80677\\.$`));
});

describe('the requester of a cancellation', () => {
  const cancelled = (by: Person, more: object = {}) =>
    authorizeRevision(diff, { kind: 'cancelled', by }, { ...rules, ...more });

  test.each([alice, bob])('has approval where diffs are measured for $name', async (by) => {
    expect(await cancelled(by)).toMatchObject({ kind: 'allowed' });
  });

  test('a stranger gets a reply on who may approve, but not the command that would', async () => {
    expect(await cancelled(eve)).toEqual({
      kind: 'refused',
      why: 'Thank you, eve: runs for D27401 are not cancelled; a member of network or a person listed in ppsgate.yml may do that with @ppsgate cancel.',
    });
    expect((await cancelled(eve, { people: [], projects: [] })).why).toBe(
      'Thank you, eve: runs for D27401 are not cancelled; no person may do that: `people` and `projects` in ppsgate.yml are empty.',
    );
  });
});

test('approves no diff when no person is configured, and requests no project', async () => {
  const empty = {
    people: [],
    projects: [],
    isMember: () => expect.fail('a project was requested'),
  };
  expect(await authorizeRevision(diff, { kind: 'sent', by: [alice] }, empty)).toEqual({
    kind: 'refused',
    why: 'Thank you, alice: D27401 is not measured yet; no person may request it: `people` and `projects` in ppsgate.yml are empty.',
  });
});

// Attack phabricator/project
test('a server that does not list members gives no approval', async () => {
  const silent = { ...rules, isMember: () => Promise.reject(new Error('no answer')) };
  await expect(authorizeRevision(diff, { kind: 'sent', by: [eve] }, silent)).rejects.toThrow('no answer');
});

test('asks a stranger to wait for approval, in one sentence without a mention', async () => {
  const asks = [
    { people: ['alice'], projects: [] },
    { people: [], projects: ['network', 'transport'] },
    { people: ['alice'], projects: ['network'] },
    { people: [], projects: [] },
  ];
  const whys = await Promise.all(
    asks.map(async (named) => {
      const isMember = async () => false;
      return authorizeRevision(diff, { kind: 'sent', by: [eve] }, { ...named, isMember });
    }),
  );
  expect(whys.map(({ why }) => /once (.*) has read/.exec(why)?.[1])).toEqual([
    'a person listed in ppsgate.yml',
    'a member of network or transport',
    'a member of network or a person listed in ppsgate.yml',
    undefined,
  ]);
  for (const { kind, why } of whys) {
    expect(kind).toBe('refused');
    expect(why).toMatch(/^Thank you, eve: \S/);
    expect(why.replace('ppsgate.yml', '').match(/[.!?](?=\s|$)/g)).toHaveLength(1);
    expect(why.replace('@ppsgate run 80677', '')).not.toContain('@');
  }
});

test('refuses a user whom the bot cannot see, even under an approved name', async () => {
  const hidden: Person = { phid: 'PHID-USER-alice2', name: 'PHID-USER-alice2' };
  expect(await sent(hidden, alice)).toMatchObject({ kind: 'refused' });
  expect(await written(hidden, 3600, true)).toMatchObject({ kind: 'refused' });
});
