// Files that people give as kernels, right and wrong ones, each made here.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectKernel, type KernelForm } from '../../src/lab/given-kernel.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const release = '6.1.0-9-guest';

/** The beginning of an x86 image, which names its version. */
function bzImage(): Buffer {
  const image = Buffer.alloc(0x1000);
  image.write('HdrS', 0x202, 'latin1');
  image.writeUInt16LE(0x400, 0x20e);
  image.write(`${release} (builder@host) #1 SMP 2026-11-20\0`, 0x600, 'latin1');
  return image;
}

const elf = (abi: number): Buffer =>
  Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, abi]), randomBytes(5000)]);

type Tree = Record<string, string | Buffer | { link: string }>;

const linux: Tree = {
  [`boot/vmlinuz-${release}`]: bzImage(),
  [`lib/modules/${release}/modules.order`]: '',
  [`lib/modules/${release}/kernel/net/${'long-'.repeat(30)}.ko`]: randomBytes(100_000),
};

const freebsd: Tree = { kernel: elf(9), 'pf.ko': elf(9), 'linker.hints': randomBytes(3000) };

function written(tree: Tree): string {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries(tree)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, place);
    else writeFileSync(place, content);
  }
  return folder;
}

function packed(tree: Tree, ...options: string[]): string {
  const path = join(temporaryFolder(), 'kernel.tar');
  execFileSync('tar', [...options, '-C', written(tree), '-cf', path, '.']);
  return path;
}

function debOf(tree: Tree): string {
  const control =
    'Package: linux-image-guest\nVersion: 1\nArchitecture: amd64\nMaintainer: b <b@example.org>\nDescription: none\n';
  const path = join(temporaryFolder(), 'kernel.deb');
  const folder = written({ ...tree, 'DEBIAN/control': control });
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', folder, path], { stdio: 'ignore' });
  return path;
}

function file(content: string | Buffer): string {
  const path = join(temporaryFolder(), 'given');
  writeFileSync(path, content);
  return path;
}

