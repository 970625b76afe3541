import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSettings, parseSysctl, readSettings } from '../../../src/lab/linux/sysctl.ts';
import { describeWith } from '../../needs.ts';
import { times } from '../../random.ts';

const settingsOf = (text: string) => {
  const outcome = parseSysctl(text, 'sysctl.conf');
  return outcome.kind === 'read' ? Object.fromEntries(outcome.settings) : outcome;
};

test('settings are read by their paths, comments and empty lines are not', () => {
  const text = [
    '# a comment',
    '; another',
    '',
    'net.ipv4.ip_forward=1',
    '  net/ipv4/conf/eth0.1/rp_filter = 2  ',
    'net.ipv4.tcp_rmem = 4096 87380 6291456\r',
    '\tnet.ipv4.tcp_wmem\t=\t4096\t87380 = 6291456\t',
  ].join('\n');
  expect(settingsOf(text)).toEqual({
    'net/ipv4/ip_forward': '1',
    'net/ipv4/conf/eth0.1/rp_filter': '2',
    'net/ipv4/tcp_rmem': '4096 87380 6291456',
    'net/ipv4/tcp_wmem': '4096\t87380 = 6291456',
  });
});

test.for([
  ['net/ipv4/ip_forward', 'net/ipv4/ip_forward'],
  ['net.ipv4.conf.all.rp_filter', 'net/ipv4/conf/all/rp_filter'],
  ['net.ipv4.conf.eth0/1.rp_filter', 'net/ipv4/conf/eth0.1/rp_filter'],
  ['net.ipv6.conf.default.forwarding', 'net/ipv6/conf/default/forwarding'],
  ['net.core.netdev_budget', 'net/core/netdev_budget'],
  ['net.netfilter.nf_log.2', 'net/netfilter/nf_log/2'],
  ['net.nf_conntrack_max', 'net/nf_conntrack_max'],
  ['net.bridge.bridge-nf-call-iptables', 'net/bridge/bridge-nf-call-iptables'],
  ['net.unix.max_dgram_qlen', 'net/unix/max_dgram_qlen'],
] as const)('a setting of a router is taken: %s', ([key, path]) => {
  expect(settingsOf(`${key} = 1\n`)).toEqual({ [path]: '1' });
});

test('of a repeated setting the last one holds, in its place and under either name', () => {
  const text = 'net.ipv4.a = 1\nnet.ipv4.b = 1\nnet/ipv4/a = 2\n';
  const outcome = parseSysctl(text, 'sysctl.conf');
  expect(outcome.kind === 'read' ? [...outcome.settings] : outcome).toEqual([
    ['net/ipv4/b', '1'],
    ['net/ipv4/a', '2'],
  ]);
});

test.for(['kernel.core_pattern = |/bin/sh', 'vm.swappiness = 0', '-kernel.panic = 1', 'net.//.kernel.panic = 1'])(
  'a setting of the machine is skipped, with its line: %s',
  (line) => {
    expect(parseSysctl(`# first\n${line}\nnet.ipv4.a = 1\n`, 'sysctl.conf')).toMatchObject({
      kind: 'read',
      settings: new Map([['net/ipv4/a', '1']]),
      skipped: [{ line: 2, key: line.split(' ')[0] }],
    });
  },
);

test('a line that is no setting is refused, with its text', () => {
  expect(parseSysctl('# first\nnet.ipv4.conf.*.rp_filter = 2\n', 'sysctl.conf')).toEqual({
    kind: 'refused',
    message:
      'sysctl.conf line 2: expected "key = value", found "net.ipv4.conf.*.rp_filter = 2", a pattern for several settings: write one line for each setting.',
  });
});

test.for([
  'net = 1',
  'net.ipv4 = 1',
  'netfilter = 1',
  '/net/ipv4/ip_forward = 1',
  'net..ipv4.ip_forward = 1',
  'net/ipv4/../../kernel/panic = 1',
  'net.ipv4.//.//.kernel.panic = 1',
  'net.ipv4.conf.eth0.1.rp_filter = 1',
  'net/ipv4.ip_forward = 1',
  'net/ipv4/-p = 1',
  'net.other.x = 1',
  'NET.ipv4.ip_forward = 1',
  'net.ipv4.conf.sixteen_letters_.rp_filter = 1',
])('skipped, because no setting of a router is called so: %s', (line) => {
  expect(settingsOf(line)).toEqual({});
});

