// Tests whether a patch needs a measurement, on real repositories and on testbeds that are only configured.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { freebsdTestbedSchema } from '../../src/config/freebsd-testbed.ts';
import type { Config, TestbedConfig } from '../../src/config/schema.ts';
import { virtualTestbedSchema } from '../../src/config/virtual-testbed.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { testbedsThatDiffer } from '../../src/kernel/unchanged.ts';
import { type GivenKernels, variantsByMaking } from '../../src/kernel/variant.ts';
import type { Patch } from '../../src/model/patch.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aConfig } from '../fakes/plan.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { pullRequest, revision } from '../fakes/result.ts';

const port = { interface: 'cxl0', mac: '00:07:43:2e:e5:92', inet4: '198.18.0.110' };

const freebsd = (kernel?: object, method = 'nextboot'): TestbedConfig =>
  freebsdTestbedSchema.parse({
    kind: 'freebsd',
    dut: { host: 'dut', ingress: { interface: 'cxl0' }, egress: { interface: 'cxl1' }, boot: { method } },
    senders: [{ host: 'tx', ...port }],
    receiver: { host: 'rx', ...port, mac: '00:07:43:2e:e5:9a', inet4: '198.19.0.110' },
    ...(kernel && { builder: { host: 'builder', kernel } }),
  });

const all: Record<string, TestbedConfig> = {
  linux: { kind: 'embedded-linux' },
  make: freebsd({ kind: 'make' }),
  command: freebsd({ kind: 'command', argv: ['build'] }),
  nanobsd: freebsd({ kind: 'make' }, 'nanobsd'),
  none: freebsd(),
  virtual: virtualTestbedSchema.parse({
    kind: 'virtual',
    builder: { user: 'kernels', kernel: { kind: 'linux', config: 'guest.config' } },
  }),
};
const kernels = ['make', 'command', 'nanobsd', 'none', 'virtual'];
const ofMore = ['command', 'nanobsd', 'none'];

const base = {
  'dut/nftables.conf': '# one\n',
  'Makefile.inc1': '_tools=usr.sbin/config usr.bin/awk\n',
  'sys/net/if.c': 'int if_base;\n',
  'share/man/man4/em.4': 'em',
};

let directory: string;
let baseCommit: string;

beforeEach(() => {
  directory = newRepository();
  baseCommit = commit(directory, base);
});

/** Returns the testbeds on which a patch of the directory's head needs a measurement, by name. */
async function differing(
  { patch, testbeds = all, ...changes }: Partial<Config> & { patch?: Patch } = {},
  kernels?: GivenKernels,
): Promise<string[]> {
  const headCommit = git(directory, 'rev-parse', 'HEAD');
  const question = {
    patch: patch ?? { ...pullRequest, baseCommit, headCommit },
    config: aConfig({ testbeds, ...changes }),
    testbeds: Object.keys(testbeds),
  };
  const repository = openRepository(directory);
  const variants = await variantsByMaking({ ...question, kernels }, repository);
  return testbedsThatDiffer({ ...question, variants }, repository);
}

type Change = () => void;
const writes =
  (...paths: string[]): Change =>
  () => {
    for (const path of paths) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), 'new');
    }
  };
const links =
  (path: string, target: string): Change =>
  () => {
    rmSync(join(directory, path), { force: true });
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    symlinkSync(target, join(directory, path));
  };

test.each<[string, Change, string[]]>([
  ['nothing', () => {}, []],
  ['a file of the overlay', writes('dut/nftables.conf'), ['linux', ...kernels]],
  ['only its mode', () => chmodSync(join(directory, 'dut/nftables.conf'), 0o755), kernels],
  ['files that no DUT of the kind loads', writes('dut/README.md', 'dut/pf.conf'), kernels],
  ['a link with the text of the file', links('dut/nftables.conf', '# one\n'), ['linux', ...kernels]],
  ['the kernel', writes('sys/net/if.c'), kernels],
  ['manuals and userland', writes('share/man/man4/em.4', 'sbin/ifconfig/ifconfig.c'), [...ofMore, 'virtual']],
  ['the build tools of the kernel', writes('usr.sbin/config/main.c'), kernels],
  ['the mode of a source', () => chmodSync(join(directory, 'sys/net/if.c'), 0o755), kernels],
  ['a driver of the DUT', writes('sys/dev/cxgbe/t4_sge.c'), kernels],
  ['another driver', writes('sys/dev/mlx5/driver.h'), ['virtual']],
  ['a link from elsewhere into a driver', links('sys/dev/mlx5', '../net'), kernels],
  [
    'of Linux what no kernel is made of',
    writes('MAINTAINERS', 'tools/testing/selftests/net/lib.sh'),
    ['make', ...ofMore],
  ],
])('a patch that changes %s is measured there', async (_, change, testbeds) => {
  change();
  commit(directory, {});
  expect(await differing()).toEqual(testbeds);
});

