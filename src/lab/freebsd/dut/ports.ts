// Defines the settings required of a FreeBSD DUT's two ports, and of the paths of packets through them.
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type DriverSetting, driverSettingsOf } from '../../../model/freebsd-drivers.ts';
import { halvesOf, knownNetwork } from '../../../model/networks.ts';
import type { Family } from '../../../model/scenario.ts';
import type { TestNetworks } from '../../../model/traffic.ts';
import { commandText, shell } from '../../../system/shell.ts';
import {
  type Interface,
  type Neighbour,
  parseArp,
  parseIfconfig,
  parseNdp,
  parseRoutes,
  type Route,
} from './network.ts';
import { type Fix, type Setting, type SettingFault, sysctl, tunable, unless } from './setting.ts';

export type DutPort = {
  interface: string;
  gigabits?: number;
  queues?: number;
  /** Host at the other end of the cable, the DUT's next hop. */
  neighbour: { addresses: Readonly<Record<Family, string>>; mac: string };
};

export type DutPorts = {
  ingress: DutPort;
  egress: DutPort;
  /** Networks of a site that the packets have. */
  addresses?: TestNetworks | undefined;
};

export const portSettings = ({ ingress, egress }: DutPorts): Setting[] => {
  const ports = [ingress, egress];
  return [...ports.flatMap((port) => [noOffloads(port), link(port)]), ...onceEach(ports.flatMap(ofDriver))];
};

export const generatorPortSettings = (name: string): Setting[] =>
  driverSettingsOf(name)
    .filter(({ appliesToGenerators }) => appliesToGenerators)
    .flatMap((setting) => driverSetting(setting, undefined));

const ofDriver = ({ interface: name, queues }: DutPort): Setting[] =>
  driverSettingsOf(name).flatMap((setting) => driverSetting(setting, queues));

function driverSetting(setting: DriverSetting, queues: number | undefined): Setting[] {
  const { name, why, fix, alias, isOptional = false } = setting;
  const required = setting.expected === 'queues' ? queues : Number(setting.expected);
  if (required === undefined) return [];
  const made = fix === 'sysctl' ? sysctl(name, required, why) : tunable(name, required, why, fix.loader);
  const check = (value = '') => (value === alias ? undefined : made.check(value));
  return [{ ...made, check, isOptional }];
}

/** Some settings of a driver apply to all its ports. */
const onceEach = (settings: readonly Setting[]): Setting[] => [
  ...new Map(settings.map((setting) => [setting.name, setting])).values(),
];

const routersOffloads = ['TSO4', 'TSO6', 'LRO', 'VLAN_HWTSO'];

const noOffloads = ({ interface: name }: DutPort): Setting => ({
  name: `${name}'s LRO and TSO`,
  why: 'a router must neither merge nor split packets',
  reads: [shell`ifconfig ${name}`],
  check: onInterface((port) => {
    const on = port.options.filter((option) => routersOffloads.includes(option));
    return unless(on.length === 0, {
      is: `are on (${on.join(', ')})`,
      fix: {
        kind: 'command',
        command: shell`ifconfig ${name} -tso4 -tso6 -lro -vlanhwtso`,
      },
    });
  }),
});

const link = ({ interface: name, gigabits }: DutPort): Setting => ({
  name: `${name}'s link`,
  why: 'the trial needs the full speed',
  reads: [shell`ifconfig ${name}`],
  check: onInterface((port) => {
    const inspect: Fix = {
      kind: 'person',
      what: `check its cable, its transceiver and "ifconfig ${name}"`,
    };
    if (!port.flags.includes('UP')) {
      return { is: 'is down', fix: { kind: 'command', command: shell`ifconfig ${name} up` } };
    }
    if (!port.isActive) return { is: 'is not active', fix: inspect };
    const isFast = gigabits === undefined || port.gigabits === gigabits;
    return unless(isFast, { is: `is "${port.media}" instead of ${gigabits} Gbit/s`, fix: inspect });
  }),
});

function onInterface(check: (port: Interface) => SettingFault | undefined) {
  return (output: string): SettingFault | undefined => {
    const port = parseIfconfig(output);
    if (port !== undefined) return check(port);
    return { is: 'cannot be read', fix: { kind: 'person', what: 'check the output of ifconfig' } };
  };
}

/** Covers both directions: a DUT without a route back to a sender may drop its packets. */
export function pathSettings(family: Family, ports: DutPorts): Setting[] {
  const { ingress, egress, addresses } = ports;
  const { wholes, sources, destinations } = routedNetworks(family, addresses);
  return [
    ...wholes.map((whole) => blackhole(family, ports, whole)),
    ...sources.map((network) => route(family, network, ingress)),
    staticNeighbour(family, ingress),
    ...destinations.map((network) => route(family, network, egress)),
    staticNeighbour(family, egress),
  ].map((setting) => ({ ...setting, isVital: true }));
}

/**
 * Networks with a blackhole route, and those with routes to the senders and the receivers. A network has one route, so
 * these are halves: of RFC 2544's and RFC 5180's for each side, or both halves of a site's.
 */
export function routedNetworks(
  family: Family,
  addresses: TestNetworks = {},
): { wholes: string[]; sources: string[]; destinations: string[] } {
  const { whole, halves } = benchmarkingNetworks[family];
  const { source, destination } = addresses[family] ?? {};
  const isUsual = source === undefined || destination === undefined;
  return {
    wholes: [isUsual ? whole : [], source ?? [], destination ?? []].flat(),
    sources: source === undefined ? [halves[0]] : halvesOf(knownNetwork(source, family)),
    destinations: destination === undefined ? [halves[1]] : halvesOf(knownNetwork(destination, family)),
  };
}

