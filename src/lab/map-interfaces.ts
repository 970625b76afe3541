// Replaces interface names of a router by the testbed's in rules and settings.
import type { InterfaceRoles } from '../model/overlay-files.ts';
import type { OwnRules } from '../model/scenario.ts';

export type Ports = { ingress: string; egress: string };

/** Maps names in the files to the testbed's names; omits interfaces that no packet uses. */
export function portNames(roles: InterfaceRoles = {}, ports: Ports): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(roles).flatMap(([name, role]) => (role === 'unused' ? [] : [[name, ports[role]] as const])),
  );
}

/** Returns rules for nft(8), where whole words, quoted strings, and patterns like `eth*` are names. */
export const mapNftables = (text: string, names: ReadonlyMap<string, string>): string =>
  names.size === 0
    ? text
    : text.replaceAll(/#[^\n]*|"([^"]*)"|[\w./-]+\*?|./gs, (token: string, quoted?: string) =>
        quoted === undefined ? mapped(token, names) : `"${mapped(quoted, names)}"`,
      );

/** Returns rules of pf.conf(5) or ipfw(8), whose macros quote any text. */
export const mapWords = (text: string, names: ReadonlyMap<string, string>): string =>
  names.size === 0 ? text : text.replaceAll(/#[^\n]*|[\w./-]+\*?|./gs, (token) => mapped(token, names));

/** Returns the rules of a site's own scenarios with the names of a testbed. */
export const mapOwnRules = (
  rules: Readonly<Record<string, OwnRules>>,
  names: ReadonlyMap<string, string>,
): Record<string, OwnRules> =>
  Object.fromEntries(Object.entries(rules).map(([name, own]) => [name, { ...own, text: mapWords(own.text, names) }]));

/** Returns the path of a setting below /proc/sys. */
export const mapSetting = (path: string, names: ReadonlyMap<string, string>): string =>
  path.replace(
    /^(net\/\w+\/(?:conf|neigh)\/)([^/]+)/,
    (_, folder: string, name: string) => folder + (names.get(name) ?? name),
  );

function mapped(word: string, names: ReadonlyMap<string, string>): string {
  if (!word.endsWith('*')) return names.get(word) ?? word;
  const prefix = word.slice(0, -1);
  const meant = new Set([...names].flatMap(([name, port]) => (name.startsWith(prefix) ? port : [])));
  const [first, second] = meant;
  if (first === undefined || prefix === '') return word;
  if (second === undefined) return first;
  const common = [...first].findIndex((letter, index) => letter !== second[index]);
  // Names without a common beginning have no pattern, so the rule stays and matches nothing.
  return common > 0 ? `${first.slice(0, common)}*` : word;
}
