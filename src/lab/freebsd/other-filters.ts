// Finds handlers of a FreeBSD DUT's packets other than pf and ipfw, which no scenario removes.
import { isGood } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, shell } from '../../system/shell.ts';

/** Returns a warning for each. Loads no module. */
export async function otherFilters(host: Host): Promise<string[]> {
  const ipf = await outputOf(host, shell`sysctl -n net.inet.ipf.fr_running`);
  const hooks = (await outputOf(host, shell`pfilctl heads`)).matchAll(linkedHook);
  const modules = new Set([...hooks].map(([, module = '']) => module).filter(isUnknown));
  const nodes = (await netgraphNodes(host)).matchAll(connectedPort);
  return [
    ...(Number(ipf) > 0 ? [inForce('ipf of the DUT, with the rules of ipnat,', '`ipf -D`')] : []),
    ...[...modules].map((module) => inForce(`the packet filter ${module} of the DUT`, `\`kldunload ${module}\``)),
    ...[...nodes].map(([, port]) =>
      inForce(`netgraph of ${port} of the DUT`, `\`ngctl show ${port}:\` lists its hooks, and \`rmhook\``),
    ),
  ];
}

/** Matches lines of pfilctl(8), in FreeBSD since 13.0: direction, module and ruleset below each point. */
const linkedHook = /^ +(?:In|Out) +([\w.-]{1,63}) +\S+ *$/gm;

/** Trials remove pf and ipfw; a setting, which older releases have, too, shows ipf. */
const isUnknown = (module: string) => !['pf', 'ipfw', 'ipfilter'].includes(module);

/** Matches a line of ngctl(8). */
const connectedPort = /^ +Name: ([\w.-]{1,31}) +Type: ether +ID: [0-9a-f]+ +Num hooks: [1-9]\d*$/gm;

/** Lists nothing without both modules, as ngctl(8) would load ng_socket. */
async function netgraphNodes(host: Host): Promise<string> {
  for (const module of ['ng_ether', 'ng_socket']) {
    const loaded = await host.run(shell`kldstat -q -m ${module}`);
    if (!isGood(loaded)) return '';
  }
  return outputOf(host, shell`ngctl list`);
}

async function outputOf(host: Host, command: Command): Promise<string> {
  const outcome = await host.run(command);
  return isGood(outcome) ? outcome.stdout : '';
}

const inForce = (what: string, fix: string): string =>
  `${what} stays active in every scenario and slows every measurement: ${fix} removes it.`;
