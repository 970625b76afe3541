// Identifies the system that a FreeBSD machine runs, which proves where a boot went.
import { basename } from 'node:path/posix';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';

export type System = {
  /** Device of `/`: `/dev/ada0p2`, `zroot/ROOT/default`, `/dev/ufs/BSDRPs1a`. */
  root: string;
  /** `kern.bootfile`: `/boot/kernel/kernel`. */
  kernel: string;
  sha256: string;
};

export async function runningSystem(host: Host): Promise<System> {
  const [bootfile, [root]] = await Promise.all([
    host.output(shell`sysctl -n kern.bootfile`),
    fileSystemsOf(host, ['/']),
  ]);
  const kernel = bootfile.trim();
  return { root: root?.device ?? '', kernel, sha256: await sha256Of(host, kernel) };
}

export function whyOther(running: System, expected: System): string | undefined {
  const name = ({ root, kernel }: System) => (running.root === expected.root ? kernel : `${kernel} of ${root}`);
  if (!isSamePlace(running, expected)) return `${name(running)} came up instead of ${name(expected)}`;
  if (running.sha256 === expected.sha256) return undefined;
  return `${name(running)} has a different checksum than before the boot`;
}

/**
 * True for a system that an experiment installed: by nextboot(8) in a folder, by bectl(8) in an environment of that
 * name.
 */
export const isOurs = ({ root, kernel }: System): boolean =>
  kernel.startsWith('/boot/ppsgate.') || basename(root).startsWith('ppsgate.');

export const isSamePlace = (one: System, other: System): boolean =>
  one.root === other.root && one.kernel === other.kernel;

export const sha256Of = async (host: Host, file: string): Promise<string> =>
  (await host.output(shell`sha256 -q ${file}`)).trim();

type FileSystem = {
  device: string;
  type: string;
  availableBytes: number;
  mountedOn: string;
};

export async function fileSystemsOf(host: Host, paths: readonly string[]): Promise<FileSystem[]> {
  const [, ...rows] = (await host.output(shell`df -k -T ${paths}`)).trim().split('\n');
  return rows.map((row) => {
    const [device = '', type = '', , , kibibytes, , ...path] = row.split(/\s+/);
    return {
      device,
      type,
      availableBytes: Number(kibibytes) * 1024,
      mountedOn: path.join(' '),
    };
  });
}

/** A variable in the kernel's environment, which every boot recreates. */
const mark = 'ppsgate.boot';

/** A reboot loses the mark. kern.boottime moves with the clock, and FreeBSD 12 has no kern.boot_id. */
export const markBoot = async (host: Host): Promise<void> => {
  await host.output(shell`kenv ${`${mark}=1`}`);
};

/** Returns false for an empty environment, which proves nothing. */
export async function hasBootedSinceMark(host: Host): Promise<boolean> {
  const names = (await host.output(shell`kenv -N`)).split('\n').filter(Boolean);
  return names.length > 0 && !names.includes(mark);
}
