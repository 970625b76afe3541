// Maps a changed file to the cells that it can affect, for FreeBSD's tree and for a site's own rules.
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freebsdTestbedSchema } from '../../src/config/freebsd-testbed.ts';
import { pathsSchema } from '../../src/config/paths.ts';
import type { Config, TestbedConfig } from '../../src/config/schema.ts';
import { virtualTestbedSchema } from '../../src/config/virtual-testbed.ts';
import { cellsOf } from '../../src/gate/experiment/plan.ts';
import { isPlaceLeftAlone, placeLeftAlone, touchedCells } from '../../src/kernel/touched.ts';
import { cellName } from '../../src/model/scenario.ts';
import { expectOutputs } from '../fakes/golden-lines.ts';
import { aConfig } from '../fakes/plan.ts';

const generator = { interface: 'ix0', mac: '00:07:43:2e:e5:92', inet4: '198.18.0.110' };

const freebsd = (ports: string, changes: object = {}): TestbedConfig =>
  freebsdTestbedSchema.parse({
    kind: 'freebsd',
    dut: { host: 'dut', ingress: { interface: `${ports}0` }, egress: { interface: `${ports}1` } },
    senders: [{ host: 'tx', ...generator }],
    receiver: { host: 'rx', ...generator, mac: '00:07:43:2e:e5:9a', inet4: '198.19.0.110' },
    ...changes,
  });

const config = (changes: Partial<Config> = {}): Config =>
  aConfig({
    testbeds: { lab: freebsd('cxl') },
    scenarios: ['forwarding', 'pf-stateful', 'ipfw-stateless'],
    families: ['inet4', 'inet6'],
    ...changes,
  });

function touched(changed: string[], changes: Partial<Config> = {}): string[] {
  const own = config(changes);
  return touchedCells(changed, cellsOf(own), { config: own, testbed: 'lab' }).map(cellName);
}

const all = cellsOf(config()).map(cellName);

describe('cells that a patch touches', () => {
  test('are those of golden/touched.txt: of its part, or all where anything may depend on it', async () => {
    await expectOutputs(join(import.meta.dirname, 'golden/touched.txt'), (path) => {
      const cells = touched([path]);
      if (cells.length < all.length) return cells;
      expect(touched(['sys/netpfil/pf/pf.c', path])).toEqual(all);
      return ['all'];
    });
  });

  test('are those of each of its files, and none for files without an effect', () => {
    const both = ['sys/netpfil/pf/pf.c', 'sys/netpfil/ipfw/ip_fw2.c', 'sys/dev/mlx5/driver.h'];
    expect(touched(both)).toEqual(all.filter((name) => !name.startsWith('forwarding')));
    expect(touched(['sys/dev/mlx5/driver.h'])).toEqual([]);
  });

  test("are those of a site's own rules by their firewall, and of a scenario by the places of a site", () => {
    const rules = {
      office: { firewall: 'pf', path: 'office.pf.conf', keepsStates: true },
    } as const;
    const scenarios = ['office', 'pf-stateful', 'forwarding'];
    const families = ['inet4'] as const;
    const own = { rules, scenarios, families: [...families] };
    const pf = ['sys/netpfil/pf/pf.c'];
    expect(touched(pf, own)).toEqual(['office inet4', 'pf-stateful inet4']);
    const paths = pathsSchema.parse({ byScenario: { office: ['local/office*'] } });
    expect(touched(pf, { ...own, paths })).toEqual(['pf-stateful inet4']);
    expect(touched(['local/office-2.c'], { ...own, paths })).toEqual(['office inet4']);
  });

  test('are all on Linux, but for places that a site names', () => {
    const linux = { testbeds: { lab: { kind: 'embedded-linux' } } } satisfies Partial<Config>;
    const paths = pathsSchema.parse({ byScenario: { forwarding: ['dut/forwarding.nft'] } });
    expect(touched(['sys/netpfil/pf/pf.c'], linux)).toEqual(all);
    expect(touched(['dut/forwarding.nft'], { ...linux, paths })).toEqual(all.slice(0, 2));
  });
});

const leftAlone = (path: string, ports: string, changes: Partial<Config> = {}, more: object = {}) =>
  placeLeftAlone(path, {
    config: config({ testbeds: { lab: freebsd(ports, more) }, ...changes }),
    testbed: 'lab',
  });

