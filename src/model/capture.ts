// Parses a capture of packets, in the file format of libpcap (pcap-savefile(5)); every byte is foreign.
import type { Family } from './scenario.ts';

export type CapturedPacket = {
  family: Family;
  /** Bytes from the IP header on, without Ethernet's padding. */
  bytes: Buffer;
  /** Offset of the payload: the header of TCP, UDP or another protocol. */
  payloadAt: number;
  protocol: number;
};

type Capture =
  | { kind: 'read'; packets: CapturedPacket[] }
  /** `why` is a clause about the file, with what to do. */
  | { kind: 'refused'; why: string };

export const maxCaptureBytes = 4 * 1024 ** 2;
const maxPackets = 20_000;
const maxFrameBytes = 1514;
const fileHeaderBytes = 24;
const recordHeaderBytes = 16;
const ethernetHeaderBytes = 14;
const ethernet = 1;

/** Omits frames without IP, fragments, and IPv6 with extension headers, whose checksums have no known place. */
export function parseCapture(file: Buffer): Capture {
  if (file.length > maxCaptureBytes) {
    return refused(`has ${file.length} bytes, and may have ${maxCaptureBytes}: keep fewer packets`);
  }
  if (file.length < fileHeaderBytes) return refused('is too short for a pcap file');
  const number = numbersOf(file);
  if (number === undefined) {
    return file.readUInt32BE(0) === 0x0a0d0d0a
      ? refused('is a pcapng file: convert it with `editcap -F pcap`')
      : refused('is no pcap file: write one with `tcpdump -w`');
  }
  const link = number(20) & 0xffff;
  if (link !== ethernet) {
    return refused(`has the link type ${link}, and not Ethernet: capture on an Ethernet interface`);
  }
  const packets: CapturedPacket[] = [];
  let count = 0;
  for (let at = fileHeaderBytes; at < file.length; ) {
    count += 1;
    if (count > maxPackets) return refused(`has more than ${maxPackets} packets: keep fewer`);
    const start = at + recordHeaderBytes;
    if (start > file.length) return refused(`ends within packet ${count}: copy it again`);
    const [captured, length] = [number(at + 8), number(at + 12)];
    if (captured < length) {
      return refused(`has packet ${count} only in part: capture with \`tcpdump -s 0\``);
    }
    if (captured > maxFrameBytes) {
      return refused(
        `has a packet ${count} of ${captured} bytes, and ${maxFrameBytes} are the most: capture without TSO and GRO`,
      );
    }
    at = start + captured;
    if (at > file.length) return refused(`ends within packet ${count}: copy it again`);
    packets.push(...packetIn(file.subarray(start, at)));
  }
  if (packets.length === 0) return refused('has no whole packet of IPv4 or IPv6 to send');
  return { kind: 'read', packets };
}

const refused = (why: string): Capture => ({ kind: 'refused', why });

/** Reads in the byte order of the file; its times are in microseconds or nanoseconds. */
function numbersOf(file: Buffer): ((at: number) => number) | undefined {
  const magics = [0xa1b2c3d4, 0xa1b23c4d];
  if (magics.includes(file.readUInt32LE(0))) return (at) => file.readUInt32LE(at);
  if (magics.includes(file.readUInt32BE(0))) return (at) => file.readUInt32BE(at);
  return undefined;
}

function packetIn(frame: Buffer): CapturedPacket[] {
  if (frame.length < ethernetHeaderBytes) return [];
  const type = frame.readUInt16BE(12);
  const packet = frame.subarray(ethernetHeaderBytes);
  if (type === 0x0800) return whole(ipv4(packet));
  return type === 0x86dd ? whole(ipv6(packet)) : [];
}

/** RFC 791. */
function ipv4(packet: Buffer): CapturedPacket | undefined {
  if (packet.length < 20) return undefined;
  const [first = 0, length] = [packet[0], packet.readUInt16BE(2)];
  const payloadAt = (first & 15) * 4;
  const isFragment = (packet.readUInt16BE(6) & 0x3fff) !== 0;
  if (first >>> 4 !== 4 || payloadAt < 20 || length < payloadAt || isFragment) return undefined;
  if (length > packet.length) return undefined;
  const bytes = packet.subarray(0, length);
  return { family: 'inet4', bytes, payloadAt, protocol: packet[9] ?? 0 };
}

/** RFC 8200. */
function ipv6(packet: Buffer): CapturedPacket | undefined {
  if (packet.length < 40) return undefined;
  const [first = 0, protocol = 0] = [packet[0], packet[6]];
  const length = 40 + packet.readUInt16BE(4);
  if (first >>> 4 !== 6 || length > packet.length || extensions.includes(protocol)) return undefined;
  return { family: 'inet6', bytes: packet.subarray(0, length), payloadAt: 40, protocol };
}

/** Hop-by-hop, routing, fragment, authentication, destination and mobility headers. */
const extensions = [0, 43, 44, 51, 60, 135];

const minHeaderBytes = new Map([
  [6, 20],
  [17, 8],
  [58, 4],
]);

const whole = (packet: CapturedPacket | undefined): CapturedPacket[] =>
  packet !== undefined && packet.bytes.length - packet.payloadAt >= (minHeaderBytes.get(packet.protocol) ?? 0)
    ? [packet]
    : [];

export const sourceOf = ({ family, bytes }: CapturedPacket): string =>
  family === 'inet4' ? bytes.toString('hex', 12, 16) : bytes.toString('hex', 8, 24);

export const destinationOf = ({ family, bytes }: CapturedPacket): string =>
  family === 'inet4' ? bytes.toString('hex', 16, 20) : bytes.toString('hex', 24, 40);

/** Identifies a flow: packets of one protocol between the same addresses and ports. */
export function flowOf(packet: CapturedPacket): string {
  const { bytes, payloadAt, protocol } = packet;
  const hasPorts = protocol === 6 || protocol === 17;
  const ports = hasPorts ? bytes.toString('hex', payloadAt, payloadAt + 4) : '';
  return [sourceOf(packet), destinationOf(packet), protocol, ports].join(' ');
}
