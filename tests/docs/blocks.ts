// Reads the pages of the project, and the commands in them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export const readPage = (path: string): string => readFileSync(join(root, path), 'utf8');

export const pages: readonly string[] = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('docs/**/*.md', { cwd: root }),
].toSorted();

export type ShellBlock = { page: string; text: string; needs?: string };

/** Blocks of `sh` with commands, but not scripts; `sh needs=…` names what a test machine lacks. */
export const shellBlocks: readonly ShellBlock[] = pages.flatMap((page) =>
  [...readPage(page).matchAll(/^( *)```sh(?: needs=(\S+))?\n([\s\S]*?)^ *```$/gm)]
    .map(([, indent = '', needs, text = '']) => ({
      page,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      ...(needs === undefined ? {} : { needs }),
    }))
    .filter(({ text }) => !text.startsWith('#!')),
);

const shellWord = /'([^']*)'|"([^"]*)"|[^\s'"]+/g;

/** Words of the calls of ppsgate in a text of the shell, without those of the shell. */
export const callsOf = (text: string): string[][] =>
  text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, ''))
    .flatMap((line) => line.split(/&&|\|\||;|\|/))
    .flatMap((command) => {
      const [, words] = /^\s*(?:sudo )?(?:\S*\/)?ppsgate(?: (.*))?$/.exec(command) ?? [];
      return words === undefined ? [] : [wordsOf(words)];
    });

const wordsOf = (text: string): string[] =>
  [...text.replaceAll(/\$\{\w+:\+(.*?)\}/g, '$1').matchAll(shellWord)].map(
    ([word, single, double]) => single ?? double ?? word,
  );
