// The manual of a `kind: virtual` testbed in ppsgate.yml.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, parseConfig } from '../../src/config/load.ts';
import { whyUnfit } from '../../src/config/schema.ts';

const place = { path: '/lab/ppsgate.yml', home: '/home/me' };
const read = (keys: string, more = '') =>
  parseConfig(`testbeds: { guests: { kind: virtual, ${keys} } }\n${more}`, place);

/** `key: message` of every problem. */
function problemsOf(keys: string, more = ''): string[] {
  try {
    read(keys, more);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ key, message }) => `${key}: ${message}`);
  }
}

describe('a virtual testbed', () => {
  test('needs nothing but its kind', () => {
    expect(read('').testbeds.guests).toEqual({
      kind: 'virtual',
      system: 'linux',
      accelerator: 'tcg',
      memoryMebibytes: 256,
      modules: [],
    });
  });

  test('has its files beside ppsgate.yml, or at home', () => {
    const builder = 'builder: { user: kernels, kernel: { kind: linux, config: ~/guest.config } }';
    const keys = `accelerator: kvm, memory: 512, kernel: guest.deb, modules: [act_mirred, nf-log]`;
    expect(read(`${keys}, ${builder}`).testbeds.guests).toMatchObject({
      accelerator: 'kvm',
      memoryMebibytes: 512,
      kernelPath: '/lab/guest.deb',
      modules: ['act_mirred', 'nf-log'],
      builder: {
        jail: { user: 'kernels' },
        recipe: { kind: 'linux', configPath: '/home/me/guest.config' },
      },
    });
  });

  test('requires its kind, like any other', () => {
    expect(read('labels: [quiet]').testbeds.guests).toMatchObject({
      capabilities: { labels: ['quiet'] },
    });
  });

  test.for([
    ['memory: 127', 'memory: expected a whole number from 128 to 65536, found 127'],
    ['accelerator: xen', 'accelerator: expected one of tcg, kvm, found "xen"'],
    ['modules: [../x]', 'modules[0]: expected the name of a kernel module like act_mirred, found "../x"'],
    ['modules: ["a b"]', 'modules[0]: expected the name of a kernel module like act_mirred, found "a b"'],
    ['modules: [-v]', 'modules[0]: expected the name of a kernel module like act_mirred, found "-v"'],
    [
      'builder: { user: root, kernel: { kind: linux, config: x } }',
      'builder.user: expected a user of the builder other than root, found "root"',
    ],
  ] as const)('is refused with %s', ([keys, problem]) => {
    expect(problemsOf(keys)).toEqual([`testbeds.guests.${problem}`]);
  });

  test('has no key for other machines: it is this one', () => {
    expect(problemsOf('host: tx')).toEqual([expect.stringMatching(/^testbeds\.guests\.host: unknown key `host`/)]);
  });
});

const key = `ssh-ed25519 ${'A'.repeat(68)}`;
const image = (more = '') => `image: { path: images/freebsd.qcow2, hostKey: ${key}, ${more} }`;

