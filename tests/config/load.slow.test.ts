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
import { times } from '../random.ts';

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

test('the example in docs/ is a configuration, with both kinds of testbed', async () => {
  const config = await loadConfig(example, '/home/me');
  expect(Object.values(config.testbeds).map(({ kind }) => kind)).toEqual(['embedded-linux', 'linux']);
});

test('the example in docs/ has the defaults of traffic and gate, except for the metric and the margin', async () => {
  const { traffic, gate } = await loadConfig(example, '/home/me');
  const defaults = parseConfig('testbeds: { a: { kind: embedded-linux } }', place);
  expect(traffic).toEqual(defaults.traffic);
  expect(gate).toEqual({ ...defaults.gate, metric: 'nsPerPacket', marginRatio: 0.05 });
});

test.each(Object.keys(configKeys.shape))('the example in docs/ has the key %s', (key) => {
  expect(readFileSync(example, 'utf8')).toMatch(new RegExp(`^(?:# )?${key}:`, 'm'));
});

test('the example in docs/ keeps reservations as they are kept by default, and shows the other way', async () => {
  const { reservations } = await loadConfig(example, '/home/me');
  const defaults = parseConfig('testbeds: { a: { kind: embedded-linux } }', place);
  expect(reservations).toEqual(defaults.reservations);

  const [, other = ''] = readFileSync(example, 'utf8').split(/(?=^# reservations:)/m);
  const written = `testbeds: { a: { kind: embedded-linux } }\n${other.replace(/^# /gm, '')}`;
  expect(parseConfig(written, place).reservations).toEqual({
    store: 'etcd',
    endpoints: ['https://etcd1.lab:2379', 'https://etcd2.lab:2379'],
    prefix: '/ppsgate/',
    caPath: 'lab/etcd-ca.pem',
    certificatePath: 'lab/client.pem',
    keyPath: 'lab/client.key',
    user: 'ppsgate',
    passwordPath: 'lab/etcd.password',
    leaseSeconds: 30,
  });
});

test('the example in docs/ has all keys of paths', async () => {
  expect(await loadConfig(example, '/home/me')).not.toHaveProperty('paths');
  const written = readFileSync(example, 'utf8').replace(/^# paths:\n(?:# {3}.*\n)+/m, (block) =>
    block.replace(/^# /gm, ''),
  );
  const config = parseConfig(written, place);
  expect(Object.keys(config.paths ?? {}).toSorted()).toEqual(Object.keys(pathsSchema.parse({})).toSorted());
});

test('the example in docs/ has the defaults of github, and the keys without one', async () => {
  const { github } = await loadConfig(example, '/home/me');
  const defaults = parseConfig('testbeds: { a: { kind: embedded-linux } }', place);
  expect(github).toEqual(defaults.github);

  const written = readFileSync(example, 'utf8').replaceAll(/# (?=pages:|directory:)/g, '');
  expect(parseConfig(written, place).github.data).toEqual({
    ...defaults.github.data,
    directory: '/srv/www/ppsgate',
    pages: 'https://example.github.io/router',
  });
});

test('the example in docs/ has the defaults of trend, and the key without one', async () => {
  const { trend } = await loadConfig(example, '/home/me');
  const defaults = parseConfig('testbeds: { a: { kind: embedded-linux } }', place);
  expect(trend).toEqual(defaults.trend);

  const written = readFileSync(example, 'utf8').replace('# compare:', 'compare:');
  expect(parseConfig(written, place).trend.compare).toContain('{from}..{to}');
});

test('the example in docs/ has the defaults of phabricator, and the keys without one', async () => {
  const { phabricator } = await loadConfig(example, '/home/me');
  const least = 'testbeds: { a: { kind: embedded-linux } }\nphabricator: { url: "https://x.org" }';
  const { phabricator: defaults } = parseConfig(least, { ...place, path: example });
  expect(phabricator).toEqual({ ...defaults, url: 'https://reviews.example.org' });

  const keys = /(?<=^ +)# (?=(?:tokenFile|ca|repositories|paths|webhookKeyFile|buildPasswordFile):)/gm;
  const written = readFileSync(example, 'utf8').replaceAll(keys, '');
  expect(parseConfig(written, place).phabricator).toMatchObject({
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

test('paths start at the folder of the file, at home, or at the root', () => {
  const written = `
testbeds:
  rack:
    kind: linux
    sender: { host: a, interface: tx0, cpu: 0, key: keys/lab, knownHosts: /etc/ssh/known }
    dut: { host: b, ingress: in0, egress: out0, cpu: 1, key: ~/.ssh/lab, knownHosts: ./known }
    receiver: { host: c, interface: rx0 }
    labels: [quiet]
reservations: { file: ~/leases.sqlite }
github: { data: { directory: ../www } }
phabricator:
  url: https://reviews.example.org
  tokenFile: ~/token
  ca: site.pem
  relay: { webhookKeyFile: ../keys/webhook, start: { repository: src } }
`;
  const config = parseConfig(written, { path: '/srv/lab/ppsgate.yml', home: '/home/me' });
  expect(config.testbeds.rack).toMatchObject({
    sender: { privateKeyPath: '/srv/lab/keys/lab', knownHostsPath: '/etc/ssh/known' },
    dut: { privateKeyPath: '/home/me/.ssh/lab', knownHostsPath: '/srv/lab/known' },
    receiver: { knownHostsPath: '/home/me/.ssh/known_hosts' },
    capabilities: { labels: ['quiet'] },
  });
  expect(config.reservations).toMatchObject({ path: '/home/me/leases.sqlite' });
  expect(config.github.data).toMatchObject({ directory: '/srv/www' });
  expect(config.phabricator).toMatchObject({
    tokenPath: '/home/me/token',
    caPath: '/srv/lab/site.pem',
    relay: {
      directory: '/home/me/.local/state/ppsgate/relay',
      webhookKeyPath: '/srv/keys/webhook',
      start: { repository: '/srv/lab/src' },
    },
  });
  expect(config.testbeds.rack).not.toHaveProperty('receiver.privateKeyPath');
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

test('a problem is reported with file, line and key, in the order of the file', () => {
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
scenarios:
  - forwarding
  - 7
marign: 3
`;
  expect(complaint(written).split('\n')).toEqual([
    'lab/ppsgate.yml:5: testbeds.there.sender.interface: missing; expected the name of a network interface like eth0',
    'lab/ppsgate.yml:5: testbeds.there.sender.cpu: missing; expected a whole number from 0 to 8191',
    'lab/ppsgate.yml:7: testbeds.there.dut.egress: expected the name of a network interface like eth0, found "in/1"',
    'lab/ppsgate.yml:11: gate.margin: expected a percentage like 2%, found 2',
    'lab/ppsgate.yml:14: scenarios[1]: expected the name of a scenario, found 7',
    'lab/ppsgate.yml:15: marign: unknown key `marign`; known here: overlay, testbeds, each, scenarios, rules, families, paths, traffic, gate, profile, history, reservations, github, trend, phabricator',
  ]);
});

test('an error carries its problems as data', () => {
  expect(() => parseConfig('testbeds: {}', place)).toThrow(
    expect.objectContaining({
      name: 'ConfigError',
      problems: [{ line: 1, key: 'testbeds', message: 'expected at least one testbed, found none' }],
    }),
  );
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

test('a problem behind an alias is reported at the line of the anchor', () => {
  const written = `
testbeds:
  a: &bed
    kind: linus
  b: *bed
`;
  expect(complaint(written).match(/^[^ ]+ [^ ]+/gm)).toEqual([
    'lab/ppsgate.yml:4: testbeds.a.kind:',
    'lab/ppsgate.yml:4: testbeds.b.kind:',
  ]);
});

test('a duplicate key is reported with the line of the first', () => {
  const written = `
gate:
  margin: 2%
  maxRuns: 8
  margin: 3%
testbeds: { a: { kind: embedded-linux, kind: linux } }
`;
  expect(complaint(written).split('\n')).toEqual([
    'lab/ppsgate.yml:5: gate.margin: duplicate key `margin`; it is on line 3 already',
    'lab/ppsgate.yml:6: testbeds.a.kind: duplicate key `kind`; it is on line 6 already',
  ]);
});

test.each([
  ['no text', ''],
  ['only a comment', '# to be written\n'],
  ['only a document marker', '---\n'],
])('a file with %s is empty', (_, text) => {
  expect(complaint(text)).toBe('lab/ppsgate.yml: the file is empty; write one, see docs/example/ppsgate.yml');
});

test.each([
  ['a list', '\n- forwarding', '2: expected keys and values, found a list'],
  ['a text', 'forwarding', '1: expected keys and values, found "forwarding"'],
])('%s at the top is no configuration', (_, text, problem) => {
  expect(complaint(text)).toBe(`lab/ppsgate.yml:${problem}`);
});

test.each([
  ['a key indented deeper', 'gate:\n  margin: 2%\n   runs: 4\n', /:2: this value runs into another/],
  ['a key indented less', 'gate:\n  margin: 2%\n runs: 4\n', /:3: this line is not indented like/],
  ['a tab', 'gate:\n\tmargin: 2%\n', /:2: a tab indents this line; use spaces$/],
  ['no colon', 'gate:\n  margin 2%\n  runs: 4\n', /:2: this line has no key; write `name: value`/],
  ['an open bracket', 'families: [inet4\ngate: {}\n', /:2: .* or a bracket before it is open/],
  ['an open quote', 'overlay: "dut\ngate: {}\n', /:3: a colon, quote or bracket is missing/],
  ['a missing comma', 'gate: { margin: 2% runs: 4 }', /:1: a comma is missing/],
  ['a closing bracket too many', 'families: [inet4]]', /:1: a bracket, comma or sign/],
  ['an odd first character', 'overlay: @dut', /:1: .* put the value in quotes$/],
  ['a second document', 'gate: {}\n---\ngate: {}\n', /:2: a second YAML document starts here/],
  ['a tag', 'overlay: !!binary aGk=', /:1: a tag \(!name\) means nothing here; remove it$/],
  ['a list as a key', '? [a]\n: b', /:1: a key has to be plain text/],
  ['a star', 'overlay: *', /:1: an alias \(\*name\) has no anchor/],
])('YAML with %s is answered in one sentence that names the line', (_, text, sentence) => {
  expect(complaint(text)).toMatch(sentence);
  expect(complaint(text)).not.toContain('\n');
});

test('aliases that multiply are refused before they do', () => {
  const tenfold = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(of).join(', ')}]`;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  const bomb = names.map((name, i) => tenfold(name, i === 0 ? 'x' : `*${names[i - 1]}`));
  expect(complaint(bomb.join('\n'))).toBe(
    'lab/ppsgate.yml: the file nests too deeply, or an alias (*name) in it multiplies or has no anchor; write it out plainly',
  );
});

test('an alias without its anchor is refused', () => {
  expect(complaint('overlay: *dut')).toMatch(/an alias \(\*name\) in it multiplies or has no anchor/);
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

test('a missing file is reported with the place of an example', async () => {
  const path = join(await temporaryFolder(), 'ppsgate.yml');
  await expect(loadConfig(path)).rejects.toThrow(
    new ConfigError(path, [
      {
        line: 0,
        key: '',
        message: 'there is no such file; write one with `ppsgate init`, or name yours',
      },
    ]),
  );
});

test('a folder is not a file', async () => {
  const folder = await temporaryFolder();
  await expect(loadConfig(folder)).rejects.toThrow(
    `${folder}: the file cannot be read (EISDIR); check that it is a file and that this user may read it`,
  );
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
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), yamlish), (text) => {
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
