// Fetches two kernels of this machine's distribution with its package manager, as archives for guests.
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { GivenKernels } from '../../kernel/variant.ts';
import { UsageError } from '../../model/usage-error.ts';

const run = promisify(execFile);

/** Flavours for virtual machines have a third of the usual size; Debian's first, then Ubuntu's. */
const flavours = ['cloud-amd64', 'virtual', 'kvm', 'amd64', 'generic'];

/** Fetches two kernels of the smallest flavour, the older one for base; keeps existing ones. Throws a UsageError. */
export async function fetchKernels(folder: string, print: (line: string) => void): Promise<GivenKernels> {
  await mkdir(folder, { recursive: true });
  for (const releases of await releasesByFlavour()) {
    const fetched: string[] = [];
    for (const release of releases) {
      const path = join(folder, `linux-${release}.tar`);
      // apt also lists packages that it cannot fetch.
      if ((await exists(path)) || (await fetchKernel(release, path, print))) fetched.push(path);
      const [patched, base] = fetched;
      if (patched !== undefined && base !== undefined) return { base, patched };
    }
  }
  throw new UsageError(
    'apt does not list two kernels for x86 (run `apt-get update`?): name two with --kernels BASE,PATCHED, each a .deb or a tar archive.',
  );
}

async function releasesByFlavour(): Promise<string[][]> {
  const { stdout } = await run('apt-cache', ['pkgnames', 'linux-image-']).catch(() => {
    throw new UsageError(
      'This machine has no apt to download kernels: name two with --kernels BASE,PATCHED, each a .deb or a tar archive with boot/vmlinuz-* and lib/modules/*.',
    );
  });
  const releases = stdout
    .split('\n')
    .flatMap((name) => /^linux-image-(\d+\.\d+\.\d[\w.+~-]*)$/.exec(name)?.[1] ?? [])
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return flavours.map((flavour) => releases.filter((release) => release.endsWith(`-${flavour}`)));
}

/** Ubuntu has separate packages for an image and its modules. */
async function fetchKernel(release: string, path: string, print: (line: string) => void): Promise<boolean> {
  const work = `${path}.work`;
  const tree = join(work, 'tree');
  await rm(work, { recursive: true, force: true });
  await mkdir(tree, { recursive: true });
  try {
    const download = (name: string) => run('apt-get', ['-qq', 'download', name], { cwd: work });
    const isThere = await download(`linux-image-${release}`).then(
      () => true,
      () => false,
    );
    if (!isThere) return false;
    print(`Fetched Linux ${release} with apt-get`);
    await download(`linux-modules-${release}`).catch(() => {});
    for (const name of (await readdir(work)).filter((one) => one.endsWith('.deb'))) {
      await run('dpkg-deb', ['--extract', join(work, name), tree]);
    }
    const tops = (await readdir(tree)).filter((name) => ['boot', 'lib', 'usr'].includes(name));
    await run('tar', ['-cf', join(work, 'kernel.tar'), '-C', tree, ...tops]);
    await rename(join(work, 'kernel.tar'), path);
    return true;
  } finally {
    await rm(work, { recursive: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
