// Checks that this machine can run the embedded lab: permissions, and programs that apt provides.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Program, packagesOf } from '../../model/packages.ts';

const run = promisify(execFile);

type LabKind = 'embedded-linux' | 'virtual';

/** Git supplies the patch. A virtual lab needs some programs for its guests, others to build their files. */
const labPrograms: Readonly<Record<LabKind, readonly Program[]>> = {
  'embedded-linux': [
    ...(['nft', 'trafgen', 'sshd', 'ssh-keygen', 'ethtool', 'ip', 'sysctl', 'unshare'] as const),
    'git',
  ],
  virtual: [
    ...(['bash', 'busybox', 'chrt', 'cpio', 'dpkg-deb', 'flock', 'gcc', 'git', 'ip'] as const),
    ...(['kmod', 'nft', 'qemu-system-x86_64', 'ssh-keygen', 'sshd', 'sysctl', 'taskset'] as const),
    ...(['trafgen', 'unshare', 'xz', 'zstd'] as const),
  ],
};

/** Reports that this machine cannot run the lab, with the missing permission and the fix. */
export class LabImpossibleError extends Error {
  override readonly name = 'LabImpossibleError';
}

/**
 * Prepares this machine for the lab, with sudo and apt if needed. Returns an exit code if the same program has just run
 * as root and done the work; undefined if this process may continue.
 */
export async function readyMachine(
  print: (line: string) => void,
  kinds: readonly LabKind[] = ['embedded-linux'],
): Promise<number | undefined> {
  const exitCode = await rerunAsRoot();
  if (exitCode !== undefined) return exitCode;
  requireRoot();
  const missing = await missingPrograms(kinds.flatMap((kind) => labPrograms[kind]));
  if (missing.length > 0) await installPackages(packagesOf(missing), print);
  await requireNamespaces();
  if (kinds.includes('embedded-linux') && !(await isInstalled('perf'))) await installPerf(print);
  return undefined;
}

/** Packages of perf(1): Debian has one for all kernels, Ubuntu one per kernel. */
const perfPackages = ['linux-perf', `linux-tools-${release()}`];

/** Optional: without it, verdicts have no profiles. */
async function installPerf(print: (line: string) => void): Promise<void> {
  if (!(await isInstalled('apt-get'))) return;
  for (const name of perfPackages) {
    print(`Installing with apt-get, for profiles: ${name}`);
    if (await aptGet(['install', '--yes', '--no-install-recommends', name])) return;
  }
  print('perf is not available here, so no profiles are taken.');
}

/** Throws a LabImpossibleError if this process cannot run the lab. Installs nothing. */
export async function requireLab(kind: LabKind = 'embedded-linux', programs = labPrograms[kind]): Promise<void> {
  requireRoot();
  const missing = await missingPrograms(programs);
  if (missing.length === 0) return requireNamespaces();
  const install = `apt-get install ${packagesOf(missing).join(' ')}`;
  throw new LabImpossibleError(
    `${needing[kind]} ${missing.join(' and ')}, missing on this machine: run '${install}', or '${demos[kind]}', which installs it.`,
  );
}

const needing: Readonly<Record<LabKind, string>> = {
  'embedded-linux': 'The embedded lab needs',
  virtual: 'A virtual testbed needs',
};
const demos: Readonly<Record<LabKind, string>> = {
  'embedded-linux': 'ppsgate demo',
  virtual: 'ppsgate demo --kernels',
};

function requireRoot(): void {
  if (process.platform !== 'linux') {
    throw new LabImpossibleError(
      `The embedded lab needs Linux for its network namespaces, but this is ${process.platform}: run it on a Linux machine.`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new LabImpossibleError(
      'The embedded lab needs root to create network namespaces and to pin the forwarding thread: run it again as root or with sudo.',
    );
  }
}

async function requireNamespaces(): Promise<void> {
  await run('unshare', ['--net', 'true']).catch((error: NodeJS.ErrnoException) => {
    if (typeof error.code === 'string') throw error;
    throw new LabImpossibleError(
      'The embedded lab needs CAP_SYS_ADMIN to create network namespaces, which this root lacks: run it outside the container, or in a privileged one.',
    );
  });
}

/** Returns the exit code of this program under sudo; undefined for root, or without sudo. */
export async function rerunAsRoot(): Promise<number | undefined> {
  if (process.getuid?.() === 0 || !(await isInstalled('sudo'))) return undefined;
  if ((await sudo('--validate')) !== 0) {
    throw new LabImpossibleError('The embedded lab needs root, but sudo failed: run it again as root.');
  }
  const { execPath, execArgv, argv } = process;
  return sudo('--preserve-env', '--', execPath, ...execArgv, ...argv.slice(1));
}

/** Returns the exit code of the program or of sudo. May prompt for a password. */
async function sudo(...args: string[]): Promise<number> {
  const child = spawn('sudo', args, { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

async function installPackages(names: string[], print: (line: string) => void): Promise<void> {
  if (!(await isInstalled('apt-get'))) {
    throw new LabImpossibleError(
      `The embedded lab needs ${names.join(', ')} but finds no apt-get to install them: install the equivalent packages of your system.`,
    );
  }
  print(`Installing with apt-get: ${names.join(', ')}`);
  const install = ['install', '--yes', '--no-install-recommends', ...names];
  if (await aptGet(install)) return;
  // A machine that has never updated its package lists knows no packages.
  if ((await aptGet(['update'])) && (await aptGet(install))) return;
  throw new LabImpossibleError(
    `apt-get could not install ${names.join(', ')}: run 'apt-get install ${names.join(' ')}' and fix its error.`,
  );
}

async function aptGet(args: string[]): Promise<boolean> {
  const environment = { ...process.env, PATH: labPath(), DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn('apt-get', ['-qq', ...args], { stdio: 'ignore', env: environment });
  const [code] = await once(child, 'close');
  return code === 0;
}

async function missingPrograms(programs: readonly Program[]): Promise<Program[]> {
  const present = await Promise.all(programs.map(isInstalled));
  return programs.filter((_, index) => !present[index]);
}

async function isInstalled(program: string): Promise<boolean> {
  const found = await Promise.allSettled(
    labPath()
      .split(delimiter)
      .map((folder) => access(join(folder, program), constants.X_OK)),
  );
  return found.some(({ status }) => status === 'fulfilled');
}

/** After a plain su(1), root's PATH lacks these folders. */
export const labPath = (): string => [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter);
