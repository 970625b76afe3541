// Writes the fields that headers of IP packets have in common, and the addresses of test packets.
import { hostAt, knownNetwork } from '../../model/networks.ts';
import type { Family } from '../../model/scenario.ts';
import type { TestNetworks } from '../../model/traffic.ts';

/** RFC 1071: the ones' complement of the ones' complement sum of 16-bit words. */
export function internetChecksum(bytes: readonly number[]): number {
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

export const word = (value: number): number[] => [value >>> 8, value & 0xff];
