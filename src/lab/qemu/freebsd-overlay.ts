// Turns a variant's overlay files into firewall rules of a FreeBSD guest: pf.conf, or ipfw.rules.
import type { Variant } from '../../kernel/variant.ts';
import type { OwnRules } from '../../model/scenario.ts';
import type { PrepareRequest } from '../testbed.ts';

const firewallOf = new Map<string, OwnRules['firewall']>([
  ['pf.conf', 'pf'],
  ['ipfw.rules', 'ipfw'],
]);

/** Only this scenario has no rules of its own, which would replace those of the overlay. */
const overlaid = 'forwarding';

/** Returns the rules that are in force in `forwarding`; none without a file. */
export function overlayRules(
  variant: Pick<Variant, 'files'> | undefined,
): Readonly<Record<string, OwnRules>> {
  const [file] = variant?.files ?? [];
  const firewall = firewallOf.get(file?.path ?? '');
  if (file === undefined || firewall === undefined) return {};
  return { [overlaid]: { firewall, text: file.content, keepsStates: false } };
}

/** Returns a sentence on overlay files that guests could not install, or on cells that would not be measured with them. */
export function whyNotInstallable({
  variants,
  cells,
}: Pick<PrepareRequest, 'variants' | 'cells'>): string | undefined {
  const overlaidVariants = variants.filter(({ files }) => files.length > 0);
  if (overlaidVariants.length === 0) return undefined;
  for (const { variant, folder = '', files } of overlaidVariants) {
    const stranger = files.find(({ path }) => !firewallOf.has(path));
    if (stranger !== undefined) {
      return `${folder}/${stranger.path} of ${variant} cannot be installed on FreeBSD guests: an overlay has pf.conf or ipfw.rules there, and no other file.`;
    }
    if (files.length > 1) {
      return `The overlay ${folder} of ${variant} has rules of pf and of ipfw: keep one of the two, as a scenario has one firewall.`;
    }
  }
  const cell = cells.find(({ scenario }) => scenario !== overlaid);
  if (cell === undefined) return undefined;
  return `The scenario ${cell.scenario} has rules of its own, in place of those of the overlay: measure the overlay with \`scenarios: [${overlaid}]\`.`;
}
