// Cabling of the machines, and addresses of the DUT: two data networks and an admin network.
import type { CardName } from './cards.ts';
import type { Interface, Neighbour, Route } from './machine.ts';
import { connectPorts, type Port, port } from './wiring.ts';

export type CablingOptions = {
  /** At most two. */
  senders: number;
  /** `one`: senders and receiver are ports of one machine, `generator`. */
  generators: 'one' | 'separate';
  /** Speed of every data port, in bit/s. */
  mediaBits: number;
  /** Ports of the DUT, the exit last; absent: `cxl0`, `cxl1`… of a T540-CR. */
  ports: readonly DataPort[];
  /** Cable from the first sender's machine to the receiver's, past the DUT: the next Chelsio port of each. */
  loopback: boolean;
};

type DataPort = {
  name: string;
  card: CardName;
  /** Port of the generator at the other end of its cable; absent: same name and card. */
  far?: { name: string; card: CardName };
};

/** What `cabling` connects, with names as ifconfig(8) has them. */
export type Cabling = ReturnType<typeof cabling>;

/** Chelsio cards are `cxlN` on the DUT and `vcxlN` on the generators. Addresses are those of RFC 2544 and RFC 5180. */
export function cabling({
  senders = 1,
  generators = 'one',
  mediaBits = 10e9,
  ports,
  loopback = false,
}: Partial<CablingOptions>) {
  const links: Link[] = [];
  for (let index = 0; index <= senders; index += 1) {
    const usual = { ...usualPort(index), far: usualPort(generators === 'one' ? index : 0) };
    links.push(linkOf(index, ports?.[index] ?? usual, mediaBits));
  }
  const machineOf = (index: number) => {
    if (generators === 'one') return 'generator';
    return index === senders ? 'receiver' : `sender${index + 1}`;
  };
  const machines = [...new Set(links.map((_, index) => machineOf(index)))];
  const past = loopback ? loopbackOf(generators === 'separate' ? 1 : senders + 1, generators, mediaBits) : [];
  const pastAt = (name: string) => past.flatMap(({ far }, index) => (machineOf(index * senders) === name ? far : []));
  const [entry, exit] = [links[0], links[senders]];
  if (entry === undefined || exit === undefined) throw new TypeError('There is no sender.');
  return {
    dut: {
      ...dutNetwork(entry, exit),
      interfaces: [...links.map(({ dut }) => dut), adminOf(9)],
    },
    generators: machines.map((name, machine) => ({
      name,
      interfaces: [
        ...links.flatMap((link, index) => (machineOf(index) === name ? link.far : [])),
        ...pastAt(name),
        adminOf(10 + machine),
      ],
    })),
    /** Options `-i`, `-S` and `-D` for each sender's `pkt-gen`. */
    senders: links.slice(0, senders).map(({ native, dut }, index) => ({
      machine: machineOf(index),
      interface: native.name,
      mac: native.mac,
      dutMac: dut.mac,
    })),
    receiver: { machine: machineOf(senders), interface: exit.native.name, mac: exit.native.mac },
    loopback: { from: past[0]?.name ?? '', to: past[1]?.name ?? '' },
    entries: links.slice(0, senders).map(({ dut }) => dut.name),
    exit: exit.dut.name,
  };
}

const usualPort = (index: number) => ({ name: `cxl${index}`, card: 'T540-CR' as const });

type Link = {
  dut: Interface;
  native: Interface;
  /** All of the generator's interfaces on that port. */
  far: readonly Interface[];
};

/** A Chelsio port has a second interface for netmap; on the first one netmap is emulated, and slow. */
function linkOf(index: number, { name, card, far = { name, card } }: DataPort, mediaBits: number): Link {
  const isChelsio = far.name.startsWith('cxl');
  const [dutMac, nativeMac, emulatedMac] = [mac(0, index), mac(1, index), mac(2, index)];
  const farPort = isChelsio ? port(nativeMac, emulatedMac) : port(nativeMac);
  const dut = interfaceOf(name, dutMac, port(dutMac), mediaBits, card);
  connectPorts(dut.port, farPort);
  const farInterface = (name: string, mac: string) => interfaceOf(name, mac, farPort, mediaBits, far.card);
  const native = farInterface(isChelsio ? `v${far.name}` : far.name, nativeMac);
  const emulated = farInterface(far.name, emulatedMac);
  return {
    dut,
    native,
    far: isChelsio ? [native, emulated] : [native],
  };
}

