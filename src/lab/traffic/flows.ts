// Writes the packets that trafgen(8) repeats, in its configuration language: one UDP packet for each flow.
import type { Family } from '../../model/scenario.ts';

export type FlowsRequest = {
  family: Family;
  flows: number;
  /** Size of the Ethernet frame with its 4 bytes of CRC: 64 to 1518. */
  frameBytes: number;
  sourceMac: string;
  destinationMac: string;
};

const destinationsPerSource = 100;
const port = 2000;
const crcBytes = 4;
const udpHeaderBytes = 8;

/** Counts addresses up from .10.1 in RFC 2544's networks (RFC 5180 for IPv6). Frames have at least the family's minimum. */
export function trafgenFlows(request: FlowsRequest): string {
  const packets: string[] = [];
  for (let flow = 0; flow < request.flows; flow++) {
    const source = Math.floor(flow / destinationsPerSource);
    const destination = flow % destinationsPerSource;
    packets.push(`{ ${frame(request, source, destination).join(',')} }`);
  }
  return `${packets.join('\n')}\n`;
}

function frame(request: FlowsRequest, source: number, destination: number): number[] {
  const ethernet = [...macBytes(request.destinationMac), ...macBytes(request.sourceMac)];
  const payloadBytes = request.frameBytes - crcBytes - ethernet.length - 2;
  return request.family === 'inet4'
    ? [...ethernet, 0x08, 0x00, ...ipv4(payloadBytes, source, destination)]
    : [...ethernet, 0x86, 0xdd, ...ipv6(payloadBytes, source, destination)];
}

/** RFC 791. */
function ipv4(totalBytes: number, source: number, destination: number): number[] {
  const addresses = [...ipv4Address(18, source), ...ipv4Address(19, destination)];
  const udp = udpDatagram(totalBytes - 20, addresses);
  const header = (checksum: number) => [
    0x45,
    0,
    ...word(20 + udp.length),
    0,
    0,
    0,
    0,
    64,
    17,
    ...word(checksum),
    ...addresses,
  ];
  const withChecksum = [...header(internetChecksum(header(0))), ...udp];
  return padded(withChecksum, totalBytes);
}

/** RFC 8200. */
function ipv6(totalBytes: number, source: number, destination: number): number[] {
  const addresses = [...ipv6Address(0, source), ...ipv6Address(0x8000, destination)];
  const udp = udpDatagram(totalBytes - 40, addresses);
  return [0x60, 0, 0, 0, ...word(udp.length), 17, 64, ...addresses, ...udp];
}

/** RFC 768; the pseudo header of both families comes to the same sum. */
function udpDatagram(bytes: number, addresses: number[]): number[] {
  const length = Math.max(bytes, udpHeaderBytes);
  const datagram = (checksum: number) => [
    ...word(port),
    ...word(port),
    ...word(length),
    ...word(checksum),
    ...new Array<number>(length - udpHeaderBytes).fill(0),
  ];
  const checksum = internetChecksum([...addresses, 0, 17, ...word(length), ...datagram(0)]);
  return datagram(checksum === 0 ? 0xffff : checksum);
}

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
