// The programs that machines have to have, and the packages that have them.

import { shell } from '../shell.ts';
import { HostError } from './host-error.ts';
import type { Host } from './ssh.ts';

/** Program → Debian's and Ubuntu's package, or FreeBSD's where only that has it. */
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

/** What to install for programs that are missing. */
export const packagesOf = (programs: readonly Program[]): string[] => [
  ...new Set(programs.map((program) => packages[program])),
];

/** Throws a HostError that names what a host lacks of these; `install` is what its system installs packages with. */
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

/** Those that the shell of a host does not find; throws a HostError where it cannot be asked. */
export async function missingOn<Name extends Program>(
  host: Host,
  programs: readonly Name[],
): Promise<Name[]> {
  const lines = (await host.output(shell`sh -c ${missingScript} sh ${programs}`)).split('\n');
  return programs.filter((program) => lines.includes(program));
}

/** Whatever the login shell is. */
export const missingScript =
  'for program; do command -v "$program" >/dev/null || echo "$program"; done';