test.for([
  ['nothing for a value', 'net.ipv4.ip_forward ='],
  ['no value', 'net.ipv4.ip_forward'],
  ['an option of sysctl(8)', '--system'],
  ['a NUL in the value', 'net.ipv4.ip_forward = 1\0'],
  ['a carriage return in the value', 'net.ipv4.ip_forward = 1\rkernel.panic = 1'],
  ['a vertical tab for a blank', 'net.ipv4.ip_forward\u000b= 1'],
  ['a blank of Unicode in the name', 'net.ipv4.ip_forward\u00a0= 1'],
  ['a line end of Unicode', 'net.ipv4.ip_forward = 1\u2028kernel.panic = 1'],
  ['a byte order mark', '\ufeffnet.ipv4.ip_forward = 1'],
  ['a bracket', 'net.ipv4.conf.[a-z]*.rp_filter = 1'],
  ['nothing for a name', '= 1'],
] as const)('refused, because a setting has a name and a value of plain characters: %s', ([, line]) => {
  expect(settingsOf(line)).toMatchObject({ kind: 'refused' });
});

const hostileText = () => {
  const piece = fc.constantFrom(
    ...['net', 'net.', 'net/', 'ipv4', 'conf', 'eth0.1', 'kernel', 'zz', 'core', 'all', '..', '.'],
    ...['/', '//', '-', '*', '\\', '\0', '\r', '\t', ' ', '\u00a0', '=', '#', ';', '~'],
  );
  const key = fc.array(piece, { maxLength: 9 }).map((all) => all.join(''));
  const likely = fc
    .tuple(fc.constantFrom('net', 'net/ipv4', 'net/ipv4/conf', 'net/core', 'net/ipv4/conf/eth0.1'), key)
    .map(([folder, rest]) => `${folder}/${rest}`);
  const dotted = (text: string) => text.replace(/[./]/g, (found) => (found === '.' ? '/' : '.'));
  const name = fc.oneof(key, likely, likely.map(dotted));
  const line = fc.tuple(name, fc.constantFrom(' = ', '=', '\t=')).map((all) => `${all.join('')}1`);
  return fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n'));
};

test('every accepted setting is below /proc/sys/net, by a path that leads nowhere else', () => {
  const taken = new Set<string>();
  fc.assert(
    fc.property(hostileText(), (text) => {
      const outcome = parseSysctl(text, 'sysctl.conf');
      const paths = outcome.kind === 'read' ? [...outcome.settings.keys()] : [];
      for (const path of paths) {
        expect(resolve('/proc/sys', path)).toBe(`/proc/sys/${path}`);
        expect(path).toMatch(/^net\/\w[\w./-]*$/);
        taken.add(path);
      }
    }),
    { numRuns: times(5000) },
  );
  expect(taken.size).toBeGreaterThan(5);
});

describeWith(['sysctl'], 'the sysctl(8) of this machine', () => {
  /** The files that it tries to read, by its errors for names that no kernel has. */
  const filesOf = (keys: string[]) =>
    spawnSync('sysctl', ['-n', ...keys], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
    })
      .stderr.split('\n')
      .flatMap((line) => /cannot stat (.*): No such file or directory$/.exec(line)?.[1] ?? []);

  test('finds the same file by the name that was taken as by the path that it became', () => {
    const folder = fc.constantFrom(
      ...['net/ipv4', 'net/core', 'net/ipv4/conf/eth0.1', 'net/ipv6/neigh/a.b.c', 'net/mpls/conf/-'],
    );
    const leaf = fc.stringMatching(/^zz[a-z_-]{0,8}$/);
    const path = fc.tuple(folder, leaf).map((both) => both.join('/'));
    const swapped = path.map((text) => text.replace(/[./]/g, (found) => (found === '.' ? '/' : '.')));
    fc.assert(
      fc.property(fc.array(fc.oneof(path, swapped), { minLength: 1 }), (keys) => {
        const paths = keys.map((key) => Object.keys(settingsOf(`${key} = 1`))[0] ?? '');
        const files = paths.map((found) => `/proc/sys/${found}`);
        expect(filesOf(keys)).toEqual(files);
        expect(filesOf(paths)).toEqual(files);
      }),
      { numRuns: times(25) },
    );
  });
});

test('settings that are written are read again, empty ones of the DUT too', () => {
  const path = fc.stringMatching(/^net\/[a-z0-9_./-]{1,20}$/);
  const value = fc.stringMatching(/^([!-~]([ -~\t]{0,20}[!-~])?)?$/);
  fc.assert(
    fc.property(fc.dictionary(path, value), (settings) => {
      const written = formatSettings(new Map(Object.entries(settings)));
      expect(Object.fromEntries(readSettings(written))).toEqual({ ...settings });
    }),
  );
});
