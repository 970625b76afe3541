// Replaces secrets, addresses and names of a recording by stand-ins of the same form.
import { isIPv4, isIPv6 } from 'node:net';
import { decodeEscapes } from './decode-escapes.ts';
import { addressRules } from './mask-addresses.ts';
import { domainName, hostPatterns, secretPatterns, serialPatterns } from './mask-patterns.ts';
import { anyMatch, firstGroup, literal, type MaskRule, numbering, type Replacement } from './mask-rule.ts';
import { secretForms } from './secret-forms.ts';

export type SensitiveTerms = {
  secrets: readonly string[];
  /** Names of machines, fully qualified or only the first label. */
  hosts: readonly string[];
  users: readonly string[];
  /** Serial numbers, world-wide names and host ids, also replaced within longer words. */
  serials?: readonly string[];
  others?: ReadonlyMap<string, string>;
};

export const maskedKinds = [
  'secret',
  'key',
  'UUID',
  'serial number',
  'host name',
  'user name',
  'address',
  'path',
] as const;

type MaskedKind = (typeof maskedKinds)[number];

/** Counts of replacements; `distinct` are different values. */
export type MaskedCount = { times: number; distinct: number };

export type Mask = {
  /** Gives a text the same stand-in each time. Takes whole lines, as a split secret is not recognized. */
  (text: string): string;
  learn(more: Partial<SensitiveTerms>): void;
  counts(): ReadonlyMap<MaskedKind, MaskedCount>;
};

/**
 * Replaces addresses by those of RFC 5737, RFC 3849 and RFC 7042. Addresses of the benchmarking networks, loopback,
 * netmasks and root stay: they are the same in every lab, and the code depends on them. Once a machine prints its own
 * name, replaces that name everywhere from there on.
 */
export function maskFor(terms: SensitiveTerms): Mask {
  const standIns = makeStandIns();
  const known = {
    secrets: new Set<string>(),
    hosts: new Set<string>(),
    users: new Set<string>(),
    serials: new Set<string>(),
    others: new Map<string, string>(),
  };
  const counted = new Map<MaskedKind, { times: number; standIns: Set<string> }>();
  let rules: KindRule[] | undefined;
  const learn = (more: Partial<SensitiveTerms>) => {
    for (const kind of ['secrets', 'hosts', 'users', 'serials'] as const) {
      for (const text of more[kind] ?? []) known[kind].add(text);
    }
    for (const [text, by] of more.others ?? []) known.others.set(text, by);
    rules = undefined;
  };
  learn(terms);
  const mask = (text: string): string => {
    const { text: decoded, at } = decodeEscapes(text);
    const names = ownNamesIn(decoded).filter((name) => !known.hosts.has(name));
    if (names.length > 0) learn({ hosts: names });
    rules ??= rulesFor(known, standIns);
    const replacements: Replacement[] = [];
    let remaining = decoded;
    for (const { kind, rule } of rules) {
      const more = rule(remaining);
      if (more.length === 0) continue;
      count(counted, kind, more, decoded);
      replacements.push(...more);
      remaining = blanked(remaining, more);
    }
    return replaced(text, at, replacements);
  };
  const counts = () =>
    new Map([...counted].map(([kind, { times, standIns }]) => [kind, { times, distinct: standIns.size }]));
  return Object.assign(mask, { learn, counts });
}

type KindRule = { kind: MaskedKind; rule: MaskRule };

function count(
  counted: Map<MaskedKind, { times: number; standIns: Set<string> }>,
  kind: MaskedKind,
  replacements: readonly Replacement[],
  text: string,
): void {
  for (const { from, to, by } of replacements) {
    if (by === text.slice(from, to)) continue;
    const entry = counted.get(kind) ?? { times: 0, standIns: new Set() };
    counted.set(kind, entry);
    entry.times += 1;
    entry.standIns.add(by);
  }
}

function ownNamesIn(text: string): string[] {
  return hostPatterns
    .flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))
    .filter((name) => isIdentifying(name) && !isAddress(name))
    .flatMap(namesOf);
}

/** `dut3.lab.example.org`, its domain, and `dut3`. */
export function namesOf(host: string): string[] {
  if (isIPv4(host) || host.includes(':')) return [];
  const [first = '', ...domain] = host.split('.');
  return [host, first, ...(domain.length > 1 ? [domain.join('.')] : [])];
}

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

function replaced(text: string, at: (index: number) => number, replacements: readonly Replacement[]): string {
  let masked = '';
  let read = 0;
  for (const { from, to, by } of replacements.toSorted((one, other) => one.from - other.from)) {
    masked += text.slice(read, at(from)) + by;
    read = at(to);
  }
  return masked + text.slice(read);
}

