// A kernel package of the distribution, downloaded once, and stored in this machine's cache.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type KernelPackage = {
  /** Path of the .deb; missing if it cannot be obtained, for example without apt or network. */
  path: string;
  /** Folder of its headers, for building modules; missing if this machine lacks them. */
  headers: string;
};

/** The release whose headers this machine has, or else the newest. */
export async function kernelPackage(): Promise<KernelPackage> {
  const name = (await withHeaders()) ?? (await newest()) ?? 'linux-image-cloud-amd64';
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ppsgate-tests');
  const path = join(folder, `${name}.deb`);
  const headers = headersOf(name.replace('linux-image-', ''));
  if (existsSync(path)) return { path, headers };
  // The test that needs it reports it as missing.
  await download(name, path).catch(() => {});
  return { path, headers };
}

async function download(name: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // A process killed halfway, or a concurrent one, leaves no partial package under its name.
  const own = await mkdtemp(join(dirname(path), 'fetching-'));
  try {
    await run('apt-get', ['download', name], { cwd: own });
    const [file = ''] = await readdir(own);
    await rename(join(own, file), path);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

const headersOf = (release: string): string => `/lib/modules/${release}/build`;

async function withHeaders(): Promise<string | undefined> {
  const releases = await readdir('/lib/modules').catch(() => []);
  const release = releases.find((name) => name.endsWith('-cloud-amd64') && existsSync(headersOf(name)));
  return release && `linux-image-${release}`;
}

/** The package without a release in its name depends on it. */
async function newest(): Promise<string | undefined> {
  const asked = run('apt-cache', ['depends', 'linux-image-cloud-amd64']).catch(() => undefined);
  return /Depends: (linux-image-\S+-cloud-amd64)/.exec((await asked)?.stdout ?? '')?.[1];
}
