// Replaces secrets, addresses and names of a recording by stand-ins of the same form.
import { isIPv4, isIPv6 } from 'node:net';
import { decodeEscapes } from './decode-escapes.ts';

export type SensitiveTerms = {
  secrets: readonly string[];
  /** Names of machines, fully qualified or the first label alone. */
  hosts: readonly string[];
  users: readonly string[];
  others?: ReadonlyMap<string, string>;
};

/** Gives a text the same stand-in each time. Takes whole lines: a secret that is split is not recognized. */
type Mask = (text: string) => string;

/**
 * Replaces addresses by those of RFC 5737, RFC 3849 and RFC 7042. Addresses of the benchmarking networks, loopback,
 * netmasks and root stay: they are the same in every lab, and the code depends on them.
 */
export function maskFor(terms: SensitiveTerms): Mask {
  const rules = rulesFor(terms);
  return (text) => {
    const { text: decoded, at } = decodeEscapes(text);
    const replacements: Replacement[] = [];
    let remaining = decoded;
    for (const rule of rules) {
      const more = rule(remaining);
      if (more.length === 0) continue;
      replacements.push(...more);
      remaining = blanked(remaining, more);
    }
    return replaced(text, at, replacements);
  };
}

type Replacement = { from: number; to: number; by: string };

/** Takes a text in which the matches of earlier rules are blanked. */
type MaskRule = (text: string) => Replacement[];

const blank = '\0';

function blanked(text: string, replacements: readonly Replacement[]): string {
  let rest = '';
  let read = 0;
  for (const { from, to } of replacements) {
    rest += text.slice(read, from) + blank.repeat(to - from);
    read = to;
  }
  return rest + text.slice(read);
}

function replaced(
  text: string,
  at: (index: number) => number,
  replacements: readonly Replacement[],
): string {
  let masked = '';
  let read = 0;
  for (const { from, to, by } of replacements.toSorted((one, other) => one.from - other.from)) {
    masked += text.slice(read, at(from)) + by;
    read = at(to);
  }
  return masked + text.slice(read);
}

function rulesFor({ secrets, hosts, users, others = new Map() }: SensitiveTerms): MaskRule[] {
  const hostOf = standIns((number) => `host-${number}.example`);
  const userOf = standIns((number) => `user-${number}`);
  const secretOf = standIns((number) => `secret-${number}`);
  const uuidOf = standIns(
    (number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
  );
  const serialOf = standIns((number) => `SERIAL${number}`);
  const keyOf = standIns((number) => `AAAA-public-key-${number}`);
  const address = addressStandIns();
  const longSecrets = secrets.flatMap(forms).filter(({ length }) => length >= shortestSecret);
  return [
    literal([...others.keys()], (text) => others.get(text) ?? ''),
    literal(longSecrets, secretOf, { isAnywhere: true }),
    anyMatch(
      /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
      secretOf,
    ),
    ...tokens.map((pattern) => firstGroup(pattern, secretOf)),
    firstGroup(
      /\b(?:ssh-[a-z0-9]+|ecdsa-sha2-\S{1,20}|sk-\S{1,40}) +(AAAA[\w+/=]{8,}(?: [^\n]{1,200})?)/g,
      keyOf,
    ),
    firstGroup(/\bSHA256:([\w+/]{43}=?)/g, keyOf),
    anyMatch(/(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])/gi, (text) =>
      uuidOf(text.toLowerCase()),
    ),
    ...serials.map((pattern) => firstGroup(pattern, serialOf)),
    literal(
      hosts.filter((name) => isIdentifying(name) && !isAddress(name)),
      (name) => hostOf(name.toLowerCase()),
    ),
    ipv6(address),
    mac(address),
    ipv4(address),
    cutOff,
    firstGroup(/(?<![\w.-])([\w.+-]{1,64})@(?!pci\d)[a-z][\w.-]{0,252}/gi, (name) =>
      isIdentifying(name) ? userOf(name) : name,
    ),
    firstGroup(/@(?!pci\d)([a-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8})/gi, (name) =>
      hostOf(name.toLowerCase()),
    ),
    anyMatch(domainName, (name) => (isIdentifying(name) ? hostOf(name.toLowerCase()) : name)),
    firstGroup(/\/(?:home|Users)\/([\w.-]{1,64})/g, (name) =>
      isIdentifying(name) ? userOf(name) : name,
    ),
    literal(users.filter(isIdentifying), userOf),
  ];
}

/** Shorter ones occur in ordinary words. */
const shortestSecret = 5;

/** Each line of a secret is one, and so is its base64. */
function forms(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const encodings = [...lines, secret].map((line) => Buffer.from(line).toString('base64'));
  return [...lines, ...encodings.map((text) => text.replace(/=+$/, ''))].filter(
    (line) => !line.startsWith('-----'),
  );
}

