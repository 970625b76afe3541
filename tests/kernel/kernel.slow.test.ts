import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BuilderConfig, MakeRecipe } from '../../src/config/builder.ts';
import { BuilderError } from '../../src/kernel/builder-error.ts';
import { buildKernel, type KernelBuild, type KernelRequest } from '../../src/kernel/kernel.ts';
import { type KernelSums, kernelSums } from '../../src/kernel/kernel-sums.ts';
import type { LoadedModules } from '../../src/kernel/needed-modules.ts';
import { fetchKernel } from '../../src/kernel/variant-kernel.ts';
import { connect, type Host } from '../../src/system/host/ssh.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FreebsdBuilder, freebsdBuilder } from '../fakes/freebsd-builder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { type Sshd, startSshd } from '../fakes/sshd.ts';
import { describeWith, testWith } from '../needs.ts';

const oneKernel = ['kernel-toolchain', 'buildkernel', 'installkernel'];
const recipe: MakeRecipe = {
  kind: 'make',
  kernelConfig: 'GENERIC',
  clean: true,
  metaMode: false,
  toolchain: true,
  modules: 'all',
  options: [],
};

// Path on Debian.
const sftpServer = '/usr/lib/openssh/sftp-server';

const needs = ['sshd', 'ssh-keygen', 'git', 'zstd', 'flock', 'csh', sftpServer];

