// Interface of the methods that boot a kernel of ours on a FreeBSD machine.
import type { Host } from '../../../system/host/ssh.ts';
import type { System } from './boot-system.ts';

/**
 * A tar archive on this machine of a kernel and its modules, as `installkernel` installs them into one folder; for
 * `nanobsd` the image of a whole system slice, compressed with xz.
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
  /** It could not come up: the loader would not find a module. */
  | { kind: 'lacks-module'; reason: string };

/** The machine's own tools do not support a method, so that no kernel can be booted. */
export class BootMethodError extends Error {
  override readonly name = 'BootMethodError';
}

export type BootMethod = {
  /** See `FreebsdDut.install`. */
  install(kernel: KernelArchive, kept?: ReadonlySet<string>): Promise<InstallOutcome>;
  /** True if a kernel can be ordered only while the machine's own runs. */
  needsOwn?(variant: string, running: System): boolean;
  /** Orders the next boot, with `undefined` of the machine's own kernel; returns the system that must run then. */
  arm(variant: string | undefined): Promise<System>;
  /** Removes all installed kernels, of earlier processes too; the machine's own kernel has to run. */
  clear(): Promise<void>;
};

export type BootMachine = {
  own: System;
  modules: ReadonlySet<string>;
  host(): Host;
  /** Returns a new connection as soon as the machine accepts a login. */
  reconnect(): Promise<Host>;
};
