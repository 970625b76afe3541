import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { algorithmsFor, checkHostKey, fingerprint, parseKnownHosts } from '../../../src/system/host/known-hosts.ts';
import { makeKey, publicKey } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';
import { anyCharacter } from '../../random.ts';

const field = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const keyOf = (type: string, secret: string): Buffer =>
  Buffer.concat([field(Buffer.from(type)), field(Buffer.from(secret))]);
const line = (hosts: string, type: string, key: Buffer): string => `${hosts} ${type} ${key.toString('base64')}`;

const key = keyOf('ssh-ed25519', 'ours');
const other = keyOf('ssh-ed25519', 'theirs');
const rsa = keyOf('ssh-rsa', 'ours');

const check = (text: string, host: string, port = 22, shown = key) =>
  checkHostKey(parseKnownHosts(text), { host, port }, shown);

const ours = (hosts: string): string => line(hosts, 'ssh-ed25519', key);
const stars = `${'*a'.repeat(60)}*`;

test.each<[string, string, string[], number, 'known' | 'unknown']>([
  ['by its own key, in any case of its name', ours('DUT.Example'), ['dut.eXample'], 22, 'known'],
  ['not without a line', ours('dut'), ['sender', ''], 22, 'unknown'],
  ['by each name of a list', ours('dut,192.0.2.1,2001:db8::1'), ['dut', '192.0.2.1', '2001:db8::1'], 22, 'known'],
  ['by many stars, at once', ours(stars), [`${'a'.repeat(200)}b`], 22, 'known'],
  ['not by many stars that do not match', ours(`${stars}c`), [`${'a'.repeat(200)}b`], 22, 'unknown'],
  ['by a line for its port', ours('[dut]:2222'), ['dut'], 2222, 'known'],
  ['not by a line for another port', ours('[dut]:2222'), ['dut'], 22, 'unknown'],
  ['not by a line without its port', ours('dut'), ['dut'], 2222, 'unknown'],
  ['by any of its keys', `${line('dut', 'ssh-rsa', rsa)}\n${ours('dut')}\n`, ['dut'], 22, 'known'],
  ['by wildcards', ours('dut?.lab.*'), ['dut1.lab.example'], 22, 'known'],
  ['by a wildcard for no dot', ours('dut?.lab.*'), ['dut.lab.example', 'dut1xlab.example'], 22, 'unknown'],
  ['though another is excluded', ours('*.lab,!bad.lab'), ['good.lab'], 22, 'known'],
  ['not if it is excluded, in any position', ours('!bad.lab,*.lab'), ['bad.lab'], 22, 'unknown'],
  ['not if it is excluded at the end', ours('*.lab,!bad.lab'), ['bad.lab'], 22, 'unknown'],
  ['not if others alone are excluded', ours('!bad.lab'), ['good.lab'], 22, 'unknown'],
])('a host is known %s', (_, text, hosts, port, kind) => {
  for (const host of hosts) expect(check(text, host, port).kind).toBe(kind);
});

test('another key than the pinned one is a change, with the expected key', () => {
  const text = `# our lab\n\n${line('dut', 'ssh-ed25519', key)}`;
  expect(check(text, 'dut', 22, other)).toEqual({
    kind: 'changed',
    expected: [fingerprint(key)],
  });
});

test('a revoked key is refused even where another line pins it', () => {
  const text = `${line('dut', 'ssh-ed25519', key)}\n@revoked ${line('*', 'ssh-ed25519', key)}`;
  expect(check(text, 'dut')).toEqual({ kind: 'revoked' });
});

test('a pattern without wildcards matches its own text and no other', () => {
  const name = fc.stringMatching(/^[a-z0-9.+()^$[\]-]{1,12}$/);
  fc.assert(
    fc.property(name, name, (pattern, host) => {
      const expected = pattern === host ? 'known' : 'unknown';
      expect(check(line(pattern, 'ssh-ed25519', key), host).kind).toBe(expected);
      expect(check(line(pattern, 'ssh-ed25519', key), pattern).kind).toBe('known');
    }),
  );
});

test('Windows line ends, tabs, comments and a missing last newline do no harm', () => {
  const text = `# a\r\n  # b\r\n${line('dut', 'ssh-ed25519', key).replaceAll(' ', '\t')} me@here\r`;
  expect(check(text, 'dut').kind).toBe('known');
});

test.for([
  ['a certificate authority', `@cert-authority ${line('*', 'ssh-ed25519', key)}`],
  ['an unknown marker', `@trusted ${line('*', 'ssh-ed25519', key)}`],
  ['a broken hash', line('|1|abc', 'ssh-ed25519', key)],
  ['a missing key', 'dut ssh-ed25519'],
  ['a key of another type', line('dut', 'ssh-rsa', key)],
  ['a lone word', 'dut'],
] as const)('%s makes no host known', ([, content]) => {
  expect(parseKnownHosts(`\n${content}\n`)).toEqual([]);
});

test('any text can be read', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(check(text, 'dut').kind).toBe('unknown');
    }),
  );
});

test('the requested algorithms are those of the pinned keys, the best first', () => {
  const entries = parseKnownHosts([line('dut', 'ssh-rsa', rsa), line('dut', 'ssh-ed25519', key)].join('\n'));
  const algorithms = algorithmsFor(entries, { host: 'dut', port: 22 });
  expect(algorithms).toEqual(['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256']);
});

test('no algorithm is requested for a revoked key or another host', () => {
  const entries = parseKnownHosts(
    [`@revoked ${line('dut', 'ssh-rsa', rsa)}`, line('sender', 'ssh-ed25519', key)].join('\n'),
  );
  expect(algorithmsFor(entries, { host: 'dut', port: 22 })).toEqual([]);
});

describeWith(['ssh-keygen'], "beside OpenSSH's own ssh-keygen", () => {
  test('its hashed lines are understood and its fingerprints are ours', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ppsgate-known-hosts-'));
    try {
      const path = makeKey(folder, 'ed25519');
      const shown = Buffer.from(publicKey(path).split(' ')[1] ?? '', 'base64');
      const file = join(folder, 'known_hosts');
      writeFileSync(file, `dut,[sender]:2222 ${publicKey(path)}`);
      execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' });
      const hashed = readFileSync(file, 'utf8');
      expect(hashed).toMatch(/^\|1\|/);
      expect(check(hashed, 'DUT', 22, shown)).toEqual({ kind: 'known' });
      expect(check(hashed, 'sender', 2222, shown)).toEqual({ kind: 'known' });
      expect(check(hashed, 'sender', 22, shown)).toEqual({ kind: 'unknown' });
      const listed = execFileSync('ssh-keygen', ['-l', '-f', path], { encoding: 'utf8' });
      expect(listed).toContain(` ${fingerprint(shown)} `);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
