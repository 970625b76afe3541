// Finds changes of an overlay that cannot act.
import { describe, expect, test } from 'vitest';
import {
  findInertChanges,
  ignoredParts,
  type LoadableOverlay,
  loadable,
} from '../../../src/lab/linux/linux-overlay.ts';

const ports = { ingress: 'cxl0', egress: 'cxl1' };

const overlay = (variant: string, sysctl: string, nftables = ''): LoadableOverlay => {
  const file = (path: string, content: string) => ({ path, content, mode: '100644', sha256: '' });
  const files = [file('sysctl.conf', sysctl), file('nftables.conf', nftables)];
  const read = loadable({ variant, commit: '0'.repeat(40), files }, ports);
  if (read.kind === 'refused') throw new Error(read.message);
  return read;
};

const dut = { before: new Map([['net/core/default_qdisc', 'fq_codel']]), fixed: new Set<string>() };
const compare = (base: string, patched: string, known = dut, rules: [string, string] = ['', '']) =>
  findInertChanges([overlay('base', base, rules[0]), overlay('patched', patched, rules[1])], known);
const refused = (message: string) => ({
  kind: 'refused',
  variant: 'patched',
  message: expect.stringContaining(message),
});

describe('a patch that changes nothing but settings that cannot act', () => {
  test.for([
    'net.core.default_qdisc',
    'net.core.rps_default_mask',
    'net.ipv4.conf.default.rp_filter',
    'net.ipv6.conf.default.forwarding',
    'net.mpls.conf.default.input',
  ])('is refused, with its line: %s', (name) => {
    const path = name.replaceAll('.', '/');
    const message = `sysctl.conf line 2: ${path} affects only interfaces that are created later, and patched does not differ`;
    expect(compare('', `# new\n${name} = 7\n`)).toEqual(refused(message));
  });

  test('is refused where the machine keeps the value for itself', () => {
    const path = 'net/netfilter/nf_conntrack_max';
    const known = { before: new Map([[path, '1000']]), fixed: new Set([path]) };
    expect(compare('', `${path} = 2000\n`, known)).toEqual(refused(`line 1: ${path} belongs to`));
    expect(compare('', `${path} = 1000\n`, known)).toEqual({ kind: 'acts', warnings: [] });
  });
});

test('A patch that changes rules or another setting as well is measured, with a warning.', () => {
  const acts = {
    kind: 'acts',
    warnings: [expect.stringContaining('sysctl.conf line 1: net/core/default_qdisc affects')],
  };
  const qdisc = 'net.core.default_qdisc = fq\n';
  expect(compare('', `${qdisc}net.ipv4.ip_forward = 1\n`)).toEqual(acts);
  expect(compare('', qdisc, dut, ['', 'table inet t {}\n'])).toEqual(acts);
  const variants = [overlay('base', ''), overlay('patched', qdisc)];
  expect(findInertChanges(variants, dut, () => true)).toEqual(acts);
});

test('A setting that cannot act is no matter where both variants have its value.', () => {
  const both = 'net.core.default_qdisc = fq\nnet.ipv4.conf.default.rp_filter = 1\n';
  expect(compare(both, both)).toEqual({ kind: 'acts', warnings: [] });
  expect(compare('', 'net.core.default_qdisc = fq_codel\n').kind).toBe('acts');
});

describe('Of an overlay', () => {
  const of = (variant: string, files: Record<string, string>, mode = '100644') => ({
    variant,
    commit: '0'.repeat(40),
    folder: 'dut',
    files: Object.entries(files).map(([path, content]) => ({ path, content, mode, sha256: '' })),
  });

  test('a file that no Linux DUT loads is skipped, with a warning.', () => {
    const variants = [of('base', { 'README.md': '' }), of('patched', { 'README.md': 'new' })];
    expect(variants.map((one) => loadable(one, ports))).toMatchObject([{ kind: 'loadable' }, { kind: 'loadable' }]);
    expect(ignoredParts(variants)).toEqual([expect.stringMatching(/^dut\/README\.md is not measured/)]);
  });

  test('lines that are no settings of a router are skipped, with one warning for all variants.', () => {
    const sysctl = 'vm.swappiness = 10\nnet.ipv4.ip_forward = 1\nkernel.panic = 10\n';
    const variants = [of('base', { 'sysctl.conf': sysctl }), of('patched', { 'sysctl.conf': sysctl })];
    const lines = 'sysctl.conf lines 1 (vm.swappiness) and 3 (kernel.panic) are not';
    expect(ignoredParts(variants)).toEqual([expect.stringContaining(`In every variant ${lines}`)]);
    expect(ignoredParts([of('base', {}), ...variants.slice(1)])).toEqual([
      expect.stringContaining(`In patched ${lines}`),
    ]);
  });

  test('a link is refused.', () => {
    const link = loadable(of('base', { 'nftables.conf': '/etc/shadow' }, '120000'), ports);
    expect(link).toMatchObject({ kind: 'refused', variant: 'base' });
  });
});

describe('The names of interfaces in an overlay', () => {
  const file = (path: string, content: string) => ({ path, content, mode: '100644', sha256: '' });
  const read = (nftables: string, sysctl = '') =>
    loadable(
      {
        variant: 'base',
        commit: '0'.repeat(40),
        interfaces: { eth0: 'ingress', eth1: 'egress', 'br-lan': 'ingress', wg0: 'unused' },
        files: [file('nftables.conf', nftables), file('sysctl.conf', sysctl)],
      },
      ports,
    );

  test.for([
    ['iif eth0 accept', 'iif cxl0 accept'],
    ['iifname "eth0" oifname { "eth1", lo } accept', 'iifname "cxl0" oifname { "cxl1", lo } accept'],
    ['define wan = eth1', 'define wan = cxl1'],
    ['devices = { eth0, eth1 };', 'devices = { cxl0, cxl1 };'],
    ['iifname vmap { eth0 : jump lan, br-lan : accept }', 'iifname vmap { cxl0 : jump lan, cxl0 : accept }'],
    ['oifname eth1.10 accept # eth1', 'oifname eth1.10 accept # eth1'],
    ['iifname "eth*" accept', 'iifname "cxl*" accept'],
    ['iifname br* accept', 'iifname cxl0 accept'],
    ['iifname wg0 accept', 'iifname wg0 accept'],
  ])('are those of the testbed: %s', ([rules, mapped]) => {
    expect(read(rules ?? '')).toMatchObject({ nftables: `${mapped}\n`, unused: ['wg0'] });
  });

  test('are mapped in settings, too.', () => {
    const settings = 'net.ipv4.conf.eth0.rp_filter = 2\nnet.ipv4.conf.all.rp_filter = 1\n';
    const mapped = { 'net/ipv4/conf/cxl0/rp_filter': '2', 'net/ipv4/conf/all/rp_filter': '1' };
    expect(read('', settings)).toMatchObject({ sysctl: { settings: new Map(Object.entries(mapped)) } });
  });
});
