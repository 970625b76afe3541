// The manual of a DUT's `console` in ppsgate.yml.
import { expect, test } from 'vitest';
import { consoleSchema } from '../../src/config/console.ts';

/** `key: message` of every problem. */
const problemsOf = (written: unknown): string[] =>
  consoleSchema.safeParse(written).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

test('Serial over LAN is reached as power over IPMI is', () => {
  expect(consoleSchema.parse({ kind: 'ipmi', host: 'bmc.lab', user: 'lab' })).toEqual({
    kind: 'ipmi',
    host: 'bmc.lab',
    port: 623,
    user: 'lab',
    cipherSuite: 3,
  });
});

test('a console of conserver has a name there, and mostly no more', () => {
  const written = { kind: 'conserver', console: 'dut-3' };
  expect(consoleSchema.parse(written)).toEqual(written);
  const elsewhere = { ...written, host: 'consoles.lab', port: 7820 };
  expect(consoleSchema.parse(elsewhere)).toEqual(elsewhere);
});

test('a command is a list of words', () => {
  const written = { kind: 'command', command: ['ssh', 'consoles.lab', 'cu -l ttyu3'] };
  expect(consoleSchema.parse(written)).toEqual(written);
});

test.each([
  ['a console that is no map', 'ttyu1', ': expected keys and values, found "ttyu1"'],
  ['an unknown kind', { kind: 'sol' }, ': '],
  ['a console of conserver that would be an option', { kind: 'conserver', console: '-q' }, 'console: expected'],
  ['no command', { kind: 'command', command: [] }, 'command: expected'],
  ['a user in the host', { kind: 'conserver', console: 'a', host: 'me@it' }, 'host: expected'],
])('%s is refused', (_, written, problem) => {
  expect(problemsOf(written).join('\n')).toContain(problem);
});
