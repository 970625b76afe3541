// Compares the model of the runner with its own sources and tests.
import { describe, expect, test } from 'vitest';
import { commandOf, commandsIn } from './runner-commands.ts';

const output = (name: string, data: string) => ({
  name: 'set-output',
  properties: { name },
  data,
});

describe('a line is a command where it', () => {
  test.each([
    ['begins with it', '::set-output name=go::true', output('go', 'true')],
    ['begins with blanks', ' \t\v\f\x85\xa0\u1680\u2003\u2028\u3000::set-output name=go::true', output('go', 'true')],
    ['has it anywhere, of the first kind', 'a ##[set-output name=go;]true', output('go', 'true')],
    ['has it after a command that is unknown', '::x::##[set-output name=go]1', output('go', '1')],
    ['writes it large', '##[SET-OUTPUT name=go]true', output('go', 'true')],
    ['has one `#` too many', '###[set-output name=go]true', output('go', 'true')],
    ['escapes in the second kind', '::error::%0A%0D%25%3A%5D', { name: 'error', properties: {}, data: '\n\r%%3A%5D' }],
    ['escapes in the first kind', '##[error]%0A%5D%3B%253B', { name: 'error', properties: {}, data: '\n];%3B' }],
    [
      'escapes in a property',
      '::error title=a%3Ab%2C,file= f=g::',
      { name: 'error', properties: { title: 'a:b,', file: ' f=g' }, data: '' },
    ],
    ['has a property without a value', '##[debug a=;b;c=d]', { name: 'debug', properties: { c: 'd' }, data: '' }],
  ] as const)('%s', (_, line, command) => {
    expect(commandOf(line)).toEqual(command);
  });
});

describe('a line is none where it', () => {
  test.each([
    ['has no end', '::set-output name=go:'],
    ['has no bracket', 'a ##[set-output name=go;true'],
    ['begins with something else', '> ::set-output name=go::true'],
    ['begins with what .NET does not trim', '\u200b\u180e\ufeff::set-output name=go::true'],
    ['has an unknown name', '##[reboot]'],
    ['has a name that is not for steps', '::internal-set-repo-path repoFullName=a/b::/'],
    ['has another of the first kind before it', '##[x] ##[set-output name=go]true'],
    ['has a blank before the name', ':: set-output name=go::true'],
    ['is ours made harmless', ': :set-output name=go::true # #[set-output name=go]true'],
  ])('%s', (_, line) => {
    expect(commandOf(line)).toBeUndefined();
  });
});

describe('the output of a step', () => {
  const bytes = (text: string) => Buffer.from(text);
  const debug = (data: string) => ({ name: 'debug', properties: {}, data });

  test('is cut at every kind of line break, and nowhere else', () => {
    const text = '::debug::a\r::debug::b\n::debug::c\r\n::debug::d\u2028::debug::e';
    expect(commandsIn(bytes(text))).toEqual(['a', 'b', 'c', 'd\u2028::debug::e'].map(debug));
  });

  test('loses a byte order mark only at its start, which may mark another encoding', () => {
    expect(commandsIn(bytes('\ufeff::debug::a\n\ufeff::debug::b'))).toEqual([debug('a')]);
    expect(commandsIn(Buffer.from('\ufeff::debug::a', 'utf16le'))).toEqual([debug('a')]);
  });

  test('may stop commands until a word of its own', () => {
    const text = '::stop-commands::Done\n::debug::a\n::done::\n::debug::b';
    expect(commandsIn(bytes(text))).toMatchObject([{ name: 'stop-commands' }, debug('b')]);
  });
});
