import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRepository, RepositoryError } from '../../src/forge/patch/repository.ts';
import { buildOverlays } from '../../src/kernel/overlay.ts';
import type { Patch } from '../../src/model/patch.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';

const patchOf = (baseCommit: string, headCommit: string): Patch => ({
  kind: 'range',
  title: 'A change',
  author: 'Alice',
  baseCommit,
  headCommit,
});

const build = (directory: string, base: string, head: string) =>
  buildOverlays(patchOf(base, head), { path: 'dut', beside: '' }, openRepository(directory));

test('the variants are the overlay where the patch parted, and at its head', async () => {
  const directory = newRepository();
  const parted = commit(directory, { 'dut/nftables.conf': '# one\n', 'README.md': '' });
  git(directory, 'switch', '--quiet', '--create', 'patch');
  const head = commit(directory, { 'dut/nftables.conf': '# patched\n', 'dut/sysctl.conf': '' });
  git(directory, 'switch', '--quiet', 'main');
  const main = commit(directory, { 'dut/nftables.conf': '# by others, meanwhile\n' });

  const variants = await build(directory, main, head);
  const seen = variants.map(({ files, ...rest }) => ({
    ...rest,
    files: files.map(({ path, content }) => [path, content]),
  }));
  expect(seen).toEqual([
    { variant: 'base', commit: parted, folder: 'dut', files: [['nftables.conf', '# one\n']] },
    {
      variant: 'patched',
      commit: head,
      folder: 'dut',
      files: [
        ['nftables.conf', '# patched\n'],
        ['sysctl.conf', ''],
      ],
    },
  ]);
});

test.each([
  ['some/where/else', 'some/where/else'],
  ['./dut/', 'dut'],
  ['.', ''],
])('reports the overlay %s by its path in the repository', async (folder, path) => {
  const directory = newRepository();
  const id = commit(directory, { [`${path}/nftables.conf`.replace(/^\//, '')]: '# one\n' });
  for (const written of [folder, join(directory, folder)]) {
    const place = { path: written, beside: '' };
    const overlays = await buildOverlays(patchOf(id, id), place, openRepository(directory));
    expect(overlays.map((overlay) => overlay.folder)).toEqual([path, path]);
  }
});

test('every file has its mode and the SHA-256 of its content', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/nftables.conf': '# Überläufer\n' }, { 'dut/x': '/etc/passwd' });
  const [{ files } = { files: [] }] = await build(directory, id, id);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(files).toEqual([
    {
      path: 'nftables.conf',
      mode: '100644',
      content: '# Überläufer\n',
      sha256: sha256('# Überläufer\n'),
    },
    { path: 'x', mode: '120000', content: '/etc/passwd', sha256: sha256('/etc/passwd') },
  ]);
});

test('a patch may add the first file of an overlay, or remove the last', async () => {
  const directory = newRepository();
  const without = commit(directory, { 'README.md': '' });
  const first = commit(directory, { 'dut/nftables.conf': '' });
  git(directory, 'rm', '--quiet', '-r', 'dut');
  const last = commit(directory, {});
  const counts = async (base: string, head: string) =>
    (await build(directory, base, head)).map(({ files }) => files.length);
  expect(await counts(without, first)).toEqual([0, 1]);
  expect(await counts(first, last)).toEqual([1, 0]);
});

test('if neither commit has an overlay, comparing nothing with nothing is an error', async () => {
  const directory = newRepository();
  const base = commit(directory, { 'dutt/nftables.conf': '# one\n' });
  const head = commit(directory, { 'dutt/nftables.conf': '# two\n' });
  const built = build(directory, base, head);
  await expect(built).rejects.toThrow(RepositoryError);
  await expect(built).rejects.toThrow(
    `The folder dut holds no file at ${base} or ${head}: correct \`overlay\` in ppsgate.yml.`,
  );
});

const ofFiles = (files: Record<string, string>, beside = '') => ({ files, beside });

test('files of any place have the names of the overlay, and their own paths as their sources', async () => {
  const directory = newRepository();
  const base = commit(directory, { 'etc/nft/router.nft': '# one\n', 'sysctl.conf': '' });
  const head = commit(directory, { 'etc/nft/router.nft': '# two\n' });
  const place = ofFiles({ 'nftables.conf': 'etc/nft/router.nft', 'sysctl.conf': './sysctl.conf' });
  const overlays = await buildOverlays(patchOf(base, head), place, openRepository(directory));
  expect(overlays.map(({ folder }) => folder)).toEqual([undefined, undefined]);
  expect(overlays.map(({ files }) => files.map(({ content }) => content))).toEqual([
    ['# one\n', ''],
    ['# two\n', ''],
  ]);
  expect(overlays[1]?.files).toMatchObject([
    { path: 'nftables.conf', source: 'etc/nft/router.nft', mode: '100644' },
    { path: 'sysctl.conf', source: 'sysctl.conf', mode: '100644' },
  ]);
});

test('Files of an overlay are looked for beside ppsgate.yml.', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'a/b/nftables.conf': '# b\n', 'a/sysctl.conf': '# a\n' });
  const written = { 'nftables.conf': 'nftables.conf', 'sysctl.conf': '../sysctl.conf' };
  const place = ofFiles(written, 'a/b');
  const [base] = await buildOverlays(patchOf(id, id), place, openRepository(directory));
  expect(base?.files.map(({ content }) => content)).toEqual(['# b\n', '# a\n']);
});

test.each(['../nftables.conf', '../../etc/shadow', 'etc/../../shadow'])(
  'A file of an overlay outside of the repository is refused: %s',
  async (path) => {
    const directory = newRepository();
    const id = commit(directory, { 'nftables.conf': '' });
    const place = ofFiles({ 'nftables.conf': path });
    const built = buildOverlays(patchOf(id, id), place, openRepository(directory));
    await expect(built).rejects.toThrow('outside the repository');
  },
);

test('A link in the place of a file, or on the way to it, is not followed.', async () => {
  const directory = newRepository();
  const links = { 'nftables.conf': '/etc/shadow', way: '/etc' };
  const id = commit(directory, { 'sysctl.conf': '' }, links);
  const repository = openRepository(directory);
  const link = ofFiles({ 'nftables.conf': 'nftables.conf' });
  const [base] = await buildOverlays(patchOf(id, id), link, repository);
  expect(base?.files).toMatchObject([{ mode: '120000', content: '/etc/shadow' }]);
  const beyond = ofFiles({ 'nftables.conf': 'way/shadow' });
  await expect(buildOverlays(patchOf(id, id), beyond, repository)).rejects.toThrow(
    `There is no file way/shadow at ${id} or ${id}: correct \`overlay\` in ppsgate.yml.`,
  );
});

test('A path of the overlay is a name, and no pattern of git.', async () => {
  const directory = newRepository();
  const id = commit(directory, { ':(top)n*': '# named\n', nft: '# other\n' });
  const place = ofFiles({ 'nftables.conf': ':(top)n*' });
  const [base] = await buildOverlays(patchOf(id, id), place, openRepository(directory));
  expect(base?.files.map(({ content }) => content)).toEqual(['# named\n']);
});
