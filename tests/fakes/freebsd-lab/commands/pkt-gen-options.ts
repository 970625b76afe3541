// pkt-gen's command line, parsed like tools/tools/netmap/pkt-gen.c of FreeBSD.
import { isIPv4, isIPv6 } from 'node:net';
import type { Family } from '../../../../src/model/scenario.ts';
import { getopt, hasOption, type Option, optionValue } from '../getopt.ts';

export type PktGenOptions = {
  /** The name of an interface, without `netmap:`. */
  interface: string;
  sends: boolean;
  family: Family;
  /** Zero for no end. */
  count: number;
  frameBytesWithoutCrc: number;
  reportSeconds: number;
  waitSeconds: number;
  threads: number;
  /** Zero for as many as possible. */
  ratePps: number;
  endsInSilence: boolean;
  plainNumbers: boolean;
  sourceMac: string;
  destinationMac: string;
  source: AddressRange;
  destination: AddressRange;
};

export type AddressRange = {
  text: string;
  first: string;
  last: string;
  port: number;
  size: number;
};

export type PktGenCommand =
  | { kind: 'right'; options: PktGenOptions }
  /** Complaint before the usage; getopt(3) has its own message for an unknown option. */
  | { kind: 'wrong'; message: string; fromGetopt?: string }
  /** Valid, but the fake lab lacks the feature. */
  | { kind: 'not-modelled'; what: string };

const spec = '46a:f:F:Nn:i:Il:d:s:D:S:b:c:o:p:T:w:WvR:UXC:H:rP:zZAhBM:';
const modelled = '46fNnildsDSbcpTwWRU';

export function readPktGen(args: readonly string[]): PktGenCommand {
  const parsed = getopt('pkt-gen', spec, args);
  if (parsed.kind === 'refused') {
    return { kind: 'wrong', message: 'bad option ? (null)', fromGetopt: parsed.message };
  }
  const { options } = parsed;
  const strange = options.find(({ name }) => !modelled.includes(name));
  if (strange !== undefined) return { kind: 'not-modelled', what: `pkt-gen -${strange.name}` };
  const role = optionValue(options, 'f') ?? 'rx';
  if (role !== 'rx' && role !== 'tx') return { kind: 'not-modelled', what: `pkt-gen -f ${role}` };
  const name = optionValue(options, 'i');
  if (name === undefined) return wrong('missing ifname');

  const family: Family = options.findLast((one) => '46'.includes(one.name))?.name === '6' ? 'inet6' : 'inet4';
  const size = number(options, 'l', 60);
  if (size < 16 || size > 16_384) return wrong(`bad pktsize ${size} [16..16384]\n`);
  const [sourceMac, destinationMac] = [
    optionValue(options, 'S') ?? '00:00:00:00:00:00',
    optionValue(options, 'D') ?? 'ff:ff:ff:ff:ff:ff',
  ];
  const badMac = [sourceMac, destinationMac].find((mac) => !/^(?:[\da-f]{1,2}:){5}[\da-f]{1,2}$/i.test(mac));
  if (badMac !== undefined) return wrong(`bad MAC address ${badMac}`);
  const defaults = role === 'rx' ? defaultAddresses.inet4 : defaultAddresses[family];
  const source = readRange(optionValue(options, 's') ?? defaults[0]);
  const destination = readRange(optionValue(options, 'd') ?? defaults[1]);
  if (source === undefined || destination === undefined) return wrong('bad address range');
  const isRight = family === 'inet6' ? isIPv6 : isIPv4;
  if (role === 'tx' && !(isRight(source.first) && isRight(destination.first))) {
    return wrong(`addresses are not ${family === 'inet6' ? 'IPv6' : 'IPv4'}`);
  }
  return {
    kind: 'right',
    options: {
      interface: name.replace(/^netmap:/, ''),
      sends: role === 'tx',
      family,
      count: number(options, 'n', 0),
      frameBytesWithoutCrc: size,
      reportSeconds: number(options, 'T', 1000) / 1000,
      waitSeconds: number(options, 'w', 2),
      threads: number(options, 'p', 1),
      ratePps: number(options, 'R', 0),
      endsInSilence: hasOption(options, 'W'),
      plainNumbers: hasOption(options, 'N'),
      sourceMac,
      destinationMac,
      source,
      destination,
    },
  };
}

const wrong = (message: string): PktGenCommand => ({ kind: 'wrong', message });

/** atoi(3): text that is not a number is 0. */
function number(options: readonly Option[], name: string, absent: number): number {
  const value = optionValue(options, name);
  return value === undefined ? absent : Number.parseInt(value, 10) || 0;
}

const defaultAddresses = {
  inet4: ['10.0.0.1', '10.1.0.1'],
  inet6: ['fd00::1', 'fd00::1'],
} as const;

const rangeForms = [
  /^(?<first>[\d.]+)(?::(?<port>\d+))?(?:-(?<last>[\d.]+)(?::\d+)?)?$/,
  /^\[(?<first>[\da-f:]+)\](?::(?<port>\d+))?(?:-\[(?<last>[\da-f:]+)\](?::\d+)?)?$/i,
];

function readRange(text: string): AddressRange | undefined {
  const groups = rangeForms.map((form) => form.exec(text)?.groups).find(Boolean);
  const first = groups?.first;
  if (first === undefined) return undefined;
  const last = groups?.last ?? first;
  const isAddress = isIPv4(first) ? isIPv4 : isIPv6;
  if (!isAddress(first) || !isAddress(last)) return undefined;
  const size = lowBits(last) - lowBits(first) + 1;
  if (size < 1) return undefined;
  return { text, first, last, port: Number(groups?.port ?? 1234), size };
}

/** Enough of an address to count within a range: its last 16 bits. */
function lowBits(address: string): number {
  if (isIPv6(address)) return Number.parseInt(address.split(':').at(-1) || '0', 16);
  const [, , high = 0, low = 0] = address.split('.').map(Number);
  return high * 256 + low;
}
