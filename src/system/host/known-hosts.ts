// Reads OpenSSH's known_hosts, and checks a host's key against it.
import { createHash, createHmac } from 'node:crypto';
import type { ServerHostKeyAlgorithm } from 'ssh2';

export type HostAddress = {
  readonly host: string;
  readonly port: number;
};

type KnownHost = {
  readonly hosts: HostPatterns;
  /** Key in wire format (RFC 4253, section 6.6). */
  readonly key: Buffer;
  /** A key that must never be trusted. */
  readonly revoked: boolean;
};

type HostPatterns =
  | { readonly kind: 'plain'; readonly patterns: readonly string[] }
  | { readonly kind: 'hashed'; readonly salt: Buffer; readonly hash: Buffer };

export type HostKeyVerdict =
  | { readonly kind: 'known' | 'unknown' | 'revoked' }
  | { readonly kind: 'changed'; readonly expected: readonly string[] };

/** See "SSH_KNOWN_HOSTS FILE FORMAT" in sshd(8). Leaves out unusable lines, as their hosts are then unknown. */
export const parseKnownHosts = (text: string): KnownHost[] =>
  text.split('\n').flatMap((line) => hostIn(line.trim()) ?? []);

/**
 * Compares `key`, in wire format, with the known keys of `address`. Stricter than ssh(1) in two points: a host known
 * only by keys of another type is `changed`, and an entry without a port means port 22 only.
 */
export function checkHostKey(entries: readonly KnownHost[], address: HostAddress, key: Buffer): HostKeyVerdict {
  const ours = entries.filter((entry) => isFor(entry, address));
  const same = ours.filter((entry) => entry.key.equals(key));
  if (same.some((entry) => entry.revoked)) return { kind: 'revoked' };
  if (same.length > 0) return { kind: 'known' };
  const expected = ours.filter((entry) => !entry.revoked).map((entry) => fingerprint(entry.key));
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

function hostIn(line: string): KnownHost | undefined {
  if (line.startsWith('#')) return undefined;
  const words = line.split(/\s+/);
  // Host certificates (@cert-authority) are not supported.
  const revoked = words[0] === '@revoked';
  const [names = '', type = '', base64 = ''] = revoked ? words.slice(1) : words;
  const hosts = parseHosts(names);
  const key = Buffer.from(base64, 'base64');
  if (hosts === undefined || names.startsWith('@') || type === '' || keyType(key) !== type) return undefined;
  return { hosts, key, revoked };
}

function parseHosts(field: string): HostPatterns | undefined {
  if (!field.startsWith('|')) return { kind: 'plain', patterns: field.toLowerCase().split(',') };
  const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(field) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  return { kind: 'hashed', salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

function isFor({ hosts }: KnownHost, { host, port }: HostAddress): boolean {
  const name = port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
  if (hosts.kind === 'hashed') return createHmac('sha1', hosts.salt).update(name).digest().equals(hosts.hash);
  const isOne = (pattern: string) => matches(pattern, name);
  const isRefused = hosts.patterns.some((pattern) => pattern.startsWith('!') && isOne(pattern.slice(1)));
  return !isRefused && hosts.patterns.some((pattern) => !pattern.startsWith('!') && isOne(pattern));
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
