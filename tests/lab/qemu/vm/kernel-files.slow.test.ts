// Unpacks kernels from small archives, which only look like kernels.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KernelFilesError, unpackKernel } from '../../../../src/lab/qemu/vm/kernel-files.ts';
import { unprivilegedUserId } from '../../../../src/lab/qemu/vm/unprivileged-user.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { describeWith } from '../../../needs.ts';
import { bzImage, packTree, type Tree } from '../../kernel-archives.ts';

const release = '6.1.0-9-guest';
const version = `${release} (builder@host) #1 SMP PREEMPT_DYNAMIC 2026-11-20`;

const usual: Tree = {
  'boot/vmlinuz-6.1.0-9-guest': bzImage(version),
  [`lib/modules/${release}/modules.order`]: '',
  [`lib/modules/${release}/modules.builtin`]: 'kernel/net/netfilter/nf_tables.ko\n',
};

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  expect([program, status, stderr]).toEqual([program, 0, expect.anything()]);
  return stdout;
}

const forms = { tar: [], 'tar.zst': ['--zstd'], 'tar.xz': ['-J'], deb: 'deb' } as const;

/** A folder of the test's own that other users may enter, as /run/ppsgate-virtual is. */
function openFolder(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o711);
  return folder;
}

const archiveOf = (tree: Tree, form: keyof typeof forms = 'tar'): string => packTree(openFolder(), tree, forms[form]);

const unpack = (archive: string, more: readonly string[] = [], folder = openFolder()) =>
  unpackKernel(archive, join(folder, 'kernel'), more);

/** The sentence that refuses an archive, after its name. */
async function refusal(archive: string, more: readonly string[] = []): Promise<string> {
  const error = await unpack(archive, more).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(KernelFilesError);
  return error instanceof KernelFilesError ? error.message : '';
}

const filesIn = (archive: string): string[] =>
  run('sh', '-c', 'cpio --quiet --list <"$1"', 'sh', archive).split('\n').filter(Boolean);

const fileIn = (archive: string, path: string): string =>
  run('sh', '-c', 'cpio --quiet --extract --to-stdout "$2" <"$1"', 'sh', archive, path);

const needs = ['root', 'tar', 'zstd', 'xz', 'dpkg-deb', 'cpio', 'depmod', 'setpriv'];

/** An object file as depmod(8) reads it, with the symbols that it exports and needs. */
function moduleOf({ gives = 'nothing', needs = [] }: { gives?: string; needs?: string[] }): Buffer {
  const object = join(temporaryFolder(), 'module.ko');
  const source = [
    `__attribute__((section("__ksymtab_strings"))) const char name[] = "${gives}";`,
    `int ${gives};`,
    ...needs.map((symbol) => `extern int ${symbol}; int *use_${symbol} = &${symbol};`),
  ].join('\n');
  const compiling = spawnSync('gcc', ['-c', '-x', 'c', '-', '-o', object], { input: source });
  expect(compiling.status, String(compiling.stderr)).toBe(0);
  return readFileSync(object);
}

describeWith(needs, 'the files of a kernel', () => {
  test.for(['tar', 'tar.zst', 'tar.xz', 'deb'] as const)(
    'are its image, its modules and its own name, out of a .%s',
    async (kind) => {
      const files = await unpack(archiveOf(usual, kind));
      expect(files.version).toBe(version);
      expect(readFileSync(files.image)).toEqual(usual['boot/vmlinuz-6.1.0-9-guest']);
      expect(filesIn(files.modules)).toContain(`lib/modules/${release}/modules.builtin`);
    },
  );

  test('belong to the user unprivilegedUserId, who has no account, and are alone in their folder', async () => {
    const folder = openFolder();
    const files = await unpack(archiveOf(usual), [], folder);
    expect(statSync(files.image).uid).toBe(unprivilegedUserId);
    expect(statSync(files.modules).uid).toBe(unprivilegedUserId);
    const names = readdirSync(join(folder, 'kernel'));
    expect(names.toSorted()).toEqual(['modules.cpio', 'vmlinuz']);
  });
});

describeWith([...needs, 'gcc'], 'modules', () => {
  const place = `lib/modules/${release}/kernel`;

  /** Returns the modules kept of a kernel with these, and those that a guest loads at boot. */
  async function kept(modules: Record<string, Buffer>, more: readonly string[] = []) {
    const tree: Tree = { ...usual };
    for (const [path, content] of Object.entries(modules)) tree[`${place}/${path}`] = content;
    const files = await unpack(archiveOf(tree), more);
    const names = filesIn(files.modules).filter((path) => path.includes('.ko'));
    return {
      all: names.map((path) => path.slice(place.length + 1)).toSorted(),
      atBoot: fileIn(files.modules, 'etc/modules').trim().split(' ').filter(Boolean),
    };
  }

  const plain = () => moduleOf({});

  test('that forwarding and rules may need are kept, and no others', async () => {
    const { all } = await kept({
      'drivers/net/virtio_net.ko': plain(),
      'drivers/net/e1000.ko': plain(),
      'net/netfilter/nf_tables.ko': plain(),
      'net/netfilter/nft_ct.ko': plain(),
      'net/ipv6/netfilter/nf_reject_ipv6.ko': plain(),
      'net/netfilter/xt_mark.ko': plain(),
    });
    expect(all).toEqual([
      'drivers/net/virtio_net.ko',
      'net/ipv6/netfilter/nf_reject_ipv6.ko',
      'net/netfilter/nf_tables.ko',
      'net/netfilter/nft_ct.ko',
    ]);
  });

  test('are kept with what they need', async () => {
    const { all } = await kept({
      'net/netfilter/nf_tables.ko': moduleOf({ needs: ['crc32c'] }),
      'lib/libcrc32c.ko': moduleOf({ gives: 'crc32c', needs: ['crypto_shash'] }),
      'crypto/crypto.ko': moduleOf({ gives: 'crypto_shash' }),
      'crypto/sha512.ko': moduleOf({ gives: 'sha512' }),
    });
    expect(all).toEqual(['crypto/crypto.ko', 'lib/libcrc32c.ko', 'net/netfilter/nf_tables.ko']);
  });

  test('are loaded at a guest’s boot in the order of the wires, the firewall and the requested ones', async () => {
    const { atBoot } = await kept(
      {
        'net/sched/act-mirred.ko': plain(),
        'net/netfilter/nf_tables.ko': plain(),
        'net/netfilter/nft_ct.ko': plain(),
        'drivers/virtio/virtio_pci.ko': plain(),
      },
      ['act_mirred'],
    );
    expect(atBoot).toEqual(['virtio_pci', 'nf_tables', 'act_mirred']);
  });

  test.for([
    ['xz', 'xz'],
    ['zst', 'zstd'],
  ] as const)('that were packed as .ko.%s are unpacked, as not every kernel could', async ([kind, program]) => {
    const packed = spawnSync(program, ['-c'], { input: plain() }).stdout;
    const { all, atBoot } = await kept({ [`net/netfilter/nf_tables.ko.${kind}`]: packed });
    expect(all).toEqual(['net/netfilter/nf_tables.ko']);
    expect(atBoot).toEqual(['nf_tables']);
  });
});