describe('a virtual testbed with an image', () => {
  test('has guests with FreeBSD, and more memory', () => {
    expect(read(image()).testbeds.guests).toEqual({
      kind: 'virtual',
      system: 'freebsd',
      accelerator: 'tcg',
      memoryMebibytes: 1024,
      image: { path: '/lab/images/freebsd.qcow2', hostKey: key, bootSeconds: 600 },
    });
  });

  test('lets root in by a key beside ppsgate.yml, or at home', () => {
    expect(read(image('key: ~/.ssh/guests, limit: 5 min')).testbeds.guests).toMatchObject({
      image: { privateKeyPath: '/home/me/.ssh/guests', bootSeconds: 300 },
    });
  });

  test('has a builder with FreeBSD', () => {
    const builder = 'builder: { host: builder, key: ~/.ssh/lab, kernel: { kind: make } }';
    expect(read(`${image()}, ${builder}`).testbeds.guests).toMatchObject({
      builder: {
        system: 'freebsd',
        host: 'builder',
        privateKeyPath: '/home/me/.ssh/lab',
        recipe: { kind: 'make', kernelConfig: 'GENERIC' },
      },
    });
  });

  test('has a builder with Linux, which is this machine unless it has a host', () => {
    const builder = 'builder: { kind: cross, user: kernels }';
    expect(read(`${image()}, ${builder}`).testbeds.guests).toMatchObject({
      builder: {
        system: 'linux',
        jail: { user: 'kernels' },
        recipe: { kind: 'make', kernelConfig: 'GENERIC', modules: 'needed', cross: {} },
      },
    });
    const elsewhere = 'builder: { kind: cross, user: kernels, host: builder, tools: /opt/llvm/bin }';
    const { guests } = read(`${image()}, ${elsewhere}`).testbeds;
    expect(guests).toMatchObject({
      builder: { host: 'builder', recipe: { cross: { toolFolder: '/opt/llvm/bin' } } },
    });
    expect(guests).not.toHaveProperty('builder.jail');
  });

  test('carries scenarios of FreeBSD, and rules of the site', () => {
    const more = `scenarios: [pf-stateful, office]
rules: { office: { firewall: pf, file: office.pf } }`;
    const config = read(image(), more);
    expect(config.scenarios).toEqual(['pf-stateful', 'office']);
    expect(whyUnfit(config, 'guests')).toBeUndefined();
  });

  test('counts instructions, as with Linux', () => {
    expect(read(image())).toMatchObject({
      traffic: { windows: { count: 8, packets: 10_000 } },
      gate: { metric: 'instructionsPerPacket', marginRatio: 0.01 },
    });
  });

  test('is an official image without a host key, beside ppsgate.yml', () => {
    const sum = 'aB'.repeat(64);
    const config = read(`image: { path: freebsd.raw.xz, sha512: ${sum} }`);
    expect(config.testbeds.guests).toMatchObject({
      image: { path: '/lab/freebsd.raw.xz', sha512: sum.toLowerCase(), bootSeconds: 600 },
    });
  });

  test.for([
    ['image: { path: x, key: k }', 'image.key: goes with `hostKey`'],
    [image(`sha512: ${'a'.repeat(128)}`), 'image.sha512: is of an official image'],
    ['image: { path: x, sha512: abc }', 'image.sha512: expected a SHA-512 of 128 hexadecimal digits'],
    ['image: { path: x, hostKey: ssh-ed25519 }', 'image.hostKey: expected the public host key of'],
    [`${image()}, builder: { kind: cross }`, 'builder.user: missing; expected a user of the builder'],
    [`${image()}, builder: { kind: make }`, 'builder.kind: expected `kind: cross`'],
    [
      `${image()}, builder: { kind: cross, user: kernels, options: [TARGET=arm64] }`,
      'builder.options: a cross builder builds kernels for amd64 only',
    ],
    [image('limit: 10 s'), 'image.limit: expected a duration from 1 min to 60 min'],
    [image('user: me'), 'image.user: unknown key `user`'],
    [`${image()}, kernel: x.deb`, 'kernel: only Linux is booted without a disk'],
    [`${image()}, modules: [pf]`, 'modules: only Linux is booted without a disk'],
    [
      `${image()}, builder: { user: kernels, kernel: { kind: linux, config: x } }`,
      'builder.kernel.kind: expected `kind: make` or `kind: command`',
    ],
    [
      `${image()}, builder: { host: builder, kernels: { kind: make } }`,
      'builder.kernels: unknown key `kernels`; it belongs under `testbeds.guests.builder.keep`',
    ],
    [
      'builder: { host: builder, user: kernels, kernel: { kind: make } }',
      'builder.kernel.kind: expected `kind: linux` or `kind: command`',
    ],
  ] as const)('is refused with %s', ([keys, problem]) => {
    expect(problemsOf(keys)).toContainEqual(expect.stringContaining(`testbeds.guests.${problem}`));
  });
});

