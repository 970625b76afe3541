// Approval of a diff of Phabricator before it runs on the lab's hardware.
import { expect, test } from 'vitest';
import { authorizeRevision, type RevisionOccasion } from '../../../src/forge/patch/authorize-revision.ts';
import type { Person } from '../../../src/forge/phabricator/revision.ts';

type RevisionRules = Parameters<typeof authorizeRevision>[2];

const alice: Person = { phid: 'PHID-USER-alice', name: 'alice' };
const bob: Person = { phid: 'PHID-USER-bob', name: 'bob' };
const eve: Person = { phid: 'PHID-USER-eve', name: 'eve' };
/** Not shown to the bot, so its name is its PHID. */
const hidden: Person = { phid: 'PHID-USER-alice2', name: 'PHID-USER-alice2' };

/** Alice is on the list, Bob is a member of the project, Eve is a stranger. */
const rules = { people: ['alice'], projects: ['network'], isMember: async (phid: string) => phid === bob.phid };
const withoutPeople = { people: [], projects: [], isMember: () => expect.fail('a project was requested') };

const judge = (occasion: RevisionOccasion, by: RevisionRules = rules) =>
  authorizeRevision({ number: 27401, diff: 80677 }, occasion, by);

const sent = (...by: Person[]) => ({ kind: 'sent', by }) as const;
const cancelled = (by: Person) => ({ kind: 'cancelled', by }) as const;
const sentAt = new Date('2026-11-20T12:00:00Z');
const written = (by: Person, secondsAfter: number, isNamed: boolean, more: object = {}): RevisionOccasion => ({
  kind: 'commanded',
  verb: 'run',
  by,
  isNamed,
  sentAt,
  at: new Date(sentAt.getTime() + secondsAfter * 1000),
  ...more,
});

const rows: [what: string, kind: string, RevisionOccasion, RevisionRules?][] = [
  ['a diff by a person on the list', 'allowed', sent(alice, alice)],
  ['a diff by a member of a project', 'allowed', sent(bob, alice)],
  ['a diff of a stranger', 'refused', sent(eve, eve)],
  ['a diff by an approved sender to the revision of a stranger', 'refused', sent(eve, alice)],
  ['a diff by a stranger to the revision of an approved author', 'refused', sent(alice, eve)],
  ['a diff of a user whom the bot cannot see', 'refused', sent(hidden, alice)],
  ['a diff where no person is configured', 'refused', sent(alice), withoutPeople],
  ['a diff where only people are configured', 'refused', sent(eve), { ...rules, projects: [] }],
  ['a diff where only projects are configured', 'refused', sent(eve), { ...rules, people: [], projects: ['a', 'b'] }],

  ['a command that names the diff', 'allowed', written(bob, 1, true)],
  ['a command that names no diff, a minute after it', 'allowed', written(bob, 60, false)],
  // Another diff may have arrived just before the command.
  ['a command that names no diff, within a minute of it', 'refused', written(bob, 59, false)],
  ['a rerun that names no diff, within a minute of it', 'refused', written(bob, 1, false, { verb: 'rerun' })],
  ['a command of a stranger', 'refused', written(eve, 3600, false)],
  ['a command of a stranger that names the diff', 'refused', written(eve, 3600, true)],
  ['a command of a stranger for a measured diff', 'refused', written(eve, 1, true, { isMeasured: true })],
  ['a rerun by a stranger', 'refused', written(eve, 3600, true, { verb: 'rerun' })],
  ['an extension by a stranger', 'refused', written(eve, 3600, true, { verb: 'extend' })],
  ['a bisection by a stranger', 'refused', written(eve, 3600, true, { verb: 'bisect' })],
  ['a command of a user whom the bot cannot see', 'refused', written(hidden, 3600, true)],

  ['a cancellation by a person on the list', 'allowed', cancelled(alice)],
  ['a cancellation by a member of a project', 'allowed', cancelled(bob)],
  ['a cancellation by a stranger', 'refused', cancelled(eve)],
  ['a cancellation where no person is configured', 'refused', cancelled(eve), withoutPeople],
];

// A second mention would be taken for a command.
test('allows or refuses each occasion, and says why in one line, with one command at most', async () => {
  const answers = await Promise.all(rows.map(([, , occasion, by]) => judge(occasion, by)));
  expect(answers.map(({ kind }) => kind)).toEqual(rows.map(([, kind]) => kind));
  for (const { why } of answers) expect(why.match(/@/g)?.length ?? 0).toBeLessThan(2);
  const lines = rows.map(([what, kind], index) => `${what}: ${kind}\n  ${answers[index]?.why}\n`);
  await expect(lines.join('')).toMatchFileSnapshot('golden/authorize-revision.txt');
});

test('a server that does not list members gives no approval', async () => {
  const silent = { ...rules, isMember: () => Promise.reject(new Error('no answer')) };
  await expect(judge(sent(eve), silent)).rejects.toThrow('no answer');
});
