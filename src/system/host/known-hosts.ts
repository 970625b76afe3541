// Reads OpenSSH's known_hosts, and checks a host's key against it.
import { createHash, createHmac } from 'node:crypto';
import type { ServerHostKeyAlgorithm } from 'ssh2';

export type HostAddress = {
  readonly host: string;
  readonly port: number;
};

type KnownHost = {
  readonly line: number;
  readonly hosts: HostPatterns;
  /** Key in wire format (RFC 4253, section 6.6). */
  readonly key: Buffer;
  /** A key that must never be trusted. */
  readonly revoked: boolean;
};

type HostPatterns =
  | { readonly kind: 'plain'; readonly patterns: readonly string[] }
  | { readonly kind: 'hashed'; readonly salt: Buffer; readonly hash: Buffer };

export type KnownHosts = {
  readonly entries: readonly KnownHost[];
  readonly ignored: readonly { readonly line: number; readonly reason: string }[];
};

export type HostKeyVerdict =
  | { readonly kind: 'known' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'changed'; readonly expected: readonly ExpectedKey[] }
  | { readonly kind: 'revoked'; readonly line: number };

type ExpectedKey = {
  readonly line: number;
  /** `ssh-ed25519`, `ssh-rsa`… */
  readonly type: string;
  readonly fingerprint: string;
};

/** See "SSH_KNOWN_HOSTS FILE FORMAT" in sshd(8). Returns unusable lines with the reason. */
export function parseKnownHosts(text: string): KnownHosts {
  const entries: KnownHost[] = [];
  const ignored: { line: number; reason: string }[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    const parsed = parseLine(content.trim(), index + 1);
    if (parsed.kind === 'entry') entries.push(parsed.entry);
    if (parsed.kind === 'ignored') ignored.push({ line: index + 1, reason: parsed.reason });
  }
  return { entries, ignored };
}

/**
 * Compares `key`, in wire format, with the known keys of `address`. Stricter than ssh(1) in two points: a host known
 * only by keys of another type is `changed`, and an entry without a port means port 22 only.
 */
export function checkHostKey(entries: readonly KnownHost[], address: HostAddress, key: Buffer): HostKeyVerdict {
  const ours = entries.filter((entry) => isFor(entry, address));
  const same = ours.filter((entry) => entry.key.equals(key));
  const revoked = same.find((entry) => entry.revoked);
  if (revoked !== undefined) return { kind: 'revoked', line: revoked.line };
  if (same.length > 0) return { kind: 'known' };
  const expected = ours.filter((entry) => !entry.revoked).map(expectedKey);
  return expected.length > 0 ? { kind: 'changed', expected } : { kind: 'unknown' };
}

/**
 * Requests the key types that are known for the host; empty for an unknown host. RSA keys sign with SHA-2 only (RFC
 * 8332).
 */
export function algorithmsFor(entries: readonly KnownHost[], address: HostAddress): ServerHostKeyAlgorithm[] {
  const pinned = entries.filter((entry) => !entry.revoked && isFor(entry, address));
  const types = new Set(pinned.map((entry) => keyType(entry.key)));
  return signatures.filter(({ type }) => types.has(type)).map(({ algorithm }) => algorithm);
}

/** By key type, in order of preference. */
const signatures: readonly { type: string; algorithm: ServerHostKeyAlgorithm }[] = [
  { type: 'ssh-ed25519', algorithm: 'ssh-ed25519' },
  { type: 'ecdsa-sha2-nistp256', algorithm: 'ecdsa-sha2-nistp256' },
  { type: 'ecdsa-sha2-nistp384', algorithm: 'ecdsa-sha2-nistp384' },
  { type: 'ecdsa-sha2-nistp521', algorithm: 'ecdsa-sha2-nistp521' },
  { type: 'ssh-rsa', algorithm: 'rsa-sha2-512' },
  { type: 'ssh-rsa', algorithm: 'rsa-sha2-256' },
];

/** `SHA256:…`, as printed by ssh-keygen -l. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** The name at the start of a key, such as `ssh-ed25519`; empty for other bytes. */
export function keyType(key: Buffer): string {
  const length = key.length < 4 ? 0 : key.readUInt32BE(0);
  return key.subarray(4, 4 + length).toString('latin1');
}

type ParsedLine = { kind: 'entry'; entry: KnownHost } | { kind: 'ignored'; reason: string } | { kind: 'empty' };

function parseLine(content: string, line: number): ParsedLine {
  if (content === '' || content.startsWith('#')) return { kind: 'empty' };
  const fields = content.split(/[ \t]+/);
  const marker = content.startsWith('@') ? fields.shift() : undefined;
  const [hosts = '', type = '', base64 = ''] = fields;
  if (marker === '@cert-authority') return ignore('host certificates are not supported');
  if (marker !== undefined && marker !== '@revoked') return ignore(`unknown marker ${marker}`);
  const patterns = parseHosts(hosts);
  if (patterns === undefined) return ignore('the hashed host name is malformed');
  const key = Buffer.from(base64, 'base64');
  if (type === '' || keyType(key) !== type) return ignore('its key is missing, or not of the type that it names');
  return { kind: 'entry', entry: { line, hosts: patterns, key, revoked: marker === '@revoked' } };
}

const ignore = (reason: string): ParsedLine => ({ kind: 'ignored', reason });

function parseHosts(field: string): HostPatterns | undefined {
  if (!field.startsWith('|')) return { kind: 'plain', patterns: field.toLowerCase().split(',') };
  const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(field) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  return { kind: 'hashed', salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

function isFor({ hosts }: KnownHost, address: HostAddress): boolean {
  const name = nameInFile(address);
  if (hosts.kind === 'hashed') {
    return createHmac('sha1', hosts.salt).update(name).digest().equals(hosts.hash);
  }
  const [refusing, accepting] = splitBy(hosts.patterns, (pattern) => pattern.startsWith('!'));
  if (refusing.some((pattern) => matches(pattern.slice(1), name))) return false;
  return accepting.some((pattern) => matches(pattern, name));
}

/** `host`, or `[host]:port` for any port but 22. */
function nameInFile({ host, port }: HostAddress): string {
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}

function splitBy<T>(all: readonly T[], chosen: (one: T) => boolean): [T[], T[]] {
  return [all.filter(chosen), all.filter((one) => !chosen(one))];
}

/** `*` matches any characters, `?` exactly one. A regular expression would need exponential time for many `*`. */
function matches(pattern: string, name: string): boolean {
  let [at, inName, afterStar, resumeAt] = [0, 0, -1, 0];
  while (inName < name.length) {
    if (pattern[at] === '*') {
      at += 1;
      [afterStar, resumeAt] = [at, inName];
    } else if (pattern[at] === '?' || pattern[at] === name[inName]) {
      at += 1;
      inName += 1;
    } else if (afterStar === -1) {
      return false;
    } else {
      // Let the last star match one more character.
      resumeAt += 1;
      [at, inName] = [afterStar, resumeAt];
    }
  }
  return /^\**$/.test(pattern.slice(at));
}

function expectedKey({ line, key }: KnownHost): ExpectedKey {
  return { line, type: keyType(key), fingerprint: fingerprint(key) };
}
