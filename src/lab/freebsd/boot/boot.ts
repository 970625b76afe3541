// Defines the methods that boot one of our kernels on a FreeBSD machine, and finds whether a machine can use them.
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { slicesOf } from '../dut/slices.ts';
import { fileSystemsOf, type System } from './boot-system.ts';

/**
 * A tar archive on this machine with a kernel and its modules, as `installkernel` installs them into one folder; for
 * `nanobsd`, the image of a whole system slice, compressed with xz.
 */
export type KernelArchive = {
  variant: string;
  path: string;
  sha256: string;
  unpackedBytes: number;
};

export type InstallOutcome =
  | { kind: 'installed' }
  | { kind: 'no-space'; reason: string }
  /** The kernel could not come up: the loader would not find a module. */
  | { kind: 'lacks-module'; reason: string };

/** Reports that the machine's own tools do not support a method, so that no kernel can be booted. */
export class BootMethodError extends Error {
  override readonly name = 'BootMethodError';
}

/** Reports that the machine does not come back, and needs a person before the next measurement. */
export class DutLostError extends Error {
  override readonly name = 'DutLostError';
}

export type BootMethod = {
  /** See `FreebsdDut.install`. */
  install(kernel: KernelArchive, kept?: ReadonlySet<string>): Promise<InstallOutcome>;
  /** True if a kernel can be ordered only while the machine's own kernel runs. */
  needsOwn?(variant: string, running: System): boolean;
  /** Orders the next boot, of the machine's own kernel for `undefined`; returns the system that must run then. */
  arm(variant: string | undefined): Promise<System>;
  /** Removes all installed kernels, including those of earlier processes; the machine's own kernel must be running. */
  clear(): Promise<void>;
};

export type BootMachine = {
  own: System;
  modules: ReadonlySet<string>;
  host(): Host;
  /** Returns a new connection as soon as the machine accepts a login. */
  reconnect(): Promise<Host>;
};

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
      fix: 'boot it from UFS or ZFS, as nextboot(8) requires',
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
