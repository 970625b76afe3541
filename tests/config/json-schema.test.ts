// Tests that docs/ppsgate.schema.json describes ppsgate.yml to editors: it accepts all valid files, and refuses as much
// as JSON Schema can express.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { hostedConfig, labConfig } from '../../src/cli/init/config-file.ts';
import { configKeys, configSchema } from '../../src/config/schema.ts';

const docs = join(import.meta.dirname, '../../docs');

const schema: object = {
  $id: 'https://raw.githubusercontent.com/ppsgate/ppsgate/v1/docs/ppsgate.schema.json',
  title: 'ppsgate.yml',
  description: 'What ppsgate measures, and where. A quantity carries its unit: 2%, 3 Mpps, 500 ms.',
  ...z.toJSONSchema(configKeys, {
    io: 'input',
    // Keys that are not known; see `closed`.
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { patterns = [] } = zodSchema._zod.bag as { patterns?: Iterable<RegExp> };
      for (const { flags, source } of patterns) {
        if (flags.includes('i')) throw new Error(`JSON Schema minds case: spell it out in ${source}`);
      }
      // URL accepts more than RFC 3986 calls a URI.
      if (jsonSchema.format === 'uri') delete jsonSchema.format;
    },
  }),
};

const fits = new Ajv2020().compile(schema);
const isRead = (value: unknown): boolean => configSchema.safeParse(value).success;

const embedded = 'testbeds: { here: { kind: embedded-linux } }';

const phabricator = (start: string): string => `${embedded}
phabricator:
  url: https://reviews.example.org/
  tokenFile: token
  ca: site.pem
  repositories: [src]
  paths: [sys/net/]
  projects: [Network]
  relay: { webhookKeyFile: webhook.key, buildPasswordFile: build.password, start: { ${start} } }
`;

const freebsd = (more: string): string => `testbeds:
  bench:
    kind: freebsd
    dut: { host: dut, ingress: { interface: ix0 }, egress: { interface: ix1 } }
    senders: [{ host: tx, interface: ix0, mac: "00:07:43:2e:e4:81", inet4: 198.18.0.110 }]
    receiver: { host: rx, interface: ix0, mac: "00:07:43:2e:e4:89", inet4: 198.19.0.110 }
    ${more}
`;

const powered = (power: string): string => freebsd('').replace('ix1 }', `ix1 }, power: { ${power} }`);

