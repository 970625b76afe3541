import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandText, lineForAnyShell, shell } from '../../src/system/shell.ts';
import { testWith } from '../needs.ts';
import { anyCharacter, times } from '../random.ts';

// Prints its arguments, each ended by a NUL, after a first argument that printf uses as its format.
const argv = (text: string): string[] =>
  execFileSync('/bin/sh', ['-c', text], { encoding: 'utf8' }).split('\0').slice(0, -1);

const argvOf = (name: string, text: string): string[] =>
  execFileSync(name, [...(name === 'csh' ? ['-f'] : []), '-c', text], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const anyWord = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.constantFrom(...'\'"`\\$(){}[]<>|&;#*?!~=\n\r\t -0a'.split('')) }),
    fc.constantFrom('', '-n', '--', '$(id)', "'; id; '", '~', '*', 'if', 'a=b', '\n', "it's"),
  )
  .filter((word) => !word.includes('\0') && word.isWellFormed());

test('any strings pass through a real shell as the same words', () => {
  fc.assert(
    fc.property(fc.array(anyWord, { minLength: 1, maxLength: 8 }), (words) => {
      expect(argv(commandText(shell`printf ${'%s\\0'} ${words}`))).toEqual(words);
    }),
    { numRuns: times(30) },
  );
});

const shells = ['sh', 'csh', 'bash'];

testWith(shells, 'any strings come back from any login shell as the same words', () => {
  fc.assert(
    fc.property(fc.array(anyWord, { minLength: 1, maxLength: 8 }), (words) => {
      const line = lineForAnyShell(shell`printf ${'%s\\0'} ${words}`);
      for (const name of shells) expect(argvOf(name, line)).toEqual(words);
    }),
    { numRuns: times(20) },
  );
});

testWith(shells, 'any script runs in any login shell as sh runs it', () => {
  fc.assert(
    fc.property(anyWord, anyWord, (first, second) => {
      const line = lineForAnyShell(
        shell`word=${first}; { printf ${'%s\\0'} "$word" $(printf ${'one two'}) ${second} >&2; } 2>&1`,
      );
      for (const name of shells) {
        expect(argvOf(name, line)).toEqual([first, 'one', 'two', second]);
      }
    }),
    { numRuns: times(20) },
  );
});

test('a simple command is sent to the machine unchanged', () => {
  expect(lineForAnyShell(shell`df -k ${'/boot'} ${"it's"}`)).toBe("df -k '/boot' 'it'\\''s'");
});

test('a value touching text or another value stays part of one word', () => {
  fc.assert(
    fc.property(anyWord, anyWord, (first, second) => {
      const command = shell`printf ${'%s\\0'} --name=${first}${second}.conf`;
      expect(argv(commandText(command))).toEqual([`--name=${first}${second}.conf`]);
    }),
    { numRuns: times(15) },
  );
});

test('a command inside a command is inserted as it is', () => {
  const up = shell`ip link set ${'in0'} up`;
  expect(commandText(shell`cd ${'/tmp'} && ${up}`)).toBe("cd '/tmp' && ip link set 'in0' up");
});

test('an array becomes as many words as it has, and an empty one none', () => {
  expect(commandText(shell`cmd ${['a', 2]} ${[]}end`)).toBe("cmd 'a' '2' end");
});

test('quotes and substitutions that close before the next value are left alone', () => {
  const command = shell`printf '%s\\0' 'a$' "\${HOME:+b}" "$(printf c)" "\\"" \\; ${'d'}`;
  expect(argv(commandText(command))).toEqual(['a$', 'b', 'c', '"', ';', 'd']);
});

test.for([
  ['double quotes', () => shell`echo "${'x'}"`, 'open quote'],
  ['single quotes', () => shell`echo '${'x'}'`, 'open quote'],
  ['quotes in a quoted substitution', () => shell`echo "$(cat "${'x'}")"`, 'open quote'],
  ['ANSI-C quotes', () => shell`echo $'\\' ${'x'} '`, 'open quote'],
  ['a dollar sign before it', () => shell`echo $${'x'}`, 'dollar sign'],
  ['a backslash before it', () => shell`echo \\${'x'}`, 'backslash'],
  ['backquotes', () => shell`echo \`cat ${'x'}\``, 'backquotes'],
  ['a here-document', () => shell`cat <<END\n${'x'}\nEND`, 'here-document'],
  ['arithmetic', () => shell`echo $((${1} + 1))`, 'arithmetic'],
  ['a comment', () => shell`true # ${'x'}`, 'comment'],
] as const)('a value is refused in %s', ([, make, word]) => {
  expect(make).toThrow(word);
});

test.for([
  ['a NUL byte', 'a\0b'],
  ['half a surrogate pair', 'a\ud800'],
  ['neither text nor a finite number', Number.NaN],
] as const)('a value that no program can receive is refused: %s', ([reason, value]) => {
  expect(() => shell`echo ${value}`).toThrow(reason);
});

test('a text that only looks like a command is no command', () => {
  const forged: object = JSON.parse('{"line":"id"}');
  // @ts-expect-error nothing but shell`…` makes a Command
  expect(() => shell`echo ${forged}`).toThrow('neither text nor a finite number');
});
