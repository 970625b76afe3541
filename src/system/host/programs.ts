// Names the programs that machines need, and their packages.

import { shell } from '../shell.ts';
import { HostError } from './host-error.ts';
import type { Host } from './ssh.ts';

/** Program → Debian's and Ubuntu's package, or FreeBSD's for its own programs. */
const packages = {
  bash: 'bash',
  busybox: 'busybox-static',
  chrt: 'util-linux',
  cpio: 'cpio',
  'dpkg-deb': 'dpkg',
  ethtool: 'ethtool',
  flock: 'util-linux',
  gcc: 'build-essential',
  git: 'git',
  ip: 'iproute2',
  kmod: 'kmod',
  nft: 'nftables',
  pkill: 'procps',
  'pkt-gen': 'pkt-gen',
  'qemu-system-x86_64': 'qemu-system-x86',
  'ssh-keygen': 'openssh-client',
  sshd: 'openssh-server',
  sysctl: 'procps',
  taskset: 'util-linux',
  trafgen: 'netsniff-ng',
  unshare: 'util-linux',
  xz: 'xz-utils',
  zstd: 'zstd',
} as const;

export type Program = keyof typeof packages;

export const packagesOf = (programs: readonly Program[]): string[] => [
  ...new Set(programs.map((program) => packages[program])),
];

/** Undefined for a program that no lab needs. */
export function packageOf(name: string): string | undefined {
  const found = Object.entries(packages).find(([program]) => program === name);
  return found?.[1];
}

/** Throws a HostError that names the missing programs; `install` is the install command of the host's system. */
export async function requirePrograms(
  host: Host,
  programs: readonly Program[],
  install: 'apt-get install' | 'pkg install',
): Promise<void> {
  const missing = await missingOn(host, programs);
  if (missing.length === 0) return;
  throw new HostError(
    'command-failed',
    `${host.name} lacks ${missing.join(' and ')}: run '${install} ${packagesOf(missing).join(' ')}' there, or what its system calls that.`,
  );
}

/** Programs that the host's shell does not find; throws a HostError where the host does not reply. */
export async function missingOn<Name extends Program>(
  host: Host,
  programs: readonly Name[],
): Promise<Name[]> {
  const lines = (await host.output(shell`sh -c ${missingScript} sh ${programs}`)).split('\n');
  return programs.filter((program) => lines.includes(program));
}

/** Works in any login shell. */
export const missingScript =
  'for program; do command -v "$program" >/dev/null || echo "$program"; done';
