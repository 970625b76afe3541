// Which system a FreeBSD machine runs: the proof that a boot went where it should.
import { basename } from 'node:path/posix';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';

export type System = {
  /** What `/` is mounted from: `/dev/ada0p2`, `zroot/ROOT/default`, `/dev/ufs/BSDRPs1a`. */
  root: string;
  /** `kern.bootfile`: `/boot/kernel/kernel`. */
  kernel: string;
  /** SHA-256 of the file that `kernel` names. */
  sha256: string;
};

/** What runs now. */
export async function runningSystem(host: Host): Promise<System> {
  const [bootfile, [root]] = await Promise.all([
    host.output(shell`sysctl -n kern.bootfile`),
    fileSystemsOf(host, ['/']),
  ]);
  const kernel = bootfile.trim();
  return { root: root?.device ?? '', kernel, sha256: await sha256Of(host, kernel) };
}

/** Why a running system is not the wanted one; undefined where it is. */
export function whyOther(running: System, wanted: System): string | undefined {
  const name = ({ root, kernel }: System) =>
    running.root === wanted.root ? kernel : `${kernel} of ${root}`;
  if (!isSamePlace(running, wanted)) return `${name(running)} came up instead of ${name(wanted)}`;
  if (running.sha256 === wanted.sha256) return undefined;
  return `${name(running)} has another checksum than before the boot`;
}

/** Installed by an experiment: by nextboot(8) in a folder, by bectl(8) in an environment of that name. */
export const isOurs = ({ root, kernel }: System): boolean =>
  kernel.startsWith('/boot/ppsgate.') || basename(root).startsWith('ppsgate.');

export const isSamePlace = (one: System, other: System): boolean =>
  one.root === other.root && one.kernel === other.kernel;

export const sha256Of = async (host: Host, file: string): Promise<string> =>
  (await host.output(shell`sha256 -q ${file}`)).trim();

export type FileSystem = {
  device: string;
  /** `ufs`, `zfs`, `nfs`… */
  type: string;
  availableBytes: number;
  mountedOn: string;
};

/** Those that the given paths lie on, in their order. */
export async function fileSystemsOf(host: Host, paths: readonly string[]): Promise<FileSystem[]> {
  const [, ...rows] = (await host.output(shell`df -k -T ${paths}`)).trim().split('\n');
  return rows.map((row) => {
    const [device = '', type = '', , , kibibytes, , ...place] = row.split(/\s+/);
    return {
      device,
      type,
      availableBytes: Number(kibibytes) * 1024,
      mountedOn: place.join(' '),
    };
  });
}

/** Name of a variable in the kernel's environment, which every boot makes anew. */
const mark = 'ppsgate.boot';

/**
 * Before a reboot, which is proven by the loss of this: kern.boottime will not do, as it moves whenever the clock is set,
 * and kern.boot_id is not in FreeBSD 12.
 */
export const markBoot = async (host: Host): Promise<void> => {
  await host.output(shell`kenv ${`${mark}=1`}`);
};

/** An environment that cannot be read, or is empty, proves nothing. */
export async function hasBootedSinceMark(host: Host): Promise<boolean> {
  const names = (await host.output(shell`kenv -N`)).split('\n').filter(Boolean);
  return names.length > 0 && !names.includes(mark);
}