describe('where all testbeds are virtual', () => {
  test('one pair is booted for a trial, and packets are counted out', () => {
    expect(read('').traffic).toEqual({
      flows: 2000,
      frameBytes: 64,
      warmUpSeconds: 0,
      settleSeconds: 0,
      measureSeconds: 2,
      measureAtLeastSeconds: 2,
      runsPerTrial: 2,
      windows: { count: 8, packets: 10_000 },
    });
  });

  test('either number of windows may be given alone', () => {
    expect(read('', 'traffic: { windows: 4 }').traffic.windows).toEqual({
      count: 4,
      packets: 10_000,
    });
    expect(read('', 'traffic: { windowPackets: 1000 }').traffic.windows).toEqual({
      count: 8,
      packets: 1000,
    });
  });

  test('instructions for each packet are compared, and a loss of 1 % matters', () => {
    const { gate } = read('');
    expect(gate).toMatchObject({ metric: 'instructionsPerPacket', marginRatio: 0.01 });
  });

  test('compares CPU time under KVM, which counts no instructions, with a margin of 2 %', () => {
    const { gate } = read('accelerator: kvm');
    expect(gate).toMatchObject({ metric: 'nsPerPacket', marginRatio: 0.02 });
  });

  test('written values override defaults', () => {
    const { gate } = read('', 'gate: { metric: pps, margin: 5% }');
    expect(gate).toMatchObject({ metric: 'pps', marginRatio: 0.05 });
    expect(read('', 'gate: { margin: 5% }').gate).toMatchObject({
      metric: 'instructionsPerPacket',
      marginRatio: 0.05,
    });
  });

  test('a profile is taken', () => {
    expect(read('').profile).toEqual({ seconds: 1.8 });
  });

  test.for([
    ['traffic: { windows: 1 }', 'traffic.windows: expected a whole number from 2 to 1000, found 1'],
    [
      'traffic: { windowPackets: 999 }',
      'traffic.windowPackets: expected a whole number from 1000 to 100000, found 999',
    ],
    [
      'scenarios: [pf-stateless]',
      'scenarios[0]: expected one of forwarding, nftables-stateless, nftables-stateful, found "pf-stateless"',
    ],
  ] as const)('%s is refused', ([more, problem]) => {
    expect(problemsOf('', more)).toEqual([problem]);
  });
});

describe('whether anything can be measured', () => {
  const lab = 'here: { kind: embedded-linux }';
  const mixed = (more = '', keys = '') =>
    parseConfig(`testbeds: { ${lab}, guests: { kind: virtual, ${keys} } }\n${more}`, place);

  test('on a virtual testbed, by its own defaults, it can', () => {
    expect(whyUnfit(read(''), 'guests')).toBeUndefined();
    expect(whyUnfit(read('accelerator: kvm'), 'guests')).toBeUndefined();
  });

  test('beside testbeds of other kinds a virtual one has no windows, and cannot', () => {
    expect(whyUnfit(mixed(), 'guests')).toBe(
      'guests sends a fixed number of packets, while the other testbeds of this configuration measure for a time: give virtual testbeds a separate ppsgate.yml.',
    );
    expect(whyUnfit(mixed(), 'here')).toBeUndefined();
  });

  test('beside a virtual testbed another one is not judged by instructions', () => {
    const config = mixed('gate: { metric: instructionsPerPacket }');
    expect(whyUnfit(config, 'here')).toBe(
      'here counts no instructionsPerPacket, unlike virtual testbeds with `accelerator: tcg`: judge it by pps or nsPerPacket.',
    );
  });

  test('under KVM a testbed is not judged by instructions', () => {
    const config = read('accelerator: kvm', 'gate: { metric: instructionsPerPacket }');
    expect(whyUnfit(config, 'guests')).toBe(
      'guests counts no instructionsPerPacket, unlike virtual testbeds with `accelerator: tcg`: judge it by pps or nsPerPacket.',
    );
  });
});

test('docs/example/virtual-freebsd.yml can be measured on', () => {
  const path = join(import.meta.dirname, '../../docs/example/virtual-freebsd.yml');
  const example = parseConfig(readFileSync(path, 'utf8'), place);
  expect(whyUnfit(example, 'guests')).toBeUndefined();
});

describe('docs/example/virtual.yml', () => {
  const written = readFileSync(join(import.meta.dirname, '../../docs/example/virtual.yml'), 'utf8');
  const example = parseConfig(written, place);
  const builder = 'user: kernels, kernel: { kind: linux, config: ./linux-guest.config, jobs: 8 }';

  test('has the defaults of such a testbed, and can be measured on', () => {
    expect(example.testbeds).toEqual(read(`builder: { ${builder} }, labels: [quiet]`).testbeds);
    expect(whyUnfit(example, 'guests')).toBeUndefined();
  });

  test('has the defaults of traffic and gate', () => {
    const { traffic, gate, overlay } = read('');
    expect(example).toMatchObject({ traffic, gate, overlay });
  });

  test('shows the keys without a default, and placeholders for the configured ones', () => {
    const other = written
      .replaceAll(/^ +kernel:\n(?: {8}.*\n)+/gm, '')
      .replaceAll(/# (?=(?:kernel|host|port|key|knownHosts): )/g, '');
    expect(parseConfig(other, place).testbeds.guests).toMatchObject({
      kernelPath: '/lab/guest.deb',
      builder: {
        host: 'builder.lab.example',
        port: 22,
        user: 'kernels',
        privateKeyPath: '/home/me/.ssh/lab',
        knownHostsPath: '/lab/known_hosts',
        recipe: { kind: 'command', argv: ['/usr/local/bin/build-linux'] },
      },
    });
  });
});