describeWith(needs, 'an archive is refused', () => {
  test('where its image names no version', async () => {
    const archive = archiveOf({ ...usual, 'boot/vmlinuz-6.1.0-9-guest': bzImage(release) });
    expect(await refusal(archive)).toBe('has a boot/vmlinuz that is not a Linux bzImage for x86');
  });

  test('where it lacks a module that guests are to load', async () => {
    expect(await refusal(archiveOf(usual), ['act_mirred'])).toBe('has no module act_mirred');
  });

  test.for(['tar.zst', 'deb'] as const)('where a .%s is cut', async (kind) => {
    // The bytes after the image are cut off, and a part of the image.
    const archive = archiveOf({ ...usual, 'boot/x': Buffer.alloc(0x4000, 'x') }, kind);
    truncateSync(archive, Math.floor(statSync(archive).size * 0.6));
    expect(await refusal(archive)).toMatch(/^cannot be unpacked: \S/);
  });
});

describeWith(needs, 'what is not of the archive', () => {
  test('is no kernel to which a link leads', async () => {
    const link = join(openFolder(), 'elsewhere');
    writeFileSync(link, bzImage(version));
    const archive = archiveOf({ ...usual, 'boot/vmlinuz-6.1.0-9-guest': { link } });
    expect(await refusal(archive)).toBe('has 0 files boot/vmlinuz-*, expected one');
  });

  test('is no module to which a link leads', async () => {
    const link = '/etc/passwd';
    const path = `lib/modules/${release}/kernel/net/netfilter/nf_x.ko`;
    const archive = archiveOf({ ...usual, [path]: { link } });
    const { modules } = await unpack(archive);
    expect(filesIn(modules)).not.toContain(path);
    expect(readFileSync(modules).includes(readFileSync(link))).toBe(false);
    expect(await refusal(archive, ['nf_x'])).toBe('has no module nf_x');
  });

  test('is not written where its names lead out of its folder', async () => {
    const folder = openFolder();
    const escaping = ['-P', '--transform', 's,^\\./x$,../../escaped,'];
    const archive = packTree(folder, { ...usual, x: 'x' }, escaping);
    chmodSync(folder, 0o777);
    await unpack(archive, [], folder).catch(() => {});
    expect(existsSync(join(folder, 'escaped'))).toBe(false);
    expect(existsSync(join(folder, 'kernel/escaped'))).toBe(false);
  });
});

describeWith([...needs, 'bash', 'prlimit'], 'an archive that is small', () => {
  const megabyte = 1024 ** 2;

  /** Refuses more than 8 MB or 40 files. */
  async function refusalWithin(archive: string): Promise<string> {
    const folder = openFolder();
    const most = { bytes: 8 * megabyte, files: 40 };
    const place = join(folder, 'kernel');
    const error = await unpackKernel(archive, place, [], most).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(KernelFilesError);
    expect(readdirSync(folder)).toEqual([]);
    return error instanceof KernelFilesError ? error.message : '';
  }

  test.for(['tar.zst', 'deb'] as const)(
    'and unpacks to too many bytes is refused, and leaves nothing: .%s',
    async (kind) => {
      const archive = archiveOf({ ...usual, zeros: Buffer.alloc(16 * megabyte) }, kind);
      expect(statSync(archive).size).toBeLessThan(0.1 * megabyte);
      expect(await refusalWithin(archive)).toBe('cannot be unpacked: it unpacks to too many bytes');
    },
  );

  test('and whose modules unpack to too many bytes is refused, and leaves nothing', async () => {
    const zeros = spawnSync('xz', ['-c'], { input: Buffer.alloc(6 * megabyte) }).stdout;
    const names = ['nf_tables', 'nft_ct'].map((name) => `lib/modules/${release}/kernel/net/netfilter/${name}.ko.xz`);
    const modules = Object.fromEntries(names.map((name) => [name, zeros]));
    expect(await refusalWithin(archiveOf({ ...usual, ...modules }))).toBe(
      'cannot be unpacked: its modules unpack to too many bytes',
    );
  });

  test('and has too many files is refused, and leaves nothing', async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, '']));
    expect(await refusalWithin(archiveOf({ ...usual, ...files }))).toBe('cannot be unpacked: it has too many files');
  });
});
