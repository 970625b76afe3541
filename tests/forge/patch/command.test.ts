// Commands in comments that have a patch measured.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bisectOverrideNames, overrideNames, parameter } from '../../../src/config/parameters.ts';
import { bisectWords } from '../../../src/forge/patch/bisect-command.ts';
import { commandsFor, isAcceptCommand, parseCommand, verbs } from '../../../src/forge/patch/command.ts';
import { callOnGithub, callOnPhabricator } from '../../../src/model/patch.ts';
import { anyCharacter } from '../../random.ts';

const right = [
  ...[
    'run',
    'run\r\nbecause I changed the lookup',
    'run stop-at-first=off',
    'run profile',
    'run forwarding profile=30s',
  ],
  'run pf-stateful forwarding inet4 margin=1% runs=20 testbed=hp-t540',
  ...[
    'run testbed="mellanox and 40G" inet4 inet6',
    'run measure-anyway inet6',
    'run 1a2b3c4',
    'rerun',
    'rerun 1a2b3c4d',
  ],
  ...['extend', 'extend runs=40', 'bisect', 'bisect stable/14~200 v1.2 inet4 forwarding', 'bisect verify-revert'],
  'bisect c255749 c255761 fix-up=4319804 fix-up=5d6e7f8:1a2b3c4,HEAD~2 skip=a..b skip=c max-boots=60',
  'bisect main my-branch my-rules testbed="mellanox and 40G" metric=pps profile=off',
  ...['bisect inet6', 'bisect my-rules', 'bisect 1a2b3c4 pf-stateful', 'cancel', 'help', ''],
].map((words) => `  /ppsgate ${words}`);

test('a command is read to its last word', async () => {
  const lines = right.map((comment) => `${comment.trim()}\n  ${JSON.stringify(parseCommand(comment))}\n`);
  await expect(lines.join('')).toMatchFileSnapshot('golden/commands.txt');
});

test.each([
  'Please run it.',
  '> /ppsgate run',
  'See `/ppsgate run`.',
  '/ppsgates run',
  '/PPSGATE run',
  'Thank you!\n/ppsgate run',
  '',
])('%j is none', (comment) => {
  expect(parseCommand(comment)).toBeUndefined();
});

// Words of a command must be names: none reaches a shell.
const mistakes = [
  ...['rnu', 'Rerun', 'canel', 'please', 'accept', 'cancel all', 'bisetc', 'rerun forwarding', 'extend margin=1%'],
  ...['margni=1%', 'colour=red', 'margin=', 'runs=4 runs=8', '$(reboot)', '`reboot`', '../../etc/passwd'].map(
    (words) => `run ${words}`,
  ),
  ...[
    ...['main..my-branch', 'main forwarding', 'a b c forwarding', 'a b c d', 'inet4 inet6', 'forwarding pf-stateful'],
    ...['fixup=1a2b3c4', 'fix-up=a:b:c', 'skip=a...b', 'max-boots=many', 'margin=1%', '--exec=reboot a b'],
  ].map((words) => `bisect ${words}`),
].map((words) => `/ppsgate ${words}`);

test('a mistaken command gets the nearest right one', async () => {
  const lines = mistakes.map((comment) => {
    const command = parseCommand(comment);
    if (command?.kind !== 'mistaken') expect.fail(`${comment} is no mistake.`);
    return `${comment}\n  ${command.why}\n`;
  });
  await expect(lines.join('')).toMatchFileSnapshot('golden/mistaken-commands.txt');
});

test.each([
  ['/ppsgate accept', true],
  ['  /ppsgate  accept \r\nIt is worth it.', true],
  ['/ppsgate accept it', false],
  ['> /ppsgate accept', false],
  ['/ppsgate run', false],
  ['Please\n/ppsgate accept', false],
])('%j accepts a level: %j', (comment, expected) => {
  expect(isAcceptCommand(comment)).toBe(expected);
});

test('Phabricator has a separate call', () => {
  expect(parseCommand('@ppsgate run', '@ppsgate')).toEqual({ kind: 'run', overrides: {} });
  expect(parseCommand('/ppsgate run', '@ppsgate')).toBeUndefined();
  expect(parseCommand('@ppsgate rumble', '@ppsgate')).toMatchObject({
    why: expect.stringMatching(/; write @ppsgate help$/),
  });
});