describeWith(needs, 'a kernel from a builder whose login shell is csh', () => {
  let home: string;
  let sshd: Sshd;
  let host: Host;
  let programs: FreebsdBuilder;
  let repository: string;
  let base: string;
  let config: BuilderConfig;
  let logs: Map<string, string>;
  let progress: string[];
  let sums: KernelSums;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'ppsgateer-'));
    programs = freebsdBuilder(home);
    sshd = await startSshd(sftpServer, [programs.bin, process.env.PATH].join(delimiter), 'csh -f');
    host = await connect({ ...sshd, label: 'builder' });
  });
  afterAll(async () => {
    await host.close();
    await sshd.stop();
    rmSync(home, { recursive: true });
  });
  beforeEach(() => {
    programs.reset();
    repository = newRepository();
    base = commit(repository, {
      'sys/amd64/conf/GENERIC': 'ident GENERIC\n',
      'sys/net/if.c': 'int if_base;\n',
      'sys/net/route.c': 'int route_base;\n',
    });
    config = {
      system: 'freebsd',
      host: sshd.host,
      port: sshd.port,
      user: sshd.user,
      knownHostsPath: '/nonexistent',
      folder: temporaryFolder(),
      repository,
      remote: 'origin',
      recipe,
      layoutVariants: 1,
      limitSeconds: 600,
      turnSeconds: 600,
      minFreeBytes: 0,
      cache: { maxKernels: 50, maxBytes: 1e9 },
    };
    logs = new Map();
    progress = [];
    sums = kernelSums(temporaryFolder());
  });

  type Change = {
    diff?: Uint8Array;
    on?: Host;
    signal?: AbortSignal;
    onProgress?: (line: string) => void;
    loaded?: LoadedModules;
  };

  const request = (request: KernelRequest, change: Change = {}): Promise<KernelBuild> => {
    let seconds = 0;
    return buildKernel(change.on ?? host, config, request, {
      signal: change.signal ?? new AbortController().signal,
      keepLog: async (name, text) => void logs.set(name, text),
      onProgress: change.onProgress ?? ((line) => progress.push(line)),
      now: () => (seconds += 100),
      sums,
      owner: '#1 for the tests',
    });
  };
  const build = ({ diff, loaded, ...change }: Change = {}) => {
    const more = { ...(diff !== undefined && { diff }), ...(loaded !== undefined && { loaded }) };
    return request({ kind: 'tree', baseCommit: base, ...more }, change);
  };

  const built = async (change: Change = {}) => {
    const result = await build(change);
    if (result.kind !== 'built') throw new Error(JSON.stringify(result));
    return result;
  };

  /** The diff that installs files over the base. */
  const diffTo = (files: Record<string, string>, ...options: string[]): Buffer => {
    git(repository, 'switch', '--quiet', '--detach', base);
    const head = commit(repository, files);
    const words = ['-C', repository, 'diff', ...options, base, head];
    return execFileSync('git', words);
  };

  const inArchive = (archive: string, file: string) => execFileSync('tar', ['-xOf', archive, file]).toString();

  const expectNothingLeft = () => {
    const left = readdirSync(config.folder).filter((name) => !['cache', 'builds', 'toolchains'].includes(name));
    expect(left.filter((name) => !name.startsWith('lock'))).toEqual([]);
    expect(readdirSync(join(config.folder, 'builds'))).toEqual([]);
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(git(repository, 'status', '--porcelain')).toBe('');
  };

  test('the base is built, installed, packed and described', async () => {
    const kernel = await built();
    const bytes = readFileSync(kernel.archive);
    expect(kernel).toMatchObject({
      cached: false,
      seconds: 100,
      bytes: bytes.length,
      uname: 'FreeBSD 15.0-CURRENT #0 main-n1',
      sha256: execFileSync('sha256sum', [kernel.archive]).toString().slice(0, 64),
    });
    const listing = execFileSync('tar', ['--numeric-owner', '-tvf', kernel.archive]).toString();
    const files = listing.split('\n').filter((line) => line.startsWith('-'));
    expect(files.map((line) => line.split(/\s+/).at(-1)).toSorted()).toEqual(['./if_test.ko', './kernel']);
    expect(files.every((line) => line.includes(' 0/0 '))).toBe(true);
    const contents = ['./kernel', './if_test.ko'].map((file) => inArchive(kernel.archive, file));
    expect(contents[0]).toContain('int if_base;\nint route_base;\nident GENERIC\n');
    expect(kernel.unpackedBytes).toBe(contents.join('').length);
    expectNothingLeft();
  });

  test('passes make all that it needs', async () => {
    config.recipe = { ...recipe, jobs: 7, options: ['-DWITHOUT_SOMETHING'], toolchain: false };
    await built();
    const source = join(config.folder, 'tree/src');
    const common = [
      '__MAKE_CONF=/dev/null',
      'SRCCONF=/dev/null',
      'SRC_ENV_CONF=/dev/null',
      'LOCAL_MODULES=',
      '-DWITH_REPRODUCIBLE_BUILD',
      'KERNCONF=GENERIC',
      '-DWITHOUT_SOMETHING',
    ];
    expect(programs.makes()).toEqual(['buildkernel', 'installkernel']);
    expect(programs.wordsOf('buildkernel')).toEqual(['-C', source, '-j', '7', ...common, 'buildkernel']);
    expect(programs.wordsOf('installkernel')).toEqual([
      '-C',
      source,
      '-j',
      '1',
      ...common,
      `DESTDIR=${join(config.folder, 'tree/stage')}`,
      '-DNO_ROOT',
      '-DDB_FROM_SRC',
      '-DWITHOUT_KERNEL_SYMBOLS',
      'installkernel',
    ]);
  });

  test('runs as many jobs as the builder has CPUs by default', async () => {
    await built();
    expect(programs.wordsOf('buildkernel').slice(2, 4)).toEqual(['-j', '2']);
  });

  test('a patch is in the kernel, and the base stays what it was', async () => {
    const diff = diffTo({ 'sys/net/if.c': 'int if_patched;\n', 'sys/net/new.c': 'int new_one;\n' });
    const patched = await built({ diff });
    const kernel = inArchive(patched.archive, './kernel');
    expect(kernel).toContain('int if_patched;\nint new_one;\nint route_base;\n');
    const unpatched = await built();
    expect(inArchive(unpatched.archive, './kernel')).toContain('int if_base;\nint route_base;\n');
    expect(unpatched.key).not.toBe(patched.key);
    expectNothingLeft();
  });

  describe('that is linked several times', () => {
    const layouts = async (wanted: readonly number[], diff?: Uint8Array) => {
      const result = await request({
        kind: 'tree',
        baseCommit: base,
        layouts: wanted,
        ...(diff !== undefined && { diff }),
      });
      if (result.kind !== 'built') throw new Error(JSON.stringify(result));
      return [result, ...result.further];
    };
    const kernelIn = ({ archive }: { archive: string }) => inArchive(archive, './kernel');

    test('is compiled once, and holds the same objects in another order each time', async () => {
      const kernels = (await layouts([1, 2, 3])).map(kernelIn);
      expect(kernels[0]).not.toContain('text in order');
      expect(kernels.slice(1)).toEqual([2, 3].map((seed) => `${kernels[0]}text in order ${seed}\n`));
      expect(programs.makes()).toEqual([...oneKernel, 'buildkernel', 'installkernel', 'buildkernel', 'installkernel']);
      expect(programs.wordsOf('buildkernel')).toContain('-DKERNFAST');
      expectNothingLeft();
    });

    test('equals the usual kernel in its first layout, and all layouts come from the cache', async () => {
      const all = await layouts([1, 2, 3]);
      const made = programs.makes().length;
      expect((await layouts([1, 2, 3])).map(({ key }) => key)).toEqual(all.map(({ key }) => key));
      expect((await built()).cached).toBe(true);
      expect(programs.makes()).toHaveLength(made);
    });

    test('stays in the cache with all its layouts, regardless of disk space', async () => {
      config.cache.maxKernels = 2;
      for (const layout of await layouts([1, 2, 3])) expect(existsSync(layout.archive)).toBe(true);
    });

    test('leaves nothing linked for a build that is not clean', async () => {
      config.recipe = { ...recipe, clean: false };
      await layouts([1, 2]);
      const diff = diffTo({ COPYRIGHT: 'another\n' });
      const [after] = await layouts([1], diff);
      expect(after && kernelIn(after)).not.toContain('text in order');
    });

    test('by a linker that cannot order sections is a fault of the builder, and not of a patch', async () => {
      programs.setLinker(12);
      await expect(layouts([1, 2])).rejects.toThrow(
        /could not be relinked .*expected a whole number.*fix that, or set `layoutVariants: 1`/,
      );
      expect(await layouts([1])).toHaveLength(1);
    });

    test('by a command is built for each $LAYOUT, which must make a difference', async () => {
      const argv = (script: string) => ['sh', '-c', script];
      const kernelConfig = 'GENERIC';
      const tar = 'tar -cf "$OUTPUT" -C "$(dirname "$OUTPUT")" kernel-file';
      const write = (text: string) =>
        `cd "$(dirname "$OUTPUT")" && echo ${text} >kernel-file && touch -d @0 kernel-file && ${tar}`;
      config.recipe = { kind: 'command', argv: argv(write('"of $LAYOUT"')), kernelConfig };
      const kernels = await layouts([1, 4]);
      expect(kernels.map((one) => inArchive(one.archive, 'kernel-file'))).toEqual(['of 1\n', 'of 4\n']);
      config.recipe = { kind: 'command', argv: argv(write('same')), kernelConfig };
      await expect(layouts([1, 4])).rejects.toThrow('is identical to the first one');
    });
  });

  test('does not rebuild a kernel whose diff is written differently', async () => {
    const files = { 'sys/net/if.c': 'int if_patched;\n', 'sys/net/moved.c': 'int route_base;\n' };
    const first = await built({ diff: diffTo(files) });
    const diff = diffTo(files, '--unified=0', '--full-index', '--find-copies-harder');
    expect(await built({ diff })).toEqual({ ...first, cached: true });
    expect(programs.makes()).toEqual(oneKernel);
    expectNothingLeft();
  });

  test('a damaged kernel in the cache is built again', async () => {
    const { archive, sha256 } = await built();
    writeFileSync(archive, 'damaged');
    const again = await built();
    expect(again.cached).toBe(false);
    expect(inArchive(again.archive, './kernel')).toContain('int if_base;');
    writeFileSync(archive.replace('.tar.zst', '.json'), '{');
    expect((await built()).cached).toBe(false);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test("a base whose cached kernel and checksum a patch's build overwrote is built again", async () => {
    const { archive, sha256 } = await built();
    const forged = [
      `cp /etc/hostname ${archive}`,
      `sum=$(sha256sum ${archive} | cut -c 1-64)`,
      `sed -i s/${sha256}/$sum/ ${archive.replace('.tar.zst', '.json')}`,
    ];
    await built({ diff: diffTo({ 'sys/net/if.c': `#pragma runs ${forged.join(' && ')}\n` }) });
    expect(readFileSync(archive)).toEqual(readFileSync('/etc/hostname'));
    const again = await built();
    expect(again.cached).toBe(false);
    expect(inArchive(again.archive, './kernel')).toContain('int if_base;');
  });

  const inJail = (name: string, body: () => Promise<void>) =>
    testWith(['root', 'setpriv'], name, async () => {
      config.jail = { name: 'ppsgate', user: 'nobody' };
      programs.startJail('ppsgate');
      chmodSync(config.folder, 0o755);
      chmodSync(home, 0o755);
      await body();
    });

  inJail('in a jail builds write neither to the cache nor to the clone nor to sources', async () => {
    const { archive } = await built();
    const places = [archive, repository, join(config.folder, 'tree/src/sys/net/if.c')];
    const tries = places.map((place) => `test -w ${place} && touch ${config.folder}/tree/obj/oh-no`);
    const runs = `${tries.join('; ')}; ls ${config.folder}/tree/obj; id -un`;
    const diff = diffTo({ 'sys/net/if.c': `#pragma runs ${runs}\n` });
    const { key } = await built({ diff });
    const log = logs.get(`kernel-${key}.log`);
    expect(log).toContain('\nnobody\n');
    expect(log).not.toContain('oh-no');
    expectNothingLeft();
  });

  inJail('what lies in a cache that no build reaches needs no memory', async () => {
    await built();
    sums = kernelSums(temporaryFolder());
    expect((await built()).cached).toBe(true);
  });

  inJail('what was kept before builds had a jail is not trusted with it', async () => {
    const { jail } = config;
    delete config.jail;
    await built();
    sums = kernelSums(temporaryFolder());
    if (jail !== undefined) config.jail = jail;
    expect((await built()).cached).toBe(false);
  });

  inJail('objects of a jail are there for the next build where builds are not clean', async () => {
    config.recipe = { ...recipe, clean: false };
    await built();
    logs.clear();
    const { archive } = await built({ diff: diffTo({ 'sys/net/if.c': 'int if_patched;\n' }) });
    expect([...logs.values()].join().match(/cc -c .*/g)).toEqual(['cc -c sys/net/if.c']);
    expect(inArchive(archive, './kernel')).toContain('int if_patched;');
  });

  inJail("a site's own command builds in the jail as well", async () => {
    const path = useCommand(`
      folder=$(mktemp -d) && id -un >$folder/kernel
      tar -cf "$OUTPUT" -C $folder kernel && rm -r $folder`);
    chmodSync(dirname(path), 0o755);
    const { archive } = await built();
    expect(inArchive(archive, 'kernel')).toBe('nobody\n');
  });

  inJail('a jail that would not keep builds away builds nothing, and says what to do', async () => {
    const why = () =>
      build().then(
        () => 'it was built',
        (error: unknown) => String(error),
      );
    config.jail = { name: 'other', user: 'nobody' };
    expect(await why()).toMatch(/: the jail other is not running; add it to \/etc\/jail\.conf of/);
    programs.startJail('other', 'disable inherit');
    expect(await why()).toMatch(/: the jail other has a network; set `ip4 = disable; ip6 = disable;`/);
    programs.startJail('other');
    config.jail = { name: 'other', user: 'ppsgate' };
    expect(await why()).toMatch(/ does not know ppsgate: .*; run `pw useradd ppsgate /);
    config.jail = { name: 'other', user: 'root' };
    expect(await why()).toMatch(/: root in the jail other is root; run `pw useradd /);
    config.jail = { name: 'other', user: 'nobody' };
    chmodSync(repository, 0o777);
    expect(await why()).toMatch(
      `: nobody in the jail other may write to ${repository}; run \`chown -R root ${repository}\``,
    );
    chmodSync(repository, 0o755);
    chmodSync(config.folder, 0o700);
    expect(await why()).toMatch(`: nobody in the jail other cannot see ${config.folder}; give it`);
    programs.shareMemory('other');
    expect(await why()).toMatch(
      /: the jail other shares memory with .*; remove `allow\.sysvipc` from its \/etc\/jail\.conf/,
    );
    expect(programs.makes()).toEqual([]);
    expectNothingLeft();
  });

  describe('the toolchain of a base', () => {
    const patch = { 'sys/net/if.c': 'int if_patched;\n' };
    const compiler = (text: string) => ({ 'contrib/llvm-project/cc.cpp': `${text}\n` });
    const kept = () => {
      const folder = join(config.folder, 'toolchains');
      return readdirSync(folder).map((name) => join(folder, name));
    };
    const taken = ['buildkernel', 'installkernel'];

    beforeEach(() => {
      base = commit(repository, compiler('compiler of base'));
    });

    inJail('builds a patch that leaves it alone', async () => {
      await built();
      const { archive } = await built({ diff: diffTo(patch) });
      expect(programs.makes()).toEqual([...oneKernel, ...taken]);
      expect(inArchive(archive, './kernel')).toMatch(/int if_patched;[\s\S]*compiler of base/);
      expect([...logs.values()].at(-1)).toMatch(/^The kernel-toolchain of an earlier base/);
    });

    inJail('does not build a patch that changes it', async () => {
      await built();
      const { archive } = await built({ diff: diffTo({ ...patch, ...compiler('another') }) });
      expect(programs.makes()).toEqual([...oneKernel, ...oneKernel]);
      expect(inArchive(archive, './kernel')).toMatch(/int if_patched;[\s\S]*another/);
      expect(kept()).toHaveLength(1);
    });

    inJail('is the only one that is kept: what a patch had built is not', async () => {
      const other = compiler('another');
      await built({ diff: diffTo(other) });
      await built({ diff: diffTo({ ...patch, ...other }) });
      expect(programs.makes()).toEqual([...oneKernel, ...oneKernel]);
    });

    inJail('is of no use to what sys/ shares with programs, to other options, or another compiler', async () => {
      await built();
      await built({ diff: diffTo({ 'sys/sys/param.h': 'int param;\n' }) });
      config.recipe = { ...recipe, options: ['-DWITHOUT_SOMETHING'] };
      await built({ diff: diffTo(patch) });
      config.recipe = recipe;
      programs.setCompiler('20.1.0');
      await built({ diff: diffTo(patch) });
      expect(programs.makes()).toEqual(Array(4).fill(oneKernel).flat());
    });

    inJail('is not what a patch is blamed for', async () => {
      await built();
      const objects = kept().map((path) => join(path, config.folder, 'tree/src/amd64.amd64/tmp/cc'));
      for (const path of objects) writeFileSync(path, 'broken');
      const { archive } = await built({ diff: diffTo(patch) });
      expect(inArchive(archive, './kernel')).toMatch(/int if_patched;[\s\S]*compiler of base/);
    });

    inJail('is out of reach for builds', async () => {
      await built();
      const runs = kept().map((path) => `ls ${path} || echo out of reach`);
      const { key } = await built({ diff: diffTo({ 'sys/net/if.c': `#pragma runs ${runs}\n` }) });
      expect(logs.get(`kernel-${key}.log`)).toContain('\nout of reach\n');
    });

    inJail('is kept for two bases at most', async () => {
      for (const name of ['one', 'two', 'three']) {
        git(repository, 'switch', '--quiet', '--detach', base);
        base = commit(repository, compiler(name));
        await built();
      }
      expect(kept()).toHaveLength(2);
    });

    test('is not kept without a jail, where each build could change it', async () => {
      await built();
      await built({ diff: diffTo(patch) });
      expect(programs.makes()).toEqual([...oneKernel, ...oneKernel]);
      expectNothingLeft();
    });
  });

  describe('modules', () => {
    const loaded: LoadedModules = {
      names: ['if_cxgbe', 'ice', 'zfs', 'nullfs'],
      release: '15.0-CURRENT',
      isRootOnZfs: true,
    };
    const names = ['krpc', 'ice', 'ice_ddp', 'ixl', 'linuxkpi', 'nullfs', 'pf', 'ipfw', 'zfs'];
    const makefiles = {
      ...Object.fromEntries(names.map((name) => [`sys/modules/${name}/Makefile`, `KMOD=\t${name}\n`])),
      'sys/modules/cxgbe/Makefile': 'SUBDIR=\tif_cxgbe t5_firmware\n',
      'sys/modules/cxgbe/if_cxgbe/Makefile': 'KMOD=\tif_cxgbe\n',
      'sys/modules/cxgbe/t5_firmware/Makefile': 'KMOD=\tt5fw_cfg\n',
      'sys/conf/newvers.sh': 'REVISION="15.0"\n',
    };
    const modulesIn = (archive: string) =>
      execFileSync('tar', ['-tf', archive])
        .toString()
        .split('\n')
        .flatMap((name) => (/(?!if_test)\b\w+(?=\.ko$)/.exec(name) ?? []) as string[])
        .toSorted();

    beforeEach(() => {
      base = commit(repository, makefiles);
      config.recipe = { ...recipe, modules: 'needed' };
    });

    test('are those that the DUT has loaded, with their firmware, and what measuring loads', async () => {
      const needed = ['ice', 'ice_ddp', 'if_cxgbe', 'ipfw', 'krpc', 'nullfs', 'pf', 't5fw_cfg', 'zfs'];
      const { archive } = await built({ loaded });
      expect(modulesIn(archive)).toEqual(needed);
      expect(progress).toContain('only these modules are built: cxgbe ice ice_ddp ipfw krpc nullfs pf zfs');
    });

    test('that are other ones make another kernel', async () => {
      await built({ loaded });
      expect((await built({ loaded })).cached).toBe(true);
      const more = { ...loaded, names: [...loaded.names, 'ixl'] };
      expect((await built({ loaded: more })).cached).toBe(false);
    });

    test.each<[string, LoadedModules | undefined]>([
      ['the modules loaded on the DUT are unknown', undefined],
      ['the tree has no known folder that builds drm.ko', { ...loaded, names: ['zfs', 'drm'] }],
      [
        'the DUT runs FreeBSD 14.3-RELEASE, and the tree is of FreeBSD 15, whose modules may depend on others',
        { ...loaded, release: '14.3-RELEASE' },
      ],
      ["the DUT's own kernel has ZFS built in, and other kernels may not", { ...loaded, names: ['ice'] }],
    ])('are all of the tree where %s', async (why, known) => {
      const { archive } = await built(known === undefined ? {} : { loaded: known });
      expect(modulesIn(archive)).toContain('linuxkpi');
      expect(progress).toContain(`all modules are built: ${why}`);
    });

    test.each(['MODULES_OVERRIDE=pf ipfw', 'WITHOUT_MODULES=zfs ixl', '-DNO_MODULES'])(
      'without which the DUT would not find its root build nothing: %s',
      async (option) => {
        config.recipe = { ...recipe, options: [option] };
        await expect(build({ loaded })).rejects.toThrow(
          `No kernel is built: the root of the DUT is on ZFS, and \`${option}\` leaves zfs.ko out.`,
        );
        expect(programs.makes()).toEqual([]);
      },
    );

    test('that are enough are those that a site has named', async () => {
      config.recipe = { ...recipe, options: ['MODULES_OVERRIDE=pf zfs'] };
      expect(modulesIn((await built({ loaded })).archive)).toEqual(['pf', 'zfs']);
    });
  });

  test('another option of make makes another kernel', async () => {
    await built();
    config.recipe = { ...recipe, options: ['-DWITHOUT_SOMETHING'] };
    expect((await built()).cached).toBe(false);
    config.recipe = { ...config.recipe, jobs: 3 };
    expect((await built()).cached).toBe(true);
  });

  test('modules that ports have installed on the builder are not in the kernel', async () => {
    programs.setPortModules({ 'drm-kmod': 'int drm;\n' });
    const { archive } = await built();
    const names = execFileSync('tar', ['-tf', archive]).toString().split('\n').filter(Boolean);
    expect(names.filter((name) => name.endsWith('.ko'))).toEqual(['./if_test.ko']);
  });

  test.each(['cc', 'ld', 'make'])(
    'another %s on the builder makes another kernel, even if its version text is the same',
    async (program) => {
      const { key } = await built();
      expect((await built()).cached).toBe(true);
      programs.update(program);
      const other = await built();
      expect(other).toMatchObject({ cached: false });
      expect(other.key).not.toBe(key);
    },
  );

  test.each([
    'LOCAL_MODULES=drm-kmod',
    'PORTS_MODULES=graphics/drm-kmod',
    'SRCCONF=/etc/src-lab.conf',
    'CFLAGS=-I/usr/local/include',
  ])('a kernel of what lies outside of the tree is never taken from the cache: %s', async (option) => {
    programs.setPortModules({ 'drm-kmod': 'int drm;\n' });
    config.recipe = { ...recipe, options: [option] };
    const { key } = await built();
    const again = await built();
    expect(again).toMatchObject({ cached: false });
    expect(again.key).not.toBe(key);
  });

  test('a configuration that is a link counts as what it leads to', async () => {
    const [kernelConfigFolder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(elsewhere, 'LAB'), 'options RSS\n');
    symlinkSync(join(elsewhere, 'LAB'), join(kernelConfigFolder, 'LAB'));
    config.recipe = { ...recipe, kernelConfig: 'LAB', kernelConfigFolder };
    await built();
    expect((await built()).cached).toBe(true);
    writeFileSync(join(elsewhere, 'LAB'), 'options RATELIMIT\n');
    const { archive, cached } = await built();
    expect(cached).toBe(false);
    expect(inArchive(archive, './kernel')).toContain('options RATELIMIT');
  });

  test.each([
    ['include "/usr/local/kernels/common"', false],
    ['hints "../LAB.hints"', false],
    ['makeoptions CONF_CFLAGS=-I/usr/local/include', false],
    ['include GENERIC', true],
    ['makeoptions MODULES_OVERRIDE="pf cxgbe/if_cxgbe"', true],
  ])('a kernel of a configuration with %s may be taken from the cache: %s', async (line, isCached) => {
    const kernelConfigFolder = temporaryFolder();
    writeFileSync(join(kernelConfigFolder, 'LAB'), `${line}\n`);
    config.recipe = { ...recipe, kernelConfig: 'LAB', kernelConfigFolder };
    await built();
    expect((await built()).cached).toBe(isCached);
  });

  test("a site's own configuration counts with all files that it may include", async () => {
    const kernelConfigFolder = temporaryFolder();
    writeFileSync(join(kernelConfigFolder, 'LAB'), 'include common\n');
    writeFileSync(join(kernelConfigFolder, 'common'), 'options RSS\n');
    config.recipe = { ...recipe, kernelConfig: 'LAB', kernelConfigFolder };
    const { archive } = await built();
    expect(inArchive(archive, './kernel')).toContain('include common\n');
    expect((await built()).cached).toBe(true);
    writeFileSync(join(kernelConfigFolder, 'common'), 'options RATELIMIT\n');
    expect((await built()).cached).toBe(false);
  });

  test('the least recently used kernels are removed from the cache', async () => {
    config.cache = { maxKernels: 2, maxBytes: 1e9 };
    const diffs = ['one', 'two', 'three'].map((name) => diffTo({ 'sys/net/if.c': `int ${name};\n` }));
    const [one, two, three] = diffs;
    if (!one || !two || !three) throw new Error('three diffs');
    const first = await built({ diff: one });
    const second = await built({ diff: two });
    await built({ diff: one });
    const third = await built({ diff: three });
    expect([first, second, third].map(({ archive }) => existsSync(archive))).toEqual([true, false, true]);
    expect(readdirSync(join(config.folder, 'cache'))).toHaveLength(4);
    config.cache = { maxKernels: 50, maxBytes: 1 };
    const last = await built({ diff: two });
    expect(readdirSync(join(config.folder, 'cache'))).toHaveLength(2);
    expect(existsSync(last.archive)).toBe(true);
  });

  test('a diff that does not apply is reported with the place', async () => {
    const diff = diffTo({ 'sys/net/if.c': 'int if_patched;\n' });
    base = commit(repository, { 'sys/net/if.c': 'int by_others;\n' });
    expect(await build({ diff })).toEqual({
      kind: 'does-not-apply',
      reason: 'git cannot apply the diff: patch failed: sys/net/if.c:1; sys/net/if.c: patch does not apply.',
    });
    expect(programs.makes()).toEqual([]);
    expectNothingLeft();
  });

  test('a diff that is refused does not reach git', async () => {
    const diff = diffTo({ 'sys/net/if.c': 'int if_patched;\n' }, '--no-prefix');
    expect(await build({ diff })).toMatchObject({
      kind: 'does-not-apply',
      reason: expect.stringMatching('has no prefixes a/ and b/'),
    });
    expectNothingLeft();
  });

  test('a diff that differs from its description is refused', async () => {
    const idle = 'diff --git a/sys/net/if.c b/sys/net/if.c\nold mode 100755\nnew mode 100644\n';
    expect(await build({ diff: Buffer.from(idle) })).toEqual({
      kind: 'does-not-apply',
      reason:
        'The effect of the diff on sys/net/if.c differs from its own header; send it as one diff of the whole change.',
    });
  });

  test('a patch that does not compile is reported with the errors, and is not cached', async () => {
    const diff = diffTo({ 'sys/net/if.c': 'int x;\n#error "not today"\n' });
    const failed = await build({ diff });
    const [log = ''] = logs.keys();
    expect(failed).toEqual({
      kind: 'build-failed',
      errors: ['sys/net/if.c:2:2: error: "not today"'],
      log,
    });
    expect(logs.get(log)).toContain('*** Error code 1');
    expect(readdirSync(join(config.folder, 'cache'))).toEqual([]);
    expectNothingLeft();
  });

  test('a build that takes too long is ended', async () => {
    config.limitSeconds = 1;
    expect(await build({ diff: diffTo({ 'sys/net/if.c': '#pragma slow\n' }) })).toMatchObject({
      kind: 'build-failed',
      errors: ['The build did not end within 1 s.'],
    });
    expect(makesRunning()).toEqual([]);
    expectNothingLeft();
  });

  test('begins no build on a full disk', async () => {
    config.minFreeBytes = 1e18;
    expect(await build()).toMatchObject({
      kind: 'out-of-disk',
      reason: expect.stringMatching(/ GB free, and a build needs 1000000000\.0 GB\.$/),
    });
    expect(programs.makes()).toEqual([]);
    expectNothingLeft();
  });

  test('a disk that is full in the midst of a build is no fault of the patch', async () => {
    const diff = diffTo({ 'sys/net/if.c': '#pragma full\n' });
    expect(await build({ diff })).toMatchObject({ kind: 'out-of-disk' });
    expectNothingLeft();
  });

  test('of two requests for the same kernel at once, one builds it', async () => {
    await using other = await connect(sshd);
    const both = await Promise.all([built(), built({ on: other })]);
    expect(both.map(({ cached }) => cached).toSorted()).toEqual([false, true]);
    expect(programs.makes()).toEqual(oneKernel);
  });

  test('a build that waits too long for its turn is told the owner of the running one', async () => {
    config.turnSeconds = 0.1;
    await using other = await connect(sshd);
    const started = Promise.withResolvers<void>();
    const cancel = new AbortController();
    const diff = diffTo({ 'sys/net/if.c': '#pragma slow\n' });
    const onProgress = () => started.resolve();
    const slow = build({ diff, on: other, signal: cancel.signal, onProgress });
    await started.promise;
    const waited = build();
    await expect(waited).rejects.toThrow(BuilderError);
    await expect(waited).rejects.toThrow(/^Another build on builder .* \(#1 for the tests\)\.$/);
    cancel.abort(new Error('enough'));
    await expect(slow).rejects.toThrow('enough');
  });

  test('a build that is cancelled leaves no make running and nothing on the disk', async () => {
    const cancel = new AbortController();
    const diff = diffTo({ 'sys/net/if.c': '#pragma slow\n' });
    const onProgress = (line: string) => {
      if (line === '===> waiting') cancel.abort(new Error('enough'));
    };
    await expect(build({ diff, signal: cancel.signal, onProgress })).rejects.toThrow('enough');
    expect(makesRunning()).toEqual([]);
    expectNothingLeft();
  });

  test('a build whose connection is lost leaves no make running', async () => {
    const other = await connect(sshd);
    const diff = diffTo({ 'sys/net/if.c': '#pragma slow\n' });
    const onProgress = (line: string) => {
      if (line === '===> waiting') void other.close();
    };
    await expect(build({ diff, on: other, onProgress })).rejects.toMatchObject({ kind: 'lost' });
    await vi.waitFor(() => expect(makesRunning()).toEqual([]), { timeout: 120_000 });
  });

  test('if builds are not clean, only differences are compiled again', async () => {
    config.recipe = { ...recipe, clean: false };
    await built();
    logs.clear();
    const { archive } = await built({ diff: diffTo({ 'sys/net/if.c': 'int if_patched;\n' }) });
    expect([...logs.values()].join().match(/cc -c .*/g)).toEqual(['cc -c sys/net/if.c']);
    expect(inArchive(archive, './kernel')).toContain('int if_patched;\nint route_base;\n');
    logs.clear();
    git(repository, 'switch', '--quiet', '--detach', base);
    base = commit(repository, { 'sys/net/route.c': 'int route_new;\n' });
    await built();
    expect([...logs.values()].join().match(/cc -c .*/g)).toHaveLength(2);
    expect(programs.wordsOf('buildkernel')).toContain('-DNO_CLEAN');
  });

  test('objects of another compiler are of no use', async () => {
    config.recipe = { ...recipe, clean: false };
    await built();
    programs.setCompiler('20.1.0');
    logs.clear();
    await built();
    expect([...logs.values()].join().match(/cc -c .*/g)).toHaveLength(2);
  });

  test('a patch is not blamed for what only old objects make fail', async () => {
    config.recipe = { ...recipe, clean: false };
    await built({ diff: diffTo({ 'sys/net/route.c': '#pragma stale\n' }) });
    const kernel = await built({
      diff: diffTo({ 'sys/net/route.c': '#pragma stale\n', 'sys/net/if.c': 'int if_patched;\n' }),
    });
    expect(inArchive(kernel.archive, './kernel')).toContain('int if_patched;\n#pragma stale\n');
  });

  test('meta mode needs filemon', async () => {
    config.recipe = { ...recipe, clean: false, metaMode: true };
    await expect(build()).rejects.toThrow(
      /^builder .* has not loaded filemon\(4\), which meta mode needs: run "kldload filemon" there/,
    );
    programs.setFilemon(true);
    await built();
    expect(programs.wordsOf('buildkernel')).toContain('-DWITH_META_MODE');
  });

  test('a base that the clone lacks is fetched', async () => {
    const origin = repository;
    repository = join(temporaryFolder(), 'clone.git');
    execFileSync('git', ['clone', '--quiet', '--bare', origin, repository]);
    base = commit(origin, { 'sys/net/if.c': 'int if_newer;\n' });
    config.repository = repository;
    const kernel = await built();
    expect(inArchive(kernel.archive, './kernel')).toContain('int if_newer;');
  });

  test('a base that no repository has is an error of the builder', async () => {
    base = 'c'.repeat(40);
    const failed = build();
    await expect(failed).rejects.toThrow(BuilderError);
    await expect(failed).rejects.toThrow(/ cannot fetch the commit c{40} from origin: /);
    expectNothingLeft();
  });

  test("a site's own command builds as well, and is cached by its words", async () => {
    useCommand(`
      [ -n "$DIFF" ] && grep -q if_patched "$DIFF" || exit 9
      folder=$(mktemp -d) && echo "$BASE_COMMIT $KERNCONF" >$folder/kernel
      tar -cf "$OUTPUT" -C $folder kernel && rm -r $folder`);
    const diff = diffTo({ 'sys/net/if.c': 'int if_patched;\n' });
    const kernel = await built({ diff });
    expect(inArchive(kernel.archive, 'kernel')).toBe(`${base} LAB\n`);
    expect((await built({ diff })).cached).toBe(true);
    expectNothingLeft();
  });

  test("a site's own command that was changed builds again", async () => {
    const path = useCommand('tar -cf "$OUTPUT" -C / etc/hostname');
    await built();
    expect((await built()).cached).toBe(true);
    appendFileSync(path, '# another one\n');
    expect((await built()).cached).toBe(false);
  });

  test("a site's own command that writes no kernel is wrong", async () => {
    useCommand('exit 0');
    await expect(build()).rejects.toThrow(/ succeeded but wrote no kernel to \$OUTPUT\.$/);
    expectNothingLeft();
  });

  test('a kernel that was built elsewhere is taken as it is, if it is the one', async () => {
    const { archive, sha256, bytes, unpackedBytes } = await built();
    const sizes = { sha256, bytes, unpackedBytes };
    expect(await request({ kind: 'archive', path: archive, sha256 })).toEqual({
      kind: 'built',
      key: sha256,
      archive,
      ...sizes,
      cached: true,
      seconds: 0,
      further: [],
    });
    await expect(request({ kind: 'archive', path: archive, sha256: '0' })).rejects.toThrow(BuilderError);
    await expect(request({ kind: 'archive', path: '/none', sha256: '' })).rejects.toThrow(BuilderError);
  });

  test('a kernel is fetched from the builder, whole or not at all', async () => {
    const kernel = await built();
    const path = join(temporaryFolder(), 'kernel.tar.zst');
    const { signal } = new AbortController();
    await fetchKernel(host, kernel, path, signal);
    expect(readFileSync(path)).toEqual(readFileSync(kernel.archive));
    writeFileSync(kernel.archive, 'damaged');
    const other = `${path}.other`;
    await expect(fetchKernel(host, kernel, other, signal)).rejects.toThrow(/ arrived with a SHA-256 other than \w+\.$/);
    rmSync(kernel.archive);
    await expect(fetchKernel(host, kernel, other, signal)).rejects.toThrow(BuilderError);
    expect(readdirSync(dirname(path))).toEqual(['kernel.tar.zst']);
  });

  /** Has kernels built by a shell script. */
  function useCommand(script: string): string {
    const path = join(temporaryFolder(), 'build');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    config.recipe = { kind: 'command', argv: [path], kernelConfig: 'LAB' };
    return path;
  }

  /** The make processes of this test. */
  function makesRunning(): string[] {
    const processes = execFileSync('ps', ['-e', '-o', 'args=']).toString().split('\n');
    return processes.filter((line) => line.includes(`-C ${config.folder}/tree/src`));
  }
});
