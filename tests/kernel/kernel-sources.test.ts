// Paths of FreeBSD's and Linux's trees that a kernel may be made of. A patch must not change a kernel by a file outside
// `sys` (a makefile, compiler, build tool or `.gitattributes`): a file counts unless every build step ignores it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builderSchema } from '../../src/config/builder.ts';
import { linuxBuilderSchema } from '../../src/config/linux-builder.ts';
import { outsideOptions } from '../../src/kernel/kernel-key.ts';
import { mayChangeKernel } from '../../src/kernel/kernel-sources.ts';

/** Names the programs built before the kernel, like Makefile.inc1. */
const makefile = `
_basic_bootstrap_tools=usr.bin/awk usr.bin/cut bin/expr sbin/md5
.for _tool in usr.bin/vi/catalog usr.sbin/config
`;

const may = (path: string, kernel: object = {}) =>
  mayChangeKernel(path, builderSchema.parse({ host: 'b', kernel: { kind: 'make', ...kernel } }), makefile);

const mayOfLinux = (path: string, options: string[] = []) => {
  const kernel = { kind: 'linux', config: 'guest.config', options };
  return mayChangeKernel(path, linuxBuilderSchema.parse({ user: 'kernels', kernel }), undefined);
};

test('golden/kernel-sources.txt has the paths that count', async () => {
  const golden = join(import.meta.dirname, 'golden/kernel-sources.txt');
  const trees = readFileSync(golden, 'utf8').split(/\n(?=# )/);
  const marked = trees.map((tree) => {
    const counts = tree.startsWith('# Linux') ? mayOfLinux : may;
    return tree.replace(
      /^(?!#)(?:counts {2}|- {7})?(.+)$/gm,
      (_, path) => `${counts(path) ? 'counts' : '-     '}  ${path}`,
    );
  });
  await expect(marked.join('\n')).toMatchFileSnapshot(golden);
});

test.each([
  ['make', '-DWITHOUT_CLANG', false],
  ['make', 'MODULES_OVERRIDE=pf cxgbe/if_cxgbe', false],
  ['make', 'MODULES_OVERRIDE=pf /usr/local/sys/modules/drm', true],
  ['make', 'MODULES_EXTRA=../../../local', true],
  ['make', 'LOCAL_MODULES=drm-kmod', true],
  ['make', 'PORTS_MODULES=graphics/drm-kmod', true],
  ['make', 'CROSS_TOOLCHAIN=llvm19', true],
  ['make', 'CFLAGS=-I/usr/local/include', true],
  ['make', 'SRCCONF=$HOME', true],
  ['linux', 'KCFLAGS=-O3', false],
  ['linux', 'CC=gcc', false],
  ['linux', 'LLVM=1', false],
  ['linux', 'LLVM=-19', true],
  ['linux', 'KCFLAGS=-I/usr/local/include', true],
  ['linux', 'CROSS_COMPILE=riscv64-linux-gnu-', true],
] as const)('%s with %s reads files from outside of the tree: %s', (kind, option, isOutside) => {
  expect(outsideOptions({ kind, options: [option] })).toEqual(isOutside ? [option] : []);
});

const manual = 'share/man/man4/em.4';

test.each<[string, object, boolean]>([
  ['the builder is an own command, with unknown inputs', { kind: 'command', argv: ['build'] }, true],
  ['an option names other folders', { options: ['LOCAL_TOOL_DIRS=share/man'] }, true],
  ['an option has ports built', { options: ['PORTS_MODULES=graphics/drm-kmod'] }, true],
  ['an option names a file of options', { options: ['SRCCONF=/x'] }, true],
  [
    'the kernel configuration is in the tree that is built',
    { kernelConfigFolder: '/var/db/ppsgate/tree/src/share/man' },
    true,
  ],
  ['the kernel configuration is elsewhere', { kernelConfigFolder: '/usr/local/etc/kernels' }, false],
  ['options name no folder', { options: ['-DWITHOUT_CLANG', 'MODULES_OVERRIDE=if_em', 'TARGET=arm64'] }, false],
])('where %s, a manual counts: %j: %s', (_, kernel, counts) => {
  expect(may(manual, kernel)).toBe(counts);
  expect(may('sys/netinet/ip_input.c', kernel)).toBe(true);
});

test('everything counts in a tree without the makefile that names the programs', () => {
  expect(mayChangeKernel(manual, builderSchema.parse({ host: 'b' }), undefined)).toBe(true);
});

test('everything of Linux counts where an option may have make read more, and for an own command', () => {
  expect(mayOfLinux('MAINTAINERS', ['LLVM=1'])).toBe(false);
  expect(mayOfLinux('MAINTAINERS', ['M=samples/bpf'])).toBe(true);
  const command = linuxBuilderSchema.parse({ user: 'kernels', kernel: { kind: 'command', argv: ['build'] } });
  expect(mayChangeKernel('MAINTAINERS', command, undefined)).toBe(true);
});
