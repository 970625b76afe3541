import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSysctl, parseSysctl } from '../../src/dut/sysctl.ts';

const settingsOf = (text: string) => {
  const outcome = parseSysctl(text, 'sysctl.conf');
  return outcome.kind === 'read' ? Object.fromEntries(outcome.settings) : outcome;
};

test('settings are read, comments and empty lines are not', () => {
  const text = [
    '# a comment',
    '; another',
    '',
    'net.ipv4.ip_forward=1',
    '  net/ipv4/conf/eth0.1/rp_filter = 2  ',
    'net.ipv4.tcp_rmem = 4096 87380 6291456\r',
  ].join('\n');
  expect(settingsOf(text)).toEqual({
    'net.ipv4.ip_forward': '1',
    'net/ipv4/conf/eth0.1/rp_filter': '2',
    'net.ipv4.tcp_rmem': '4096 87380 6291456',
  });
});

test('of a setting that comes twice the last one holds', () => {
  expect(settingsOf('net.a = 1\nnet.a = 2\n')).toEqual({ 'net.a': '2' });
});

test.for([
  ['kernel.core_pattern = |/bin/sh', 'kernel.core_pattern is no setting of the network (net.…)'],
  ['vm.swappiness = 0', 'vm.swappiness is no setting of the network (net.…)'],
  ['netfilter = 1', 'netfilter is no setting of the network (net.…)'],
  ['net/../kernel/panic = 1', 'net/../kernel/panic is no setting of the network (net.…)'],
  ['/net/ipv4/ip_forward = 1', '/net/ipv4/ip_forward is no setting of the network (net.…)'],
  ['-kernel.panic = 1', '-kernel.panic is no setting of the network (net.…)'],
  [
    'net.ipv4.conf.*.rp_filter = 1',
    'expected "key = value", found "net.ipv4.conf.*.rp_filter = 1"',
  ],
  ['net.ipv4.ip_forward', 'expected "key = value", found "net.ipv4.ip_forward"'],
  ['net.ipv4.ip_forward =', 'expected "key = value", found "net.ipv4.ip_forward ="'],
] as const)('refused with its line: %s', ([line, why]) => {
  expect(parseSysctl(`# first\n${line}\n`, 'sysctl.conf')).toEqual({
    kind: 'refused',
    message: `sysctl.conf line 2: ${why}.`,
  });
});

test('settings that are written are read again', () => {
  const key = fc.stringMatching(/^net[./][a-z0-9_/-]{1,20}$/);
  const value = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
  fc.assert(
    fc.property(fc.dictionary(key, value), (settings) => {
      expect(settingsOf(formatSysctl(new Map(Object.entries(settings))))).toEqual({ ...settings });
    }),
  );
});
