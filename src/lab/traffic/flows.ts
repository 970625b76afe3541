// Writes the packets that trafgen(8) repeats, in its configuration language: at least one for each flow.
import type { Family } from '../../model/scenario.ts';
import type { Packets, PortRange, WeightedSize } from '../../model/traffic.ts';

export type FlowsRequest = {
  family: Family;
  flows: number;
  /** Size of the Ethernet frame with its 4 bytes of CRC: 64 to 1518. */
  frameBytes: number;
  packets?: Packets | undefined;
  sourceMac: string;
  destinationMac: string;
};

const destinationsPerSource = 100;
const usualPort: PortRange = { first: 2000, last: 2000 };
const crcBytes = 4;

/** Counts addresses up from .10.1 in RFC 2544's networks (RFC 5180 for IPv6). Frames have at least the family's minimum. */
export function trafgenFlows(request: FlowsRequest): string {
  const packets: string[] = [];
  const { flows, frameBytes } = request;
  const sizes = inTurn(request.packets?.sizes ?? [{ frameBytes, weight: 1 }]);
  // Each size has its exact share: some flows come twice where they are no multiple of the weights.
  const count = Math.ceil(flows / sizes.length) * sizes.length;
  for (let index = 0; index < count; index++) {
    // Each round begins one size later, so that no port of a range has only the long frames.
    const size = sizes[(index + Math.floor(index / sizes.length)) % sizes.length] ?? frameBytes;
    packets.push(`{ ${frame({ ...request, frameBytes: size }, index % flows).join(',')} }`);
  }
  return `${packets.join('\n')}\n`;
}

/** Spreads each size evenly, so that a short stretch has the mean of all: smooth weighted round robin. */
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
  const ethernet = [...macBytes(request.destinationMac), ...macBytes(request.sourceMac)];
  const payloadBytes = request.frameBytes - crcBytes - ethernet.length - 2;
  return request.family === 'inet4'
    ? [...ethernet, 0x08, 0x00, ...ipv4(payloadBytes, flow, request.packets)]
    : [...ethernet, 0x86, 0xdd, ...ipv6(payloadBytes, flow, request.packets)];
}

const sourceOf = (flow: number): number => Math.floor(flow / destinationsPerSource);
const destinationOf = (flow: number): number => flow % destinationsPerSource;
const portOf = (flow: number, { first, last } = usualPort): number =>
  first + (flow % (last - first + 1));

/** RFC 791. */
function ipv4(totalBytes: number, flow: number, packets: Packets = {}): number[] {
  const addresses = [...ipv4Address(18, sourceOf(flow)), ...ipv4Address(19, destinationOf(flow))];
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
function ipv6(totalBytes: number, flow: number, packets: Packets = {}): number[] {
  const addresses = [
    ...ipv6Address(0, sourceOf(flow)),
    ...ipv6Address(0x8000, destinationOf(flow)),
  ];
  const payload = payloadOf(totalBytes - 40, addresses, flow, packets);
  const header = [0x60, 0, 0, 0, ...word(payload.length), protocolOf(packets), 64];
  return [...header, ...addresses, ...payload];
}

const protocolOf = ({ protocol }: Packets): number => (protocol === 'tcp' ? 6 : 17);

/** The pseudo header of both families comes to the same sum. */
function payloadOf(bytes: number, addresses: number[], flow: number, packets: Packets): number[] {
  const { source, destination } = packets.ports ?? {};
  const ports = [...word(portOf(flow, source)), ...word(portOf(flow, destination))];
  const write = packets.protocol === 'tcp' ? tcpSegment : udpDatagram;
  const length = Math.max(bytes, write(0, ports, 0).length);
  const sum = [...addresses, 0, protocolOf(packets), ...word(length), ...write(length, ports, 0)];
  const checksum = internetChecksum(sum);
  // 0 is no checksum in UDP, and equal to it in sums.
  return write(length, ports, checksum === 0 ? 0xffff : checksum);
}

/** RFC 768. */
const udpDatagram = (length: number, ports: number[], checksum: number): number[] =>
  padded([...ports, ...word(length), ...word(checksum)], length);

/** RFC 9293: a SYN, which firewalls take for the first packet of a connection; data may follow its header. */
const tcpSegment = (length: number, ports: number[], checksum: number): number[] =>
  padded([...ports, ...tcpNumbers, 5 << 4, tcpSyn, ...tcpWindow, ...word(checksum), 0, 0], length);

const tcpNumbers = [0, 0, 0, 1, 0, 0, 0, 0];
const tcpSyn = 0x02;
const tcpWindow = [0xff, 0xff];

/** RFC 1071: the ones' complement of the ones' complement sum of 16-bit words. */
function internetChecksum(bytes: number[]): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 2) {
    sum += ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function ipv4Address(network: number, index: number): number[] {
  const low = 10 * 256 + 1 + index;
  return [198, network, ...word(low)];
}

function ipv6Address(network: number, index: number): number[] {
  return [0x2001, 2, 0, network, 0, 0, 10, 1 + index].flatMap(word);
}

const word = (value: number): number[] => [value >>> 8, value & 0xff];

const macBytes = (mac: string): number[] => mac.split(':').map((byte) => Number.parseInt(byte, 16));

const padded = (bytes: number[], length: number): number[] => [
  ...bytes,
  ...new Array<number>(Math.max(0, length - bytes.length)).fill(0),
];
