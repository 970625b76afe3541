// ifconfig, netstat, arp and ndp: a machine's interfaces, routes and neighbours.
import { BlockList } from 'node:net';
import { hasOption, optionValue } from '../getopt.ts';
import {
  type Interface,
  interfaceNamed,
  keepRcConf,
  type Machine,
  type Neighbour,
  type Route,
} from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { isLinkUp } from '../wiring.ts';
import { readOptions } from './options.ts';

export const networkPrograms: Readonly<Record<string, Program>> = {
  arp,
  ifconfig,
  ndp,
  netstat,
  route,
  vmstat,
};

function ifconfig(process: Process): number {
  const given = readOptions(process, {
    program: 'ifconfig',
    spec: 'aCdDf:G:g:j:klLmnuvX:',
    usage:
      'usage: ifconfig [-j jail] [-f type:format] interface address_family\n           [address [dest_address]] [parameters]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  const { machine, out } = process;
  if (hasOption(given.options, 'l')) {
    out(`${[...machine.interfaces.map(({ name }) => name), 'lo0'].join(' ')}\n`);
    return 0;
  }
  const [name, ...parameters] = given.operands;
  if (given.options.length > 0 || name === undefined) return notModelled(process, 'this ifconfig');
  if (name === 'lo0' && parameters.length === 0) {
    out(loopbackText(machine.interfaces.length + 1));
    return 0;
  }
  const found = interfaceNamed(machine, name);
  if (found === undefined) {
    return fail(process, `ifconfig: interface ${name} does not exist`);
  }
  if (parameters.length === 0) {
    out(interfaceText(found, process.deps.clock.now()));
    return 0;
  }
  const [first, bytes] = parameters;
  if (first === 'inet' || first === 'inet6') return configureAll(process, found);
  if (first === 'mtu' && bytes !== undefined) {
    found.mtu = Number(bytes);
    return 0;
  }
  return Math.max(...parameters.map((parameter) => configure(process, found, parameter)));
}

/** Words of ifconfig(8) after the name of an interface, or before it, as rc.conf(5) has them. */
export function configureAll(process: Plain, one: Interface): number {
  const [word = '', ...rest] = process.args;
  const [value = '', ...others] = rest;
  if (word === '') return 0;
  const goOn = (args: readonly string[]) => configureAll({ ...process, args }, one);
  if (word === one.name) return goOn(rest);
  if (word === 'inet' && value.includes('.')) {
    const address = inetOf(value);
    if (address === undefined) return notModelled(process, `ifconfig inet ${value}`);
    addAddress(one, address);
    return goOn(others);
  }
  if (word === 'inet6' && value.includes(':')) {
    const [prefixlen, bits = '', ...more] = others;
    const isPlain = prefixlen === 'prefixlen' && Number(bits) >= 64 && Number(bits) <= 128;
    if (!isPlain) return notModelled(process, `ifconfig inet6 ${value} ${prefixlen}`);
    addAddress(one, `inet6 ${value} prefixlen ${bits}`);
    return goOn(more);
  }
  // Later lines belong to that family, as the flags of ND to inet6.
  if (word === 'inet' || word === 'inet6' || neighbourDiscovery.has(word)) return goOn(rest);
  if (word === 'mtu') {
    one.mtu = Number(value);
    return goOn(others);
  }
  const code = configure(process, one, word);
  return code === 0 ? goOn(rest) : code;
}

const neighbourDiscovery = new Set(['accept_rtadv', 'auto_linklocal', 'no_dad']);

/** An interface that gets an address is up; the same address once more changes nothing. */
function addAddress(one: Interface, address: string): void {
  one.isUp = true;
  if (!one.addresses.includes(address)) one.addresses = [...one.addresses, address];
}

/** Undefined for one without its length. */
function inetOf(written: string): string | undefined {
  const [, address = '', length] = /^(\d+\.\d+\.\d+\.\d+)\/(\d{1,2})$/.exec(written) ?? [];
  const bits = Number(length);
  if (length === undefined || bits > 32) return undefined;
  const mask = maskOf(bits);
  const broadcast = dotted(numberOf(address) | ~mask);
  return `inet ${address} netmask 0x${(mask >>> 0).toString(16).padStart(8, '0')} broadcast ${broadcast}`;
}

const maskOf = (bits: number): number => (bits === 0 ? 0 : -1 << (32 - bits));

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, byte) => (sum << 8) | Number(byte), 0);