function image(): string {
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

describe('A kernel is taken', () => {
  test.for<Taken>([
    ['of Linux as a tar archive', 'linux', () => packed(linux)],
    ['of Linux as an archive of GNU tar', 'linux', () => packed(linux, '--format=gnu')],
    ['of Linux as an archive of pax', 'linux', () => packed(linux, '--format=pax')],
    ['of Linux with sparse files', 'linux', () => packed(linux, '--sparse')],
    ['of Linux as an archive compressed by zstd', 'linux', () => packed(linux, '--zstd')],
    ['of Linux as an archive compressed by xz', 'linux', () => packed(linux, '-J')],
    ['of Linux as an archive compressed by gzip', 'linux', () => packed(linux, '-z')],
    ['of Linux as a package of Debian', 'linux', () => debOf(linux)],
    [
      'of Linux with its modules in usr/lib, and a link to its image',
      'linux',
      () =>
        packed({
          'boot/vmlinuz': { link: `vmlinuz-${release}` },
          [`boot/vmlinuz-${release}`]: bzImage(),
          [`usr/lib/modules/${release}/modules.order`]: '',
        }),
    ],
    ['of FreeBSD as a tar archive', 'freebsd', () => packed(freebsd)],
    ['of FreeBSD as an archive compressed by zstd', 'freebsd', () => packed(freebsd, '--zstd')],
    [
      'of FreeBSD with another ABI, by its interpreter',
      'freebsd',
      () => packed({ kernel: Buffer.concat([elf(0), Buffer.from('/red/herring\0')]) }),
    ],
    ['as an image of nanobsd(8)', 'nanobsd', image],
  ])('%s', async ([, form, make]) => {
    expect(await saidOf(make(), form)).toBeUndefined();
  });
});

type Refused = readonly [...Taken, said: string];

describe('A file is refused as a kernel', () => {
  test.for<Refused>([
    ['a text', 'linux', () => file('# Release notes\n'), 'is a text file'],
    ['nothing', 'linux', () => file(''), 'is an empty file'],
    ['random bytes', 'freebsd', () => file(Buffer.alloc(9000, 'a\0b')), 'is neither a package nor an archive'],
    ['a folder', 'linux', temporaryFolder, 'is a folder'],
    ['a missing file', 'linux', () => '/nonexistent/kernel', 'cannot be read (ENOENT'],
    ['a bzImage alone', 'linux', () => file(bzImage()), 'is a Linux bzImage without its modules'],
    ['a FreeBSD kernel alone', 'freebsd', () => file(elf(9)), 'is a FreeBSD kernel without its modules'],
    ['an ELF file', 'freebsd', () => file(elf(0)), 'is an ELF file without its modules'],
    ['a zip archive', 'linux', () => file('PK\x03\x04'), 'is a zip archive'],
    ['a kernel of Linux for FreeBSD', 'freebsd', () => packed(linux), 'is an archive without `kernel`'],
    ['a package for FreeBSD', 'freebsd', () => debOf(linux), 'is a Debian package'],
    ['a kernel of FreeBSD for Linux', 'linux', () => packed(freebsd), 'is an archive without boot/vmlinuz-*'],
    [
      'a kernel of FreeBSD in its folder',
      'freebsd',
      () => packed({ 'boot/kernel/kernel': elf(9) }),
      'has its kernel at "boot/kernel/kernel"',
    ],
    [
      'a kernel that is a text',
      'freebsd',
      () => packed({ kernel: 'text' }),
      'has a `kernel` that is not a FreeBSD ELF kernel',
    ],
    [
      'an image of Linux that is a text',
      'linux',
      () => packed({ ...linux, [`boot/vmlinuz-${release}`]: 'text' }),
      `has a boot/vmlinuz-${release} that is not a Linux bzImage for x86`,
    ],
    [
      'an image without its modules',
      'linux',
      () => packed({ [`boot/vmlinuz-${release}`]: bzImage(), 'lib/modules/6.0/modules.order': '' }),
      `has no lib/modules/${release} for its boot/vmlinuz-${release}`,
    ],
    ['half a tar archive', 'linux', () => cut(packed(linux), 60_000), 'is cut short or damaged (it is truncated)'],
    ['half a tar archive compressed by xz', 'linux', () => cut(packed(linux, '-J'), 200), 'is cut short or damaged ('],
    [
      'half a tar archive compressed by gzip',
      'freebsd',
      () => cut(packed(freebsd, '-z'), 200),
      'is cut short or damaged (',
    ],
    [
      'half a tar archive compressed by zstd',
      'freebsd',
      () => cut(packed(freebsd, '--zstd'), 200),
      'is cut short or damaged (',
    ],
    ['half a package', 'linux', () => cut(debOf(linux), 2000), 'is cut short or damaged (it is truncated)'],
    ['an image that is not compressed', 'nanobsd', () => file(Buffer.alloc(9000)), 'is not xz-compressed'],
    ['half an image', 'nanobsd', () => cut(image(), 20), 'is cut short'],
  ])('%s', async ([, form, make, said]) => {
    expect(await saidOf(make(), form)).toContain(said);
  });
});

// A given kernel archive unpacks to too much, or attacks the decompressor. Defence: Its
// members stream within limits, and an unprivileged user decompresses it.
test('An archive with more members or bytes than a kernel has is refused', async () => {
  const { tarMembers } = await import('../../src/system/tar-members.ts');
  const bytes = readFileSync(packed(freebsd));
  const read = async (limits: object) => {
    const usual = { headBytes: 10, maxMembers: 100, maxBytes: 1e6 };
    for await (const _ of tarMembers(
      (async function* () {
        yield bytes;
      })(),
      { ...usual, ...limits },
    )) {
    }
  };
  await expect(read({})).resolves.toBeUndefined();
  await expect(read({ maxMembers: 2 })).rejects.toThrow('it has more than 2 members');
  await expect(read({ maxBytes: 1000 })).rejects.toThrow('it unpacks to too many bytes');
});