type StandIns = ReturnType<typeof makeStandIns>;

function makeStandIns() {
  return {
    hostOf: standIns((number) => `host-${number}.example`),
    userOf: standIns((number) => `user-${number}`),
    secretOf: standIns((number) => `secret-${number}`),
    uuidOf: standIns((number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`),
    serialOf: standIns((number) => `SERIAL${number}`),
    keyOf: standIns((number) => `AAAA-public-key-${number}`),
    addresses: addressRules(),
  };
}

type KnownTerms = Record<'secrets' | 'hosts' | 'users' | 'serials', ReadonlySet<string>> & {
  others: ReadonlyMap<string, string>;
};

function rulesFor(
  { secrets, hosts, users, serials, others }: KnownTerms,
  { hostOf, userOf, secretOf, uuidOf, serialOf, keyOf, addresses }: StandIns,
): KindRule[] {
  const host = (name: string) => hostOf(name.toLowerCase());
  const of = (kind: MaskedKind, ...rules: MaskRule[]) => rules.map((rule) => ({ kind, rule }));
  return [
    ...of(
      'path',
      literal([...others.keys()], (text) => others.get(text) ?? '', { isAnywhere: true }),
    ),
    ...of(
      'secret',
      literal([...secrets].flatMap(secretForms), secretOf, { isAnywhere: true }),
      anyMatch(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, secretOf),
      ...secretPatterns.map((pattern) => firstGroup(pattern, secretOf)),
    ),
    ...of(
      'key',
      firstGroup(/\b(?:ssh-[a-z0-9]+|ecdsa-sha2-\S{1,20}|sk-\S{1,40}) +(AAAA[\w+/=]{8,}(?: [^\n]{1,200})?)/g, keyOf),
      firstGroup(/\bSHA256:([\w+/]{43}=?)/g, keyOf),
    ),
    ...of(
      'UUID',
      anyMatch(/(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])/gi, (text) =>
        uuidOf(text.toLowerCase()),
      ),
    ),
    ...of(
      'serial number',
      literal([...serials].filter(isSerial), serialOf, { isAnywhere: true }),
      ...serialPatterns.map((pattern) => firstGroup(pattern, serialOf)),
    ),
    ...of(
      'host name',
      literal(
        [...hosts].filter((name) => isIdentifying(name) && !isAddress(name)),
        host,
      ),
      // Includes names too short to be replaced everywhere.
      ...hostPatterns.map((pattern) =>
        firstGroup(pattern, (name) => (common.has(name.toLowerCase()) ? name : host(name))),
      ),
    ),
    ...of('address', ...addresses, cutOff),
    ...of(
      'user name',
      firstGroup(/(?<![\w.-])([\w.+-]{1,64})@(?!pci\d)[a-z][\w.-]{0,252}/gi, (name) =>
        isIdentifying(name) ? userOf(name) : name,
      ),
    ),
    ...of(
      'host name',
      firstGroup(/@(?!pci\d)([a-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8})/gi, host),
      anyMatch(domainName, (name) => (isIdentifying(name) ? host(name) : name)),
    ),
    ...of(
      'user name',
      firstGroup(/\/(?:home|Users)\/([\w.-]{1,64})/g, (name) => (isIdentifying(name) ? userOf(name) : name)),
      literal([...users].filter(isIdentifying), userOf),
    ),
  ];
}

/** Words that machines use as names, and words of the code in its commands: they identify no lab. */
const common = new Set(
  'root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org amnesiac generic base patched ipfw test guest main last'.split(
    ' ',
  ),
);

/** FreeBSD's `rc.conf.local` and `periodic.conf.local` look like domain names. */
const commonFile = /^(?:\w+\.)*(?:conf|rc)\.local$/;

const isIdentifying = (name: string): boolean =>
  name.length > 2 && !common.has(name.toLowerCase()) && !commonFile.test(name);

/** Rejects placeholders of a firmware without a serial number, which are only words. */
const isSerial = (text: string): boolean =>
  text.length >= 5 && /\d/.test(text) && !/^(?:0+|0?123456789\w*)$/.test(text);

const isAddress = (name: string): boolean => isIPv4(name) || isIPv6(name) || isIPv6(name.replace(/%.*/, ''));

function standIns(make: (number: number) => string): (text: string) => string {
  const number = numbering();
  return (text) => make(number(text) + 1);
}

/** Part of an address, before the ellipsis of a shortened text. */
const cutOff: MaskRule = anyMatch(/(?:[\w-]{1,64}[.:@%]){1,16}[\w-]{0,64}(?=…)/g, () => '');