test('a file that moves into a driver counts at its old place', async () => {
  mkdirSync(join(directory, 'sys/dev/mlx5'), { recursive: true });
  git(directory, 'mv', 'sys/net/if.c', 'sys/dev/mlx5/if.c');
  commit(directory, {});
  expect(await differing()).toEqual(kernels);
});

test.each(['sys/sub', 'dut/sysctl.conf'])(
  'another commit of the submodule %s, which is not read, is measured, regardless of .gitmodules',
  async (path) => {
    const submoduleAt = (id: string) => {
      mkdirSync(join(directory, path), { recursive: true });
      git(directory, 'update-index', '--add', '--cacheinfo', `160000,${id},${path}`);
      git(directory, 'commit', '--quiet', '--message', 'A submodule');
    };
    commit(directory, { '.gitmodules': `[submodule "sub"]\n\tpath = ${path}\n\turl = x\n\tignore = all\n` });
    submoduleAt('c'.repeat(40));
    baseCommit = git(directory, 'rev-parse', 'HEAD');
    submoduleAt('d'.repeat(40));
    expect(await differing()).toContain(path === 'sys/sub' ? 'make' : 'linux');
  },
);

test.each([
  ['etc/nft/router.nft', ['linux']],
  ['etc/nft/notes', []],
])('of files that an overlay names it is %s that counts: %j', async (path, testbeds) => {
  baseCommit = commit(directory, { 'etc/nft/router.nft': '# one\n', 'etc/nft/notes': '' });
  commit(directory, { [path]: '# two\n' });
  const overlay = { files: { 'nftables.conf': 'etc/nft/router.nft' }, beside: '' };
  expect(await differing({ testbeds: { linux: { kind: 'embedded-linux' } }, overlay })).toEqual(testbeds);
});

test('an overlay without a file that the DUT loads is refused', async () => {
  const guests = virtualTestbedSchema.parse({ kind: 'virtual', image: { path: '/disk.qcow2' } });
  await expect(differing({ testbeds: { guests } })).rejects.toThrow('guests loads pf.conf and ipfw.rules');
});

describe('with more than base and patched', () => {
  test('an earlier diff that differs is measured if it was requested', async () => {
    const testbeds: Record<string, TestbedConfig> = { linux: { kind: 'embedded-linux' } };
    const headCommit = commit(directory, { 'sys/net/if.c': 'int if_patched;\n' });
    git(directory, 'switch', '--quiet', '--detach', baseCommit);
    const other = commit(directory, { 'dut/nftables.conf': '# two\n' });
    const of = (earlier: string): Patch => {
      return { ...revision, baseCommit, headCommit, earlier: [{ diff: 80345, headCommit: earlier }] };
    };
    expect(await differing({ testbeds, patch: of(headCommit) })).toEqual([]);
    expect(await differing({ testbeds, patch: of(other) })).toEqual(['linux']);
  });

  test('kernels that were built before are measured if their checksums differ', async () => {
    const folder = temporaryFolder();
    const given = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const testbeds: Record<string, TestbedConfig> = { make: freebsd({ kind: 'make' }) };
    commit(directory, { 'sys/net/if.c': 'int if_patched;\n' });
    const same = { base: given('a', 'kernel'), patched: given('b', 'kernel') };
    expect(await differing({ testbeds }, same)).toEqual([]);
    expect(await differing({ testbeds }, { ...same, patched: given('c', 'other') })).toEqual(['make']);
  });
});