const dotted = (number: number): string =>
  [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');

const capabilityBits = new Map([
  ['RXCSUM', 0x1],
  ['TXCSUM', 0x2],
  ['VLAN_MTU', 0x8],
  ['VLAN_HWTAGGING', 0x10],
  ['JUMBO_MTU', 0x20],
  ['VLAN_HWCSUM', 0x80],
  ['TSO4', 0x100],
  ['TSO6', 0x200],
  ['LRO', 0x400],
  ['VLAN_HWTSO', 0x40000],
  ['LINKSTATE', 0x80000],
  ['HWRXTSTMP', 0x2000000],
]);

export const allCapabilities = [...capabilityBits.keys()];

const capabilityOf = new Map([
  ['rxcsum', ['RXCSUM']],
  ['txcsum', ['TXCSUM']],
  ['tso', ['TSO4', 'TSO6']],
  ['tso4', ['TSO4']],
  ['tso6', ['TSO6']],
  ['lro', ['LRO']],
  ['vlanhwtso', ['VLAN_HWTSO']],
  ['vlanhwtag', ['VLAN_HWTAGGING']],
  ['hwrxtstmp', ['HWRXTSTMP']],
]);

export function configure(process: Plain, one: Interface, parameter: string): number {
  if (parameter === 'up' || parameter === 'down') {
    one.isUp = parameter === 'up';
    return 0;
  }
  const capabilities = capabilityOf.get(parameter.replace(/^-/, ''));
  if (capabilities === undefined) return notModelled(process, `ifconfig ${parameter}`);
  for (const capability of capabilities) {
    if (parameter.startsWith('-')) one.capabilities.delete(capability);
    else one.capabilities.add(capability);
  }
  return 0;
}

function interfaceText(one: Interface, now: number): string {
  const isActive = one.isUp && isLinkUp(one.port, now);
  const names = [...capabilityBits.keys()].filter((name) => one.capabilities.has(name));
  const bits = names.reduce((sum, name) => sum | (capabilityBits.get(name) ?? 0), 0);
  const flags = one.isUp
    ? '1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP>'
    : '8802<BROADCAST,SIMPLEX,MULTICAST>';
  const media =
    one.card === 'virtio' ? '10Gbase-T' : (mediaNames.get(one.mediaBits) ?? '10Gbase-SR');
  const linked = isActive ? `Ethernet ${media} <full-duplex>` : 'Ethernet autoselect (none)';
  return [
    `${one.name}: flags=${flags} metric 0 mtu ${one.mtu}`,
    `\toptions=${bits.toString(16)}<${names.join(',')}>`,
    `\tether ${one.mac}`,
    ...one.addresses.map((address) => `\t${address}`),
    `\tmedia: ${linked}`,
    `\tstatus: ${isActive ? 'active' : 'no carrier'}`,
    '\tnd6 options=21<PERFORMNUD,AUTO_LINKLOCAL>',
    '',
  ].join('\n');
}

const loopbackText = (link: number): string =>
  [
    'lo0: flags=1008049<UP,LOOPBACK,RUNNING,MULTICAST,LOWER_UP> metric 0 mtu 16384',
    '\toptions=680003<RXCSUM,TXCSUM,LINKSTATE,RXCSUM_IPV6,TXCSUM_IPV6>',
    '\tinet 127.0.0.1 netmask 0xff000000',
    '\tinet6 ::1 prefixlen 128',
    `\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x${link.toString(16)}`,
    '\tgroups: lo',
    '\tnd6 options=21<PERFORMNUD,AUTO_LINKLOCAL>',
    '',
  ].join('\n');

const mediaNames = new Map([
  [1e9, '1000baseT'],
  [10e9, '10Gbase-SR'],
  [40e9, '40Gbase-SR4'],
  [100e9, '100GBase-SR4'],
]);

/** Knows only the count of interrupts of vmstat(8). */
function vmstat(process: Process): number {
  if (process.args.join(' ') !== '-i') return notModelled(process, 'this vmstat');
  process.out(
    'interrupt                          total       rate\nTotal                                  0          0\n',
  );
  return 0;
}

const netstatSpec = '46AaBbC:cdF:f:ghI:iLlM:mN:nPp:Qq:RrSsTuWw:xz';

function netstat(process: Process): number {
  const given = readOptions(process, {
    program: 'netstat',
    spec: netstatSpec,
    usage:
      'usage: netstat [-j jail] [-46AaCcLnRSTWx] [-f protocol_family | -p protocol]\n       netstat [-j jail] -i | -I interface [-46abdhnW] [-f address_family]\n       netstat [-j jail] -r [-46nW] [-F fibnum] [-f address_family]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  const { options } = given;
  const name = optionValue(options, 'I');
  if (name !== undefined) return interfaceCounters(process, [name]);
  if (hasOption(options, 'i')) {
    return interfaceCounters(
      process,
      process.machine.interfaces.map((one) => one.name),
    );
  }
  if (hasOption(options, 's')) return protocolCounters(process);
  const family = optionValue(options, 'f');
  if (
    hasOption(options, 'r') &&
    hasOption(options, 'n') &&
    (family === 'inet' || family === 'inet6')
  ) {
    process.out(routesText(process.machine, family));
    return 0;
  }
  if (hasOption(options, 'r') && family !== undefined && family !== 'inet' && family !== 'inet6') {
    return fail(process, `netstat: ${family}: unknown address family`);
  }
  return notModelled(process, 'this netstat');
}

function routesText(machine: Machine, family: 'inet' | 'inet6'): string {
  const [title, width] = family === 'inet' ? ['Internet', 18] : ['Internet6', 33];
  const row = (destination: string, gateway: string, flags: string, name: string, end: string) =>
    `${destination.padEnd(width)} ${gateway.padEnd(width)} ${flags.padEnd(7)} ${name.padStart(7)} ${end.padStart(6)}\n`;
  const rows = [...machine.routes, ...connectedRoutes(machine)]
    .filter((route) => route.family === family)
    .map((route) => row(route.destination, route.gateway, route.flags, route.interface, ''));
  const head = row('Destination', 'Gateway', 'Flags', 'Netif', 'Expire');
  return `Routing tables\n\n${title}:\n${[head, ...rows].join('')}`;
}

/** The networks that interfaces are in, and the addresses that are the machine's own. */
const connectedRoutes = ({ interfaces }: Machine): Route[] =>
  interfaces.flatMap(({ name, addresses }, index) =>
    addresses.flatMap((text) => {
      const [family, address = ''] = text.split(' ');
      if (family !== 'inet' && family !== 'inet6') return [];
      const gateway = `link#${index + 1}`;
      return [
        { family, destination: networkOf(text), gateway, flags: 'U', interface: name },
        { family, destination: address, gateway, flags: 'UHS', interface: 'lo0' },
      ];
    }),
  );

/** Context of an `inet …` or `inet6 …` line of ifconfig(8). */
function networkOf(line: string): string {
  const [family, address = '', , bits] = line.split(' ');
  if (family === 'inet6') return `${address.replace(/::.*$/, '')}::/${bits}`;
  const mask = Number(bits);
  const length = (mask >>> 0).toString(2).replaceAll('0', '').length;
  return `${dotted(numberOf(address) & mask)}/${length}`;
}

/** Variables by which rc(8) runs them. */
export type Plain = Pick<Process, 'machine' | 'args' | 'out' | 'err' | 'complaints'>;

const routeUsage = 'usage: route [-j jail] [-46dnqtv] command [[modifiers] args]';

/** add, change and delete of a network by way of a gateway, as FreeBSD's sbin/route reads them. */
export function route(process: Plain): number {
  const { args, machine, out } = process;
  const [verb = '', ...words] = args.filter((word) => word !== '-net');
  if (!['add', 'change', 'delete'].includes(verb)) return fail(process, routeUsage, 64);
  const flag = words[0] === '-inet6' ? '-inet6' : '-inet';
  const [destination = '', ...rest] = words.filter((word) => word !== flag);
  if (destination.startsWith('-')) return notModelled(process, 'this route');
  const [gateway, kind] = rest;
  if (kind !== undefined && kind !== '-blackhole') return notModelled(process, 'this route');
  const family = flag === '-inet' ? 'inet' : 'inet6';
  const { routes } = machine;
  const index = routes.findIndex((one) => one.family === family && one.destination === destination);
  const says = `${verb} net ${destination}${gateway === undefined ? '' : `: gateway ${gateway}`}`;
  const refuse = (why: string) => {
    out(`${says}${verb === 'delete' ? '' : ' fib 0'}: ${why}\n`);
    return 1;
  };
  if (verb === 'add' && index !== -1) return refuse('route already in table');
  if (verb !== 'add' && index === -1) return refuse('not in table');
  keepRcConf(machine);
  if (verb === 'delete') {
    routes.splice(index, 1);
    return 0;
  }
  if (gateway === undefined) return fail(process, routeUsage, 64);
  const name = isLoopback(gateway) ? 'lo0' : interfaceTo(machine, gateway)?.name;
  if (name === undefined) return refuse('Network is unreachable');
  const flags = kind === undefined ? 'UGS' : 'UGSB';
  const made = { family, destination, gateway, flags, interface: name } as const;
  routes.splice(index === -1 ? routes.length : index, index === -1 ? 0 : 1, made);
  out(`${says}\n`);
  return 0;
}

const isLoopback = (address: string): boolean => address === '127.0.0.1' || address === '::1';

/** The interface whose network that address is of. */
const interfaceTo = ({ interfaces }: Machine, address: string): Interface | undefined =>
  interfaces.find(({ name, addresses }) =>
    addresses.some((text) => {
      if (address.includes('%')) return address.endsWith(`%${name}`);
      const isSix = address.includes(':');
      if (text.startsWith('inet6 ') !== isSix) return false;
      const [network = '', bits] = networkOf(text).split('/');
      const list = new BlockList();
      list.addSubnet(network, Number(bits), isSix ? 'ipv6' : 'ipv4');
      return list.check(address, isSix ? 'ipv6' : 'ipv4');
    }),
  );

/** A static entry, in place of any other of that address. */
export function setNeighbour(
  process: Plain,
  family: Neighbour['family'],
  [address = '', mac = '']: readonly string[],
): number {
  const { machine } = process;
  const name = interfaceTo(machine, address)?.name;
  if (name === undefined) {
    return fail(process, `arp: cannot intuit interface index and type for ${address}`);
  }
  keepRcConf(machine);
  const { neighbours } = machine;
  const others = neighbours.filter((one) => one.address !== address);
  neighbours.splice(0, neighbours.length, ...others, { family, address, mac, interface: name });
  return 0;
}

/** Prints the first of IPv4's counters, of the many that FreeBSD has. */
function protocolCounters({ machine, network, out }: Process): number {
  network.count();
  const received = machine.interfaces.reduce((sum, { port }) => sum + port.received.packets, 0);
  out(`ip:\n\t${Math.round(received)} total packets received\n\t0 bad header checksums\n`);
  return 0;
}

function interfaceCounters(process: Process, names: readonly string[]): number {
  const { machine, network, out } = process;
  network.count();
  const columns = [
    ['Name', -8],
    ['Mtu', 5],
    ['Network', -14],
    ['Address', -20],
    ['Ipkts', 10],
    ['Ierrs', 6],
    ['Idrop', 6],
    ['Ibytes', 13],
    ['Opkts', 10],
    ['Oerrs', 6],
    ['Obytes', 13],
    ['Coll', 6],
    ['Drop', 5],
  ] as const;
  const row = (cells: readonly (string | number)[]) => {
    const padded = columns.map(([, width], index) => {
      const cell = String(cells[index] ?? '');
      return width < 0 ? cell.padEnd(-width) : cell.padStart(width);
    });
    return `${padded.join(' ').trimEnd()}\n`;
  };
  out(row(columns.map(([title]) => title)));
  const count = (value: number) => Math.round(value);
  // netstat(1) prints the head alone for a name that does not exist.
  for (const [index, { name, mac, mtu, port }] of machine.interfaces.entries()) {
    if (!names.includes(name)) continue;
    const { received, sent } = network.shown(port);
    out(
      row([
        name,
        mtu,
        `<Link#${index + 1}>`,
        mac,
        count(received.packets),
        0,
        0,
        count(received.bytes),
        count(sent.packets),
        0,
        count(sent.bytes),
        0,
        0,
      ]),
    );
  }
  return 0;
}

function arp(process: Process): number {
  const given = readOptions(process, {
    program: 'arp',
    spec: 'adfi:nsS',
    usage: 'usage: arp [-n] [-i interface] hostname\n       arp [-n] [-i interface] -a',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  if (hasOption(given.options, 'S')) return setNeighbour(process, 'inet', given.operands);
  if (!hasOption(given.options, 'a') || !hasOption(given.options, 'n'))
    return notModelled(process, 'this arp');
  for (const one of process.machine.neighbours.filter(({ family }) => family === 'inet')) {
    process.out(`? (${one.address}) at ${one.mac} on ${one.interface} permanent [ethernet]\n`);
  }
  return 0;
}

function ndp(process: Process): number {
  const given = readOptions(process, {
    program: 'ndp',
    spec: 'A:acd:f:HIi:nPprstx',
    usage: 'usage: ndp [-nt] hostname\n       ndp [-nt] -a | -c | -p | -r | -H | -P | -R',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  if (hasOption(given.options, 's')) return setNeighbour(process, 'inet6', given.operands);
  if (!hasOption(given.options, 'a') || !hasOption(given.options, 'n'))
    return notModelled(process, 'this ndp');
  const row = (...[address = '', mac = '', name = '', expires = '', flags = '']: string[]) =>
    `${address.padEnd(31)} ${mac.padEnd(17)} ${name.padStart(6)} ${expires.padEnd(9)} ${flags}\n`;
  process.out(row('Neighbor', 'Linklayer Address', 'Netif', 'Expire', '1s 5s'));
  for (const one of process.machine.neighbours.filter(({ family }) => family === 'inet6')) {
    process.out(row(one.address, one.mac, one.interface, 'permanent', 'R'));
  }
  return 0;
}
