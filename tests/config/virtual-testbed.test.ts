// Parses virtual testbeds, and their examples in docs/.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { whyUnfit } from '../../src/config/schema.ts';

const place = { path: '/lab/ppsgate.yml', home: '/home/me' };
const read = (keys: string, more = '') =>
  parseConfig(`testbeds: { guests: { kind: virtual, ${keys} } }\n${more}`, place);

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
