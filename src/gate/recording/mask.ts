// Takes out of a recording what is nobody's business: each secret, address and name gets a stand-in of its own form.
import { isIPv4, isIPv6 } from 'node:net';
import { decoded } from './decoded.ts';

/** What is known of a laboratory before its machines say anything. */
export type Known = {
  /** Passwords, keys, tokens. */
  secrets: readonly string[];
  /** Names of machines, whole or the first word alone. */
  hosts: readonly string[];
  users: readonly string[];
  /** Texts with a stand-in that is given. */
  others?: ReadonlyMap<string, string>;
};

/** The same text gets the same stand-in for as long as the mask is used. Whole lines: nothing is found that is cut in two. */
type Mask = (text: string) => string;

/**
 * What counts: addresses of the benchmarking networks, loopback, netmasks and root stay, as all that depends on them is
 * the same for everybody. Addresses become those of RFC 5737, RFC 3849 and RFC 7042.
 */
export function maskFor(known: Known): Mask {
  const rules = rulesFor(known);
  return (text) => {
    const { text: readable, at } = decoded(text);
    const found: Found[] = [];
    let left = readable;
    for (const rule of rules) {
      const now = rule(left);
      if (now.length === 0) continue;
      found.push(...now);
      left = without(left, now);
    }
    return replaced(text, at, found);
  };
}

type Found = { from: number; to: number; by: string };

/** Finds in a text what has not been found by an earlier rule. */
type Rule = (text: string) => Found[];

/** What stands in the place of what was found: no rule knows it. */
const blank = '\0';

function without(text: string, found: readonly Found[]): string {
  let rest = '';
  let read = 0;
  for (const { from, to } of found) {
    rest += text.slice(read, from) + blank.repeat(to - from);
    read = to;
  }
  return rest + text.slice(read);
}

function replaced(text: string, at: (index: number) => number, found: readonly Found[]): string {
  let masked = '';
  let read = 0;
  for (const { from, to, by } of found.toSorted((one, other) => one.from - other.from)) {
    masked += text.slice(read, at(from)) + by;
    read = at(to);
  }
  return masked + text.slice(read);
}

function rulesFor({ secrets, hosts, users, others = new Map() }: Known): Rule[] {
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
    whole(
      /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
      secretOf,
    ),
    ...tokens.map((pattern) => firstGroup(pattern, secretOf)),
    firstGroup(
      /\b(?:ssh-[a-z0-9]+|ecdsa-sha2-\S{1,20}|sk-\S{1,40}) +(AAAA[\w+/=]{8,}(?: [^\n]{1,200})?)/g,
      keyOf,
    ),
    firstGroup(/\bSHA256:([\w+/]{43}=?)/g, keyOf),
    whole(/(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])/gi, (text) =>
      uuidOf(text.toLowerCase()),
    ),
    ...serials.map((pattern) => firstGroup(pattern, serialOf)),
    literal(
      hosts.filter((name) => isTelling(name) && !isAddress(name)),
      (name) => hostOf(name.toLowerCase()),
    ),
    ipv6(address),
    mac(address),
    ipv4(address),
    cutOff,
    firstGroup(/(?<![\w.-])([\w.+-]{1,64})@(?!pci\d)[a-z][\w.-]{0,252}/gi, (name) =>
      isTelling(name) ? userOf(name) : name,
    ),
    firstGroup(/@(?!pci\d)([a-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8})/gi, (name) =>
      hostOf(name.toLowerCase()),
    ),
    whole(domainName, (name) => (isTelling(name) ? hostOf(name.toLowerCase()) : name)),
    firstGroup(/\/(?:home|Users)\/([\w.-]{1,64})/g, (name) =>
      isTelling(name) ? userOf(name) : name,
    ),
    literal(users.filter(isTelling), userOf),
  ];
}

/** Shorter ones would be found in every other word. */
const shortestSecret = 5;

/** Each line of a secret that has several is one by itself; an encoding has the same secret in it. */
function forms(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const encodings = [...lines, secret].map((line) => Buffer.from(line).toString('base64'));
  return [...lines, ...encodings.map((text) => text.replace(/=+$/, ''))].filter(
    (line) => !line.startsWith('-----'),
  );
}

/** Names that everybody has. */
const common = new Set(
  'root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org'.split(
    ' ',
  ),
);

/** Files of every FreeBSD, like `rc.conf.local` and `periodic.conf.local`, have the form of a domain. */
const commonFile = /^(?:\w+\.)*(?:conf|rc)\.local$/;

const isTelling = (name: string): boolean =>
  name.length > 2 && !common.has(name.toLowerCase()) && !commonFile.test(name);

const isAddress = (name: string): boolean =>
  isIPv4(name) || isIPv6(name) || isIPv6(name.replace(/%.*/, ''));

