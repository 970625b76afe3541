// Writes the packets that trafgen(8) repeats, in its configuration language: at least one for each flow.
import { destinationsPerSource } from '../../model/flows.ts';
import { hostAt, knownNetwork } from '../../model/networks.ts';
import type { Family } from '../../model/scenario.ts';
import type { Packets, PortRange, TestNetworks, WeightedSize } from '../../model/traffic.ts';

export type FlowsRequest = {
  family: Family;
  flows: number;
  /** Size of the Ethernet frame with its 4 bytes of CRC: 64 to 1518. */
  frameBytes: number;
  packets?: Packets | undefined;
  sourceMac: string;
  destinationMac: string;
};

const usualPort: PortRange = { first: 2000, last: 2000 };
const crcBytes = 4;
const ethernetBytes = 14;
/** Excludes the CRC. */
const minFrameBytes = 60;

/** Frames have at least the family's minimum size. */
export function trafgenFlows(request: FlowsRequest): string {
  const { flows, frameBytes } = request;
  const frames: number[][] = [];
  const sizes = inTurn(request.packets?.sizes ?? [{ frameBytes, weight: 1 }]);
  // Gives each size its exact share: some flows appear twice if they are no multiple of the weights.
  const count = Math.ceil(flows / sizes.length) * sizes.length;
  for (let index = 0; index < count; index++) {
    // Starts each round one size later, so that no port of a range gets only long frames.
    const size = sizes[(index + Math.floor(index / sizes.length)) % sizes.length] ?? frameBytes;
    frames.push(frame({ ...request, frameBytes: size }, index % flows));
  }
  return frames.map((bytes) => `{ ${bytes.join(',')} }\n`).join('');
}

/** Spreads each size evenly, so that even a short stretch has the overall mean: smooth weighted round robin. */
function inTurn(sizes: readonly WeightedSize[]): number[] {
  const all = sizes.reduce((sum, { weight }) => sum + weight, 0);
  const credits = sizes.map(({ frameBytes, weight }) => ({ frameBytes, weight, credit: 0 }));
  return Array.from({ length: all }, () => {
    for (const one of credits) one.credit += one.weight;
    const next = credits.reduce((most, one) => (one.credit > most.credit ? one : most));
    next.credit -= all;
    return next.frameBytes;
  });
}

function frame(request: FlowsRequest, flow: number): number[] {
  const bytes = request.frameBytes - crcBytes - ethernetBytes;
  const write = request.family === 'inet4' ? ipv4 : ipv6;
  const addresses = addressesOf(request, flow);
  const type = request.family === 'inet4' ? [0x08, 0x00] : [0x86, 0xdd];
  const header = [...macBytes(request.destinationMac), ...macBytes(request.sourceMac), ...type];
  return padded([...header, ...write(bytes, flow, addresses, request.packets)], minFrameBytes);
}

function addressesOf({ family, flows, packets }: FlowsRequest, flow: number): number[] {
  const { addresses } = packets ?? {};
  const perSource = destinationsPerSource(flows, family, addresses);
  return [
    ...ipAddress(family, 'source', Math.floor(flow / perSource), addresses),
    ...ipAddress(family, 'destination', flow % perSource, addresses),
  ];
}

const portOf = (flow: number, { first, last } = usualPort): number => first + (flow % (last - first + 1));

/** RFC 791. */
function ipv4(totalBytes: number, flow: number, addresses: number[], packets: Packets = {}): number[] {
  const payload = payloadOf(totalBytes - 20, addresses, flow, packets);
  const header = (checksum: number) => [
    0x45,
    0,
    ...word(20 + payload.length),
    0,
    0,
    0,
    0,
    64,
    protocolOf(packets),
    ...word(checksum),
    ...addresses,
  ];
  const withChecksum = [...header(internetChecksum(header(0))), ...payload];
  return padded(withChecksum, totalBytes);
}

/** RFC 8200. */
function ipv6(totalBytes: number, flow: number, addresses: number[], packets: Packets = {}): number[] {
  const payload = payloadOf(totalBytes - 40, addresses, flow, packets);
  const header = [0x60, 0, 0, 0, ...word(payload.length), protocolOf(packets), 64];
  return [...header, ...addresses, ...payload];
}

const protocolOf = ({ protocol }: Packets): number => (protocol === 'tcp' ? 6 : 17);

/** The pseudo headers of both families have the same sum. */
function payloadOf(bytes: number, addresses: number[], flow: number, packets: Packets): number[] {
  const { source, destination } = packets.ports ?? {};
  const ports = [...word(portOf(flow, source)), ...word(portOf(flow, destination))];
  const write = packets.protocol === 'tcp' ? tcpSegment : udpDatagram;
  const length = Math.max(bytes, write(0, ports, 0).length);
  const sum = [...addresses, 0, protocolOf(packets), ...word(length), ...write(length, ports, 0)];
  const checksum = internetChecksum(sum);
  // UDP uses 0 for "no checksum"; 0xffff is equal to it in sums.
  return write(length, ports, checksum === 0 ? 0xffff : checksum);
}

/** RFC 768. */
const udpDatagram = (length: number, ports: number[], checksum: number): number[] =>
  padded([...ports, ...word(length), ...word(checksum)], length);

/** RFC 9293: a SYN, which firewalls accept as the first packet of a connection; data may follow its header. */
const tcpSegment = (length: number, ports: number[], checksum: number): number[] =>
  padded([...ports, ...tcpNumbers, 5 << 4, tcpSyn, ...tcpWindow, ...word(checksum), 0, 0], length);

const tcpNumbers = [0, 0, 0, 1, 0, 0, 0, 0];
const tcpSyn = 0x02;
const tcpWindow = [0xff, 0xff];

const macBytes = (mac: string): number[] => mac.split(':').map((byte) => Number.parseInt(byte, 16));

const padded = (bytes: number[], length: number): number[] => [
  ...bytes,
  ...new Array<number>(Math.max(0, length - bytes.length)).fill(0),
];

/** RFC 1071: the ones' complement of the ones' complement sum of 16-bit words. */
function internetChecksum(bytes: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 2) {
    sum += ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** Counts up in the site's network; else from .10.1 in RFC 2544's networks (RFC 5180 for IPv6). */
export function ipAddress(
  family: Family,
  side: 'source' | 'destination',
  index: number,
  addresses: TestNetworks = {},
): number[] {
  const network = addresses[family]?.[side];
  if (network !== undefined) return hostAt(knownNetwork(network, family), index);
  return family === 'inet4'
    ? [198, side === 'source' ? 18 : 19, ...word(10 * 256 + 1 + index)]
    : [0x2001, 2, 0, side === 'source' ? 0 : 0x8000, 0, 0, 10, 1 + index].flatMap(word);
}

const word = (value: number): number[] => [value >>> 8, value & 0xff];
