// Defines the methods that boot one of our kernels on a FreeBSD machine.
import type { Host } from '../../../system/host/ssh.ts';
import type { System } from './boot-system.ts';

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
