// Subversion revisions in the history of a converted repository, with commit messages of any author.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newestUpTo } from '../../../src/forge/patch/svn-commit.ts';

type Told = { message?: string; note?: string };

const idOf = (index: number) => index.toString(16).padStart(40, '0');

const printed = (commits: readonly Told[]) =>
  commits.map(({ message = '', note = '' }, index) => `${idOf(index)}\0${note}\0${message}\0`).join('');

/** Message as it comes through a pipe. */
async function* inChunks(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

const find = (revision: number, commits: readonly Told[], size = 65_536) =>
  newestUpTo(revision, inChunks(printed(commits), size));

const uuid = 'ccf9f872-aa2e-dd11-9fc8-001c23d0bc1f';
const svnId = (revision: number) => `git-svn-id: svn+ssh://svn.freebsd.org/base/head@${revision} ${uuid}`;
const byMessage = (revision: number): Told => ({ message: `Fix it\n\n${svnId(revision)}\n` });
const byNote = (revision: number): Told => ({
  message: 'Fix it\n',
  note: `svn path=/head/; revision=${revision}\n`,
});

const found = (index: number, revision: number) => ({ kind: 'found', commit: idOf(index), revision });

test.each([
  ['the last line of its message', byMessage],
  ['a note', byNote],
])('a commit tells by %s which revision it was, the last before a number that nothing has', async (_, tells) => {
  const commits = [{}, tells(9), tells(8), tells(5), tells(4)];
  expect(await find(8, commits)).toEqual(found(2, 8));
  expect(await find(7, commits)).toEqual(found(3, 5));
  expect(await find(999_999_999, commits)).toEqual(found(1, 9));
  expect(await find(1, commits)).toEqual({ kind: 'only-later' });
});

test('a history without either has no revisions', async () => {
  expect(await find(8, [{ message: 'Fix it' }, {}])).toEqual({ kind: 'no-revisions' });
  expect(await find(8, [])).toEqual({ kind: 'no-revisions' });
});

// A message may contain such a line of another revision.
test.each<[string, Told]>([
  ['in the middle of a message', { message: `Fix it\n\n${svnId(1)}\n\nReviewed by: me\n` }],
  ['in a quotation', { message: `Fix it\n\n> ${svnId(1)}\n` }],
  ['of no number', { message: 'git-svn-id: svn://h/head@x y' }],
  ['of a number that is none of Subversion', { message: svnId(12_345_678_901) }],
  ['of a number with more behind it', { message: 'git-svn-id: svn://h/head@1x y' }],
  ['in a note of something else', { note: 'Acked by: svn path=/head/; revision=1\n' }],
])('a revision %s is none', async (_, told) => {
  expect(await find(8, [told, byMessage(5)])).toEqual(found(1, 5));
});

test('a note precedes a message, and of several lines the last counts', async () => {
  const note = `${byNote(7).note}svn path=/stable/14/; revision=4; tag=x\n`;
  expect(await find(5, [{ ...byMessage(6), note }])).toEqual(found(0, 4));
});

// A base of `r1` would make each diff read all of the history.
test('the history is read no further than to the commit', async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 1;
      yield printed([byMessage(1_000 - read)]);
    }
  }
  expect(await newestUpTo(990, endless())).toMatchObject({ revision: 990 });
  expect(read).toBe(10);
});

test('the result does not depend on how the output is split', async () => {
  const told = fc.oneof(
    fc.integer({ min: 1, max: 99 }).map(byMessage),
    fc.integer({ min: 1, max: 99 }).map(byNote),
    fc.constant<Told>({ message: 'Fix it\n' }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(told, { maxLength: 9 }),
      fc.integer({ min: 1, max: 99 }),
      fc.integer({ min: 1, max: 200 }),
      async (commits, revision, size) => {
        expect(await find(revision, commits, size)).toEqual(await find(revision, commits));
      },
    ),
  );
});

test('a message longer than any string keeps its end', async () => {
  const piece = 'x'.repeat(2 ** 20);
  async function* huge() {
    yield `${idOf(0)}\0\0`;
    for (let pieces = 0; pieces < 600; pieces += 1) yield piece;
    yield `\n\n${svnId(5)}\n\0`;
  }
  expect(await newestUpTo(8, huge())).toEqual(found(0, 5));
});