/** Small configurations with keys that the documented ones lack; the tests change them in thousands of ways. */
const rare: [string, string][] = [
  [
    'with three Linux hosts, and most of what else is rare',
    `
testbeds:
  rack:
    kind: linux
    sender: { host: "fe80::1%eth0", user: Root, interface: tx0, cpu: 0 }
    dut: { host: DUT.lab, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: 192.0.2.12, interface: rx0 }
each: [chelsio, mellanox and not release, cores>=8]
traffic: { frameSizes: [64 bytes, 1518B], measure: 1 min, measureAtLeast: 10 s, runsPerTrial: 1 }
gate: { design: fixed, maxRuns: 130, stopAtFirst: true }
paths:
  everything: [dut/common/]
  nothing: [tools/, "sys/*/conf/NOTES"]
  byDriver: { mlxen: [sys/dev/mlx4/] }
  byScenario: { nftables-stateful: [dut/nftables.conf] }
  byFamily: { inet4: [sys/netinet/], inet6: [sys/netinet6/] }
profile: { enabled: false, event: cpu_clk_unhalted.thread_p }
github:
  unasked: neutral
  people: ["renovate[BOT]"]
  data: { branch: false, directory: /srv/www, pages: HTTPS://example.github.io/röuter }
trend: { bisect: true, issues: false, compare: "https://cgit.example.org/src/log/?qt=range&q={from}..{to}" }
`,
  ],
  [
    'with a FreeBSD testbed and rules of its own',
    `
testbeds:
  shelf:
    kind: freebsd
    dut:
      host: dut
      ingress: { interface: cxl0, speed: 2.5Gbit/s, queues: 8 }
      egress: { interface: cxl1 }
      boot: { method: boot-environment, limit: 12 min }
      power: { kind: ipmi, host: bmc, port: 623, user: ADMIN, passwordFile: bmc.password, cipherSuite: 17 }
      console: { kind: ipmi, host: bmc, user: ADMIN, passwordFile: bmc.password }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:2E:e4:71", inet4: 198.18.0.110, threads: 4, backToBack: { from: cxl2, to: cxl3 } }]
    receiver: { host: rx, interface: cxl0, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110, inet6: "2001:2:0:8000::11" }
    preflight: fix
    waive: { machdep.hyperthreading_allowed: 32 queues need the threads }
scenarios: [office]
rules: { office: { firewall: ipfw, file: office.ipfw, keepsStates: true } }
`,
  ],
  [
    'with a builder that makes kernels',
    freebsd(`
    builder:
      host: builder
      folder: /var/db/ppsgate
      repository: /usr/src
      remote: origin
      kernel:
        kind: make
        kernelConfig: LAB
        kernelConfigFolder: /usr/local/etc/kernels
        jobs: 8
        clean: false
        metaMode: true
        toolchain: false
        modules: needed
        options: [-DNO_CLEAN, CFLAGS=-O2]
      layoutVariants: 8
      limit: 120 min
      turn: 240 min
      jail: { name: ppsgate, user: ppsgate }
      freeSpace: 10GB
      keep: { kernels: 50, size: 20 GB }
`),
  ],
  [
    'with a builder that has a command of its own',
    freebsd('builder: { host: builder, kernel: { kind: command, argv: [build, "1"] } }'),
  ],
  [
    'with virtual machines whose kernels are built',
    `
testbeds:
  guests:
    kind: virtual
    accelerator: kvm
    memory: 512
    modules: [act_mirred]
    builder:
      user: kernels
      folder: /var/lib/ppsgate-builds
      repository: /usr/src/linux
      remote: origin
      kernel:
        kind: linux
        config: guest.config
        jobs: 8
        clean: false
        options: [LLVM=1]
      limit: 120 min
      turn: 240 min
      freeSpace: 10GB
      keep: { kernels: 50, size: 20 GB }
traffic: { windows: 8, windowPackets: 10000 }
scenarios: [forwarding]
`,
  ],
  [
    'with described packets',
    `
testbeds: { here: { kind: embedded-linux } }
traffic:
  protocol: tcp
  ports: { source: 1024-65535, destination: 443 }
  addresses: { inet4: { source: 192.168.1.0/24 }, inet6: { destination: "2001:db8::/32" } }
  frameSize: [{ bytes: 64 bytes, weight: 7 }, { bytes: 1518B, weight: 1 }]
`,
  ],
  [
    'with virtual machines whose kernels another machine builds by a command of its own',
    `
testbeds:
  guests:
    kind: virtual
    kernel: vmlinuz.deb
    builder: { host: builder, user: kernels, kernel: { kind: command, argv: [build, "1"] } }
`,
  ],
  [
    'with kernels of FreeBSD that another Linux machine builds',
    `
testbeds:
  guests:
    kind: virtual
    image: { path: freebsd.raw.xz }
    builder:
      kind: cross
      host: builder
      port: 2222
      user: kernels
      key: ~/.ssh/lab
      knownHosts: known_hosts
      folder: /var/lib/ppsgate-builds
      repository: /usr/src
      remote: origin
      kernelConfig: GENERIC
      jobs: 4
      clean: false
      modules: all
      options: [-DWITHOUT_SSP]
      tools: /usr/lib/llvm-18/bin
      limit: 120 min
      turn: 240 min
      freeSpace: 10 GB
      keep: { kernels: 50, size: 20 GB }
`,
  ],
  [
    'with virtual machines that boot an image of their own',
    `
testbeds:
  guests:
    kind: virtual
    image:
      path: freebsd.qcow2
      key: ~/.ssh/guests
      hostKey: ssh-ed25519 ${'A'.repeat(68)}
      limit: 5 min
`,
  ],
  [
    'with a console by a command',
    freebsd('').replace('ix1 }', 'ix1 }, console: { kind: command, command: [cu, "-l", ttyu3] }'),
  ],
  [
    'with a console of conserver',
    freebsd('').replace('ix1 }', 'ix1 }, console: { kind: conserver, console: dut-3, host: consoles.lab, port: 782 }'),
  ],
  [
    'with Redfish and an authority',
    powered('kind: redfish, url: https://bmc.lab/redfish/v1/Systems/1, user: admin, ca: bmc.pem'),
  ],
  [
    'with Redfish and a certificate',
    powered(`kind: redfish, url: https://bmc/Systems/1, user: admin, certificateSha256: ${'aB'.repeat(32)}`),
  ],
  ['with a power strip', powered('kind: command, on: [pdu, on], off: [pdu, off], state: [pdu], cycle: [pdu, cycle]')],
  [
    'with etcd',
    `${embedded}
reservations:
  store: etcd
  endpoints: [https://etcd1.lab:2379]
  prefix: /ppsgate/
  ca: ca.pem
  certificate: client.pem
  key: client.key
  user: ppsgate
  passwordFile: etcd.password
  lease: 30 s
`,
  ],
  [
    'with Phabricator and GitHub',
    phabricator('kind: github, repository: example/src, tokenFile: token, api: https://api.github.com, event: ppsgate'),
  ],
  [
    'with Phabricator and Jenkins',
    phabricator('kind: jenkins, job: https://ci.example.org/job/ppsgate, user: ppsgate, tokenFile: token'),
  ],
  [
    'with files of any place',
    'overlay: { files: { nftables.conf: a, sysctl.conf: b, pf.conf: c, ipfw.rules: d } }\ntestbeds: { here: { kind: embedded-linux } }\n',
  ],
  [
    'with interfaces of the files',
    'overlay: { folder: dut, interfaces: { eth0: ingress, wg0: unused } }\ntestbeds: { here: { kind: embedded-linux } }\n',
  ],
  ['with Phabricator alone', phabricator('site: https://ci.example.org/ppsgate, most: 2')],
];

