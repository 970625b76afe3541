// Whether a FreeBSD machine can be booted by a method, so that whatever goes wrong with a kernel it comes back by itself.

import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { slicesOf } from '../dut/slices.ts';
import { fileSystemsOf } from './boot-system.ts';

export type BootMethodName = 'nextboot' | 'boot-environment' | 'nanobsd';

/** `why` and `fix` are clauses. */
type Unfit = { why: string; fix: string };

/** Before, nextboot(8) leaves word on ZFS that the loader cannot take back. */
const oldestOnZfs = 13;

/** Undefined where it can; throws a HostError for an appliance that is none. Nothing is changed. */
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
      why: `/boot is on ${boot?.type} (${boot?.device}), where no loader can take an order back: a kernel that panics would be booted for ever`,
      fix: `boot it from UFS or ZFS, as nextboot(8) wants`,
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
