// Reads the overlay of a Linux DUT's variant, and finds changes that cannot act.
import type { Overlay } from '../../kernel/overlay.ts';
import { whyInert } from './inert-settings.ts';
import { whyUnsafe, withoutComments } from './nft-tokens.ts';
import { parseSysctl, type ReadSettings, type Settings } from './sysctl.ts';

export type LoadableOverlay = { variant: string; sysctl: ReadSettings; nftables: string };
export type RefusedOverlay = { kind: 'refused'; variant: string; message: string };

/** Reads the files that a Linux DUT loads; any other file of an overlay would be ignored, and so measured wrongly. */
export function loadable(
  overlay: Overlay,
): ({ kind: 'loadable' } & LoadableOverlay) | RefusedOverlay {
  const { variant, files } = overlay;
  const refused = (message: string): RefusedOverlay => ({ kind: 'refused', variant, message });
  const stranger = files.find((file) => file.mode !== '100644' || !loadedFiles.has(file.path));
  if (stranger !== undefined) {
    const names = [...loadedFiles].join(' and ');
    return refused(
      `${stranger.path} is nothing that a Linux DUT loads: an overlay holds ${names}, as plain files.`,
    );
  }
  const content = (path: string) => files.find((file) => file.path === path)?.content ?? '';
  const sysctl = parseSysctl(content('sysctl.conf'), 'sysctl.conf');
  if (sysctl.kind === 'refused') return refused(sysctl.message);
  // nft reads a comment only up to a line break.
  const nftables = `${content('nftables.conf')}\n`;
  const unsafe = whyUnsafe(nftables, 'nftables.conf');
  if (unsafe !== undefined) return refused(unsafe);
  return { kind: 'loadable', variant, sysctl, nftables };
}

const loadedFiles = new Set(['sysctl.conf', 'nftables.conf']);

export type SettingsOfDut = {
  before: Settings;
  /** Paths that the DUT shares with its machine, and cannot write. */
  fixed: ReadonlySet<string>;
};

/**
 * Refuses the first variant that differs from base, the first one, in nothing that can act: it would pass unmeasured.
 * Returns warnings of changes that cannot act beside others that can. A variant may differ by its kernel, too.
 */
export function findInertChanges(
  variants: readonly LoadableOverlay[],
  { before, fixed }: SettingsOfDut,
  hasOtherKernel: (variant: string) => boolean = () => false,
): { kind: 'acts'; warnings: string[] } | RefusedOverlay {
  const [base, ...others] = variants;
  const warnings: string[] = [];
  if (base === undefined) return { kind: 'acts', warnings };
  for (const other of others) {
    const valueIn = ({ sysctl }: LoadableOverlay, path: string) =>
      (sysctl.settings.get(path) ?? before.get(path))?.split(/\s+/).join(' ');
    const paths = new Set([...base.sysctl.settings.keys(), ...other.sysctl.settings.keys()]);
    const changed = [...paths].filter((path) => valueIn(base, path) !== valueIn(other, path));
    const inert = changed.flatMap((path) => {
      const why = whyInert(path) ?? (fixed.has(path) ? sharedWithMachine : undefined);
      const line = other.sysctl.lines.get(path);
      const where = line === undefined ? 'sysctl.conf' : `sysctl.conf line ${line}`;
      return why === undefined ? [] : [`${where}: ${path} ${why}`];
    });
    const acts =
      inert.length < changed.length ||
      hasOtherKernel(other.variant) ||
      withoutComments(base.nftables) !== withoutComments(other.nftables);
    const [first] = inert;
    if (first !== undefined && !acts) {
      const message = `${first}, and ${other.variant} differs from ${base.variant} in nothing that acts: change a setting of an interface, or rules.`;
      return { kind: 'refused', variant: other.variant, message };
    }
    warnings.push(
      ...inert.map((text) => `${text}: what it does in ${other.variant} is not measured.`),
    );
  }
  return { kind: 'acts', warnings };
}

const sharedWithMachine =
  'belongs to the machine that the DUT is a namespace of, and keeps its value';