test('on Phabricator a diff is named by its id, and earlier ones can be requested', () => {
  expect(parseCommand('@ppsgate run 80677 inet6 earlier=all', '@ppsgate')).toEqual({
    kind: 'run',
    diff: 80677,
    overrides: { families: 'inet6', earlier: 'all' },
  });
  expect(parseCommand('@ppsgate rerun 80677', '@ppsgate')).toEqual({ kind: 'rerun', diff: 80677 });
  expect(parseCommand('/ppsgate run earlier=all')).toMatchObject({ kind: 'mistaken' });
  expect(parseCommand('@ppsgate bisect 80677 inet6', '@ppsgate')).toEqual({
    kind: 'bisect',
    diff: 80677,
    overrides: { families: 'inet6' },
  });
});

test('reads scenarios, families and commits as plain names from any text, and replies in one short line', () => {
  const comment = fc.oneof(
    fc.string().map((text) => `/ppsgate run ${text}`),
    fc.string().map((text) => `/ppsgate bisect ${text}`),
    fc
      .array(fc.string({ unit: fc.constantFrom(...'ab.-/~:,=^ '), maxLength: 8 }))
      .map((words) => `/ppsgate bisect ${words.join(' ')} fix-up=${words.join('')}`),
    fc.string({ unit: anyCharacter }).map((text) => `/ppsgate ${text}`),
  );
  fc.assert(
    fc.property(comment, (text) => {
      const command = parseCommand(text);
      if (command?.kind === 'mistaken') {
        expect(command.why).toMatch(/^[^\p{Cc}]{1,200}$/u);
      }
      if (command?.kind === 'run') {
        expect(command.overrides.scenarios ?? 'none').toMatch(/^[\w.,-]+$/);
        expect(command.overrides.families ?? 'none').toMatch(/^[\w.,-]+$/);
      }
      if (command?.kind === 'bisect') {
        const { good = 'main', bad = 'main', fixUp = 'main', skip = 'main' } = command.overrides;
        const names = [good, bad, ...fixUp.split(/[,:]/), ...skip.split(/,|\.\./)];
        for (const name of names) expect(name).toMatch(/^(?!.*\.\.)\w[\w./@~^{}+-]*$/);
      }
    }),
  );
});

test('a bisection survives the words of its command', () => {
  const commit = fc.stringMatching(/^[a-z][a-z0-9]{0,5}(?:~[1-9])?$/);
  const asked = fc.record({
    ends: fc.option(fc.tuple(commit, commit), { nil: undefined }),
    scenarios: fc.constantFrom(undefined, 'forwarding', 'pf-stateful'),
    families: fc.constantFrom(undefined, 'inet4', 'inet6'),
    fixUp: fc.constantFrom(undefined, 'main', 'v1:v2,v3'),
    skip: fc.constantFrom(undefined, 'a..b', 'a..b,c'),
    maxBoots: fc.constantFrom(undefined, '60'),
    verifyRevert: fc.constantFrom(undefined, 'true'),
    testbed: fc.constantFrom(undefined, 'mellanox and 40G', 'chelsio'),
  });
  fc.assert(
    fc.property(asked, ({ ends, ...rest }) => {
      const overrides = { ...rest, good: ends?.[0], bad: ends?.[1] };
      const command = parseCommand(`/ppsgate ${bisectWords(overrides)}`);
      expect(command).toEqual({ kind: 'bisect', overrides: JSON.parse(JSON.stringify(overrides)) });
    }),
  );
});

describe.each([callOnGithub, callOnPhabricator] as const)('the help of %s', (call) => {
  const told = commandsFor(call).map(({ write }) => write);

  test.each(told)('is a command: %s', (write) => {
    expect(parseCommand(write, call)?.kind).toBe(write.split(' ')[1]);
  });

  test.each(verbs)('has %s', (verb) => {
    expect(told.some((write) => write === `${call} ${verb}` || write.startsWith(`${call} ${verb} `))).toBe(true);
  });

  const keysOf = (names: readonly (typeof overrideNames | typeof bisectOverrideNames)[number][]) =>
    names.flatMap((name) => {
      const { comment } = parameter(name);
      return comment !== undefined && (call === callOnPhabricator || !comment.isOfRevision) ? comment.key : [];
    });

  test.each([
    ...keysOf(overrideNames).map((key) => ['run', key] as const),
    ...keysOf(bisectOverrideNames).map((key) => ['bisect', key] as const),
  ])('has all that %s takes: %s', (verb, key) => {
    const all = commandsFor(call).map(({ write, to }) => `${write} ${to}`);
    const ofVerb = all.filter((line) => line.startsWith(`${call} ${verb}`));
    expect(ofVerb.join('\n')).toMatch(new RegExp(`(?<![\\w-])${key}=`));
  });
});
