// Builds kernels of FreeBSD on this machine, from a tree whose make.py has FreeBSD's words; cc, ld and git are real.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { crossBuilderSchema } from '../../src/config/cross-builder.ts';
import { BuilderError } from '../../src/kernel/builder-error.ts';
import { crossToolsOf } from '../../src/kernel/cross-build.ts';
import { buildKernel, type KernelBuild } from '../../src/kernel/kernel.ts';
import { noSums } from '../../src/kernel/kernel-sums.ts';
import { thisMachine } from '../../src/system/host/local.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { freebsdTree } from '../fakes/freebsd-tree.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { describeWith } from '../needs.ts';

let folder: string;
let tools: string;
let repository: string;
let base: string;
let log: string;
let progress: string[];

beforeEach(() => {
  folder = join(openFolder(), 'builder');
  tools = toolFolderWith('llvm-14', 'clang', 'ld.lld');
  repository = newRepository();
  base = commit(repository, freebsdTree);
  log = '';
  progress = [];
});

function openFolder(): string {
  const path = temporaryFolder();
  chmodSync(path, 0o755);
  return path;
}

/** Below the builder's folder, as a build sees nothing else of /tmp. */
function toolFolderWith(release: string, ...names: string[]): string {
  const path = join(folder, release, 'bin');
  mkdirSync(path, { recursive: true });
  for (const name of names) writeFileSync(join(path, name), '#!/bin/sh\n', { mode: 0o755 });
  return path;
}

const builder = (more: object = {}) =>
  crossBuilderSchema.parse({
    kind: 'cross',
    user: 'nobody',
    folder,
    repository,
    freeSpace: '0 GB',
    tools,
    ...more,
  });

function build(diff?: Buffer, more: object = {}): Promise<KernelBuild> {
  const request = { kind: 'tree' as const, baseCommit: base, ...(diff !== undefined && { diff }) };
  return buildKernel(thisMachine(), builder(more), request, {
    signal: new AbortController().signal,
    keepLog: async (_, text) => {
      log = text;
    },
    onProgress: (line) => progress.push(line),
    now: () => 0,
    sums: noSums,
    owner: 'ppsgate for the tests',
  });
}

async function errorsOf(building: Promise<KernelBuild>): Promise<readonly string[]> {
  const kernel = await building;
  if (kernel.kind !== 'build-failed') throw new Error(`It is ${kernel.kind}.`);
  return kernel.errors;
}

/** The diff that installs files over the base. */
function diffTo(files: Record<string, string>): Buffer {
  git(repository, 'switch', '--quiet', '--detach', base);
  const head = commit(repository, files);
  return execFileSync('git', ['-C', repository, 'diff', base, head]);
}

/** A module that finds a variable of the kernel through the global offset table. */
const throughTable = 'extern long __stack_chk_guard;\nlong guard(void) { return __stack_chk_guard; }\n';

describeWith(
  ['root', 'setpriv', 'unshare', 'python3', 'cc', 'ld', 'nm', 'readelf', 'git', 'zstd'],
  'a kernel of FreeBSD that is built on Linux',
  () => {
    test('is an archive of the kernel and its modules, built without network as another user', async () => {
      const kernel = await build();
      if (kernel.kind !== 'built') throw new Error(JSON.stringify(kernel));
      const listed = execFileSync('tar', ['-tvf', kernel.archive]).toString();
      expect(listed.match(/\S+$/gm)).toEqual(expect.arrayContaining(['./kernel', './pf.ko']));
      expect(listed).not.toContain('nobody');
      expect(progress).toEqual([
        expect.stringContaining('all modules are built'),
        '>>> kernel-toolchain of GENERIC',
        '>>> buildkernel of GENERIC',
        '>>> installkernel of GENERIC',
      ]);
      // No generators of a compiler for the target are needed.
      expect(log).toContain('>>> kernel-toolchain');
      expect(log).not.toContain('llvm-tblgen');
    });

    test('is refused if a module refers to a symbol by a relocation unknown to the kernel linker', async () => {
      const diff = diffTo({
        'sys/modules/pf.c': throughTable,
        'sys/kern/core.c': 'long __stack_chk_guard;\n',
      });
      expect(await errorsOf(build(diff))).toEqual([
        "pf.ko cannot be loaded: it references __stack_chk_guard with R_X86_64_REX_GOTPCRELX, a relocation that FreeBSD's kernel linker refuses; build without stack protection (`options: [-DWITHOUT_SSP]`), or with another clang (`tools`).",
      ]);
    });

    test('is refused where a module wants a symbol that nothing has', async () => {
      const module = 'int missing(void);\nint pf_test(void) { return missing(); }\n';
      const diff = diffTo({
        'sys/modules/pf.c': module.replace('int m', '__attribute__((visibility("hidden"))) int m'),
      });
      expect(await errorsOf(build(diff))).toEqual([
        'pf.ko cannot be loaded: neither the kernel nor another built module defines missing.',
      ]);
    });

    test('is another one with other tools', async () => {
      const first = await build();
      tools = toolFolderWith('llvm-15', 'clang', 'ld.lld');
      writeFileSync(join(tools, 'clang'), '#!/bin/sh\n# newer\n');
      const second = await build();
      expect(first).toMatchObject({ kind: 'built', cached: false });
      expect(second).toMatchObject({ kind: 'built', cached: false });
      expect(await build()).toMatchObject({ kind: 'built', cached: true });
    });
  },
);

test('A folder without clang or lld is refused with the folder, before anything is built.', async () => {
  const toolFolder = toolFolderWith('llvm-15', 'clang');
  await expect(crossToolsOf(thisMachine(), { toolFolder })).rejects.toThrow(
    new BuilderError(`this machine has no clang with ld.lld in ${toolFolder} to build FreeBSD kernels.`),
  );
});
