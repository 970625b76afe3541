// Names the rule of pf or ipfw that drops packets, by the rules' own counters.
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';

/** Called after packets, while the rules are in force; returns a phrase that continues "dropped by". */
export async function droppedByRules(host: Host): Promise<string | undefined> {
  const [pf, ipfw] = await Promise.all([
    host.run(shell`pfctl -vvsr`),
    host.run(shell`ipfw -a list`),
  ]);
  const drops = [...pfDrops(pf.stdout), ...ipfwDrops(ipfw.stdout)];
  const [first] = drops.toSorted((one, other) => other.packets - one.packets);
  return (
    first && `the rule "${first.rule}" of ${first.firewall}, which counted ${first.packets} packets`
  );
}

type RuleDrops = { firewall: 'pf' | 'ipfw'; rule: string; packets: number };

/** Reads `pfctl -vvsr`: each rule after its number, and its counters on the next line. */
export function pfDrops(text: string): RuleDrops[] {
  const rules = text.matchAll(
    /^@\d{1,10}(?:\(\d{1,10}\))? (block .{1,300}).*\n\s+\[ Evaluations: \d+\s+Packets: (\d{1,15})\s/gm,
  );
  return [...rules].flatMap(([, rule = '', packets]) =>
    Number(packets) > 0 ? [{ firewall: 'pf', rule: rule.trim(), packets: Number(packets) }] : [],
  );
}

/** Reads `ipfw -a list`: number, packets, bytes and rule. */
export function ipfwDrops(text: string): RuleDrops[] {
  const rules = text.matchAll(
    /^(\d{5})\s+(\d{1,15})\s+\d{1,20}\s+((?:deny|drop|reject|reset6?|unreach6?|abort6?) .{1,300}).*$/gm,
  );
  return [...rules].flatMap(([, number, packets, rule = '']) =>
    Number(packets) > 0
      ? [{ firewall: 'ipfw', rule: `${number} ${rule.trim()}`, packets: Number(packets) }]
      : [],
  );
}
