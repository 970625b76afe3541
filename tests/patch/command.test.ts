// What people write in a comment to have a patch measured.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { askNames, parameter } from '../../src/config/parameters.ts';
import {
  callOnGithub,
  callOnPhabricator,
  commandsFor,
  parseCommand,
  verbs,
} from '../../src/patch/command.ts';

test.each([
  ['/ppsgate run', { kind: 'run', ask: {} }],
  ['  /ppsgate run\r\nbecause I changed the lookup', { kind: 'run', ask: {} }],
  [
    '/ppsgate run pf-stateful forwarding inet4 margin=1% runs=20 testbed=hp-t540',
    {
      kind: 'run',
      ask: {
        scenarios: 'pf-stateful,forwarding',
        families: 'inet4',
        margin: '1%',
        maxRuns: '20',
        testbed: 'hp-t540',
      },
    },
  ],
  [
    '/ppsgate run testbed="mellanox and 40G" inet4 inet6',
    { kind: 'run', ask: { testbed: 'mellanox and 40G', families: 'inet4,inet6' } },
  ],
  ['/ppsgate run profile', { kind: 'run', ask: { profile: 'on' } }],
  [
    '/ppsgate run forwarding profile=30s',
    { kind: 'run', ask: { scenarios: 'forwarding', profile: '30s' } },
  ],
  [
    '/ppsgate run measure-anyway inet6',
    { kind: 'run', ask: { measureAnyway: 'true', families: 'inet6' } },
  ],
  ['/ppsgate run 1a2b3c4', { kind: 'run', ask: {}, commit: '1a2b3c4' }],
  ['/ppsgate rerun', { kind: 'rerun' }],
  ['/ppsgate rerun 1a2b3c4d', { kind: 'rerun', commit: '1a2b3c4d' }],
  ['/ppsgate extend', { kind: 'extend' }],
  ['/ppsgate extend runs=40', { kind: 'extend', maxRuns: '40' }],
  ['/ppsgate cancel', { kind: 'cancel' }],
  ['/ppsgate help', { kind: 'help' }],
  ['/ppsgate', { kind: 'help' }],
])('%j is a command', (comment, command) => {
  expect(parseCommand(comment)).toEqual(command);
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

test.each([
  ['/ppsgate rnu', 'there is no command "rnu"; write /ppsgate run'],
  ['/ppsgate Rerun', 'there is no command "Rerun"; write /ppsgate rerun'],
  ['/ppsgate canel', 'there is no command "canel"; write /ppsgate cancel'],
  ['/ppsgate please', 'there is no command "please"; write /ppsgate help'],
  ['/ppsgate run margni=1%', 'run takes no "margni"; write /ppsgate run margin=1%'],
  ['/ppsgate run colour=red', 'run takes no "colour"; write /ppsgate run'],
  ['/ppsgate run margin=', 'margin has no value; write /ppsgate run margin=1%'],
  ['/ppsgate run runs=4 runs=8', 'runs is there twice; write /ppsgate run'],
  ['/ppsgate run $(reboot)', 'run takes no "$(reboot)"; write /ppsgate run'],
  ['/ppsgate run `reboot`', 'run takes no "?reboot?"; write /ppsgate run'],
  ['/ppsgate run ../../etc/passwd', 'run takes no "../../etc/passwd"; write /ppsgate run'],
  ['/ppsgate rerun forwarding', 'rerun takes no "forwarding"; write /ppsgate rerun'],
  ['/ppsgate extend margin=1%', 'extend takes no "margin"; write /ppsgate extend'],
  ['/ppsgate cancel all', 'cancel takes nothing more, found "all"; write /ppsgate cancel'],
])('%j gets the nearest right command', (comment, why) => {
  expect(parseCommand(comment)).toEqual({ kind: 'mistaken', why });
});

test('Phabricator has a call of its own', () => {
  expect(parseCommand('@ppsgate run', '@ppsgate')).toEqual({ kind: 'run', ask: {} });
  expect(parseCommand('/ppsgate run', '@ppsgate')).toBeUndefined();
  expect(parseCommand('@ppsgate rumble', '@ppsgate')).toMatchObject({
    why: expect.stringMatching(/; write @ppsgate help$/),
  });
});

test('on Phabricator a diff is named by its id, and earlier ones can be asked for', () => {
  expect(parseCommand('@ppsgate run 80677 inet6 earlier=all', '@ppsgate')).toEqual({
    ...{ kind: 'run', diff: 80677 },
    ask: { families: 'inet6', earlier: 'all' },
  });
  expect(parseCommand('@ppsgate rerun 80677', '@ppsgate')).toEqual({ kind: 'rerun', diff: 80677 });
  expect(parseCommand('/ppsgate run earlier=all')).toMatchObject({ kind: 'mistaken' });
});

test('whatever is written, scenarios and families are plain names, and an answer is one short line', () => {
  const comment = fc.oneof(
    fc.string().map((text) => `/ppsgate run ${text}`),
    fc.string({ unit: 'binary' }).map((text) => `/ppsgate ${text}`),
  );
  fc.assert(
    fc.property(comment, (text) => {
      const command = parseCommand(text);
      if (command?.kind === 'mistaken') {
        expect(command.why).toMatch(/^[^\p{Cc}]{1,200}$/u);
      }
      if (command?.kind === 'run') {
        expect(command.ask.scenarios ?? 'none').toMatch(/^[\w.,-]+$/);
        expect(command.ask.families ?? 'none').toMatch(/^[\w.,-]+$/);
      }
    }),
  );
});

describe.each([callOnGithub, callOnPhabricator] as const)('what help tells of %s', (call) => {
  const told = commandsFor(call).map(({ write }) => write);

  test.each(told)('is a command: %s', (write) => {
    expect(parseCommand(write, call)?.kind).toBe(write.split(' ')[1]);
  });

  test.each(verbs)('has %s', (verb) => {
    expect(
      told.some((write) => write === `${call} ${verb}` || write.startsWith(`${call} ${verb} `)),
    ).toBe(true);
  });

  const keys = askNames.flatMap((name) => {
    const { comment } = parameter(name);
    return comment !== undefined && (call === callOnPhabricator || !comment.isOfRevision)
      ? comment.key
      : [];
  });

  test.each(keys)('has %s, as all that run takes', (key) => {
    const all = commandsFor(call).map(({ write, to }) => `${write} ${to}`);
    expect(all.join('\n')).toMatch(new RegExp(`\\b${key}=`));
  });
});
