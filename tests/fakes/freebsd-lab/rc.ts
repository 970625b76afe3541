// rc(8) of a machine with an /etc/rc.conf: its network, firewalls, entropy and dumps follow only that file.
import { allCapabilities, configureAll } from './commands/ifconfig.ts';
import { route, setNeighbour } from './commands/routes.ts';
import { type Interface, interfaceNamed, type Machine } from './machine.ts';
import type { Plain } from './process.ts';
import { stored } from './sysctls.ts';

/** Throws a TypeError for invalid lines of rc.conf. A program's error goes to the console, and the boot continues. */
export function startRc(machine: Machine, text: string): void {
  const conf = parse(machine, text);
  const value = (name: string) => conf.get(name) ?? defaults.get(name) ?? '';
  const isOn = (name: string) => /^(?:yes|true|on|1)$/i.test(value(name));
  const words = (name: string) => value(name).split(' ').filter(Boolean);

  machine.hostname = conf.get('hostname') || machine.name;
  setSysctl(machine, 'kern.random.harvest.mask', value('harvest_mask'));
  machine.crashes.dumpsTo = dumpsTo(machine, value('dumpdev'));
  for (const one of machine.interfaces) startInterface(machine, one, words);
  machine.routes.length = 0;
  machine.neighbours.length = 0;
  machine.ofRcConf = undefined;
  for (const family of ['inet', 'inet6'] as const) {
    const prefix = family === 'inet6' ? 'ipv6_' : '';
    const add = (given: readonly string[]) =>
      run(machine, route, ['add', ...(family === 'inet6' ? ['-inet6'] : []), ...given]);
    for (const name of words(`${prefix}static_routes`)) add(words(`${prefix}route_${name}`));
    const [router] = words(`${prefix}defaultrouter`);
    if (router !== undefined) add(['default', router]);
    const table = family === 'inet' ? 'arp' : 'ndp';
    for (const name of words(`static_${table}_pairs`)) {
      run(machine, (process) => setNeighbour(process, family, process.args), words(`static_${table}_${name}`));
    }
  }
  setSysctl(machine, 'net.inet.ip.forwarding', isOn('gateway_enable') ? '1' : '0');
  setSysctl(machine, 'net.inet6.ip6.forwarding', isOn('ipv6_gateway_enable') ? '1' : '0');
  machine.ownFirewalls = [
    ...(isOn('pf_enable') ? (['pf'] as const) : []),
    ...(isOn('firewall_enable') ? (['ipfw'] as const) : []),
  ];
}

/** Defaults of /etc/defaults/rc.conf in releases. */
const defaults = new Map([
  ['dumpdev', 'NO'],
  ['harvest_mask', '511'],
]);

/** Variables that a boot of the fake lab applies, and those that it ignores. */
const known = [
  /^(?:ipv6_)?(?:static_routes|defaultrouter|gateway_enable)$/,
  /^(?:ifconfig|route|ipv6_route|static_arp|static_ndp)_\w+$/,
  /^(?:harvest_mask|dumpdev|pf_enable|firewall_enable|hostname)$/,
  /^(?:dumpon_flags|sshd_enable|fsck_y_enable|background_fsck|zfs_enable|kld_list|growfs_enable|zpool_\w+|defaultroute_delay)$/,
];

/** The manual requires quotes around all arguments. */
function parse({ name: machine }: Machine, text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', value = ''] = /^(\w+)="([^"$]*)"$/.exec(line) ?? [];
      if (!known.some((form) => form.test(name))) {
        throw new TypeError(`rc.conf(5) of ${machine} has nothing like ${line}.`);
      }
      return [name, value];
    }),
  );
}

function dumpsTo(machine: Machine, device: string): Machine['crashes']['dumpsTo'] {
  if (/^(?:no)?$/i.test(device)) return 'nowhere';
  return interfaceNamed(machine, device) === undefined ? 'disk' : 'network';
}

/** State from the driver, then from the lines of rc.conf. */
function startInterface(machine: Machine, one: Interface, words: (name: string) => string[]): void {
  one.addresses = [];
  one.mtu = 1500;
  one.isUp = false;
  for (const capability of allCapabilities) one.capabilities.add(capability);
  const own = words(`ifconfig_${one.name}`);
  const given = own.length > 0 ? own : words('ifconfig_DEFAULT');
  const given6 = words(`ifconfig_${one.name}_ipv6`);
  if (given6.length > 0 && given6[0] !== 'inet6') {
    throw new TypeError(`ifconfig_${one.name}_ipv6 has to begin with inet6, says rc.conf(5).`);
  }
  for (const some of [given, given6]) {
    if (some.length === 0) continue;
    one.isUp = true;
    // Without a reply, dhclient(8) continues to ask.
    if (some.some((word) => /^(?:SYNC)?DHCP$/.test(word))) lease(machine, one);
    const others = some.filter((word) => !/^(?:SYNC)?DHCP$/.test(word));
    run(machine, (process) => configureAll(process, one), others);
  }
}

function lease({ leases }: Machine, one: Interface): void {
  const address = leases.get(one.mac);
  if (address !== undefined) one.addresses = [...one.addresses, address];
}

function setSysctl({ sysctls }: Machine, name: string, value: string): void {
  const sysctl = sysctls.get(name);
  if (sysctl !== undefined) sysctl.value = stored(sysctl, value);
}

function run(machine: Machine, program: (process: Plain) => number, args: readonly string[]): void {
  program({ machine, args, out: () => {}, err: (text) => machine.console.print(text) });
}
