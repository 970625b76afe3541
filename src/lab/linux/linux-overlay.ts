// Reads the overlay of a Linux DUT's variant, and finds changes that cannot act.
import type { Overlay } from '../../kernel/overlay.ts';
import { ignoredFiles, linkAmong } from '../../model/overlay-files.ts';
import { mapNftables, mapSetting, type Ports, portNames } from '../map-interfaces.ts';
import { whyUnsafe, withoutComments } from './nft-tokens.ts';
import { parseSysctl, type ReadSettings, type Settings } from './sysctl.ts';

export type LoadableOverlay = {
  variant: string;
  sysctl: ReadSettings;
  nftables: string;
  /** Interfaces that rules name but no packet uses. */
  unused: readonly string[];
};
export type RefusedOverlay = { kind: 'refused'; variant: string; message: string };

/** Reads the files that a Linux DUT loads, with the names of its ports; `ignoredParts` describes the rest. */
export function loadable(overlay: Overlay, ports: Ports): ({ kind: 'loadable' } & LoadableOverlay) | RefusedOverlay {
  const { variant, files } = overlay;
  const refused = (message: string): RefusedOverlay => ({ kind: 'refused', variant, message });
  const link = linkAmong(files, 'linux');
  if (link !== undefined) return refused(`${link.path} is a symbolic link: an overlay may contain only regular files.`);
  const content = (path: string) => files.find((file) => file.path === path)?.content ?? '';
  const sysctl = parseSysctl(content('sysctl.conf'), 'sysctl.conf');
  if (sysctl.kind === 'refused') return refused(sysctl.message);
  const names = portNames(overlay.interfaces, ports);
  // nft reads a comment only up to a line break.
  const nftables = `${content('nftables.conf')}\n`;
  const unsafe = whyUnsafe(nftables, 'nftables.conf');
  if (unsafe !== undefined) return refused(unsafe);
  return {
    kind: 'loadable',
    variant,
    sysctl: {
      ...sysctl,
      settings: withPorts(sysctl.settings, names),
      lines: withPorts(sysctl.lines, names),
    },
    nftables: mapNftables(nftables, names),
    unused: Object.keys(overlay.interfaces ?? {}).filter((name) => overlay.interfaces?.[name] === 'unused'),
  };
}

const withPorts = <Value>(
  byPath: ReadonlyMap<string, Value>,
  names: ReadonlyMap<string, string>,
): ReadonlyMap<string, Value> => new Map([...byPath].map(([path, value]) => [mapSetting(path, names), value]));

/** Returns sentences on files, and lines of sysctl.conf, that are not installed on a Linux DUT. */
export function ignoredParts(overlays: readonly Overlay[]): string[] {
  const lines = overlays.flatMap(({ variant, files }) => {
    const content = files.find(({ path }) => path === 'sysctl.conf')?.content ?? '';
    const sysctl = parseSysctl(content, 'sysctl.conf');
    if (sysctl.kind === 'refused' || sysctl.skipped.length === 0) return [];
    return [{ variant, text: skippedLines(sysctl.skipped) }];
  });
  const byText = Map.groupBy(lines, ({ text }) => text);
  const ofLines = [...byText].map(([text, those]) => {
    const where = those.length === overlays.length ? 'every variant' : variantsIn(those);
    return `In ${where} ${text}.`;
  });
  return [...ignoredFiles(overlays, 'linux'), ...ofLines];
}

const variantsIn = (those: readonly { variant: string }[]): string => those.map(({ variant }) => variant).join(' and ');

function skippedLines(skipped: ReadSettings['skipped']): string {
  const shown = skipped.slice(0, maxLinesShown).map(({ line, key }) => `${line} (${key})`);
  const more = skipped.length - shown.length;
  const all = more > 0 ? [...shown, `${more} more`] : shown;
  const [last = '', ...others] = all.toReversed();
  const list = others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
  return skipped.length === 1
    ? `sysctl.conf line ${list} is not a network setting of a router, and is not installed`
    : `sysctl.conf lines ${list} are not network settings of a router, and are not installed`;
}

const maxLinesShown = 20;

export type SettingsOfDut = {
  before: Settings;
  /** Paths that the DUT shares with its machine, and cannot write. */
  fixed: ReadonlySet<string>;
};

/**
 * Refuses the first variant without any effective change from base (the first one), as it would pass unmeasured.
 * Returns warnings of ineffective changes beside effective ones. A variant may also differ by its kernel.
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
      const why = ofNewInterfaces.test(path)
        ? 'affects only interfaces that are created later'
        : fixed.has(path) && 'belongs to the host of the namespace, and keeps its value';
      const line = other.sysctl.lines.get(path);
      const where = line === undefined ? 'sysctl.conf' : `sysctl.conf line ${line}`;
      return why ? [`${where}: ${path} ${why}`] : [];
    });
    const acts =
      inert.length < changed.length ||
      hasOtherKernel(other.variant) ||
      withoutComments(base.nftables) !== withoutComments(other.nftables);
    const [first] = inert;
    if (first !== undefined && !acts) {
      const message = `${first}, and ${other.variant} does not differ from ${base.variant} in any effective setting: change a setting of an interface, or rules.`;
      return { kind: 'refused', variant: other.variant, message };
    }
    warnings.push(...inert.map((text) => `${text}: its effect in ${other.variant} is not measured.`));
  }
  return { kind: 'acts', warnings };
}

/** `net.ipv4.conf.default` may reach an existing interface, but only settings of it that were never written. */
const ofNewInterfaces =
  /^net\/(?:core\/(?:default_qdisc|rps_default_mask|devconf_inherit_init_net|fb_tunnels_only_for_init_net)|(?:ipv4|ipv6|mpls)\/conf\/default\/.*)$/;
