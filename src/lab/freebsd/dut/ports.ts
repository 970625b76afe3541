// What must hold on a FreeBSD DUT's two ports, and on the paths of packets through them.
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type DriverSetting, driverSettingsOf } from '../../../model/freebsd-drivers.ts';
import type { Family } from '../../../model/scenario.ts';
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
  /** Speed that the link must have; absent: any. */
  gigabits?: number;
  /** Receive queues that it must have, and as many for sending; absent: any. */
  queues?: number;
  /** The host at the other end of its cable, as the DUT's next hop. */
  neighbour: { addresses: Readonly<Record<Family, string>>; mac: string };
};

export type DutPorts = {
  /** Where packets come in, from the sender. */
  ingress: DutPort;
  /** Where they leave, to the receiver. */
  egress: DutPort;
};

export const portSettings = ({ ingress, egress }: DutPorts): Setting[] => {
  const ports = [ingress, egress];
  return [
    ...ports.flatMap((port) => [noOffloads(port), link(port)]),
    ...onceEach(ports.flatMap(ofDriver)),
  ];
};

/** What is wrong for packets on a port of a sender or a receiver. */
export const generatorPortSettings = (name: string): Setting[] =>
  driverSettingsOf(name)
    .filter(({ appliesToGenerators }) => appliesToGenerators)
    .flatMap((setting) => driverSetting(setting, undefined));

const ofDriver = ({ interface: name, queues }: DutPort): Setting[] =>
  driverSettingsOf(name).flatMap((setting) => driverSetting(setting, queues));

function driverSetting(setting: DriverSetting, queues: number | undefined): Setting[] {
  const { name, why, fix, alias, isOptional = false } = setting;
  const wanted = setting.expected === 'queues' ? queues : Number(setting.expected);
  if (wanted === undefined) return [];
  const made =
    fix === 'sysctl' ? sysctl(name, wanted, why) : tunable(name, wanted, why, fix.loader);
  const check = (value = '') => (value === alias ? undefined : made.check(value));
  return [{ ...made, check, isOptional }];
}

/** Some of a driver's settings are those of all its ports. */
const onceEach = (settings: readonly Setting[]): Setting[] => [
  ...new Map(settings.map((setting) => [setting.name, setting])).values(),
];

const routersOffloads = ['TSO4', 'TSO6', 'LRO', 'VLAN_HWTSO'];

const noOffloads = ({ interface: name }: DutPort): Setting => ({
  name: `${name}'s LRO and TSO`,
  why: 'a router must neither join packets nor split them',
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
  why: 'the trial needs all of it',
  reads: [shell`ifconfig ${name}`],
  check: onInterface((port) => {
    const look: Fix = {
      kind: 'person',
      what: `check its cable, its module and "ifconfig ${name}"`,
    };
    if (!port.flags.includes('UP')) {
      return { is: 'is down', fix: { kind: 'command', command: shell`ifconfig ${name} up` } };
    }
    if (!port.isActive) return { is: 'is not active', fix: look };
    const isFast = gigabits === undefined || port.gigabits === gigabits;
    return unless(isFast, { is: `is "${port.media}" instead of ${gigabits} Gbit/s`, fix: look });
  }),
});

function onInterface(check: (port: Interface) => SettingFault | undefined) {
  return (output: string): SettingFault | undefined => {
    const port = parseIfconfig(output);
    if (port !== undefined) return check(port);
    return { is: 'cannot be read', fix: { kind: 'person', what: 'see what ifconfig says of it' } };
  };
}

/** Both ways: a DUT that finds no way back to a sender may refuse its packets. */
export function pathSettings(family: Family, ports: DutPorts): Setting[] {
  const { ingress, egress } = ports;
  const { sources, destinations } = benchmarkingNetworks[family];
  return [
    blackhole(family, ports),
    route(family, sources, ingress),
    staticNeighbour(family, ingress),
    route(family, destinations, egress),
    staticNeighbour(family, egress),
  ].map((setting) => ({ ...setting, isVital: true }));
}

/** RFC 2544 and RFC 5180, and their halves for the senders and the receivers. */
const benchmarkingNetworks = {
  inet4: { whole: '198.18.0.0/15', sources: '198.18.0.0/16', destinations: '198.19.0.0/16' },
  inet6: { whole: '2001:2::/48', sources: '2001:2::/49', destinations: '2001:2:0:8000::/49' },
};

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

