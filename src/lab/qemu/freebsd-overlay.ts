// Turns a variant's overlay files into firewall rules of a FreeBSD guest: pf.conf, or ipfw.rules.
import type { Variant } from '../../kernel/variant.ts';
import type { OwnRules } from '../../model/scenario.ts';
import { mapWords, type Ports, portNames } from '../map-interfaces.ts';
import type { PrepareRequest } from '../testbed.ts';

const firewallOf = new Map<string, OwnRules['firewall']>([
  ['pf.conf', 'pf'],
  ['ipfw.rules', 'ipfw'],
]);

/** The only scenario without rules of its own, which would replace those of the overlay. */
const overlaid = 'forwarding';

const rulesIn = (files: Variant['files']) =>
  files.flatMap(({ path, content }) => {
    const firewall = firewallOf.get(path);
    return firewall === undefined ? [] : [{ firewall, content }];
  });

/** Returns the rules in force in `forwarding`; none without a file. */
export function overlayRules(
  variant: Pick<Variant, 'files' | 'interfaces'> | undefined,
  ports: Ports,
): Readonly<Record<string, OwnRules>> {
  const [rules] = rulesIn(variant?.files ?? []);
  if (rules === undefined) return {};
  const { firewall, content } = rules;
  const text = mapWords(content, portNames(variant?.interfaces, ports));
  return { [overlaid]: { firewall, text, keepsStates: false } };
}

/** Returns a sentence on rules that guests could not install, or on cells that could not be measured with them. */
export function whyNotInstallable({ variants, cells }: Pick<PrepareRequest, 'variants' | 'cells'>): string | undefined {
  const overlaidVariants = variants.filter(({ files }) => rulesIn(files).length > 0);
  if (overlaidVariants.length === 0) return undefined;
  const both = overlaidVariants.find(({ files }) => rulesIn(files).length > 1);
  if (both !== undefined) {
    return `The overlay of ${both.variant} has both pf.conf and ipfw.rules, but a scenario has one firewall: name one of them in ppsgate.yml, like \`overlay: { files: { pf.conf: … } }\`.`;
  }
  const cell = cells.find(({ scenario }) => scenario !== overlaid);
  if (cell === undefined) return undefined;
  return `The scenario ${cell.scenario} has its own rules, which replace those of the overlay: measure the overlay with \`scenarios: [${overlaid}]\`.`;
}
