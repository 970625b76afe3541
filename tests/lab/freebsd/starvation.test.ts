// Readings of guests whose hosts gave their CPUs to something else.
import { describe, expect, test } from 'vitest';
import { deniedRatio, starvationBetween } from '../../../src/lab/freebsd/starvation.ts';

type Reading = { cpuTimes: string; timers: readonly number[]; guest?: string };

const reading = ({ cpuTimes, timers, guest = 'generic' }: Reading) =>
  new Map([
    ['sysctl -n kern.vm_guest kern.clockrate', `${guest}\n{ hz = 100, tick = 10000, profhz = 8128, stathz = 127 }\n`],
    ['sysctl -n kern.cp_times', cpuTimes],
    [
      'vmstat -i',
      `interrupt                          total       rate\n${timers
        .map((total, cpu) => `cpu${cpu}:timer ${String(total).padStart(27)}        148\n`)
        .join('')}`,
    ],
  ]);

describe('a guest of FreeBSD 13.2 with a busy loop', () => {
  test.each([
    ['ran', '1411 0 964 67 964', 4243, '3030 0 982 71 964', 6827, 0.12],
    ['was stopped by 5 ms', '3194 0 1034 73 1128', 7049, '4722 0 1052 74 1128', 8552, 0.46],
    ['was stopped by 30 ms', '4902 0 1076 78 1939', 8740, '6406 0 1109 80 1939', 9898, 0.58],
    ['was stopped by 200 ms', '6578 2 1169 80 2792', 10246, '8116 2 1177 82 2792', 11593, 0.51],
  ])('%s', (_, timesBefore, timerBefore, timesAfter, timerAfter, denied) => {
    const before = reading({ cpuTimes: timesBefore, timers: [timerBefore] });
    const after = reading({ cpuTimes: timesAfter, timers: [timerAfter] });
    expect(deniedRatio(before, after)).toBeCloseTo(denied, 2);
  });
});

const idle = { cpuTimes: '0 0 0 0 0', timers: [0] };
/** Ten seconds at work, with so many interrupts of 2270. */
const atWork = (interrupts: number, guest = 'generic') =>
  reading({ cpuTimes: '1270 0 0 0 0', timers: [interrupts], guest });

test('The machine that waited longest is named', () => {
  const before = new Map(['DUT', 'sender'].map((name) => [name, reading(idle)]));
  const after = new Map([
    ['DUT', atWork(1700)],
    ['sender', atWork(1135)],
  ]);
  expect(starvationBetween(before, after)).toEqual({ machine: 'sender', deniedRatio: 0.5 });
});

test('Guests that waited for less than a fifth of the time are fit to measure', () => {
  const machines = (interrupts: number) => new Map([['DUT', atWork(interrupts)]]);
  const before = new Map([['DUT', reading(idle)]]);
  expect(starvationBetween(before, machines(1820))).toBeUndefined();
  expect(starvationBetween(before, machines(1810))).toMatchObject({ machine: 'DUT' });
});

test.each([
  ['on bare metal', reading(idle), atWork(100, 'none')],
  ['without a reading before', new Map<string, string>(), atWork(100)],
  ['of a machine that booted', reading({ ...idle, timers: [200] }), atWork(100)],
  ['of an idle CPU, which skips ticks', reading(idle), reading({ cpuTimes: '500 0 0 0 770', timers: [100] })],
  ['of a moment', reading(idle), reading({ cpuTimes: '200 0 0 0 0', timers: [100] })],
])('Nothing is known %s', (_, before, after) => {
  expect(deniedRatio(before, after)).toBeUndefined();
});
