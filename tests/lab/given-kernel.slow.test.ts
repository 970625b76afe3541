// Files that people give as kernels, right and wrong ones, each made here.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { expectKernel, type KernelForm } from '../../src/lab/given-kernel.ts';
import { tarMembers } from '../../src/system/tar-members.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { bzImage, packTree, type Tree } from './kernel-archives.ts';

const release = '6.1.0-9-guest';

const image = bzImage(`${release} (builder@host) #1 SMP 2026-11-20`);

const elf = (abi: number): Buffer =>
  Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, abi]), randomBytes(5000)]);

const linux: Tree = {
  [`boot/vmlinuz-${release}`]: image,
  [`lib/modules/${release}/modules.order`]: '',
  [`lib/modules/${release}/kernel/net/${'long-'.repeat(30)}.ko`]: randomBytes(100_000),
};

const newer: Tree = {
  'boot/vmlinuz': { link: `vmlinuz-${release}` },
  [`boot/vmlinuz-${release}`]: image,
  [`usr/lib/modules/${release}/modules.order`]: '',
};

const otherAbi = Buffer.concat([elf(0), Buffer.from('/red/herring\0')]);
const freebsd: Tree = { kernel: elf(9), 'pf.ko': elf(9), 'linker.hints': randomBytes(3000) };

const packed = (tree: Tree, ...options: string[]): string => packTree(temporaryFolder(), tree, options);
const debOf = (tree: Tree): string => packTree(temporaryFolder(), tree, 'deb');

function file(content: string | Buffer): string {
  const path = join(temporaryFolder(), 'given');
  writeFileSync(path, content);
  return path;
}

function imageOfNanobsd(): string {
  const path = file(randomBytes(50_000));
  execFileSync('xz', ['-0', path]);
  return `${path}.xz`;
}

/** The refusal of the file, without its path and its remedy; undefined if it is accepted. */
async function saidOf(path: string, form: KernelForm): Promise<string | undefined> {
  const error: unknown = await expectKernel('--base-kernel', path, form).catch((one) => one);
  if (error === undefined) return undefined;
  expect(error).toMatchObject({ name: 'UsageError', message: expect.stringContaining(path) });
  const [, said] = / (?:\S+) (.*); expected /.exec(error instanceof Error ? error.message : '') ?? [];
  return said;
}

const cut = (path: string, bytes: number): string => {
  truncateSync(path, readFileSync(path).length - bytes);
  return path;
};

type Taken = readonly [name: string, form: KernelForm, make: () => string];

test.for<Taken>([
  ['of Linux as a tar archive', 'linux', () => packed(linux)],
  ['of Linux as an archive of GNU tar', 'linux', () => packed(linux, '--format=gnu')],
  ['of Linux as an archive of pax', 'linux', () => packed(linux, '--format=pax')],
  ['of Linux with sparse files', 'linux', () => packed(linux, '--sparse')],
  ['of Linux as an archive compressed by zstd', 'linux', () => packed(linux, '--zstd')],
  ['of Linux as an archive compressed by xz', 'linux', () => packed(linux, '-J')],
  ['of Linux as an archive compressed by gzip', 'linux', () => packed(linux, '-z')],
  ['of Linux as a package of Debian', 'linux', () => debOf(linux)],
  ['of Linux with its modules in usr/lib, and a link to its image', 'linux', () => packed(newer)],
  ['of FreeBSD as a tar archive', 'freebsd', () => packed(freebsd)],
  ['of FreeBSD as an archive compressed by zstd', 'freebsd', () => packed(freebsd, '--zstd')],
  ['of FreeBSD with another ABI, by its interpreter', 'freebsd', () => packed({ kernel: otherAbi })],
  ['as an image of nanobsd(8)', 'nanobsd', imageOfNanobsd],
])('A kernel is taken %s', async ([, form, make]) => {
  expect(await saidOf(make(), form)).toBeUndefined();
});

const withoutModules: Tree = { [`boot/vmlinuz-${release}`]: image, 'lib/modules/6.0/modules.order': '' };

const refused: readonly Taken[] = [
  ['a text', 'linux', () => file('# Release notes\n')],
  ['nothing', 'linux', () => file('')],
  ['random bytes', 'freebsd', () => file(Buffer.alloc(9000, 'a\0b'))],
  ['a folder', 'linux', temporaryFolder],
  ['a missing file', 'linux', () => '/nonexistent/kernel'],
  ['a bzImage alone', 'linux', () => file(image)],
  ['a FreeBSD kernel alone', 'freebsd', () => file(elf(9))],
  ['an ELF file', 'freebsd', () => file(elf(0))],
  ['a zip archive', 'linux', () => file('PK\x03\x04')],
  ['a kernel of Linux for FreeBSD', 'freebsd', () => packed(linux)],
  ['a package for FreeBSD', 'freebsd', () => debOf(linux)],
  ['a kernel of FreeBSD for Linux', 'linux', () => packed(freebsd)],
  ['a kernel of FreeBSD in its folder', 'freebsd', () => packed({ 'boot/kernel/kernel': elf(9) })],
  ['a kernel of FreeBSD that is a text', 'freebsd', () => packed({ kernel: 'text' })],
  ['an image that is a text', 'linux', () => packed({ ...linux, [`boot/vmlinuz-${release}`]: 'text' })],
  ['an image without its modules', 'linux', () => packed(withoutModules)],
  ['half a tar archive', 'linux', () => cut(packed(linux), 60_000)],
  ['half a tar archive compressed by xz', 'linux', () => cut(packed(linux, '-J'), 200)],
  ['half a tar archive compressed by gzip', 'freebsd', () => cut(packed(freebsd, '-z'), 200)],
  ['half a tar archive compressed by zstd', 'freebsd', () => cut(packed(freebsd, '--zstd'), 200)],
  ['half a package', 'linux', () => cut(debOf(linux), 2000)],
  ['an image of nanobsd that is not compressed', 'nanobsd', () => file(Buffer.alloc(9000))],
  ['half an image of nanobsd', 'nanobsd', () => cut(imageOfNanobsd(), 20)],
];

test('names why a file is no kernel', async () => {
  const lines = await Promise.all(
    refused.map(async ([name, form, make]) => `${name}: ${await saidOf(make(), form)}\n`),
  );
  // Decompressors have words of their own.
  const text = lines.join('').replaceAll(/damaged \((?!it is truncated).*\)/g, 'damaged (…)');
  await expect(text).toMatchFileSnapshot('golden/given-kernel.txt');
});

test('An archive with more members or bytes than a kernel has is refused', async () => {
  const bytes = readFileSync(packed(freebsd));
  const read = async (limits: object) => {
    const usual = { headBytes: 10, maxMembers: 100, maxBytes: 1e6 };
    await Array.fromAsync(tarMembers(Readable.from([bytes]), { ...usual, ...limits }));
  };
  await expect(read({})).resolves.toBeUndefined();
  await expect(read({ maxMembers: 2 })).rejects.toThrow('it has more than 2 members');
  await expect(read({ maxBytes: 1000 })).rejects.toThrow('it unpacks to too many bytes');
});
