// Computes what distinguishes kernels: tools, options, configurations, modules and toolchains. Builds nothing.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { MakeRecipe } from '../../src/config/builder.ts';
import { jailProblem } from '../../src/kernel/jail.ts';
import { keepToolchain, keptToolchain } from '../../src/kernel/kept-toolchain.ts';
import { kernelCache } from '../../src/kernel/kernel-cache.ts';
import { keyOf, toolsOf } from '../../src/kernel/kernel-key.ts';
import { type LoadedModules, whyNoRoot, withNeededModules } from '../../src/kernel/needed-modules.ts';
import { thisMachine } from '../../src/system/host/local.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FreebsdBuilder, freebsdBuilder } from '../fakes/freebsd-builder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { describeWith } from '../needs.ts';

const host = thisMachine();
const { signal } = new AbortController();
const make = (change: Partial<MakeRecipe> = {}): MakeRecipe => ({
  kind: 'make',
  kernelConfig: 'GENERIC',
  clean: true,
  metaMode: false,
  toolchain: true,
  modules: 'needed',
  options: [],
  ...change,
});
const jail = { name: 'ppsgate', user: 'nobody' };
const key = (change: Partial<MakeRecipe>, place: { jail?: typeof jail } = {}) =>
  keyOf(host, { recipe: make(change), ...place }, 'tree', 'tools', signal);

let home: string;
let programs: FreebsdBuilder;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'ppsgateer-'));
  programs = freebsdBuilder(home);
  vi.stubEnv('PATH', [programs.bin, process.env.PATH].join(delimiter));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});
beforeEach(() => programs.reset());

test.each(['cc', 'ld', 'make'])('another %s counts, even if its version text is the same', async (program) => {
  const tools = () => toolsOf(host, { system: 'freebsd', recipe: make() }, signal);
  const before = await tools();
  expect(await tools()).toBe(before);
  programs.update(program);
  expect(await tools()).not.toBe(before);
});

test('options, the configuration and the jail count, and jobs do not', async () => {
  const others = [
    key({ options: ['-DWITHOUT_SSP'] }),
    key({ kernelConfig: 'LAB' }),
    key({}, { jail }),
    key({ clean: false }),
  ];
  expect(new Set(await Promise.all([key({}), ...others])).size).toBe(5);
  expect(await key({ jobs: 3 })).toBe(await key({}));
});

test('a kernel of what lies outside of the tree has a key of its own each time', async () => {
  const options = ['CFLAGS=-I/usr/local/include'];
  expect(await key({ options })).not.toBe(await key({ options }));
});

test.each([
  ['CONFIG_INITRAMFS_SOURCE="/srv/initramfs"', 2],
  ['CONFIG_INITRAMFS_SOURCE=""', 1],
])('a configuration of Linux that names files counts as another one each time: %s', async (kernelConfig, count) => {
  const recipe = { kind: 'linux', configPath: '', kernelConfig, clean: true, options: [] } as const;
  const keys = await Promise.all([1, 2].map(() => keyOf(host, { recipe: { ...recipe, options: [] } }, '', '', signal)));
  expect(new Set(keys).size).toBe(count);
});

test.each([
  ['include "/usr/local/kernels/common"', false],
  ['hints "../LAB.hints"', false],
  ['makeoptions CONF_CFLAGS=-I/usr/local/include', false],
  ['include GENERIC', true],
  ['makeoptions MODULES_OVERRIDE="pf cxgbe/if_cxgbe"', true],
])('a configuration with %s is known by its files: %s', async (line, isKnown) => {
  const kernelConfigFolder = temporaryFolder();
  writeFileSync(join(kernelConfigFolder, 'LAB'), `${line}\n`);
  const kernel = { kernelConfig: 'LAB', kernelConfigFolder };
  const keys = await Promise.all([key(kernel), key(kernel)]);
  expect(new Set(keys).size).toBe(isKnown ? 1 : 2);
});

