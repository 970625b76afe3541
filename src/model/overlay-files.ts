// Names the files of an overlay that a DUT loads, by its operating system.
import type { OperatingSystem } from './scenario.ts';

export const overlayFiles = {
  linux: ['nftables.conf', 'sysctl.conf'],
  freebsd: ['pf.conf', 'ipfw.rules'],
} as const satisfies Record<OperatingSystem, readonly string[]>;

/** A DUT loads no other file of an overlay, in base as little as in patched. */
export const isLoaded = (system: OperatingSystem, path: string): boolean =>
  overlayFiles[system].some((name) => name === path);