/**
 * A boot that loses a route must not send the trial to the site's router, at line rate: whatever leads past the two ports
 * has to be wider than a blackhole, which takes what the routes to the neighbours leave.
 */
function blackhole(family: Family, { ingress, egress }: DutPorts): Setting {
  const { netstat, flag, loopback } = tools[family];
  const { whole, sources, destinations } = benchmarkingNetworks[family];
  const leadsPast = (found: Route) =>
    ![ingress.interface, egress.interface].includes(found.interface) &&
    // What is wrong with these is told of them.
    ![sources, destinations].includes(found.destination) &&
    !isLoopback(found) &&
    !discards(found);
  return {
    name: `The blackhole route for ${whole}`,
    why: 'what no other route takes of the trial would leave by the admin network',
    reads: [netstat],
    check: (output) => {
      const routes = parseRoutes(output);
      const past = routes.filter(leadsPast);
      const inside = past.find(({ destination }) => isWithin(destination, whole, family));
      if (inside !== undefined) {
        const { destination, interface: name } = inside;
        const what = `take that route away with \`${commandText(shell`route delete ${flag} ${destination}`)}\` on the DUT`;
        return {
          is: `does not hold what goes to ${destination} by ${name}`,
          fix: { kind: 'person', what },
        };
      }
      const around = past.find(({ destination }) => isWithin(whole, destination, family));
      const wider =
        around?.destination === 'default'
          ? 'the default route'
          : `the route to ${around?.destination}`;
      const isHeld = routes.some((found) => found.destination === whole && discards(found));
      return unless(around === undefined || isHeld, {
        is: `is missing beside ${wider} by ${around?.interface}`,
        fix: {
          kind: 'command',
          command: shell`route add ${flag} ${whole} ${loopback} -blackhole`,
        },
      });
    },
  };
}

const isLoopback = ({ interface: name }: Route): boolean => /^lo\d/.test(name);

/** Whether a route is one that route(8) makes with -reject or -blackhole. */
const discards = ({ flags }: Route): boolean => /[RB]/.test(flags);

/** Whether every address of the one destination is of the other, too; both are netstat(1)'s words. */
function isWithin(inner: string, outer: string, family: Family): boolean {
  const [one, other] = [prefixOf(inner, family), prefixOf(outer, family)];
  if (one === undefined || other === undefined || one.bits < other.bits) return false;
  const list = new BlockList();
  const version = family === 'inet4' ? 'ipv4' : 'ipv6';
  list.addSubnet(other.address, other.bits, version);
  return list.check(one.address, version);
}

/** A destination's address and length: one host where none is written, undefined where it is no address. */
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
    why: 'the trial follows it',
    reads: [netstat],
    check: (output) => {
      const found = parseRoutes(output).find(({ destination }) => destination === network);
      const isRight =
        found?.gateway === gateway && found.interface === port.interface && !discards(found);
      const change = found === undefined ? shell`add` : shell`change`;
      return unless(isRight, {
        is: found === undefined ? 'is missing' : `goes to ${found.gateway} by ${found.interface}`,
        fix: {
          kind: 'command',
          command: shell`route ${change} ${flag} ${network} ${gateway}`,
        },
      });
    },
  };
}

/** A DUT that is saturated resolves nothing. */
function staticNeighbour(family: Family, port: DutPort): Setting {
  const { mac, addresses } = port.neighbour;
  const address = addresses[family];
  const parse = family === 'inet4' ? parseArp : parseNdp;
  const set =
    family === 'inet4' ? shell`arp -S ${address} ${mac}` : shell`ndp -s ${address} ${mac}`;
  return {
    name: `The MAC address of ${address}`,
    why: 'one that is asked for during a trial is not found',
    reads: [tools[family].neighbours],
    check: (output) => {
      const entries = parse(output).filter((entry) => entry.address === address);
      const isRight = entries.some((entry) => isStatic(entry, port));
      return unless(isRight, {
        is: `is not set to ${mac} for good on ${port.interface}`,
        fix: { kind: 'command', command: set },
      });
    },
  };
}

const isStatic = (entry: Neighbour, { interface: name, neighbour }: DutPort): boolean =>
  entry.isPermanent && entry.interface === name && entry.mac === neighbour.mac.toLowerCase();
