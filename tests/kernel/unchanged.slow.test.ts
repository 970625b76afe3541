// Tests whether a patch needs a measurement, on real repositories and on testbeds that are only configured.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freebsdTestbedSchema } from '../../src/config/freebsd-testbed.ts';
import type { Config, TestbedConfig } from '../../src/config/schema.ts';
import { virtualTestbedSchema } from '../../src/config/virtual-testbed.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { placesLeftAlone, testbedsThatDiffer } from '../../src/kernel/unchanged.ts';
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
    dut: {
      host: 'dut',
      ingress: { interface: 'cxl0' },
      egress: { interface: 'cxl1' },
      boot: { method },
    },
    senders: [{ host: 'tx', ...port }],
    receiver: { host: 'rx', ...port, mac: '00:07:43:2e:e5:9a', inet4: '198.19.0.110' },
    ...(kernel && { builder: { host: 'builder', kernel } }),
  });

const linux: TestbedConfig = { kind: 'embedded-linux' };
const make = freebsd({ kind: 'make' });
const command = freebsd({ kind: 'command', argv: ['build'] });
const nanobsd = freebsd({ kind: 'make' }, 'nanobsd');

const base = {
  'dut/nftables.conf': '# one\n',
  'Makefile.inc1': '_tools=usr.sbin/config usr.bin/awk\n',
  'sys/net/if.c': 'int if_base;\n',
  'share/man/man4/em.4': 'em',
};

/** Returns the testbeds on which a patch needs a measurement, by name; the patch is this change of a checkout. */
async function differing(
  testbeds: Record<string, TestbedConfig>,
  change: Record<string, string> | ((directory: string) => void),
  { kernels, earlier }: { kernels?: GivenKernels; earlier?: Record<string, string> } = {},
): Promise<string[]> {
  const directory = newRepository();
  const baseCommit = commit(directory, base);
  const committed = (files: Record<string, string>) => {
    git(directory, 'switch', '--quiet', '--detach', baseCommit);
    return commit(directory, files);
  };
  if (typeof change === 'function') change(directory);
  const headCommit = typeof change === 'function' ? commit(directory, {}) : committed(change);
  const diffs = earlier && [{ diff: 80345, headCommit: committed(earlier) }];
  const patch: Patch = diffs
    ? { ...revision, baseCommit, headCommit, earlier: diffs }
    : { ...pullRequest, baseCommit, headCommit };
  return differingOn(testbeds, directory, patch, {}, kernels);
}

async function differingOn(
  testbeds: Record<string, TestbedConfig>,
  directory: string,
  patch: Patch,
  changes: Partial<Config> = {},
  kernels?: GivenKernels,
): Promise<string[]> {
  const question = { patch, config: aConfig({ testbeds, ...changes }), testbeds: Object.keys(testbeds) };
  const repository = openRepository(directory);
  const variants = await variantsByMaking({ ...question, kernels }, repository);
  return testbedsThatDiffer({ ...question, variants }, repository);
}

describe('on Linux', () => {
  test.each<[string, Record<string, string>]>([
    ['another file', { 'dut/nftables.conf': '# two\n' }],
    ['one more', { 'dut/sysctl.conf': '' }],
  ])('a patch is worth it that installs %s', async (_, change) => {
    expect(await differing({ linux }, change)).toEqual(['linux']);
  });

  test.each([
    ['changes a file that the overlay names', 'etc/nft/router.nft', ['linux']],
    ['changes another file beside it', 'etc/nft/notes', []],
  ])('one that %s is judged by that', async (_, path, worth) => {
    const directory = newRepository();
    const baseCommit = commit(directory, { 'etc/nft/router.nft': '# one\n', 'etc/nft/notes': '' });
    const headCommit = commit(directory, { [path]: '# two\n' });
    const overlay = { files: { 'nftables.conf': 'etc/nft/router.nft' }, beside: '' };
    expect(await differingOn({ linux }, directory, { ...pullRequest, baseCommit, headCommit }, { overlay })).toEqual(
      worth,
    );
  });

  test('the base against itself needs no measurement', async () => {
    expect(await differing({ linux, make, command }, {})).toEqual([]);
  });

  test('a patch that makes a file executable needs no measurement', async () => {
    const change = (directory: string) => chmodSync(join(directory, 'dut/nftables.conf'), 0o755);
    expect(await differing({ linux }, change)).toEqual([]);
  });

  test('a patch of a file that no DUT of the kind loads needs no measurement', async () => {
    expect(await differing({ linux }, { 'dut/README.md': 'new', 'dut/pf.conf': '' })).toEqual([]);
  });

  test('an overlay without a file that the DUT loads is refused', async () => {
    const image = { path: '/disk.qcow2' };
    const guests = virtualTestbedSchema.parse({ kind: 'virtual', image });
    await expect(differing({ guests }, { 'dut/nftables.conf': '# two\n' })).rejects.toThrow(
      'The overlay has nftables.conf, and guests loads pf.conf and ipfw.rules: correct `overlay` in ppsgate.yml.',
    );
  });

  test('a patch that replaces a file by a link with the same text is measured', async () => {
    const change = (directory: string) => {
      rmSync(join(directory, 'dut/nftables.conf'));
      symlinkSync('# one\n', join(directory, 'dut/nftables.conf'));
    };
    expect(await differing({ linux }, change)).toEqual(['linux']);
  });

  test('a patch with another commit of a submodule, which is not read, is measured', async () => {
    const submoduleAt = (directory: string, id: string) => {
      git(directory, 'update-index', '--add', '--cacheinfo', `160000,${id},dut/sysctl.conf`);
      git(directory, 'commit', '--quiet', '--message', 'A submodule');
      return git(directory, 'rev-parse', 'HEAD');
    };
    const directory = newRepository();
    commit(directory, base);
    const baseCommit = submoduleAt(directory, 'c'.repeat(40));
    const headCommit = submoduleAt(directory, 'd'.repeat(40));
    expect(await differingOn({ linux }, directory, { ...pullRequest, baseCommit, headCommit })).toEqual(['linux']);
  });

  test('an earlier diff that differs is measured if it was requested', async () => {
    const elsewhere = { 'sys/net/if.c': 'int if_patched;\n' };
    expect(await differing({ linux }, elsewhere, { earlier: elsewhere })).toEqual([]);
    const earlier = { 'dut/nftables.conf': '# two\n' };
    expect(await differing({ linux }, elsewhere, { earlier })).toEqual(['linux']);
  });
});

