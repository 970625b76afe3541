// How a FreeBSD machine is brought to boot a kernel of ours: the form that all methods have.
import type { Host } from '../../../system/host/ssh.ts';
import type { System } from './boot-system.ts';

/**
 * A kernel and its modules as `installkernel` installs them into one folder, in a tar archive on this machine;
 * for `nanobsd` the xz'd image of a whole system slice.
 */
export type KernelArchive = {
  variant: string;
  path: string;
  sha256: string;
  /** Size of all that is in the archive. */
  unpackedBytes: number;
};

export type InstallOutcome =
  | { kind: 'installed' }
  | { kind: 'no-space'; reason: string }
  /** It could not come up: the loader would not find what it needs beside it. */
  | { kind: 'lacks-module'; reason: string };

/** The machine's own tools cannot do what a method asks of them: no kernel can be booted, whose it may be. */
export class BootMethodError extends Error {
  override readonly name = 'BootMethodError';
}

export type BootMethod = {
  /** Brings a kernel to where `arm` takes it from; see `FreebsdDut.lay`. */
  install(kernel: KernelArchive, wanted?: ReadonlySet<string>): Promise<InstallOutcome>;
  /** Whether a kernel can be ordered only while the machine's own runs; never where absent. */
  needsOwn?(variant: string, running: System): boolean;
  /** Orders what boots next, or with `undefined` the machine's own, and answers what has to run then. */
  arm(variant: string | undefined): Promise<System>;
  /** Takes away what was installed, by an earlier process too; the machine's own kernel has to run. */
  clear(): Promise<void>;
};

/** The machine as the methods need it. */
export type BootMachine = {
  /** What ran when it was opened. */
  own: System;
  /** Files of the modules that its own kernel had loaded then. */
  modules: ReadonlySet<string>;
  /** The connection of the moment. */
  host(): Host;
  /** A new one, as soon as the machine answers. */
  reconnect(): Promise<Host>;
};