test.each(['a file beside it', 'the target of a link'])('a configuration counts with %s', async (what) => {
  const [kernelConfigFolder, elsewhere] = [temporaryFolder(), temporaryFolder()];
  const file = join(what === 'the target of a link' ? elsewhere : kernelConfigFolder, 'common');
  writeFileSync(join(kernelConfigFolder, 'LAB'), 'include GENERIC\n');
  writeFileSync(file, 'options RSS\n');
  if (what === 'the target of a link') symlinkSync(file, join(kernelConfigFolder, 'linked'));
  const before = await key({ kernelConfig: 'LAB', kernelConfigFolder });
  writeFileSync(file, 'options RATELIMIT\n');
  expect(await key({ kernelConfig: 'LAB', kernelConfigFolder })).not.toBe(before);
});

describeWith(['git', 'setpriv', 'root'], 'in a repository', () => {
  const names = ['krpc', 'ice', 'ice_ddp', 'ixl', 'linuxkpi', 'nullfs', 'pf', 'ipfw', 'zfs'];
  const loaded: LoadedModules = {
    names: ['if_cxgbe', 'ice', 'zfs', 'nullfs'],
    release: '15.0-CURRENT',
    isRootOnZfs: true,
  };
  let repository: string;
  let folder: string;
  let base: string;

  beforeEach(() => {
    folder = temporaryFolder();
    repository = newRepository();
    base = commit(repository, {
      ...Object.fromEntries(names.map((name) => [`sys/modules/${name}/Makefile`, `KMOD=\t${name}\n`])),
      'sys/modules/cxgbe/Makefile': 'SUBDIR=\tif_cxgbe t5_firmware\n',
      'sys/modules/cxgbe/if_cxgbe/Makefile': 'KMOD=\tif_cxgbe\n',
      'sys/modules/cxgbe/t5_firmware/Makefile': 'KMOD=\tt5fw_cfg\n',
      'sys/conf/newvers.sh': 'REVISION="15.0"\n',
    });
  });

  test.each<[string, string, LoadedModules | undefined]>([
    ['needed', 'only these modules are built: cxgbe ice ice_ddp ipfw krpc nullfs pf zfs', loaded],
    ['all if those of the DUT are unknown', 'all modules are built: ', undefined],
    ['all if the tree has no folder of one', 'all modules are built: ', { ...loaded, names: ['zfs', 'drm'] }],
    ['all if the DUT has another release', 'all modules are built: ', { ...loaded, release: '14.3-RELEASE' }],
    ['all if a kernel of the DUT has ZFS built in', 'all modules are built: ', { ...loaded, names: ['ice'] }],
  ])('the modules are %s', async (_, line, known) => {
    const told: string[] = [];
    const place = { recipe: make(), repository };
    const recipe = await withNeededModules(host, place, `${base}^{tree}`, known, (text) => void told.push(text));
    expect(told).toEqual([expect.stringMatching(`^${line}`)]);
    const [, folders = ''] = /^only these modules are built: (.*)/.exec(line) ?? [];
    expect(recipe).toEqual(make(folders === '' ? {} : { options: [`MODULES_OVERRIDE=${folders}`] }));
  });

  test.each([
    ['MODULES_OVERRIDE=pf ipfw', true],
    ['WITHOUT_MODULES=zfs ixl', true],
    ['-DNO_MODULES', true],
    ['MODULES_OVERRIDE=pf zfs', false],
  ])('a DUT with its root on ZFS does not find it with %s: %s', (option, isWithout) => {
    const why = (change: Partial<LoadedModules>) => whyNoRoot(make({ options: [option] }), { ...loaded, ...change });
    expect(why({}) !== undefined).toBe(isWithout);
    expect([why({ isRootOnZfs: false }), why({ names: [] })]).toEqual([undefined, undefined]);
  });

  const toolchain = (change: { recipe?: Partial<MakeRecipe>; files?: Record<string, string>; tools?: string } = {}) => {
    git(repository, 'switch', '--quiet', '--detach', base);
    const tree = `${commit(repository, change.files ?? {})}^{tree}`;
    const place = { repository, folder, jail, tree, tools: change.tools ?? 'tools' };
    return keptToolchain(host, make(change.recipe), place);
  };

  test('a toolchain is that of the sources of programs, of options and of tools', async () => {
    const same = await toolchain();
    expect(await toolchain({ files: { 'sys/net/if.c': 'int if_patched;\n' } })).toBe(same);
    const others = [
      await toolchain({ files: { 'contrib/llvm-project/cc.cpp': 'another\n' } }),
      await toolchain({ files: { 'sys/sys/param.h': 'int param;\n' } }),
      await toolchain({ files: { 'sys/dev/aic7xxx/aicasm.c': 'int aicasm;\n' } }),
      await toolchain({ recipe: { options: ['-DWITHOUT_SSP'] } }),
      await toolchain({ tools: 'others' }),
    ];
    expect(new Set([same, ...others]).size).toBe(6);
    const place = { repository, folder, tree: `${base}^{tree}`, tools: '' };
    expect(await keptToolchain(host, make(), place)).toBeUndefined();
    expect(await toolchain({ recipe: { clean: false } })).toBeUndefined();
  });

  test('toolchains are kept for two bases at most', async () => {
    const objects = join(folder, 'obj');
    mkdirSync(objects);
    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      const kept = join(folder, 'toolchains', name);
      await keepToolchain(host, { folder }, kept, objects);
      utimesSync(kept, 1000 + index, 1000 + index);
    }
    expect(readdirSync(join(folder, 'toolchains'))).toEqual(['three', 'two']);
  });

  test('a jail that would not keep builds away is a problem, with a fix', async () => {
    const why = async (name: string, user = 'nobody') => {
      const problem = await jailProblem(host, { system: 'freebsd', jail: { name, user }, folder, repository });
      return problem?.why.replaceAll(repository, 'REPOSITORY').replaceAll(folder, 'FOLDER');
    };
    for (const path of [home, folder, repository]) chmodSync(path, 0o755);
    expect(await why('ours')).toBe('the jail ours is not running');
    programs.startJail('ours', 'disable inherit');
    expect(await why('ours')).toBe('the jail ours has a network');
    programs.startJail('ours');
    expect(await why('ours', 'ppsgate')).toMatch(/^the jail ours does not know ppsgate/);
    expect(await why('ours', 'root')).toBe('root in the jail ours is root');
    expect(await why('ours')).toBeUndefined();
    chmodSync(repository, 0o777);
    expect(await why('ours')).toBe('nobody in the jail ours may write to REPOSITORY');
    chmodSync(repository, 0o755);
    chmodSync(folder, 0o700);
    expect(await why('ours')).toBe('nobody in the jail ours cannot see FOLDER');
    programs.shareMemory('ours');
    expect(await why('ours')).toBe('the jail ours shares memory with this machine');
  });

  test('a cache finds what is whole, and keeps its own and the last used kernels', async () => {
    const cache = kernelCache(host, folder, 'freebsd');
    const keep = async (name: string, seconds: number) => {
      writeFileSync(join(folder, 'built'), name);
      const sha256 = createHash('sha256').update(name).digest('hex');
      await cache.keep(name, join(folder, 'built'), { sha256, bytes: 3, unpackedBytes: 3, seconds: 1 });
      utimesSync(join(folder, `${name}.json`), seconds, seconds);
    };
    const found = async (...keys: string[]) => {
      const notes = await Promise.all(keys.map((name) => cache.find(name, signal)));
      return keys.filter((_, index) => notes[index] !== undefined);
    };
    for (const [index, name] of ['one', 'two', 'three', 'own'].entries()) await keep(name, 1000 + index);
    // A kernel that is found is used.
    expect(await found('one')).toEqual(['one']);
    await cache.prune(new Set(['own']), { maxKernels: 2, maxBytes: 1e9 });
    expect(readdirSync(folder)).toEqual(['one.json', 'one.tar.zst', 'own.json', 'own.tar.zst']);
    await cache.prune(new Set(['own']), { maxKernels: 2, maxBytes: 1 });
    expect(readdirSync(folder)).toEqual(['own.json', 'own.tar.zst']);
    await keep('damaged', 2000);
    await keep('torn', 2000);
    writeFileSync(cache.archive('damaged'), 'damaged!');
    writeFileSync(join(folder, 'torn.json'), '{');
    expect(await found('own', 'damaged', 'torn')).toEqual(['own']);
  });
});
