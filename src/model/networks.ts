// Reads networks that test packets come from or go to, and counts up their addresses.
import { isIPv4, isIPv6 } from 'node:net';
import type { Family } from './scenario.ts';

export type Network = {
  family: Family;
  bits: number;
  /** Address of the network itself. */
  bytes: number[];
};

export type NetworkSource =
  | { kind: 'read'; network: Network }
  /** `why` completes a message about the text. */
  | { kind: 'refused'; why: string };

const lengths: Record<Family, number> = { inet4: 32, inet6: 128 };

const examples: Record<Family, string> = { inet4: '192.168.1.0/24', inet6: '2001:db8:1::/64' };

export const networkForm = (family: Family): string => `a network of ${family} like "${examples[family]}"`;

/** Reads `192.168.1.0/24`, or an address as a network of one host; refuses one that no router forwards. */
export function readNetwork(text: string, family: Family): NetworkSource {
  const network = networkIn(text, family);
  if (network === undefined) return refused(`expected ${networkForm(family)}, found "${text}"`);
  const own = networkText(network);
  const start = networkText(masked(network));
  if (own !== start) return refused(`${own} is an address within a network: write ${start}`);
  const special = specials[family].find(([other]) => overlaps(network, knownNetwork(other, family)));
  if (special === undefined) return { kind: 'read', network };
  const [other, what] = special;
  return refused(`${own} overlaps ${other}, ${what}: choose another network`);
}

const refused = (why: string): NetworkSource => ({ kind: 'refused', why });

/** Reads a network that `readNetwork` has read. Throws a TypeError for any other text. */
export function knownNetwork(text: string, family: Family): Network {
  const network = networkIn(text, family);
  if (network === undefined) throw new TypeError(`${text} is no network of ${family}.`);
  return network;
}

function networkIn(text: string, family: Family): Network | undefined {
  const [address = '', length = String(lengths[family]), more] = text.split('/');
  const isAddress = family === 'inet4' ? isIPv4(address) : /^[\da-f:.]+$/i.test(address) && isIPv6(address);
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
  if (!isAddress || more !== undefined || bits > lengths[family]) return undefined;
  return { family, bits, bytes: bytesOf(address, family) };
}

function bytesOf(address: string, family: Family): number[] {
  if (family === 'inet4') return address.split('.').map(Number);
  const [head = [], tail = []] = shortest(address)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >>> 8, value & 0xff];
  });
}

/** Writes an address as RFC 5952 does, without dots. */
const shortest = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** Writes each network in one form. */
export const networkText = ({ family, bits, bytes }: Network): string => `${addressText(bytes, family)}/${bits}`;

export function addressText(bytes: readonly number[], family: Family): string {
  if (family === 'inet4') return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return shortest(groups.join(':'));
}

const masked = (network: Network): Network => ({
  ...network,
  bytes: network.bytes.map((byte, index) => byte & maskOf(network.bits, index)),
});

const maskOf = (bits: number, index: number): number => 0xff & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * index)));

export const overlaps = (a: Network, b: Network): boolean => {
  const bits = Math.min(a.bits, b.bits);
  return networkText(masked({ ...a, bits })) === networkText(masked({ ...b, bits }));
};

/** Halves a network of more than one address. */
export function halvesOf(network: Network): string[] {
  const bits = network.bits + 1;
  const bytes = network.bytes.map((byte, index) =>
    index === Math.floor(network.bits / 8) ? byte | (0x80 >> (network.bits % 8)) : byte,
  );
  return [networkText({ ...network, bits }), networkText({ ...network, bits, bytes })];
}

export const isOneHost = ({ family, bits }: Network): boolean => bits === lengths[family];

/** Networks of no router's packets, and those of a testbed's own ports. */
const specials: Record<Family, [network: string, what: string][]> = {
  inet4: [
    ['0.0.0.0/8', 'which has unspecified addresses'],
    ['127.0.0.0/8', 'the loopback network'],
    ['169.254.0.0/16', 'whose link-local addresses no router forwards'],
    ['224.0.0.0/4', 'the multicast network'],
    ['240.0.0.0/4', 'the reserved network, with the broadcast address'],
    ['198.18.0.0/15', "which has the addresses of the testbed's own ports"],
  ],
  inet6: [
    ['::/8', 'which has the unspecified and the loopback address'],
    ['fe80::/10', 'whose link-local addresses no router forwards'],
    ['ff00::/8', 'the multicast network'],
    ['2001:2::/48', "which has the addresses of the testbed's own ports"],
  ],
};

/** Senders count up 16 bits. */
const maxHosts = 65_534;

/** Hosts that packets may have: without the addresses of the network and of broadcasts. */
export function hostsIn({ family, bits }: Network): number {
  const all = 2 ** Math.min(17, lengths[family] - bits);
  return Math.min(maxHosts, all > 2 ? all - 2 : all);
}

/** `index` is less than `hostsIn`. */
export function hostAt(network: Network, index: number): number[] {
  const value = index + (lengths[network.family] - network.bits > 1 ? 1 : 0);
  const last = network.bytes.length - 1;
  // The network's own bytes are 0 there.
  return network.bytes.map((byte, at) => {
    if (at === last) return byte | (value & 0xff);
    return at === last - 1 ? byte | (value >>> 8) : byte;
  });
}
