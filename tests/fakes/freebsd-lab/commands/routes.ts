// route, arp and ndp: a machine's routes and neighbours.
import { BlockList } from 'node:net';
import { type Interface, keepRcConf, type Machine, type Neighbour } from '../machine.ts';
import { notModelled, type Plain, type Process } from '../process.ts';
import { networkOf } from './addresses.ts';

/** Without those of its interfaces. */
export function routesText(machine: Machine, family: 'inet' | 'inet6'): string {
  const [title, width, gatewayWidth] = family === 'inet' ? ['Internet', 18, 18] : ['Internet6', 33, 29];
  const row = (destination: string, gateway: string, flags: string, name: string, end: string) =>
    `${destination.padEnd(width)} ${gateway.padEnd(gatewayWidth)} ${flags.padEnd(8)} ${name.padStart(10)}${end}\n`;
  const rows = machine.routes
    .filter((route) => route.family === family)
    .map((route) => row(route.destination, route.gateway, route.flags, route.interface, ''));
  const head = row('Destination', 'Gateway', 'Flags', 'Netif', ' Expire');
  return `Routing tables\n\n${title}:\n${[head, ...rows].join('')}`;
}

/** Adds or changes the route of a network through a gateway, parsed like FreeBSD's sbin/route. */
export function route({ args, machine, out }: Plain): number {
  const [verb = '', ...words] = args.filter((word) => word !== '-net');
  const family = words[0] === '-inet6' ? 'inet6' : 'inet';
  const [destination = '', gateway = '', kind] = words.filter((word) => word !== `-${family}`);
  if ((verb !== 'add' && verb !== 'change') || (kind !== undefined && kind !== '-blackhole')) notModelled();
  const { routes } = machine;
  const index = routes.findIndex((one) => one.family === family && one.destination === destination);
  // Its netlink version omits the length for IPv4.
  const shown = family === 'inet' ? destination.replace(/\/.*/, '') : destination;
  const says = `${verb} net ${shown}: gateway ${gateway}`;
  const refuse = (why: string) => {
    out(`${says} fib 0: ${why}\n`);
    return 1;
  };
  if (verb === 'add' && index !== -1) return refuse('route already in table');
  if (verb === 'change' && index === -1) return refuse('not in table');
  keepRcConf(machine);
  const name = isLoopback(gateway) ? 'lo0' : interfaceTo(machine, gateway)?.name;
  if (name === undefined) return refuse('Invalid argument');
  const flags = kind === undefined ? 'UGS' : 'UGSB';
  const made = { family, destination, gateway, flags, interface: name } as const;
  routes.splice(index === -1 ? routes.length : index, index === -1 ? 0 : 1, made);
  out(`${says}\n`);
  return 0;
}

const isLoopback = (address: string): boolean => address === '127.0.0.1' || address === '::1';

/** The interface with that address in its network. */
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

/** Replaces any entry for that address by a static one: `arp -S` and `ndp -s`, which fail without a code. */
export function setNeighbour(
  process: Plain,
  family: Neighbour['family'],
  [address = '', mac = '']: readonly string[],
): number {
  const { machine, out, err } = process;
  const { neighbours } = machine;
  const name = interfaceTo(machine, address)?.name;
  if (name === undefined) {
    const program = family === 'inet' ? 'arp' : 'ndp';
    const says = `${program}: delete: cannot locate ${address}\n`;
    err(family === 'inet' ? says.repeat(2) : says);
    return 0;
  }
  if (family === 'inet') {
    if (neighbours.some((one) => one.address === address)) out(`${address} (${address}) deleted\n`);
    else err(`arp: delete ${address}: No such file or directory\n`);
  }
  keepRcConf(machine);
  const others = neighbours.filter((one) => one.address !== address);
  neighbours.splice(0, neighbours.length, ...others, { family, address, mac, interface: name });
  return 0;
}

/** Static entries. */
const neighboursOf = ({ neighbours }: Machine, family: Neighbour['family']): Neighbour[] =>
  neighbours.filter((one) => one.family === family);

export function arp(process: Process): number {
  const [option, ...operands] = process.args;
  if (option === '-S') return setNeighbour(process, 'inet', operands);
  if (option !== '-an') notModelled();
  for (const { address, mac, interface: name } of neighboursOf(process.machine, 'inet')) {
    process.out(`? (${address}) at ${mac} on ${name} permanent [ethernet]\n`);
  }
  return 0;
}

export function ndp(process: Process): number {
  const [option, ...operands] = process.args;
  if (option === '-s') return setNeighbour(process, 'inet6', operands);
  if (option !== '-an') notModelled();
  process.out(`${'Neighbor'.padEnd(36)} Linklayer Address  Netif Expire    S Flags\n`);
  for (const { address, mac, interface: name } of neighboursOf(process.machine, 'inet6')) {
    process.out(`${address.padEnd(36)} ${mac} ${name.padStart(6)} permanent R \n`);
  }
  return 0;
}
