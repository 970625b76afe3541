// Formats addresses of interfaces like the lines of ifconfig(8).
import type { Interface } from '../machine.ts';

export const maskOf = (bits: number): number => (bits === 0 ? 0 : -1 << (32 - bits));

export const numberOf = (address: string): number =>
  address.split('.').reduce((sum, byte) => (sum << 8) | Number(byte), 0);

export const dotted = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');

/** Includes the link-local address that an IPv6 interface has automatically. */
export function shownAddresses({ name, mac, addresses }: Interface): string[] {
  const first = addresses.findIndex((address) => address.startsWith('inet6'));
  if (first === -1 || addresses.some((address) => address.startsWith('inet6 fe80:'))) {
    return [...addresses];
  }
  const scope = Number(/\d+$/.exec(name)?.[0] ?? 0) + 1;
  const link = `inet6 ${linkLocal(mac)}%${name} prefixlen 64 scopeid 0x${scope.toString(16)}`;
  return addresses.toSpliced(first, 0, link);
}

/** The modified EUI-64 of RFC 4291. */
function linkLocal(mac: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  const groups = [((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f];
  const text = groups.map((group) => group.toString(16)).join(':');
  return `fe80::${text.replace(/^0:/, '')}`;
}

/** Context of an `inet …` or `inet6 …` line of ifconfig(8). */
export function networkOf(line: string): string {
  const [family, address = '', , bits] = line.split(' ');
  if (family === 'inet6') {
    const [, prefix, zone = ''] = /^(.*?)::[^%]*(%.*)?$/.exec(address) ?? [];
    return `${prefix ?? address}::${zone}/${bits}`;
  }
  const mask = Number(bits);
  const length = (mask >>> 0).toString(2).replaceAll('0', '').length;
  return `${dotted(numberOf(address) & mask)}/${length}`;
}
