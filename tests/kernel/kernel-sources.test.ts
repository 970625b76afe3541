// Paths of FreeBSD's and Linux's trees that a kernel may be made of.
import { describe, expect, test } from 'vitest';
import { type BuilderConfig, builderSchema } from '../../src/config/builder.ts';
import { linuxBuilderSchema } from '../../src/config/linux-builder.ts';
import { mayChangeKernel } from '../../src/kernel/kernel-sources.ts';

const builderWith = (kernel: object): BuilderConfig => builderSchema.parse({ host: 'b', kernel });
const usual = builderWith({ kind: 'make' });

/** Names the programs built before the kernel, like Makefile.inc1. */
const makefile = `
_basic_bootstrap_tools=usr.bin/awk usr.bin/cut bin/expr sbin/md5
.for _tool in usr.bin/vi/catalog usr.sbin/config
`;

const may = (path: string, builder = usual) => mayChangeKernel(path, builder, makefile);

// Attack forge/outside-sys: A patch changes a kernel by a file outside `sys`: a makefile, compiler, build tool or
// `.gitattributes`. Defence: A file counts unless every build step is known to ignore it.
test.each([
  'sys/netinet/ip_input.c',
  'sys/amd64/conf/GENERIC',
  'sys/contrib/openzfs/man/man8/zfs.8',
  'share/mk/bsd.kmod.mk',
  'Makefile',
  'Makefile.inc1',
  'COPYRIGHT',
  '.gitattributes',
  '.gitmodules',
  'contrib/llvm-project/llvm/lib/MC/MCStreamer.cpp',
  'contrib/elftoolchain/libelf/elf.c',
  'lib/clang/llvm.build.mk',
  'lib/libelf/elf.c',
  'include/stdlib.h',
  'tools/build/Makefile',
  'cddl/usr.bin/ctfconvert/ctfconvert.c',
  'a folder of a fork/unknown.c',
])('%s counts', (path) => {
  expect(may(path)).toBe(true);
});

test('the text that newvers.sh has read into the kernel counts, though it is an example', () => {
  expect(may('share/examples/etc/bsd-style-copyright')).toBe(true);
});

// Attack forge/outside-sys
test.each([
  ['usr.sbin/config/main.cc', 'which Makefile.inc1 names'],
  ['usr.bin/vi/vi.c', 'of which it names a part'],
  ['usr.bin/bmake/main.c', 'which the tree’s own Makefile builds'],
  ['usr.bin/make/main.c', 'as it was called before'],
])('a program that takes part in the build counts: %s, %s', (path) => {
  expect(may(path)).toBe(true);
});

test.each(['sbin/ifconfig/ifconfig.c', 'usr.bin/netstat/main.c', 'libexec/ftpd/ftpd.c'])(
  'an unused program has no effect: %s',
  (path) => {
    expect(may(path)).toBe(false);
  },
);

test.each([
  'share/man/man4/em.4',
  'share/doc/IPv6/IMPLEMENTATION',
  'lib/libc/sys/socket.2',
  'sbin/ifconfig/ifconfig.8',
  'usr.sbin/config/config.8',
  'tests/sys/netinet/fibs_test.sh',
  'release/release.sh',
  'UPDATING',
  'README.md',
])('manuals, tests and words to people do not: %s', (path) => {
  expect(may(path)).toBe(false);
});

// Attack forge/outside-sys
test.each([
  'sbin/ifconfig/Makefile',
  'sbin/Makefile.inc',
  'usr.sbin/ppp/Makefile.depend',
  'share/man/man4/Makefile',
  'usr.bin/src.opts.mk',
  'sbin/.gitattributes',
])('makefiles count in every folder, because make(1) may walk through them: %s', (path) => {
  expect(may(path)).toBe(true);
});

describe('everything counts', () => {
  const manual = 'share/man/man4/em.4';

  test("if a site's own command builds, because its inputs are unknown", () => {
    expect(may(manual, builderWith({ kind: 'command', argv: ['build'] }))).toBe(true);
  });

  test('in a tree without the makefile that names the programs', () => {
    expect(mayChangeKernel(manual, usual, undefined)).toBe(true);
  });

  // Attack forge/outside-sys
  test.each(['LOCAL_TOOL_DIRS=share/man', 'PORTS_MODULES=graphics/drm-kmod', 'SRCCONF=/x'])(
    'if an option may make make(1) read more: %s',
    (option) => {
      expect(may(manual, builderWith({ kind: 'make', options: [option] }))).toBe(true);
    },
  );

  test('if the kernel configuration is in the tree that is built', () => {
    const folder = '/var/db/ppsgate/tree/src/share/man';
    const inTree = builderWith({ kind: 'make', kernelConfigFolder: folder });
    expect(may(manual, inTree)).toBe(true);
    const elsewhere = builderWith({ kind: 'make', kernelConfigFolder: '/usr/local/etc/kernels' });
    expect(may(manual, elsewhere)).toBe(false);
  });
});

test.each(['-DWITHOUT_CLANG', 'MODULES_OVERRIDE=if_em', 'TARGET=arm64'])(
  'options that name no folder change nothing of that: %s',
  (option) => {
    const builder = builderWith({ kind: 'make', options: [option] });
    expect(may('share/man/man4/em.4', builder)).toBe(false);
    expect(may('sys/netinet/ip_input.c', builder)).toBe(true);
  },
);

describe('of Linux', () => {
  const linux = (kernel: object) =>
    linuxBuilderSchema.parse({ user: 'kernels', kernel: { config: 'guest.config', ...kernel } });
  const mayOf = (path: string, options: string[] = []) =>
    mayChangeKernel(path, linux({ kind: 'linux', options }), undefined);

  test.each([
    'net/ipv4/route.c',
    'arch/arm64/kernel/head.S',
    'include/uapi/linux/nf_tables.h',
    'scripts/mod/modpost.c',
    'Makefile',
    'Kconfig',
    'net/Kconfig.debug',
    'COPYING',
    '.gitattributes',
    'tools/objtool/check.c',
    'tools/lib/subcmd/exec-cmd.c',
    'tools/build/Makefile.build',
    'tools/an unknown folder/main.c',
  ])('%s counts', (path) => {
    expect(mayOf(path)).toBe(true);
  });

  test.each([
    'Documentation/networking/ip-sysctl.txt',
    'tools/testing/selftests/net/fib_tests.sh',
    'tools/perf/builtin-record.c',
    'samples/bpf/xdp1_user.c',
    'LICENSES/preferred/GPL-2.0',
    'kernel/bpf/README.rst',
    'MAINTAINERS',
    'CREDITS',
  ])('%s does not', (path) => {
    expect(mayOf(path)).toBe(false);
  });

  test.each(['Documentation/Kconfig', 'samples/Kconfig', 'samples/Makefile', 'tools/perf/Makefile'])(
    '%s counts, as make and its configuration walk through it',
    (path) => {
      expect(mayOf(path)).toBe(true);
    },
  );

  test('everything counts where an option may have make read more', () => {
    expect(mayOf('MAINTAINERS', ['LLVM=1'])).toBe(false);
    expect(mayOf('MAINTAINERS', ['M=samples/bpf'])).toBe(true);
  });

  test("everything counts where a site's own command builds", () => {
    const command = linuxBuilderSchema.parse({
      user: 'kernels',
      kernel: { kind: 'command', argv: ['build'] },
    });
    expect(mayChangeKernel('MAINTAINERS', command, undefined)).toBe(true);
  });
});
