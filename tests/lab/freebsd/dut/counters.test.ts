import { expect, test } from 'vitest';
import {
  busiestCpuRatio,
  countersCommands,
  countersLog,
  parseCpuTimes,
  parseInterfaceCounters,
  sentBetween,
} from '../../../../src/lab/freebsd/dut/counters.ts';
import type { CommandOutputs } from '../../../../src/lab/freebsd/dut/setting.ts';
import { commandText } from '../../../../src/system/shell.ts';

const commandsFor = (...interfaces: string[]) =>
  countersCommands(interfaces).map((command) => commandText(command).replaceAll("'", ''));

const cpuTimes = (text: string): CommandOutputs => new Map([['sysctl -n kern.cp_times', text]]);

/** Output of FreeBSD 14's netstat(1): columns as wide as needed, `-` where only addresses are counted. */
const netstat = (counted: { ipkts: number; ierrs: number; idrop: number; oerrs: number }) =>
  `Name     Mtu Network                      Address                           Ipkts Ierrs     Idrop        Ibytes         Opkts Oerrs        Obytes  Coll
cxl0    1500 <Link#1>                     00:07:43:2e:e4:70          ${counted.ipkts}     ${counted.ierrs}  ${counted.idrop}  128849018880           214     0         15408     0
cxl0       - 198.18.0.0/24                198.18.0.10                           0     -         -             0             2     -           168     -
cxl0       - 2001:2::/64                  2001:2::10                            0     -         -             0             4     -           288     -
cxl1*   1500 <Link#2>                     00:07:43:2e:e4:71                   118     0         0          8496    1073741824     ${counted.oerrs}   64424509440     0
lo0    16384 <Link#3>                                                          48     0         0          2688            48     0          2688     0
lo0        - 127.0.0.0/8                  127.0.0.1                            48     -         -          2688            48     -          2688     -
`;

test('the host, its interrupts and its CPUs are read, and cards whose driver has counters', () => {
  expect(commandsFor('cxl0', 'mce1', 'lagg0')).toEqual([
    'netstat -i -b -n -W',
    'netstat -s',
    'netstat -Q',
    'sysctl -n kern.cp_times',
    'vmstat -i',
    'sysctl dev.cxl.0.stats',
    'sysctl dev.mce.1.pstats',
    'sysctl dev.mce.1.vstats',
  ]);
});

test.for([
  ['cc0', 'dev.cc.0.stats'],
  ['igb3', 'dev.igb.3.mac_stats'],
  ['ix12', 'dev.ix.12.mac_stats'],
  ['ixl0', 'dev.ixl.0.mac'],
] as const)('the card of %s tells by %s', ([name, node]) => {
  expect(commandsFor(name).at(-1)).toBe(`sysctl ${node}`);
});

test('of a DUT with two CPUs the one that forwards is busy', () => {
  const before = cpuTimes('100 0 300 50 9550 80 0 200 20 9700\n');
  const after = cpuTimes('100 0 340 1010 9550 80 0 210 20 10690\n');
  expect(busiestCpuRatio(before, after)).toBe(1);
});

test.for([
  ['no reading before', '', '1 0 1 1 9'],
  ['no reading after', '1 0 1 1 9', ''],
  ['a boot between them', '100 0 300 50 9550', '1 0 3 5 90'],
  ['another number of CPUs', '1 0 1 1 9', '2 0 2 2 19 1 0 1 1 9'],
  ['no time between them', '1 0 1 1 9', '1 0 1 1 9'],
  ['other text', "sysctl: unknown oid 'kern.cp_times'", '1 0 1 1 9'],
] as const)('nothing is known of the CPUs with %s', ([, before, after]) => {
  expect(busiestCpuRatio(cpuTimes(before), cpuTimes(after))).toBeUndefined();
});

test('the times of a CPU are five states, of which the last is idle', () => {
  expect(parseCpuTimes('11 22 33 44 5500 1 2 3 4 50\n')).toEqual([
    { busy: 110, idle: 5500 },
    { busy: 10, idle: 50 },
  ]);
  expect(parseCpuTimes('11 22 33 44')).toEqual([]);
});

test('an interface’s counters are read from its own row, also when it is down or has no address', () => {
  const text = netstat({ ipkts: 2_147_483_648, ierrs: 7, idrop: 1_042_116, oerrs: 3 });
  expect(Object.fromEntries(parseInterfaceCounters(text))).toEqual({
    cxl0: {
      received: 2_147_483_648,
      receiveErrors: 7,
      receiveDrops: 1_042_116,
      sent: 214,
      sendErrors: 0,
    },
    cxl1: {
      received: 118,
      receiveErrors: 0,
      receiveDrops: 0,
      sent: 1_073_741_824,
      sendErrors: 3,
    },
    lo0: { received: 48, receiveErrors: 0, receiveDrops: 0, sent: 48, sendErrors: 0 },
  });
});

test('packets sent by an interface are the difference of two readings, if both are of one boot', () => {
  const reading = (text: string) => new Map([['netstat -i -b -n -W', text]]);
  const text = netstat({ ipkts: 1, ierrs: 0, idrop: 0, oerrs: 0 });
  const [before, after] = [reading(text), reading(text.replaceAll('1073741824', '1373741824'))];
  expect(sentBetween(before, after, 'cxl1')).toBe(300_000_000);
  expect(sentBetween(after, before, 'cxl1')).toBeUndefined();
  expect(sentBetween(before, after, 'mce0')).toBeUndefined();
  expect(sentBetween(before, new Map(), 'cxl1')).toBeUndefined();
});

test('the log has each command’s output before and after, one beside the other', () => {
  const before = new Map([
    ['vmstat -i', 'interrupt                          total       rate\nTotal   10          1\n'],
  ]);
  const after = new Map([
    ['vmstat -i', 'interrupt                          total       rate\nTotal   90          2\n'],
    ['netstat -s', 'tcp:\n\t3 packets sent\n'],
  ]);
  expect(countersLog(before, after)).toBe(`==> before: vmstat -i
interrupt                          total       rate
Total   10          1

==> after: vmstat -i
interrupt                          total       rate
Total   90          2

==> before: netstat -s
failed

==> after: netstat -s
tcp:
	3 packets sent
`);
});
