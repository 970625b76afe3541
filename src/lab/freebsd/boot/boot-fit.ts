// Checks that a FreeBSD machine can boot by a method, and so comes back automatically after any kernel failure.

import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { slicesOf } from '../dut/slices.ts';
import { fileSystemsOf } from './boot-system.ts';

export type BootMethodName = 'nextboot' | 'boot-environment' | 'nanobsd';

type Unfit = { why: string; fix: string };

/** Before 13, nextboot(8) leaves an order on ZFS that the loader cannot cancel. */
const oldestOnZfs = 13;

/** Returns undefined if it can; throws a HostError if the machine is no appliance. Changes nothing. */
export async function whyUnfit(host: Host, method: BootMethodName): Promise<Unfit | undefined> {
  if (method === 'nanobsd') {
    await slicesOf(host);
    return undefined;
  }
  const other = 'choose another `boot.method` in ppsgate.yml';
  const [root, boot] = await fileSystemsOf(host, ['/', '/boot']);
  if (method === 'boot-environment' && root?.type !== 'zfs') {
    return { why: `its root is on ${root?.device}, not on ZFS`, fix: other };
  }
  if (boot?.type !== 'ufs' && boot?.type !== 'zfs') {
    return {
      why: `/boot is on ${boot?.type} (${boot?.device}), where the loader cannot reset nextboot: a kernel that panics would boot again and again`,
      fix: `boot it from UFS or ZFS, as nextboot(8) requires`,
    };
  }
  const major = Number.parseInt(await host.output(shell`uname -r`), 10);
  if (boot.type === 'zfs' && major < oldestOnZfs) {
    return {
      why: `on ZFS it needs FreeBSD ${oldestOnZfs} or later, and the DUT runs ${major}`,
      fix: `install FreeBSD ${oldestOnZfs} or later on the DUT`,
    };
  }
  return undefined;
}