/** Numbered in the order in which they are met. */
function standIns(make: (number: number) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const standIn = known.get(text) ?? make(known.size + 1);
    known.set(text, standIn);
    return standIn;
  };
}

/** The longest of them first; whole words, unless they are to be found anywhere. */
function literal(
  texts: readonly string[],
  by: (text: string) => string,
  { isAnywhere = false } = {},
): Rule {
  const known = [...new Set(texts)].filter(Boolean).toSorted((a, b) => b.length - a.length);
  if (known.length === 0) return () => [];
  const any = known.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return isAnywhere
    ? whole(new RegExp(any, 'g'), by)
    : whole(new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, 'gi'), by);
}

const whole =
  (pattern: RegExp, by: (text: string) => string): Rule =>
  (text) =>
    [...text.matchAll(pattern)].map((match) => ({
      from: match.index,
      to: match.index + match[0].length,
      by: by(match[0]),
    }));

/** Only what the pattern's first group matches is replaced. */
function firstGroup(pattern: RegExp, by: (text: string) => string): Rule {
  const indexed = new RegExp(pattern.source, `${pattern.flags}d`);
  return (text) =>
    [...text.matchAll(indexed)].flatMap(({ indices }) => {
      const [from = 0, to = 0] = indices?.[1] ?? [];
      return from === to ? [] : [{ from, to, by: by(text.slice(from, to)) }];
    });
}

/** What is secret by its own form, or by the word before it. */
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

/** Names that end as those of networks do: `net.inet.ip.forwarding` is none. */
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
      // Those for groups, once the others are over.
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

/** Loopback, the benchmarking networks of RFC 2544, netmasks and broadcast, and nothing at all. */
const isAllowed4 = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): boolean =>
  a === 127 ||
  (a === 198 && (b === 18 || b === 19)) ||
  a === 255 ||
  (a === 224 && b === 0 && c === 0) ||
  (a === 0 && b === 0 && c === 0 && d === 0);

/** Loopback, nothing, RFC 5180's network, groups that everybody is in, and the network of links. */
function isAllowed6(groups: readonly number[]): boolean {
  const [first = 0, second = 0, third = 0] = groups;
  const isAlone = groups.slice(1, 7).every((group) => group === 0);
  if (first === 0x2001 && second === 2 && third === 0) return true;
  if (first === 0 && isAlone) return (groups[7] ?? 0) < 2;
  return isAlone && ((first & 0xfff0) === 0xff00 || (first === 0xfe80 && groups[7] === 0));
}

/** The eight groups of a valid address. */
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

/** Four numbers in a row are one, whatever follows: netstat(1) writes a port behind a fifth dot. */
const ipv4 = (address: AddressStandIns): Rule =>
  whole(
    /(?<!\d)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)/g,
    address.inet4,
  );

const mac = (address: AddressStandIns): Rule =>
  whole(
    /(?<![0-9a-f])[0-9a-f]{1,2}([:-])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}(?![0-9a-f])/gi,
    address.mac,
  );

/** The longest address that each run of its letters has from its first group on; a word's end may look like a short one. */
const ipv6 =
  (address: AddressStandIns): Rule =>
  (text) =>
    [...text.matchAll(/[0-9a-f:.]{3,}/gi)].flatMap(({ 0: run, index }) => {
      if (!run.includes(':')) return [];
      const found: Found[] = [];
      for (let start = 0; start < run.length; ) {
        const end = endOfAddress(run, start);
        const glued = start === 0 && /[g-z_]/i.test(text[index - 1] ?? '');
        const groups = run.slice(start, end).split(':').filter(Boolean).length;
        if (end !== undefined && (!glued || groups > 2)) {
          const [from, to] = [index + start, index + end];
          found.push({ from, to, by: address.inet6(run.slice(start, end)) });
          start = end;
        } else start = nextGroup(run, start);
      }
      return found;
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

/** Asks nobody where there are too few colons. */
function mayBeAddress(text: string): boolean {
  const groups = text.split(':').length;
  if (groups > 9 || text.includes(':::') || (groups < 7 && !text.includes('::'))) return false;
  return isIPv6(text);
}

/** Also a colon that begins an address, and may end what stands before it. */
function nextGroup(run: string, start: number): number {
  const next = run.slice(start + 1).search(/[:.]/);
  if (next === -1) return run.length;
  const at = start + 1 + next;
  return run[at] === ':' && run[at + 1] === ':' ? at : at + 1;
}

/** Half an address, as a long text has it where it was cut. */
const cutOff: Rule = whole(/(?:[\w-]{1,64}[.:@%]){1,16}[\w-]{0,64}(?=…)/g, () => '');
