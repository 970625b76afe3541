// Every Markdown page: its links lead somewhere, and so do the pages that the program names.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pages = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('docs/**/*.md', { cwd: root }),
].toSorted();

/** Text without code, whose brackets are no links. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/(`+)[^`].*?\1/g, '');

/** As GitHub names a heading. */
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
    [...read(name).matchAll(/(?<![\w/])docs\/(?!interop\/|devel\/|this\.)[\w/-]+\.md\b/g)].map(
      ([path]) => ({ name, path }),
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});
