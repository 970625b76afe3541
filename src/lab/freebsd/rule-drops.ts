// Finds the rules of pf or ipfw that drop packets, by the rules' own counters.
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';

/** Counts from the rule's installation. */
export type DroppingRule = { firewall: 'pf' | 'ipfw'; rule: string; packets: number };

/** Continues "dropped by". */
export const nameOfFirewallRule = ({ firewall, rule }: DroppingRule): string => `the rule "${rule}" of ${firewall}`;

/**
 * Finds, while the rules are in force, the one that dropped most of the packets sent; the name continues "dropped by".
 */
export async function droppedByRules(host: Host): Promise<string | undefined> {
  const [first] = await droppingRules(host);
  return first && `${nameOfFirewallRule(first)}, which counted ${first.packets} packets`;
}

/** Lists dropping rules, those with most packets first. */
export async function droppingRules(host: Host): Promise<DroppingRule[]> {
  const [pf, ipfw] = await Promise.all([host.run(shell`pfctl -vvsr`), host.run(shell`ipfw -a list`)]);
  const rules = [...pfDrops(pf.stdout), ...ipfwDrops(ipfw.stdout)];
  return rules.toSorted((one, other) => other.packets - one.packets);
}

/** Reads `pfctl -vvsr`: each rule after its number, and its counters on the next line. */
export function pfDrops(text: string): DroppingRule[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [, rule] = /^@\d{1,10}(?:\(\d{1,10}\))? (block .*)$/.exec(line) ?? [];
    const counts = /^\s+\[ Evaluations: \d+\s+Packets: (\d{1,15})\s/.exec(lines[index + 1] ?? '');
    const packets = Number(counts?.[1] ?? 0);
    return rule === undefined || packets === 0 ? [] : [{ firewall: 'pf', rule: rule.slice(0, 300).trim(), packets }];
  });
}

/** Reads `ipfw -a list`: number, packets, bytes and rule. */
export function ipfwDrops(text: string): DroppingRule[] {
  const rules = text.matchAll(
    /^(\d{5})\s+(\d{1,15})\s+\d{1,20}\s+((?:deny|drop|reject|reset6?|unreach6?|abort6?) .{1,300}).*$/gm,
  );
  return [...rules].flatMap(([, number, packets, rule = '']) =>
    Number(packets) > 0 ? [{ firewall: 'ipfw', rule: `${number} ${rule.trim()}`, packets: Number(packets) }] : [],
  );
}