describe('on FreeBSD', () => {
  test('a change of the kernel is measured with every builder', async () => {
    const change = { 'sys/net/if.c': 'int if_patched;\n' };
    const all = { make, command, nanobsd };
    expect(await differing(all, change)).toEqual(['make', 'command', 'nanobsd']);
  });

  test('a change of manuals and userland is measured only if more than a kernel may be built from it', async () => {
    const change = { 'share/man/man4/em.4': 'new', 'sbin/ifconfig/ifconfig.c': 'int main;' };
    const all = { make, command, nanobsd, none: freebsd() };
    expect(await differing(all, change)).toEqual(['command', 'nanobsd', 'none']);
  });

  test('a change of the build tools of the kernel is measured', async () => {
    expect(await differing({ make }, { 'usr.sbin/config/main.c': 'int main;' })).toEqual(['make']);
  });

  test('a mode, a link and a submodule are changes, regardless of .gitmodules', async () => {
    const mode = (directory: string) => chmodSync(join(directory, 'sys/net/if.c'), 0o755);
    expect(await differing({ make }, mode)).toEqual(['make']);
    const link = (directory: string) => {
      rmSync(join(directory, 'sys/net/if.c'));
      symlinkSync('int if_base;\n', join(directory, 'sys/net/if.c'));
    };
    expect(await differing({ make }, link)).toEqual(['make']);
    const submodule = (directory: string) => {
      const ignoring = '[submodule "sub"]\n\tpath = sys/sub\n\turl = x\n\tignore = all\n';
      commit(directory, { '.gitmodules': ignoring });
      mkdirSync(join(directory, 'sys/sub'));
      git(directory, 'update-index', '--add', '--cacheinfo', `160000,${'c'.repeat(40)},sys/sub`);
    };
    expect(await differing({ make }, submodule)).toEqual(['make']);
  });

  test('a driver is measured only if the DUT forwards through its ports, with every builder', async () => {
    const all = { make, command, nanobsd };
    expect(await differing(all, { 'sys/dev/cxgbe/t4_sge.c': 'int t4;' })).toEqual(Object.keys(all));
    expect(await differing(all, { 'sys/dev/mlx5/driver.h': '#define M' })).toEqual([]);
    const both = { 'sys/dev/mlx5/driver.h': '#define M', 'sys/net/if.c': 'int if_patched;\n' };
    expect(await differing(all, both)).toEqual(Object.keys(all));
  });

  test('a file renamed, deleted or linked from elsewhere into such a folder counts at its old place', async () => {
    const renamed = (directory: string) => {
      mkdirSync(join(directory, 'sys/dev/mlx5'), { recursive: true });
      git(directory, 'mv', 'sys/net/if.c', 'sys/dev/mlx5/if.c');
    };
    expect(await differing({ make }, renamed)).toEqual(['make']);
    const linked = (directory: string) => {
      mkdirSync(join(directory, 'sys/dev'), { recursive: true });
      symlinkSync('../net', join(directory, 'sys/dev/mlx5'));
    };
    expect(await differing({ make }, linked)).toEqual(['make']);
  });

  test('lists the paths that count for nothing', async () => {
    const directory = newRepository();
    const baseCommit = commit(directory, base);
    const files = { 'sys/dev/mlx5/driver.h': '#define M', 'share/man/man4/em.4': 'new' };
    const patch = { ...pullRequest, baseCommit, headCommit: commit(directory, files) };
    const question = { patch, config: aConfig({ testbeds: { make } }), testbeds: ['make'] };
    const repository = openRepository(directory);
    const variants = await variantsByMaking(question, repository);
    const places = await placesLeftAlone('make', { ...question, variants }, repository);
    expect(places).toEqual(['sys/dev/mlx5/']);
  });

  test('kernels that were built before are measured if their checksums differ', async () => {
    const folder = temporaryFolder();
    const given = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const same = { base: given('a', 'kernel'), patched: given('b', 'kernel') };
    const change = { 'sys/net/if.c': 'int if_patched;\n' };
    expect(await differing({ make }, change, { kernels: same })).toEqual([]);
    const other = { ...same, patched: given('c', 'other') };
    expect(await differing({ make }, {}, { kernels: other })).toEqual(['make']);
  });
});

describe('on virtual machines', () => {
  const kernel = { kind: 'linux', config: 'guest.config' };
  const virtual: TestbedConfig = virtualTestbedSchema.parse({
    kind: 'virtual',
    builder: { user: 'kernels', kernel },
  });

  test('a change of the built kernel is measured', async () => {
    expect(await differing({ virtual }, { 'net/ipv4/route.c': 'int route;\n' })).toEqual(['virtual']);
  });

  test('a change of what no kernel is made of is not', async () => {
    const change = { MAINTAINERS: 'Alice', 'tools/testing/selftests/net/lib.sh': 'true\n' };
    expect(await differing({ virtual }, change)).toEqual([]);
  });
});