describe('a file counts for nothing', () => {
  test.each([
    ['sys/dev/cxgbe/t4_sge.c', 'mce', 'cxl'],
    ['sys/dev/cxgbe/firmware/t5fw_cfg.txt', 'ix', 'cc'],
    ['sys/dev/mlx5/mlx5_en/mlx5_en_rx.c', 'cxl', 'mce'],
    ['sys/dev/ixgbe/if_ix.c', 'ixl', 'ix'],
    ['sys/dev/e1000/if_em.c', 'igc', 'igb'],
    ['sys/dev/virtio/network/if_vtnet.c', 'vmx', 'vtnet'],
  ])('that drives other ports than those of the DUT: %s on %s, not on %s', (path, other, own) => {
    expect(path.startsWith(leftAlone(path, other) ?? 'nowhere')).toBe(true);
    expect(leftAlone(path, own)).toBeUndefined();
  });

  test('unless it is a makefile, a folder itself, or shared with other drivers', () => {
    const paths = ['sys/dev/cxgbe/Makefile', 'sys/dev/cxgbe', 'sys/dev/cxgbe.c', 'sys/net/iflib.c'];
    expect(paths.map((path) => leftAlone(path, 'mce'))).toEqual(paths.map(() => undefined));
  });

  test('unless the configured card has its driver', () => {
    const nic = { nic: { driver: 'cxgbe' } };
    expect(leftAlone('sys/dev/cxgbe/t4_sge.c', 'mce', {}, nic)).toBeUndefined();
  });

  test("that drives another card than a guest's, which is virtio's", () => {
    const hostKey = `ssh-ed25519 ${'A'.repeat(68)}`;
    const guests = virtualTestbedSchema.parse({ kind: 'virtual', image: { path: 'x', hostKey } });
    const on = (path: string) =>
      placeLeftAlone(path, { config: config({ testbeds: { lab: guests } }), testbed: 'lab' });
    expect(on('sys/dev/cxgbe/t4_sge.c')).toBe('sys/dev/cxgbe/');
    expect(on('sys/dev/virtio/network/if_vtnet.c')).toBeUndefined();
  });

  test("that is another machine's, if the builder's target is known", () => {
    const builder = (options: string[]) => ({
      builder: { host: 'builder', kernel: { kind: 'make', options } },
    });
    const on = (path: string, options: string[]) => leftAlone(path, 'cxl', {}, builder(options));
    expect(on('sys/riscv/riscv/pmap.c', ['TARGET=amd64'])).toBe('sys/riscv/');
    expect(on('sys/i386/i386/bios.c', ['TARGET=amd64'])).toBeUndefined();
    expect(on('sys/arm/arm/gic.c', ['TARGET=arm64'])).toBeUndefined();
    expect(on('sys/riscv/riscv/pmap.c', [])).toBeUndefined();
    expect(on('sys/riscv/riscv/pmap.c', ['TARGET=other'])).toBeUndefined();
  });

  test('that the site excludes, unless the site counts it everywhere', () => {
    const paths = pathsSchema.parse({
      nothing: ['tools/', 'sys/*/conf/NOTES'],
      everything: ['sys/dev/mlx5/', 'tools/build/'],
    });
    expect(leftAlone('tools/tools/netmap/pkt-gen.c', 'cxl', { paths })).toBe('tools/');
    expect(leftAlone('sys/arm/conf/NOTES', 'cxl', { paths })).toBe('sys/*/conf/NOTES');
    expect(leftAlone('sys/arm/x/conf/NOTES', 'cxl', { paths })).toBeUndefined();
    expect(leftAlone('tools/build/cross.sh', 'cxl', { paths })).toBeUndefined();
    expect(leftAlone('sys/dev/mlx5/driver.h', 'cxl', { paths })).toBeUndefined();
  });

  test('only by a place that is known to be such', () => {
    const on = { config: config(), testbed: 'lab' };
    const path = fc.constantFrom('sys', 'dev', 'mlx5', 'ixl', 'net', 'x.c', 'Makefile', 'arm');
    fc.assert(
      fc.property(fc.array(path, { minLength: 1, maxLength: 5 }), (parts) => {
        const place = placeLeftAlone(parts.join('/'), on);
        if (place !== undefined) expect(isPlaceLeftAlone(place, on)).toBe(true);
      }),
    );
    expect(isPlaceLeftAlone('sys/netpfil/pf/', on)).toBe(false);
  });
});

test.each(['/sys/', '../sys/', 'sys/../', './sys', 'sys/a b', '', 'sys/\n'])('%j is no place in a tree', (place) => {
  expect(pathsSchema.safeParse({ nothing: [place] }).success).toBe(false);
});