type LoopbackEnd = { name: string; far: readonly Interface[] };

/** Both ends are ports of generators. */
function loopbackOf(first: number, generators: CablingOptions['generators'], mediaBits: number): LoopbackEnd[] {
  const ends = [0, 1].map((index) => {
    const macs = [mac(3, index), mac(4, index)] as const;
    const name = `cxl${generators === 'one' ? first + index : first}`;
    return { macs, name, port: port(...macs) };
  });
  const [near, far] = ends;
  if (near !== undefined && far !== undefined) connectPorts(near.port, far.port);
  return ends.map(({ macs: [native, emulated], name, port }) => ({
    name,
    far: [
      interfaceOf(`v${name}`, native, port, mediaBits, 'T540-CR'),
      interfaceOf(name, emulated, port, mediaBits, 'T540-CR'),
    ],
  }));
}

const mac = (side: number, index: number): string => `00:07:43:2e:e${side}:7${index}`;

const interfaceOf = (name: string, mac: string, port: Port, mediaBits: number, card: CardName): Interface => ({
  name,
  mac,
  port,
  mediaBits,
  mtu: 1500,
  card,
  addresses: [],
  capabilities: new Set(['RXCSUM', 'TXCSUM', 'VLAN_MTU', 'VLAN_HWTAGGING', 'JUMBO_MTU', 'VLAN_HWCSUM', 'LINKSTATE']),
  isUp: true,
});

function adminOf(machine: number): Interface {
  const address = `00:08:a2:0d:e5:${String(machine).padStart(2, '0')}`;
  const near = port(address);
  connectPorts(near, port());
  const inet = `inet 192.168.1.${machine} netmask 0xffffff00 broadcast 192.168.1.255`;
  return { ...interfaceOf('igb0', address, near, 1e9, 'I350'), addresses: [inet] };
}

/** Static routes and static ARP and NDP entries lead to both sides. */
function dutNetwork({ dut: entry, native: sender }: Link, { dut: exit, native: receiver }: Link) {
  entry.addresses = ['inet 198.18.0.10 netmask 0xffffff00 broadcast 198.18.0.255', 'inet6 2001:2::10 prefixlen 64'];
  exit.addresses = [
    'inet 198.19.0.10 netmask 0xffffff00 broadcast 198.19.0.255',
    'inet6 2001:2:0:8000::10 prefixlen 64',
  ];
  return {
    routes: [
      route('inet', 'default', '192.168.1.254', 'igb0'),
      route('inet', '198.18.0.0/15', '127.0.0.1', 'lo0', 'UGSB'),
      route('inet', '198.18.0.0/16', '198.18.0.108', entry.name),
      route('inet', '198.19.0.0/16', '198.19.0.108', exit.name),
      route('inet6', 'default', 'fe80::208:a2ff:fe0d:e501%igb0', 'igb0'),
      route('inet6', '2001:2::/48', '::1', 'lo0', 'UGSB'),
      route('inet6', '2001:2::/49', '2001:2::108', entry.name),
      route('inet6', '2001:2:0:8000::/49', '2001:2:0:8000::108', exit.name),
    ],
    neighbours: [
      neighbour('inet', '198.18.0.108', sender.mac, entry.name),
      neighbour('inet', '198.19.0.108', receiver.mac, exit.name),
      neighbour('inet6', '2001:2::108', sender.mac, entry.name),
      neighbour('inet6', '2001:2:0:8000::108', receiver.mac, exit.name),
    ],
  };
}

const route = (family: Route['family'], destination: string, gateway: string, name: string, flags = 'UGS'): Route => {
  return { family, destination, gateway, flags, interface: name };
};

const neighbour = (family: Neighbour['family'], address: string, mac: string, name: string): Neighbour => {
  return { family, address, mac, interface: name };
};
