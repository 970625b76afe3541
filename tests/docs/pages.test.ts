// Every Markdown page: its size, its links, the pages that the program names, and the messages that it quotes.
import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pages, readPage as read, root } from './blocks.ts';

/** Text without code, whose brackets are no links. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/(`+)[^`].*?\1/g, '');

/** Names a heading's anchor as GitHub does. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (path: string): string[] =>
  (
    read(path)
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
      .match(/^#+ .*$/gm) ?? []
  ).map(anchorOf);

const links = pages.flatMap((page) =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => ({ page, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target)),
);

test('pages have links', () => {
  expect(links.length).toBeGreaterThan(100);
});

test.each(pages)('every link of %s leads somewhere', (page) => {
  const dead = links.filter((link) => link.page === page && !leadsSomewhere(link));
  expect(dead.map(({ target }) => target)).toEqual([]);
});

function leadsSomewhere({ page, target }: { page: string; target: string }): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page : join(dirname(page), file);
  if (!existsSync(join(root, path))) return false;
  return anchor === undefined || !path.endsWith('.md') || anchorsOf(path).includes(anchor);
}

test('every page that code, tests, workflows or examples name is there', () => {
  const files = [
    ...globSync('{src,tests,bench,docs,jenkins,.github}/**/*.{ts,yml,groovy,md,sh}', { cwd: root }),
    ...globSync('*.{ts,md,yml}', { cwd: root }),
  ].filter((name) => !name.startsWith('jenkins/target/'));
  const named = files.flatMap((name) =>
    [...read(name).matchAll(/(?<![\w/])docs\/(?!interop\/|devel\/|this\.)[\w/-]+\.md\b/g)].map(([path]) => ({
      name,
      path,
    })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

test('no page but the reference of ppsgate.yml has more than 15 kB', () => {
  const long = pages.filter((page) => statSync(join(root, page)).size > 15_000);
  expect(long).toEqual(['docs/reference/configuration.md']);
});

test('README.md has at most 8 kB', () => {
  expect(statSync(join(root, 'README.md')).size).toBeLessThanOrEqual(8_000);
});

test('a page of docs/reference begins with what generates it', () => {
  const written = pages.filter((page) => page.startsWith('docs/reference/'));
  expect(written.filter((page) => !/^Generated /m.test(read(page).slice(0, 500)))).toEqual([]);
});

test('the glossary has at most 35 terms, each once and in their order', () => {
  const terms = [...read('docs/explanation/glossary.md').matchAll(/\*\*(.+?)\*\*/g)].map(([, term = '']) => term);
  expect(terms.length).toBeLessThanOrEqual(35);
  expect(new Set(terms).size).toBe(terms.length);
  expect(terms.map((term) => term.toLowerCase())).toEqual(terms.map((term) => term.toLowerCase()).toSorted());
});

/** Messages of other programs in the tables of troubleshooting. */
const ofOthers = [
  'Could not find credentials entry with ID',
  'ERR-INVALID-AUTH',
  'No such DSL method',
  'No such library resource org/ppsgate/parameters.json',
  'No version specified for library ppsgate',
  'Version override not permitted for library ppsgate',
  'a release with the same tag name already exists',
  '[unknown]',
];

test('messages that pages quote are those of the program', () => {
  const program = globSync('{src,jenkins/src,jenkins/vars}/**/*.{ts,groovy,sh}', { cwd: root })
    .concat('.ci/release')
    .map(read)
    .join('\n');
  const quoted = pages.flatMap((page) =>
    [...read(page).matchAll(/^\| (?:you see|symptom) \|.*\n\|.*\n((?:\|.*\n)+)/gm)].flatMap(([, rows = '']) =>
      rows.split('\n').flatMap((row) => messagesOf(page, row)),
    ),
  );
  expect(quoted.length).toBeGreaterThan(10);
  const known = (text: string) => ofOthers.some((message) => text.includes(message));
  expect(quoted.filter(({ text }) => !known(text) && !program.includes(text))).toEqual([]);
});

const longestFirst = (one: string, other: string) => other.length - one.length;

/** Code in the first column, without the parts that vary; commands are no messages. */
const messagesOf = (page: string, row: string) =>
  [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]{12,})`/g)]
    .map(([, text = '']) => ({
      page,
      text: text.split('…').toSorted(longestFirst)[0]?.trim() ?? '',
    }))
    .filter(({ text }) => /[a-z] [a-z]/.test(text) && !/^(?:@|\/)ppsgate /.test(text));
