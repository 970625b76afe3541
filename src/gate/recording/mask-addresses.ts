// Replaces addresses by those for documentation (RFC 5737, RFC 3849, RFC 7042), in every notation.
import { isIPv6 } from 'node:net';
import { anyMatch, type MaskRule, numbering, type Replacement } from './mask-rule.ts';

/**
 * Keeps addresses of the benchmarking networks, guests, loopback, netmasks and well-known groups: they are the same in every
 * lab, and the code depends on them.
 */
export function addressRules(): MaskRule[] {
  const address = addressStandIns();
  return [ipv6(address), mac(address), ipv4(address)];
}

type AddressStandIns = {
  inet4(address: string): string;
  inet6(address: string): string;
  mac(address: string): string;
};

function addressStandIns(): AddressStandIns {
  const [numbers4, numbers6, numbersMac] = [numbering(), numbering(), numbering()];
  const inet4 = (address: string): string => {
    const octets = address.split('.').map(Number);
    if (isAllowed4(octets)) return address;
    const number = numbers4(octets.join('.'));
    return `${documentation4[Math.floor(number / 254) % 3]}.${(number % 254) + 1}`;
  };
  return {
    inet4,
    inet6(address) {
      const groups = groupsOf(address);
      const mapped = mappedIn(groups);
      if (mapped !== undefined) {
        const by = inet4(mapped);
        return by === mapped ? address : `::ffff:${by}`;
      }
      if (isAllowed6(groups)) return address;
      const plain = groups.map((group) => group.toString(16)).join(':');
      const number = (numbers6(plain) + 1).toString(16);
      return groups[0] === 0xfe80 ? `fe80::${number}` : `2001:db8::${number}`;
    },
    mac(address) {
      const bytes = address.split(/[:-]/).map((byte) => Number.parseInt(byte, 16));
      if (bytes.every((byte) => byte === 0) || bytes.every((byte) => byte === 255)) return address;
      if (isOfGuest(bytes)) return address;
      const number = numbersMac(bytes.join(':'));
      // The multicast block follows the unicast block.
      const own = number < 256 ? [0, 0, 0x5e, 0, 0x53] : [1, 0, 0x5e, 0x90, 0x10];
      const text = [...own, number % 256]
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join(address.includes('-') ? '-' : ':');
      return /[A-F]/.test(address) ? text.toUpperCase() : text;
    },
  };
}

/** True for our addresses in virtual testbeds; see qemu/vm/addresses.ts. */
const isOfGuest = ([a, b, c]: readonly number[]): boolean => a === 2 && b === 0x70 && c === 0x70;

/** RFC 5737. */
const documentation4 = ['192.0.2', '198.51.100', '203.0.113'];

/** Loopback, the benchmarking networks of RFC 2544, netmasks, broadcast, and 0.0.0.0. */
const isAllowed4 = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): boolean =>
  a === 127 ||
  (a === 198 && (b === 18 || b === 19)) ||
  a === 255 ||
  (a === 224 && b === 0 && c === 0) ||
  (a === 0 && b === 0 && c === 0 && d === 0);

/** Loopback, `::`, RFC 5180's network, well-known multicast groups, and fe80::. */
function isAllowed6(groups: readonly number[]): boolean {
  const [first = 0, second = 0, third = 0] = groups;
  const isAlone = groups.slice(1, 7).every((group) => group === 0);
  if (first === 0x2001 && second === 2 && third === 0) return true;
  if (first === 0 && isAlone) return (groups[7] ?? 0) < 2;
  return isAlone && ((first & 0xfff0) === 0xff00 || (first === 0xfe80 && groups[7] === 0));
}

function groupsOf(address: string): number[] {
  const plain = address.replace(/\d+\.\d+\.\d+\.\d+$/, (inet4) => {
    const [a = 0, b = 0, c = 0, d = 0] = inet4.split('.').map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = plain.split('::');
  const numbers = (text: string) =>
    text
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const [before, after] = [numbers(head), numbers(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function mappedIn(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined;
}

/** Also matches before a dot: netstat(1) writes the port after a fifth one. */
const ipv4 = (address: AddressStandIns): MaskRule =>
  anyMatch(/(?<!\d)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)/g, address.inet4);

const mac = (address: AddressStandIns): MaskRule =>
  anyMatch(/(?<![0-9a-f])[0-9a-f]{1,2}([:-])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}(?![0-9a-f])/gi, address.mac);

/** Finds the longest address from each group, as the end of a word may look like a short one. */
const ipv6 =
  (address: AddressStandIns): MaskRule =>
  (text) =>
    [...text.matchAll(/[0-9a-f:.]{3,}/gi)].flatMap(({ 0: run, index }) => {
      if (!run.includes(':')) return [];
      const replacements: Replacement[] = [];
      for (let start = 0; start < run.length; ) {
        const end = endOfAddress(run, start);
        const glued = start === 0 && /[g-z_]/i.test(text[index - 1] ?? '');
        const groups = run.slice(start, end).split(':').filter(Boolean).length;
        if (end !== undefined && (!glued || groups > 2)) {
          const [from, to] = [index + start, index + end];
          replacements.push({ from, to, by: address.inet6(run.slice(start, end)) });
          start = end;
        } else start = nextGroup(run, start);
      }
      return replacements;
    });

const longestAddress = 46;

function endOfAddress(run: string, start: number): number | undefined {
  const most = Math.min(run.length, start + longestAddress);
  for (let end = most; end > start + 1; end -= 1) {
    const isWhole = end === run.length || /[:.]/.test(run[end] ?? '');
    if (isWhole && mayBeAddress(run.slice(start, end))) return end;
  }
  return undefined;
}

/** Rejects most texts by their colons, before the slower isIPv6. */
function mayBeAddress(text: string): boolean {
  const groups = text.split(':').length;
  if (groups > 9 || text.includes(':::') || (groups < 7 && !text.includes('::'))) return false;
  return isIPv6(text);
}

/** Stops before a `::`, which may begin an address. */
function nextGroup(run: string, start: number): number {
  const next = run.slice(start + 1).search(/[:.]/);
  if (next === -1) return run.length;
  const at = start + 1 + next;
  return run[at] === ':' && run[at + 1] === ':' ? at : at + 1;
}