/** Names that identify no lab. */
const common = new Set(
  'root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org'.split(
    ' ',
  ),
);

/** FreeBSD's `rc.conf.local` and `periodic.conf.local` look like domain names. */
const commonFile = /^(?:\w+\.)*(?:conf|rc)\.local$/;

const isIdentifying = (name: string): boolean =>
  name.length > 2 && !common.has(name.toLowerCase()) && !commonFile.test(name);

const isAddress = (name: string): boolean =>
  isIPv4(name) || isIPv6(name) || isIPv6(name.replace(/%.*/, ''));

function standIns(make: (number: number) => string): (text: string) => string {
  const number = numbering();
  return (text) => make(number(text) + 1);
}

/** Prefers the longest text; matches whole words, unless `isAnywhere`. */
function literal(
  texts: readonly string[],
  by: (text: string) => string,
  { isAnywhere = false } = {},
): MaskRule {
  const distinct = [...new Set(texts)].filter(Boolean).toSorted((a, b) => b.length - a.length);
  if (distinct.length === 0) return () => [];
  const any = distinct.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return isAnywhere
    ? anyMatch(new RegExp(any, 'g'), by)
    : anyMatch(new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, 'gi'), by);
}

const anyMatch =
  (pattern: RegExp, by: (text: string) => string): MaskRule =>
  (text) =>
    [...text.matchAll(pattern)].map((match) => ({
      from: match.index,
      to: match.index + match[0].length,
      by: by(match[0]),
    }));

function firstGroup(pattern: RegExp, by: (text: string) => string): MaskRule {
  const indexed = new RegExp(pattern.source, `${pattern.flags}d`);
  return (text) =>
    [...text.matchAll(indexed)].flatMap(({ indices }) => {
      const [from = 0, to = 0] = indices?.[1] ?? [];
      return from === to ? [] : [{ from, to, by: by(text.slice(from, to)) }];
    });
}

/** Secrets by their form, or by the word before them. */
const tokens: readonly RegExp[] = [
  /\b(?:Basic|Bearer) +([\w+/=.~-]{8,})/g,
  /(?:pass(?:word|wd|phrase)?|secret|token|credentials?|api[_-]?key|authorization)["']?[ \t]*[:=][ \t]*["']?(?!basic |bearer )([^\s"'\0]{3,200})/gi,
  /\b((?:gh[pousr]_|github_pat_|glpat-|api-|cli-|xox[a-z]-)[\w-]{16,})/g,
  /\b(AKIA[0-9A-Z]{16})\b/g,
  /\b(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/g,
  /(\$(?:1|2[abxy]?|5|6|7|y)\$[\w./$+=,-]{12,})/g,
  /:\/\/[^\s/:@\0]{1,64}:([^\s/@\0]{1,200})@/g,
];

const serials: readonly RegExp[] = [
  /(?:serial(?:[ _-]?(?:numbers?|no|num))?|asset[ _-]?tag|\bs\/n|\.(?:serial|sn|tag))["']?[ \t]*(?:[:=]|[ \t]\d+[ \t])[ \t]*["']?([\w./-][\w. /-]{1,60}[\w/-]|[\w-]+)/gi,
  /\bserial(?: number)? +(?=[a-z-]{0,20}\d)([0-9a-z][0-9a-z-]{5,60})/gi,
];

/** Requires a known top-level domain: `net.inet.ip.forwarding` is no domain name. */
const domainName =
  /(?<![\w.-])(?:[a-z0-9](?:[\w-]{0,62})\.){1,8}(?:com|org|net|edu|gov|mil|int|info|biz|io|lan|local|localdomain|internal|intranet|corp|home|arpa|lab|test|cloud|de|uk|fr|nl|jp|ch|at|se|no|dk|fi|it|es|eu|us|ca|au|br|cz|pl|ru|cn|kr|tw|be|ie|nz|za|in|il|ua|pt|gr|hu|ro)(?![\w-]|\.\w)/gi;

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

function numbering(): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const number = known.get(text) ?? known.size;
    known.set(text, number);
    return number;
  };
}

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

/** Matches also before a dot: netstat(1) writes the port after a fifth one. */
const ipv4 = (address: AddressStandIns): MaskRule =>
  anyMatch(
    /(?<!\d)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)/g,
    address.inet4,
  );

const mac = (address: AddressStandIns): MaskRule =>
  anyMatch(
    /(?<![0-9a-f])[0-9a-f]{1,2}([:-])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}(?![0-9a-f])/gi,
    address.mac,
  );

/** Finds the longest address from each group on; the end of a word may look like a short one. */
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

/** Part of an address, before the ellipsis of a shortened text. */
const cutOff: MaskRule = anyMatch(/(?:[\w-]{1,64}[.:@%]){1,16}[\w-]{0,64}(?=…)/g, () => '');