const documented = (folder: string): [string, string][] =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => [`docs/${folder}/${name}`, readFileSync(join(docs, folder, name), 'utf8')]);

const inDocs = [...documented('example'), ...documented('lab')];

test('docs/ppsgate.schema.json is made of what is read', async () => {
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../../docs/ppsgate.schema.json');
});

test.each(inDocs)('%s points editors to the schema', (_, text) => {
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../ppsgate.schema.json');
});

const action = `OWNER/ppsgate@${'a'.repeat(40)}`;

test.each([
  ...inDocs,
  ...rare,
  ['of `init` for a runner of GitHub', hostedConfig(action)],
  ['of `init` for a lab', labConfig(action)],
])('the ppsgate.yml %s is read, and fits the schema', (_, text) => {
  const config: unknown = parse(text);
  expect(configSchema.safeParse(config).error?.issues).toBeUndefined();
  expect(fits(config), JSON.stringify(fits.errors)).toBe(true);
});

const changed = [...documented('example'), ...rare];

describe.each(changed)('the ppsgate.yml %s', (_, text) => {
  const config: unknown = parse(text);

  test('fits with every change with which it is read', () => {
    const wrong = changesOf(config, (value) => [...others, ...spellings(value), undefined])
      .filter(({ changed }) => !fits(changed) && isRead(changed))
      .map(({ path, other }) => [path.join('.'), other]);
    expect(wrong).toEqual([]);
  });

  test('fits with a value of another type only where it is read', () => {
    const wrong = changesOf(config, (value) => others.filter((one) => typeOf(one) !== typeOf(value)))
      .filter(({ changed }) => fits(changed) && !isRead(changed))
      .map(({ path, other }) => [path.join('.'), other]);
    expect(wrong).toEqual([]);
  });

  test('neither fits nor is read with an unknown key', () => {
    for (const { path, value } of placesIn(config).filter(isClosed)) {
      const changed = replaced(config, path, { ...(value as object), flwos: 1 });
      expect([path, fits(changed), isRead(changed)]).toEqual([path, false, false]);
    }
  });
});

test('the ppsgate.yml that are changed have every key that the schema has', () => {
  const used = new Set(changed.flatMap(([, text]) => keysOf(parse(text))));
  expect([...new Set(namedIn(schema))].filter((key) => !used.has(key))).toEqual([]);
});

test.each(['$id', 'title', 'description'])('the schema has a %s', (key) => {
  expect(schema).toHaveProperty([key]);
});

type Place = { path: (string | number)[]; value: unknown };

/** Every value in it, itself first. */
function placesIn(value: unknown, path: (string | number)[] = []): Place[] {
  const children: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : typeOf(value) === 'object'
      ? Object.entries(value as object)
      : [];
  return [{ path, value }, ...children.flatMap(([key, child]) => placesIn(child, [...path, key]))];
}

const others = [null, true, 0, 1, 2.5, -1, 1e9, '', 'x', '5', '5%', '3 s', [], ['x'], {}];

const spellings = (value: unknown): unknown[] =>
  typeof value === 'string' ? [value.toUpperCase(), value.toLowerCase(), `${value}x`, value.replace(' ', '')] : [];

const changesOf = (config: unknown, othersFor: (value: unknown) => unknown[]) =>
  placesIn(config).flatMap(({ path, value }) =>
    othersFor(value).map((other) => ({ path, other, changed: replaced(config, path, other) })),
  );

/** A copy with another value at a place, or without it. */
function replaced(value: unknown, [key, ...rest]: Place['path'], other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      if (index !== key) return [item];
      return rest.length === 0 && other === undefined ? [] : [replaced(item, rest, other)];
    });
  }
  const entries = Object.entries(value as object).flatMap(([name, item]) => {
    if (name !== key) return [[name, item]];
    return rest.length === 0 && other === undefined ? [] : [[name, replaced(item, rest, other)]];
  });
  return Object.fromEntries(entries);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Testbeds and rules have names of the site's own. */
const isClosed = ({ path, value }: Place): boolean =>
  typeOf(value) === 'object' && !['testbeds', 'rules'].includes(path.join('.'));

const keysOf = (value: unknown): (string | number)[] => placesIn(value).flatMap(({ path }) => path.at(-1) ?? []);

/** The keys that a schema knows by name. */
function namedIn(part: unknown): string[] {
  return placesIn(part)
    .filter(({ path }) => path.at(-1) === 'properties')
    .flatMap(({ value }) => Object.keys(value as object));
}
