// CPU time of the fake laboratory's machines, as kern.cp_times counts it.

import { expect, test } from 'vitest';
import { busyShare } from '../../../src/lab/freebsd/dut/counters.ts';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { type FreebsdLab, type FreebsdLabOptions, type LabMachine, startFreebsdLab } from './lab.ts';
import { sendTrial, steadyPps } from './trial.ts';

const times = shell`sysctl -n kern.cp_times`;

async function cpusDuring({ target }: LabMachine, work: () => Promise<unknown>) {
  await using host = await connect(target);
  const read = async () => new Map([['sysctl -n kern.cp_times', await host.output(times)]]);
  const before = await read();
  await work();
  return busyShare(before, await read());
}

async function inLab(options: FreebsdLabOptions, work: (lab: FreebsdLab) => Promise<void>): Promise<void> {
  await using lab = await startFreebsdLab(options);
  await work(lab);
}

test('a machine has five ticks for each CPU, and kern.cp_time is their sum', () =>
  inLab({ hardware: { 'hw.ncpu': '2' } }, async ({ dut: { target } }) => {
    await using dut = await connect(target);
    const all = (await dut.output(times)).trim().split(' ').map(Number);
    const sum = (await dut.output(shell`sysctl -n kern.cp_time`)).trim().split(' ').map(Number);
    expect(all).toHaveLength(10);
    expect(sum).toEqual([0, 1, 2, 3, 4].map((state) => (all[state] ?? 0) + (all[state + 5] ?? 0)));
  }));

test('an idle DUT spends no time', () =>
  inLab({}, async (lab) => {
    expect(await cpusDuring(lab.dut, () => lab.clock.sleep(30))).toEqual({
      overallRatio: 0,
      busiestCpuRatio: 0,
    });
  }));

test('a DUT is busy with what it forwards, on its first CPU most of all', () =>
  inLab({ truth: () => 4e6, generatorPps: 2e6, noise: { perBoot: 0 } }, async (lab) => {
    const busy = await cpusDuring(lab.dut, () => sendTrial(lab, { seconds: 40 }));
    // It is half busy for 40 of about 66 s.
    expect(busy?.busiestCpuRatio).toBeCloseTo(0.3, 1);
    expect(busy?.overallRatio).toBeLessThan(busy?.busiestCpuRatio ?? 0);
  }));

test('a DUT that gets more than it can forward is busy on every CPU', () =>
  inLab({}, async (lab) => {
    const busy = await cpusDuring(lab.dut, () => sendTrial(lab, { seconds: 40 }));
    expect(busy?.busiestCpuRatio).toBeGreaterThan(0.5);
    expect(busy?.overallRatio).toBeCloseTo(busy?.busiestCpuRatio ?? 0, 2);
  }));

test('a sender without a rate is busy for as long as it sends', () =>
  inLab({ cabling: { generators: 'two' } }, async (lab) => {
    const [sender] = lab.senders;
    if (sender === undefined) throw new TypeError('There is no sender.');
    const busy = await cpusDuring(sender, () => sendTrial(lab, { seconds: 40 }));
    expect(busy?.busiestCpuRatio).toBeGreaterThan(0.5);
    expect(busy?.overallRatio).toBeLessThan(0.2);
  }));

test('a DUT that its host starves forwards less, and is as busy as it can be', () =>
  inLab(
    {
      generatorPps: 4e6,
      noise: { perBoot: 0 },
      faults: [{ kind: 'starved-dut', at: 2, stolenRatio: 0.6 }],
    },
    async (lab) => {
      expect(steadyPps((await sendTrial(lab)).receiver)).toBeCloseTo(4e6, -5);
      const busy = await cpusDuring(lab.dut, async () => {
        expect(steadyPps((await sendTrial(lab, { seconds: 40 })).receiver)).toBeCloseTo(2e6, -5);
      });
      expect(busy?.busiestCpuRatio).toBeGreaterThan(0.5);
      expect(steadyPps((await sendTrial(lab)).receiver)).toBeCloseTo(4e6, -5);
    },
  ));

test.each([
  ['sender', { kind: 'starved-sender', at: 1, stolenRatio: 0.5 }],
  ['receiver', { kind: 'starved-receiver', at: 1, stolenRatio: 0.5 }],
] as const)('a %s that its host starves counts half', (_, fault) =>
  inLab(
    {
      cabling: { generators: 'two' },
      truth: () => 20e6,
      generatorPps: 2e6,
      faults: [fault],
    },
    async (lab) => {
      expect(steadyPps((await sendTrial(lab)).receiver)).toBeCloseTo(1e6, -5);
      expect(steadyPps((await sendTrial(lab)).receiver)).toBeCloseTo(2e6, -5);
    },
  ),
);
