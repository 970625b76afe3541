// Prepares captured packets for a testbed: its MAC addresses, the networks of its tests, and a new hop limit.
import { type CapturedPacket, destinationOf, parseCapture, sourceOf } from '../../model/capture.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import { internetChecksum, ipAddress, word } from './headers.ts';

const hopLimit = 64;

/**
 * Returns the packets of a family, from the IP header on, in the order of the capture. Replaces sources and
 * destinations by addresses of the test networks, in order of first appearance; ports and payloads stay.
 */
export function replayed(capture: string, family: CapturedPacket['family'], addresses?: TestNetworks): number[][] {
  const read = parseCapture(Buffer.from(capture, 'base64'));
  if (read.kind === 'refused') throw new TypeError(`The capture ${read.why}.`);
  const sources = new Map<string, number>();
  const destinations = new Map<string, number>();
  return read.packets
    .filter((packet) => packet.family === family)
    .map((packet) =>
      rewritten(packet, [
        ...ipAddress(family, 'source', indexOf(sourceOf(packet), sources), addresses),
        ...ipAddress(family, 'destination', indexOf(destinationOf(packet), destinations), addresses),
      ]),
    );
}

function indexOf(address: string, known: Map<string, number>): number {
  const index = known.get(address) ?? known.size;
  known.set(address, index);
  return index;
}

function rewritten(packet: CapturedPacket, addresses: number[]): number[] {
  const bytes = Buffer.from(packet.bytes);
  const isOld = packet.family === 'inet4';
  bytes.set(addresses, isOld ? 12 : 8);
  bytes[isOld ? 8 : 7] = hopLimit;
  const payload = bytes.subarray(packet.payloadAt);
  const checksumAt = checksumOffsets[packet.family].get(packet.protocol);
  // UDP over IPv4 without a checksum (0) stays without one.
  const isUnsummed = packet.protocol === 17 && isOld && payload.readUInt16BE(6) === 0;
  if (checksumAt !== undefined && payload.length >= checksumAt + 2 && !isUnsummed) {
    payload.writeUInt16BE(0, checksumAt);
    const pseudoHeader = [...addresses, 0, packet.protocol, ...word(payload.length)];
    const checksum = internetChecksum([...pseudoHeader, ...payload]);
    payload.writeUInt16BE(checksum === 0 ? 0xffff : checksum, checksumAt);
  }
  if (isOld) {
    bytes.writeUInt16BE(0, 10);
    bytes.writeUInt16BE(internetChecksum([...bytes.subarray(0, packet.payloadAt)]), 10);
  }
  return [...bytes];
}

/** Offsets of checksums that cover the addresses, in TCP, UDP and ICMPv6. */
const checksumOffsets = {
  inet4: new Map([
    [6, 16],
    [17, 6],
  ]),
  inet6: new Map([
    [6, 16],
    [17, 6],
    [58, 2],
  ]),
};
