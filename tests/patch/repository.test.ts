import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRepository, RepositoryError } from '../../src/patch/repository.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';

test('a name is resolved to its full commit id', async () => {
  const directory = newRepository();
  const first = commit(directory, { 'dut/nftables.conf': '# one\n' });
  git(directory, 'tag', 'v1');
  const second = commit(directory, { 'dut/nftables.conf': '# two\n' });
  const repository = openRepository(directory);
  expect(await repository.resolve('v1')).toBe(first);
  expect(await repository.resolve('main')).toBe(second);
  expect(await repository.resolve(second.slice(0, 10))).toBe(second);
});

test.for(['no-such-branch', '--upload-pack=touch', 'main:dut', '0'.repeat(40)])(
  'a name without a commit is an error that says what to do: %s',
  async (name) => {
    const directory = newRepository();
    commit(directory, { 'dut/nftables.conf': '' });
    const resolved = openRepository(directory).resolve(name);
    await expect(resolved).rejects.toThrow(RepositoryError);
    await expect(resolved).rejects.toThrow(
      `The repository ${directory} has no commit ${name} and could not fetch it: check it out with its history (fetch-depth: 0).`,
    );
  },
);

test('a commit that a shallow clone lacks is fetched by its id', async () => {
  const origin = newRepository();
  const first = commit(origin, { file: 'one' });
  commit(origin, { file: 'two' });
  const clone = join(temporaryFolder(), 'clone');
  git(origin, 'clone', '--quiet', '--depth=1', `file://${origin}`, clone);
  expect(() => git(clone, 'cat-file', '-e', first)).toThrow();
  expect(await openRepository(clone).resolve(first)).toBe(first);
});

test('the merge base is where two branches parted', async () => {
  const directory = newRepository();
  const base = commit(directory, { file: 'one' });
  git(directory, 'switch', '--quiet', '--create', 'patch');
  const patch = commit(directory, { file: 'patched' });
  git(directory, 'switch', '--quiet', 'main');
  const main = commit(directory, { other: 'later' });
  expect(await openRepository(directory).mergeBase(main, patch)).toBe(base);
});

test('two histories without a common commit have no merge base', async () => {
  const directory = newRepository();
  commit(directory, { file: 'one' });
  git(directory, 'switch', '--quiet', '--orphan', 'other');
  commit(directory, { file: 'two' });
  await expect(openRepository(directory).mergeBase('main', 'other')).rejects.toThrow(
    `main and other have no common ancestor in ${directory}`,
  );
});

test('a folder’s files are listed by their paths in it, with mode and object, however they are named', async () => {
  const directory = newRepository();
  const names = ['a', 'b/c', 'tab\tin\tname', 'line\nbreak', '"quotes"', 'ümläut', '-dash'];
  const files = names.map((name) => [`dut/${name}`, name] as const);
  const id = commit(directory, { ...Object.fromEntries(files), 'dutiful/no': '', outside: '' });
  const repository = openRepository(directory);
  const entries = await repository.list(id, 'dut');
  expect(entries.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
  for (const { path, mode, object } of entries) {
    expect(mode).toBe('100644');
    expect(await repository.read(object)).toBe(path);
  }
});

test('a folder may be named absolutely, relatively, or be the repository itself', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/a': '', b: '' });
  const repository = openRepository(directory);
  const paths = async (folder: string) =>
    (await repository.list(id, folder)).map(({ path }) => path);
  expect(await paths('dut/')).toEqual(['a']);
  expect(await paths('./other/../dut')).toEqual(['a']);
  expect(await paths(join(directory, 'dut'))).toEqual(['a']);
  expect(await paths('.')).toEqual(['b', 'dut/a']);
});

test('a link is listed as what it is, and read as where it points', async () => {
  const directory = newRepository();
  const id = commit(directory, {}, { 'dut/nftables.conf': '/etc/shadow' });
  const repository = openRepository(directory);
  const [entry] = await repository.list(id, 'dut');
  expect(entry).toMatchObject({ path: 'nftables.conf', mode: '120000' });
  expect(await repository.read(entry?.object ?? '')).toBe('/etc/shadow');
});

test('what is asked of is the commit, whatever lies in the working tree', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/a': 'committed' });
  writeFileSync(join(directory, 'dut/a'), 'changed since');
  mkdirSync(join(directory, 'dut/new'));
  writeFileSync(join(directory, 'dut/new/b'), '');
  const repository = openRepository(directory);
  const [entry, ...others] = await repository.list(id, 'dut');
  expect(others).toEqual([]);
  expect(await repository.read(entry?.object ?? '')).toBe('committed');
});

test('a folder that does not exist holds nothing', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' });
  expect(await openRepository(directory).list(id, 'dut')).toEqual([]);
});

test('a folder outside of the repository is an error', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' });
  const listed = openRepository(directory).list(id, '../elsewhere');
  await expect(listed).rejects.toThrow(
    `git cannot list ../elsewhere at ${id} in ${directory}: name a folder of the repository.`,
  );
});

test('a file of more than 4 MiB is an error, not a long wait', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/large': 'x'.repeat(4 * 1024 * 1024 + 1) });
  const repository = openRepository(directory);
  const [entry] = await repository.list(id, 'dut');
  await expect(repository.read(entry?.object ?? '')).rejects.toThrow('at most 4 MiB');
});

test('a commit is described by its subject and its author', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' }, {}, 'Subject line\n\nAnd a body.\n');
  expect(await openRepository(directory).describe(id)).toEqual({
    subject: 'Subject line',
    author: 'Alice',
  });
});

test('a directory that is no repository says so', async () => {
  const directory = temporaryFolder();
  await expect(openRepository(directory).resolve('main')).rejects.toThrow(RepositoryError);
});