const benchmarkingNetworks = {
  inet4: { whole: '198.18.0.0/15', halves: ['198.18.0.0/16', '198.19.0.0/16'] },
  inet6: { whole: '2001:2::/48', halves: ['2001:2::/49', '2001:2:0:8000::/49'] },
} as const;

const tools = {
  inet4: {
    netstat: shell`netstat -rn -f inet`,
    flag: shell`-inet`,
    loopback: '127.0.0.1',
    neighbours: shell`arp -an`,
  },
  inet6: {
    netstat: shell`netstat -rn -f inet6`,
    flag: shell`-inet6`,
    loopback: '::1',
    neighbours: shell`ndp -an`,
  },
};

/** Without a blackhole, a boot that loses a route would send the trial to the site's router at line rate. */
function blackhole(family: Family, { ingress, egress, addresses }: DutPorts, whole: string): Setting {
  const { netstat, flag, loopback } = tools[family];
  const { sources, destinations } = routedNetworks(family, addresses);
  const leadsPast = (route: Route) =>
    ![ingress.interface, egress.interface].includes(route.interface) &&
    // `route` checks these.
    ![...sources, ...destinations].includes(route.destination) &&
    !isLoopback(route) &&
    !discards(route);
  return {
    name: `The blackhole route for ${whole}`,
    why: 'test packets without another route would leave through the management network',
    reads: [netstat],
    check: (output) => {
      const routes = parseRoutes(output);
      const past = routes.filter(leadsPast);
      const inside = past.find(({ destination }) => isWithin(destination, whole, family));
      if (inside !== undefined) {
        const { destination, interface: name } = inside;
        const what = `remove that route with \`${commandText(shell`route delete ${flag} ${destination}`)}\` on the DUT`;
        return {
          is: `does not cover packets to ${destination} through ${name}`,
          fix: { kind: 'person', what },
        };
      }
      const around = past.find(({ destination }) => isWithin(whole, destination, family));
      const wider = around?.destination === 'default' ? 'the default route' : `the route to ${around?.destination}`;
      const isHeld = routes.some((route) => route.destination === whole && discards(route));
      return unless(around === undefined || isHeld, {
        is: `is missing: ${wider} leads to ${around?.interface}`,
        fix: {
          kind: 'command',
          command: shell`route add ${flag} ${whole} ${loopback} -blackhole`,
        },
      });
    },
  };
}

const isLoopback = ({ interface: name }: Route): boolean => /^lo\d/.test(name);

/** True for routes made with -reject or -blackhole. */
const discards = ({ flags }: Route): boolean => /[RB]/.test(flags);

/** Compares destinations as netstat(1) prints them. */
function isWithin(inner: string, outer: string, family: Family): boolean {
  const [one, other] = [prefixOf(inner, family), prefixOf(outer, family)];
  if (one === undefined || other === undefined || one.bits < other.bits) return false;
  const list = new BlockList();
  const version = family === 'inet4' ? 'ipv4' : 'ipv6';
  list.addSubnet(other.address, other.bits, version);
  return list.check(one.address, version);
}

/** Reads a destination without a length as one host; undefined for no address. */
function prefixOf(destination: string, family: Family) {
  const [any, isAddress, longest] =
    family === 'inet4' ? (['0.0.0.0', isIPv4, 32] as const) : (['::', isIPv6, 128] as const);
  if (destination === 'default') return { address: any, bits: 0 };
  const [written = '', length = String(longest)] = destination.split('/');
  const address = written.replace(/%.*$/, '');
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return isAddress(address) && bits <= longest ? { address, bits } : undefined;
}

function route(family: Family, network: string, port: DutPort): Setting {
  const { netstat, flag } = tools[family];
  const gateway = port.neighbour.addresses[family];
  return {
    name: `The route to ${network}`,
    why: 'test packets need it',
    reads: [netstat],
    check: (output) => {
      const found = parseRoutes(output).find(({ destination }) => destination === network);
      const isRight = found?.gateway === gateway && found.interface === port.interface && !discards(found);
      const change = found === undefined ? shell`add` : shell`change`;
      return unless(isRight, {
        is: found === undefined ? 'is missing' : `goes to ${found.gateway} through ${found.interface}`,
        fix: {
          kind: 'command',
          command: shell`route ${change} ${flag} ${network} ${gateway}`,
        },
      });
    },
  };
}

/** A saturated DUT resolves no addresses. */
function staticNeighbour(family: Family, port: DutPort): Setting {
  const { mac, addresses } = port.neighbour;
  const address = addresses[family];
  const parse = family === 'inet4' ? parseArp : parseNdp;
  const set = family === 'inet4' ? shell`arp -S ${address} ${mac}` : shell`ndp -s ${address} ${mac}`;
  return {
    name: `The MAC address of ${address}`,
    why: 'resolving it during a trial would fail',
    reads: [tools[family].neighbours],
    check: (output) => {
      const entries = parse(output).filter((entry) => entry.address === address);
      const isRight = entries.some((entry) => isStatic(entry, port));
      return unless(isRight, {
        is: `is not set permanently to ${mac} on ${port.interface}`,
        fix: { kind: 'command', command: set },
      });
    },
  };
}

const isStatic = (entry: Neighbour, { interface: name, neighbour }: DutPort): boolean =>
  entry.isPermanent && entry.interface === name && entry.mac === neighbour.mac.toLowerCase();
