// Names the files of an overlay that a DUT loads, by its operating system.
import type { OperatingSystem } from './scenario.ts';

export const overlayFiles = {
  linux: ['nftables.conf', 'sysctl.conf'],
  freebsd: ['pf.conf', 'ipfw.rules'],
} as const satisfies Record<OperatingSystem, readonly string[]>;

/** A DUT loads no other file of an overlay, neither in base nor in patched. */
export const isLoaded = (system: OperatingSystem, path: string): boolean =>
  overlayFiles[system].some((name) => name === path);

/** Git's modes; Debian's nftables.conf is executable. */
const plainModes: readonly string[] = ['100644', '100755'];

/** False for a link or a submodule: its content is elsewhere. */
export const isPlain = (mode: string): boolean => plainModes.includes(mode);

type NamedFile = { path: string; mode: string };

/** Returns the first file that the DUT would load but that is a link, and so cannot be loaded. */
export const linkAmong = <File extends NamedFile>(files: readonly File[], system: OperatingSystem): File | undefined =>
  files.find(({ path, mode }) => isLoaded(system, path) && !isPlain(mode));

/** Returns a sentence for each file of the variants' overlays that no DUT of the system loads. */
export function ignoredFiles(
  variants: readonly { folder?: string | undefined; files: readonly NamedFile[] }[],
  system: OperatingSystem,
): string[] {
  const paths = variants.flatMap(({ folder, files }) =>
    files.filter(({ path }) => !isLoaded(system, path)).map(({ path }) => [folder, path].filter(Boolean).join('/')),
  );
  const names = overlayFiles[system].join(' and ');
  return [...new Set(paths)].map((path) => `${path} is not measured: of an overlay this testbed loads ${names}.`);
}

/** Names in an overlay's files stand for the ports of a testbed, or for an interface that no packet uses. */
export const interfaceRoles = ['ingress', 'egress', 'unused'] as const;
export type InterfaceRoles = Readonly<Record<string, (typeof interfaceRoles)[number]>>;
