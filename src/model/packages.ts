// Lists the programs that machines need, with their packages.

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
