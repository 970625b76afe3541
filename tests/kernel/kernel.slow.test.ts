// Builds kernels with the scripts of a fake FreeBSD: on this machine, and over ssh for a login shell of csh.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { BuilderConfig, MakeRecipe } from '../../src/config/builder.ts';
import { BuilderError } from '../../src/kernel/builder-error.ts';
import { buildKernel, type KernelBuild, type KernelRequest } from '../../src/kernel/kernel.ts';
import { type KernelSums, kernelSums } from '../../src/kernel/kernel-sums.ts';
import type { LoadedModules } from '../../src/kernel/needed-modules.ts';
import { fetchKernel } from '../../src/kernel/variant-kernel.ts';
import { thisMachine } from '../../src/system/host/local.ts';
import { connect, type Host } from '../../src/system/host/ssh.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FreebsdBuilder, freebsdBuilder } from '../fakes/freebsd-builder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { startSshd } from '../fakes/sshd.ts';
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

let home: string;
let path: string;
let programs: FreebsdBuilder;
let repository: string;
let base: string;
let config: BuilderConfig;
let logs: Map<string, string>;
let progress: string[];
let sums: KernelSums;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'ppsgateer-'));
  programs = freebsdBuilder(home);
  path = [programs.bin, process.env.PATH].join(delimiter);
  vi.stubEnv('PATH', path);
});
afterAll(() => {
  vi.unstubAllEnvs();
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
    host: 'builder',
    port: 22,
    user: 'root',
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
  layouts?: readonly number[];
};

function request(wanted: KernelRequest, { on, signal, onProgress }: Change = {}): Promise<KernelBuild> {
  let seconds = 0;
  return buildKernel(on ?? thisMachine(), config, wanted, {
    signal: signal ?? new AbortController().signal,
    keepLog: async (name, text) => void logs.set(name, text),
    onProgress: onProgress ?? ((line) => progress.push(line)),
    now: () => (seconds += 100),
    sums,
    owner: '#1 for the tests',
  });
}

const build = ({ on, signal, onProgress, ...tree }: Change = {}) =>
  request(
    { kind: 'tree', baseCommit: base, ...tree },
    { ...(on && { on }), ...(signal && { signal }), ...(onProgress && { onProgress }) },
  );

async function built(change: Change = {}) {
  const result = await build(change);
  if (result.kind !== 'built') throw new Error(JSON.stringify(result));
  return result;
}

/** The diff that installs files over the base. */
function diffTo(files: Record<string, string>, ...options: string[]): Buffer {
  git(repository, 'switch', '--quiet', '--detach', base);
  const head = commit(repository, files);
  return execFileSync('git', ['-C', repository, 'diff', ...options, base, head]);
}

const inArchive = (archive: string, file = './kernel') => execFileSync('tar', ['-xOf', archive, file]).toString();
const filesIn = (archive: string) => execFileSync('tar', ['-tf', archive]).toString().split('\n');
const compiled = () => [...logs.values()].join().match(/cc -c .*/g);

function expectNothingLeft(): void {
  const left = readdirSync(config.folder).filter((name) => !/^(?:cache|builds|toolchains|lock.*)$/.test(name));
  expect(left).toEqual([]);
  expect(readdirSync(join(config.folder, 'builds'))).toEqual([]);
  expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(git(repository, 'status', '--porcelain')).toBe('');
}

/** The make processes of this test. */
function makesRunning(): string[] {
  const processes = execFileSync('ps', ['-e', '-o', 'args=']).toString().split('\n');
  return processes.filter((line) => line.includes(`-C ${config.folder}/tree/src`));
}

/** Has kernels built by a shell script. */
function useCommand(script: string): string {
  const file = join(temporaryFolder(), 'build');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  chmodSync(dirname(file), 0o755);
  config.recipe = { kind: 'command', argv: [file], kernelConfig: 'LAB' };
  return file;
}

/** Has builds confined to a jail of this name. */
function useJail(name = 'ppsgate'): void {
  config.jail = { name, user: 'nobody' };
  programs.startJail(name);
  for (const folder of [config.folder, home]) chmodSync(folder, 0o755);
}

const inJail = (name: string, body: () => Promise<void>) =>
  testWith(['root', 'setpriv'], name, async () => {
    useJail();
    await body();
  });

const patch = { 'sys/net/if.c': 'int if_patched;\n' };

describeWith(['git', 'zstd', 'flock', 'setpriv'], 'a kernel of FreeBSD', () => {
  test('is built, installed, packed and described, and comes from the cache the next time', async () => {
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
    config.recipe = { ...recipe, jobs: 3 };
    expect(await built()).toEqual({ ...kernel, cached: true });
  });

  test('passes make all that it needs, and leaves out modules of ports', async () => {
    programs.setPortModules({ 'drm-kmod': 'int drm;\n' });
    config.recipe = { ...recipe, options: ['-DWITHOUT_SOMETHING'], toolchain: false };
    const { archive } = await built();
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
    const install = [`DESTDIR=${join(config.folder, 'tree/stage')}`, '-DNO_ROOT', '-DDB_FROM_SRC'];
    expect(programs.makes()).toEqual(['buildkernel', 'installkernel']);
    expect(programs.wordsOf('buildkernel')).toEqual(['-C', source, '-j', '2', ...common, 'buildkernel']);
    expect(programs.wordsOf('installkernel')).toEqual([
      ...['-C', source, '-j', '1', ...common, ...install],
      ...['-DWITHOUT_KERNEL_SYMBOLS', 'installkernel'],
    ]);
    expect(filesIn(archive).filter((name) => name.endsWith('.ko'))).toEqual(['./if_test.ko']);
  });

  test('that is linked several times holds the same objects in another order, and is compiled once', async () => {
    const layouts = [1, 2, 3];
    const first = await built({ layouts });
    const all = [first, ...first.further];
    const kernels = all.map(({ archive }) => inArchive(archive));
    expect(kernels[0]).not.toContain('text in order');
    expect(kernels.slice(1)).toEqual([2, 3].map((seed) => `${kernels[0]}text in order ${seed}\n`));
    expect(programs.makes()).toEqual([...oneKernel, 'buildkernel', 'installkernel', 'buildkernel', 'installkernel']);
    expect(programs.wordsOf('buildkernel')).toContain('-DKERNFAST');
    expectNothingLeft();
    const again = await built({ layouts });
    expect([again, ...again.further].map(({ key }) => key)).toEqual(all.map(({ key }) => key));
    expect(again.cached && (await built()).cached).toBe(true);
  });

  test('leaves nothing relinked for a build that is not clean', async () => {
    config.recipe = { ...recipe, clean: false };
    await built({ layouts: [1, 2] });
    const after = await built({ diff: diffTo({ COPYRIGHT: 'another\n' }) });
    expect(inArchive(after.archive)).not.toContain('text in order');
  });

  test('by a linker that cannot order sections is a fault of the builder', async () => {
    programs.setLinker(12);
    await expect(build({ layouts: [1, 2] })).rejects.toThrow(BuilderError);
  });

  test('by a command is built for each $LAYOUT, which must make a difference', async () => {
    const writes = (text: string) => `
      cd "$(dirname "$OUTPUT")" && echo ${text} >kernel-file && touch -d @0 kernel-file && tar -cf "$OUTPUT" kernel-file`;
    useCommand(writes('"of $LAYOUT"'));
    const first = await built({ layouts: [1, 4] });
    expect([first, ...first.further].map(({ archive }) => inArchive(archive, 'kernel-file'))).toEqual([
      'of 1\n',
      'of 4\n',
    ]);
    useCommand(writes('same'));
    await expect(build({ layouts: [1, 4] })).rejects.toThrow('is identical to the first one');
  });

  test('is not built again for a diff that is written differently', async () => {
    const files = { ...patch, 'sys/net/moved.c': 'int route_base;\n' };
    const first = await built({ diff: diffTo(files) });
    expect(inArchive(first.archive)).toContain('int if_patched;\nint route_base;\n');
    const diff = diffTo(files, '--unified=0', '--full-index', '--find-copies-harder');
    expect(await built({ diff })).toEqual({ ...first, cached: true });
    expect(programs.makes()).toEqual(oneKernel);
    expectNothingLeft();
  });

  test("is built again if a patch's build overwrote it and its checksum in the cache", async () => {
    const { archive, sha256, key } = await built();
    const forged = [
      `cp /etc/hostname ${archive}`,
      `sum=$(sha256sum ${archive} | cut -c 1-64)`,
      `sed -i s/${sha256}/$sum/ ${archive.replace('.tar.zst', '.json')}`,
    ];
    const patched = await built({ diff: diffTo({ 'sys/net/if.c': `#pragma runs ${forged.join(' && ')}\n` }) });
    expect(patched.key).not.toBe(key);
    expect(readFileSync(archive)).toEqual(readFileSync('/etc/hostname'));
    const again = await built();
    expect(again.cached).toBe(false);
    expect(inArchive(again.archive)).toContain('int if_base;');
  });

  inJail('in a jail writes neither to the cache nor to the clone nor to sources, and trusts its cache', async () => {
    const { archive } = await built();
    sums = kernelSums(temporaryFolder());
    expect((await built()).cached).toBe(true);
    const places = [archive, repository, join(config.folder, 'tree/src/sys/net/if.c')];
    const tries = places.map((place) => `test -w ${place} && touch ${config.folder}/tree/obj/oh-no`);
    const runs = `${tries.join('; ')}; ls ${config.folder}/tree/obj; id -un`;
    const { key } = await built({ diff: diffTo({ 'sys/net/if.c': `#pragma runs ${runs}\n` }) });
    const log = logs.get(`kernel-${key}.log`);
    expect(log).toContain('\nnobody\n');
    expect(log).not.toContain('oh-no');
    expectNothingLeft();
  });

  inJail('is not built in a jail that would not keep builds away', async () => {
    programs.startJail('ppsgate', 'disable inherit');
    await expect(build()).rejects.toThrow(BuilderError);
    expect(programs.makes()).toEqual([]);
    expectNothingLeft();
  });

  inJail('uses the toolchain of its base, unless a patch changes that or it fails', async () => {
    const compiler = (text: string) => ({ 'contrib/llvm-project/cc.cpp': `${text}\n` });
    base = commit(repository, compiler('compiler of base'));
    // Keeps none of a patch.
    await built({ diff: diffTo(compiler('another')) });
    expect(existsSync(join(config.folder, 'toolchains'))).toBe(false);
    await built();
    expect(programs.makes()).toEqual([...oneKernel, ...oneKernel]);
    const [name = ''] = readdirSync(join(config.folder, 'toolchains'));
    const kept = join(config.folder, 'toolchains', name);

    const runs = `ls ${kept} || echo out of reach`;
    const { archive, key } = await built({ diff: diffTo({ 'sys/net/if.c': `#pragma runs ${runs}\n` }) });
    expect(programs.makes().slice(6)).toEqual(['buildkernel', 'installkernel']);
    expect(inArchive(archive)).toMatch(/pragma[\s\S]*compiler of base/);
    expect(logs.get(`kernel-${key}.log`)).toContain('\nout of reach\n');

    writeFileSync(join(kept, config.folder, 'tree/src/amd64.amd64/tmp/cc'), 'broken');
    expect(inArchive((await built({ diff: diffTo(patch) })).archive)).toMatch(/int if_patched;[\s\S]*compiler of base/);
  });

  test('is built with modules that the DUT needs, and not without its root', async () => {
    base = commit(repository, {
      'sys/modules/pf/Makefile': 'KMOD=\tpf\n',
      'sys/modules/zfs/Makefile': 'KMOD=\tzfs\n',
      'sys/modules/ixl/Makefile': 'KMOD=\tixl\n',
      'sys/conf/newvers.sh': 'REVISION="15.0"\n',
    });
    const loaded = { names: ['zfs'], release: '15.0-CURRENT', isRootOnZfs: true };
    config.recipe = { ...recipe, modules: 'needed' };
    const { archive } = await built({ loaded });
    expect(filesIn(archive)).toEqual(expect.arrayContaining(['./pf.ko', './zfs.ko']));
    expect(filesIn(archive)).not.toContain('./ixl.ko');
    expect((await built({ loaded: { ...loaded, names: ['zfs', 'ixl'] } })).cached).toBe(false);
    config.recipe = { ...recipe, options: ['-DNO_MODULES'] };
    await expect(build({ loaded })).rejects.toThrow(BuilderError);
  });

  test('whose diff does not apply, or is refused, is not built', async () => {
    const reasonOf = async (diff: Buffer) => {
      const result = await build({ diff });
      return result.kind === 'does-not-apply' && result.reason;
    };
    expect(await reasonOf(diffTo(patch, '--no-prefix'))).toMatch('has no prefixes a/ and b/');
    const idle = 'diff --git a/sys/net/if.c b/sys/net/if.c\nold mode 100755\nnew mode 100644\n';
    expect(await reasonOf(Buffer.from(idle))).toMatch('differs from its own header');
    const diff = diffTo(patch);
    base = commit(repository, { 'sys/net/if.c': 'int by_others;\n' });
    expect(await reasonOf(diff)).toMatch('patch failed: sys/net/if.c:1');
    expect(programs.makes()).toEqual([]);
    expectNothingLeft();
  });

  test('that does not compile is reported with the errors, and is not cached', async () => {
    const failed = await build({ diff: diffTo({ 'sys/net/if.c': 'int x;\n#error "not today"\n' }) });
    const [log = ''] = logs.keys();
    expect(failed).toEqual({ kind: 'build-failed', errors: ['sys/net/if.c:2:2: error: "not today"'], log });
    expect(logs.get(log)).toContain('*** Error code 1');
    expect(readdirSync(join(config.folder, 'cache'))).toEqual([]);
    expectNothingLeft();
  });

  test('begins on no full disk, and a disk that fills up is no fault of the patch', async () => {
    expect(await build({ diff: diffTo({ 'sys/net/if.c': '#pragma full\n' }) })).toMatchObject({ kind: 'out-of-disk' });
    expectNothingLeft();
    const before = programs.makes();
    config.minFreeBytes = 1e18;
    expect(await build()).toMatchObject({ kind: 'out-of-disk' });
    expect(programs.makes()).toEqual(before);
  });

  test('that is requested twice at once is built once', async () => {
    const both = await Promise.all([built(), built()]);
    expect(both.map(({ cached }) => cached).toSorted()).toEqual([false, true]);
    expect(programs.makes()).toEqual(oneKernel);
  });

  test('that waits too long for its turn names the running one, whose cancelling leaves nothing', async () => {
    config.turnSeconds = 0.1;
    const waiting = Promise.withResolvers<void>();
    const cancel = new AbortController();
    const diff = diffTo({ 'sys/net/if.c': '#pragma slow\n' });
    const onProgress = (line: string) => line === '===> waiting' && waiting.resolve();
    const slow = build({ diff, signal: cancel.signal, onProgress });
    await waiting.promise;
    await expect(build()).rejects.toThrow(/^Another build on this machine .* \(#1 for the tests\)\.$/);
    cancel.abort(new Error('enough'));
    await expect(slow).rejects.toThrow('enough');
    expect(makesRunning()).toEqual([]);
    expectNothingLeft();
  });

  test('that takes too long is ended', async () => {
    config.limitSeconds = 1;
    expect(await build({ diff: diffTo({ 'sys/net/if.c': '#pragma slow\n' }) })).toMatchObject({
      kind: 'build-failed',
      errors: ['The build did not end within 1 s.'],
    });
    expect(makesRunning()).toEqual([]);
    expectNothingLeft();
  });

  inJail('from the objects of the one before has only differences compiled', async () => {
    config.recipe = { ...recipe, clean: false };
    await built();
    logs.clear();
    const { archive } = await built({ diff: diffTo(patch) });
    expect(compiled()).toEqual(['cc -c sys/net/if.c']);
    expect(inArchive(archive)).toContain('int if_patched;\nint route_base;\n');
    expect(programs.wordsOf('buildkernel')).toContain('-DNO_CLEAN');
    programs.setCompiler('20.1.0');
    logs.clear();
    await built();
    expect(compiled()).toHaveLength(2);
  });

  test('is not blamed for what only old objects make fail', async () => {
    config.recipe = { ...recipe, clean: false };
    const stale = { 'sys/net/route.c': '#pragma stale\n' };
    await built({ diff: diffTo(stale) });
    const kernel = await built({ diff: diffTo({ ...stale, ...patch }) });
    expect(inArchive(kernel.archive)).toContain('int if_patched;\n#pragma stale\n');
  });

  test('in meta mode needs filemon', async () => {
    config.recipe = { ...recipe, clean: false, metaMode: true };
    await expect(build()).rejects.toThrow(BuilderError);
    programs.setFilemon(true);
    await built();
    expect(programs.wordsOf('buildkernel')).toContain('-DWITH_META_MODE');
  });

  test('has a base that the clone lacks fetched, if its origin has it', async () => {
    const origin = repository;
    config.repository = join(temporaryFolder(), 'clone.git');
    execFileSync('git', ['clone', '--quiet', '--bare', origin, config.repository]);
    base = commit(origin, { 'sys/net/if.c': 'int if_newer;\n' });
    expect(inArchive((await built()).archive)).toContain('int if_newer;');
    base = 'c'.repeat(40);
    await expect(build()).rejects.toThrow(/ cannot fetch the commit c{40} from origin: /);
  });

  inJail("is built by a site's own command too, which counts as its words and its content", async () => {
    const command = useCommand(`
      [ -n "$DIFF" ] && grep -q if_patched "$DIFF" || exit 9
      folder=$(mktemp -d) && echo "$BASE_COMMIT $KERNCONF $(id -un)" >$folder/kernel
      tar -cf "$OUTPUT" -C $folder kernel && rm -r $folder`);
    const diff = diffTo(patch);
    const kernel = await built({ diff });
    expect(inArchive(kernel.archive, 'kernel')).toBe(`${base} LAB nobody\n`);
    expect((await built({ diff })).cached).toBe(true);
    appendFileSync(command, '# another one\n');
    expect((await built({ diff })).cached).toBe(false);
    useCommand('exit 0');
    await expect(build()).rejects.toThrow(/ succeeded but wrote no kernel to \$OUTPUT\.$/);
    expectNothingLeft();
  });

  test('that was built elsewhere is taken as it is, if it is the one, and fetched whole or not at all', async () => {
    const archive = join(temporaryFolder(), 'given.tar');
    execFileSync('tar', ['-cf', archive, '-C', '/etc', 'hostname']);
    const bytes = readFileSync(archive);
    const sha256 = execFileSync('sha256sum', [archive]).toString().slice(0, 64);
    expect(await request({ kind: 'archive', path: archive, sha256 })).toEqual({
      ...{ kind: 'built', key: sha256, archive, sha256, bytes: bytes.length, cached: true, seconds: 0, further: [] },
      unpackedBytes: readFileSync('/etc/hostname').length,
    });
    await expect(request({ kind: 'archive', path: archive, sha256: '0' })).rejects.toThrow(BuilderError);
    await expect(request({ kind: 'archive', path: '/none', sha256: '' })).rejects.toThrow(BuilderError);

    const to = join(temporaryFolder(), 'kernel.tar.zst');
    const fetch = (file: string) => fetchKernel(thisMachine(), { archive, sha256 }, file, AbortSignal.timeout(60_000));
    await fetch(to);
    expect(readFileSync(to)).toEqual(bytes);
    writeFileSync(archive, 'damaged');
    await expect(fetch(`${to}.other`)).rejects.toThrow(BuilderError);
    expect(readdirSync(dirname(to))).toEqual(['kernel.tar.zst']);
  });
});

// Path on Debian.
const sftpServer = '/usr/lib/openssh/sftp-server';

describeWith(
  ['root', 'setpriv', 'sshd', 'ssh-keygen', 'git', 'zstd', 'flock', 'csh', sftpServer],
  'a kernel from a builder whose login shell is csh',
  () => {
    test('is built in a jail, by make and by a command, and ends with its connection', async () => {
      await using sshd = await startSshd(sftpServer, path, 'csh -f');
      await using on = await connect(sshd);
      useJail();
      const kernelConfigFolder = temporaryFolder();
      chmodSync(kernelConfigFolder, 0o755);
      writeFileSync(join(kernelConfigFolder, 'LAB'), 'options RSS\n');
      const loaded = { names: ['zfs'], release: '15.0-CURRENT', isRootOnZfs: true };
      const lab = { ...recipe, kernelConfig: 'LAB', kernelConfigFolder, modules: 'needed' } as const;
      config.recipe = { ...lab, clean: false };
      await built({ on, loaded });
      logs.clear();
      const patched = await built({ on, diff: diffTo(patch), layouts: [1, 2] });
      expect(compiled()).toEqual(['cc -c sys/net/if.c']);
      expect(inArchive(patched.archive)).toContain('int if_patched;\nint route_base;\noptions RSS\n');
      expect((await built({ on, diff: diffTo(patch) })).cached).toBe(true);
      const to = join(temporaryFolder(), 'kernel.tar.zst');
      await fetchKernel(on, patched, to, AbortSignal.timeout(60_000));
      expect(readFileSync(to)).toEqual(readFileSync(patched.archive));

      const onProgress = (line: string) => line === '===> waiting' && void on.close();
      const lost = build({ on, diff: diffTo({ 'sys/net/if.c': '#pragma slow\n' }), onProgress });
      await expect(lost).rejects.toMatchObject({ kind: 'lost' });
      await vi.waitFor(() => expect(makesRunning()).toEqual([]), { timeout: 60_000 });
    });
  },
);
