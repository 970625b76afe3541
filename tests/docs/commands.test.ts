// Every command of ppsgate that a page has is one: its name and its options exist.
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { makeProgram } from '../../src/cli/program.ts';
import { callsOf, pages, readPage, shellBlocks } from './blocks.ts';

/** Needs that no test machine meets, including more time than a test has. */
const needs = [
  'etcd',
  'freebsd',
  'freebsd-image',
  'github',
  'jenkins',
  'lab',
  'minutes',
  'network',
  'phabricator',
  'root',
  'testbed',
];

test('a block that no test runs names what it needs', () => {
  const named = shellBlocks.flatMap((block) => block.needs ?? []);
  expect(named.filter((need) => !needs.includes(need))).toEqual([]);
  expect(named.length).toBeLessThan(75);
});

/** Code in a line of text, as `sudo ppsgate gate --patch main..fast`. */
const spansOf = (text: string): string[] =>
  [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`((?:sudo )?ppsgate [^`]*)`/g)].map(([, span = '']) =>
    span.replaceAll('\n', ' '),
  );

/** A comment of a check begins with ppsgate, too. */
const isComment = ([name = '']: readonly string[]) => !/^[a-z-]+$/.test(name);

/** Recognizes placeholders of usage lines, like `[options]`. */
const isPlaceholder = (word: string) => /^[[<].*[\]>]$/.test(word);

const calls = pages.flatMap((page) =>
  [...shellBlocks.filter((block) => block.page === page).map(({ text }) => text), ...spansOf(readPage(page))]
    .flatMap(callsOf)
    .filter((words) => !isComment(words))
    .map((words) => words.filter((word) => !isPlaceholder(word)))
    .map((words) => ({ page, words })),
);

test('pages have commands', () => {
  expect(calls.length).toBeGreaterThan(100);
});

const program = makeProgram();

test.each(pages)('the commands of %s exist, with their options', (page) => {
  const wrong = calls.filter((call) => call.page === page).filter(({ words }) => !exists(words));
  expect(wrong.map(({ words }) => words.join(' '))).toEqual([]);
});

function exists([name = '', ...rest]: readonly string[], above: Command = program): boolean {
  const command = above.commands.find((one) => one.name() === name);
  if (command === undefined) return false;
  const [next = ''] = rest;
  if (command.commands.some((one) => one.name() === next)) return exists(rest, command);
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  let others = 0;
  for (let at = 0; at < own.length; at += 1) {
    const word = own[at] ?? '';
    if (!word.startsWith('-') || word === '-') others += isRedirection(own, at) ? 0 : 1;
    else {
      const option = optionOf(command, word);
      if (option === undefined) return false;
      if (option.required || (option.optional && !(own[at + 1] ?? '-').startsWith('-'))) at += 1;
    }
  }
  const { registeredArguments: named } = command;
  return others <= named.length || named.some(({ variadic }) => variadic);
}

const isRedirection = (words: readonly string[], at: number): boolean =>
  [words[at], words[at - 1]].some((word) => /^\d?[<>]/.test(word ?? ''));

const help = { required: false, optional: false };

const optionOf = (command: Command, word: string) =>
  ['--help', '-h'].includes(word) ? help : command.options.find(({ long, short }) => [long, short].includes(word));
