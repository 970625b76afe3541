import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError, loadConfig, parseConfig } from '../../src/config/load.ts';
import { pathsSchema } from '../../src/config/paths.ts';
import { configKeys } from '../../src/config/schema.ts';
import { anyCharacter, times } from '../random.ts';

const place = { path: 'lab/ppsgate.yml', home: '/home/me' };
const example = join(import.meta.dirname, '..', '..', 'docs', 'example', 'ppsgate.yml');

/** Reason for refusing a text; undefined for a valid configuration. Any other error fails the test. */
function refusal(text: string): ConfigError | undefined {
  try {
    parseConfig(text, place);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

const complaint = (text: string): string => refusal(text)?.message ?? '';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('the example in docs/ has the defaults but for the metric and the margin, and two kinds of testbed', async () => {
  const config = await loadConfig(example, '/home/me');
  const least = 'testbeds: { a: { kind: embedded-linux } }\nphabricator: { url: "https://reviews.example.org" }';
  const { traffic, gate, reservations, github, trend, phabricator } = parseConfig(least, { ...place, path: example });
  const own = { ...gate, metric: 'nsPerPacket', marginRatio: 0.05 };
  expect(config).toMatchObject({ traffic, gate: own, reservations, github, trend, phabricator });
  expect(Object.values(config.testbeds).map(({ kind }) => kind)).toEqual(['embedded-linux', 'linux']);
});

test.each(Object.keys(configKeys.shape))('the example in docs/ has the key %s', (key) => {
  expect(readFileSync(example, 'utf8')).toMatch(new RegExp(`^(?:# )?${key}:`, 'm'));
});

test('the example in docs/ can be used with the other reservations, and all keys without a default', () => {
  const text = readFileSync(example, 'utf8');
  const [, etcd = ''] = text.split(/(?=^# reservations:)/m);
  const minimal = 'testbeds: { a: { kind: embedded-linux } }\n';
  expect(parseConfig(minimal + etcd.replace(/^# /gm, ''), place).reservations.store).toBe('etcd');
  const keys =
    /# (?=(?:pages|directory|compare): )|(?<=^ +)# (?=(?:tokenFile|ca|repositories|paths|webhookKeyFile|buildPasswordFile):)/gm;
  const whole = text.replace(/^# paths:\n(?:# {3}.*\n)+/m, (block) => block.replace(/^# /gm, '')).replaceAll(keys, '');
  const { paths = {}, github, trend, phabricator } = parseConfig(whole, place);
  expect(Object.keys(paths).toSorted()).toEqual(Object.keys(pathsSchema.parse({})).toSorted());
  expect(github.data).toMatchObject({ directory: '/srv/www/ppsgate', pages: 'https://example.github.io/router' });
  expect(trend.compare).toContain('{from}..{to}');
  expect(phabricator).toMatchObject({
    tokenPath: 'lab/phabricator.token',
    caPath: 'lab/site.pem',
    repositories: ['src'],
    paths: ['sys/net/', 'sys/netinet/', 'sys/netinet6/', 'sys/netpfil/'],
    relay: { webhookKeyPath: 'lab/webhook.key', buildPasswordPath: 'lab/build.password' },
  });
});

test('the example in docs/ shows every way to have gates run, with the defaults of each', () => {
  const [before = '', ...others] = readFileSync(example, 'utf8').split(/^ {4}(?:# )?start: /m);
  const starts = others.map((rest) => rest.split('\n')[0]);
  const startOf = (start: string) => parseConfig(`${before}    start: ${start}\n`, place).phabricator?.relay.start;
  expect(starts.map((start) => startOf(start ?? ''))).toEqual([
    startOf('{}'),
    startOf('{ kind: here, site: "https://ci.example.org/ppsgate" }'),
    startOf('{ kind: github, repository: example/src, tokenFile: github.token }'),
    startOf('{ kind: jenkins, job: "https://ci.example.org/job/ppsgate", user: ppsgate, tokenFile: jenkins.token }'),
  ]);
});

test.each([
  ['../overlays/dut', '../overlays/dut'],
  ['~/dut', '/home/me/dut'],
  ['/srv/dut', '/srv/dut'],
])('the overlay %s is looked for in the repository, so it is kept with the folder of the file', (overlay, path) => {
  const written = `overlay: ${overlay}\ntestbeds: { here: { kind: embedded-linux } }\n`;
  const config = parseConfig(written, { path: 'ci/ppsgate.yml', home: '/home/me' });
  expect(config.overlay).toEqual({ path, beside: 'ci' });
});

test('problems of several lines are in the order of the file', () => {
  const written = `# the lab
testbeds:
  here:
    kind: embedded-linux
  there: { kind: linux, sender: { host: a },
    dut: { host: b, ingress: in0,
           egress: in/1, cpu: 1 }, receiver: { host: c, interface: rx0 } }
gate:
  maxRuns: 48

  margin: 2
marign: 3
`;
  expect(complaint(written).match(/^[^ ]+ [^ ]+/gm)).toEqual([
    'lab/ppsgate.yml:5: testbeds.there.sender.interface:',
    'lab/ppsgate.yml:5: testbeds.there.sender.cpu:',
    'lab/ppsgate.yml:7: testbeds.there.dut.egress:',
    'lab/ppsgate.yml:11: gate.margin:',
    'lab/ppsgate.yml:12: marign:',
  ]);
});

test('lines end as on any system', () => {
  expect(complaint('# lab\r\n\r\ntestbeds: {}\r\n')).toMatch(/^lab\/ppsgate\.yml:3: testbeds: /);
});

test('an alias has the value of its anchor', () => {
  const written = `
testbeds:
  rack:
    kind: linux
    sender: { host: a, key: &key /keys/lab, interface: tx0, cpu: 0 }
    dut: { host: b, key: *key, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: c, key: *key, interface: rx0 }
`;
  expect(parseConfig(written, place).testbeds.rack).toMatchObject({
    dut: { privateKeyPath: '/keys/lab' },
    receiver: { privateKeyPath: '/keys/lab' },
  });
});

test('aliases that multiply are refused before they do', () => {
  const tenfold = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(of).join(', ')}]`;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  const bomb = names.map((name, i) => tenfold(name, i === 0 ? 'x' : `*${names[i - 1]}`));
  expect(complaint(bomb.join('\n'))).toBe(
    'lab/ppsgate.yml: the file nests too deeply, or an alias (*name) in it multiplies or has no anchor; write it out plainly',
  );
});

test('nesting that would end the stack is refused', () => {
  expect(complaint('['.repeat(60_000))).toBe('lab/ppsgate.yml:1: this nests too deeply; write it out plainly');
});

test('a file of 10 MB is refused unread', () => {
  expect(complaint('gate: {}\n'.repeat(1_200_000))).toBe(
    'lab/ppsgate.yml: the file has more than 65536 characters; check that it is the right one',
  );
});

test('a secret in the wrong place is not repeated beyond 40 characters', () => {
  const secret = `-----BEGIN OPENSSH PRIVATE KEY-----\n    ${'c2VjcmV0'.repeat(50)}`;
  const shown = complaint(`overlay: |\n    ${secret}\n"${'k'.repeat(500)}": 1\n`);
  expect(shown).toContain('found "-----BEGIN OPENSSH PRIVATE KEY-----?');
  expect(shown).not.toContain('c2VjcmV0c2VjcmV0');
  expect(shown).not.toContain('k'.repeat(41));
});

test('a missing file, or a folder in its place, is refused', async () => {
  const folder = await temporaryFolder();
  await expect(loadConfig(join(folder, 'ppsgate.yml'))).rejects.toThrow(ConfigError);
  await expect(loadConfig(folder)).rejects.toThrow(ConfigError);
});

test('a file is read, and its paths start beside it', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'ppsgate.yml');
  await writeFile(path, 'testbeds: { here: { kind: embedded-linux } }\n');
  const config = await loadConfig(relative(process.cwd(), path));
  expect(config.overlay).toEqual({ path: 'dut', beside: folder });
});

test('any text is a configuration or a ConfigError', () => {
  const yamlish = fc
    .array(
      fc.constantFrom(
        ...['testbeds', 'gate', 'margin', '2%', ': ', ':', '- ', '\n', '\n  ', '\t', '[', ']', '{'],
        ...['}', ',', '&a ', '*a', '"', "'", '|', '>', '#', '!', '!!set ', '%YAML 1.1\n', '---\n'],
        ...['? ', '<<', '~', '1', '__proto__', '\u0000', '\ufeff', 'kind', 'linux'],
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: anyCharacter }), yamlish), (text) => {
      expect(() => refusal(text)).not.toThrow();
    }),
    { numRuns: times(200) },
  );
});

test('any YAML is a configuration or a ConfigError of known lines', () => {
  const key = fc.constantFrom('testbeds', 'gate', 'traffic', 'rack', 'kind', 'sender', 'host', 'x');
  const { tree } = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.constantFrom('linux', 'forwarding', '2%', null), fc.jsonValue()),
    tree: fc.oneof(
      { maxDepth: 5 },
      tie('leaf'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, fc.boolean(), (value, flow) => {
      const text = stringify(value, { collectionStyle: flow ? 'flow' : 'block' });
      const lines = text.split('\n').length;
      for (const problem of refusal(text)?.problems ?? []) {
        expect(problem.line).toBeGreaterThanOrEqual(0);
        expect(problem.line).toBeLessThanOrEqual(lines);
        expect(problem.message).not.toMatch(/Invalid input|undefined|\n/);
      }
    }),
    { numRuns: times(100) },
  );
});
