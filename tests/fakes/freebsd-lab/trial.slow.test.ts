import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outputOf, readRecording } from '../../../src/gate/recording/read-recording.ts';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { describeWith, sharedFolder } from '../../needs.ts';
import { startFreebsdLab } from './lab.ts';
import { sendTrial, steadyPps } from './trial.ts';

test('the receiver counts what the DUT forwards of a trial, within the noise', async () => {
  await using lab = await startFreebsdLab({ truth: () => 5_400_000 });
  const { receiver, sender } = await sendTrial(lab);
  expect(receiver.faults).toEqual([]);
  expect(sender.faults).toEqual([]);
  expect(steadyPps(receiver) / 5_400_000).toBeCloseTo(1, 1);
  expect(Math.abs(steadyPps(receiver) / 5_400_000 - 1)).toBeLessThan(0.02);
  expect(steadyPps(sender) / 14_880_952).toBeCloseTo(1, 3);
  expect(sender.summary?.pps).toBeGreaterThan(14_800_000);
});

test('a second is an interval of its own, and the summary counts what the rates count', async () => {
  await using lab = await startFreebsdLab();
  const { receiver } = await sendTrial(lab, { seconds: 10 });
  const counted = receiver.rates.reduce((sum, { packets }) => sum + packets, 0);
  expect(receiver.summary?.packets).toBe(counted);
  expect(receiver.rates.every(({ intervalSeconds }) => intervalSeconds < 1.1)).toBe(true);
});

test('each kernel, scenario and family has a speed of its own', async () => {
  await using lab = await startFreebsdLab({
    truth: ({ ident, scenario, family }) =>
      ident === 'base' && scenario === 'pf-stateful' && family === 'inet6' ? 2_000_000 : 5_000_000,
    noise: { perBoot: 0, perSecond: 0 },
  });
  await using dut = await connect(lab.dut.target);
  expect(steadyPps((await sendTrial(lab, { family: 'inet6' })).receiver)).toBeCloseTo(5e6, -3);
  await dut.upload(Buffer.from('set skip on lo0\npass\n'), '/tmp/pf.conf', 0o600);
  await dut.output(shell`kldload pf`);
  await dut.output(shell`pfctl -f /tmp/pf.conf`);
  await dut.output(shell`pfctl -e`);
  expect(steadyPps((await sendTrial(lab, { family: 'inet6' })).receiver)).toBeCloseTo(2e6, -3);
  // Each flow has one for its incoming and one for its outgoing side.
  expect(lab.state().pf.states).toBe(4000);
});

test('a DUT whose link is faster than the generator forwards all that is offered, and is not deaf', async () => {
  await using lab = await startFreebsdLab({ truth: () => 20e6, generatorPps: 3e6 });
  await using dut = await connect(lab.dut.target);
  const { receiver } = await sendTrial(lab, {
    async during() {
      const before = lab.clock.now();
      expect(await dut.output(shell`uname -r`)).toBe('14.0-CURRENT\n');
      expect(lab.clock.now() - before).toBeLessThan(5);
    },
  });
  expect(steadyPps(receiver)).toBeCloseTo(3e6, -4);
});

test('while a trial saturates the DUT its open connections are silent', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target, { keepaliveSeconds: 0 });
  await sendTrial(lab, {
    seconds: 30,
    async during() {
      const before = lab.clock.now();
      await dut.output(shell`uname -r`);
      expect(lab.clock.now() - before).toBeGreaterThan(24);
    },
  });
});

test('refuses logins while a trial saturates the DUT', async () => {
  await using lab = await startFreebsdLab();
  await sendTrial(lab, {
    seconds: 30,
    async during() {
      const before = lab.clock.now();
      await using _ = await connect(lab.dut.target);
      expect(lab.clock.now() - before).toBeGreaterThan(24);
    },
  });
});

test('a sender that starts with its receiver trials into links that are still down', async () => {
  await using lab = await startFreebsdLab();
  await using generator = await connect(lab.receiver.target);
  const [port] = lab.cabling.senders;
  const receiver = generator.run(shell`timeout -s INT 12 pkt-gen -N -f rx -i vcxl1 -w 0`);
  const sender = generator.run(
    shell`timeout -s INT 8 pkt-gen -N -f tx -i vcxl0 -w 0 -D ${port?.dutMac ?? ''} -s 198.18.10.1 -d 198.19.10.1`,
  );
  expect((await receiver).stderr).toContain('waiting for initial packets, poll returns 0 0');
  await sender;
});

test('a dead link leaves the receiver waiting for its first packets', async () => {
  await using lab = await startFreebsdLab({ faults: [{ kind: 'dead-link', at: 1 }] });
  const { receiver, outcomes } = await sendTrial(lab);
  expect(steadyPps(receiver)).toBe(0);
  expect(outcomes[0]?.stderr).toContain('waiting for initial packets, poll returns 0 0');
  expect(outcomes[0]?.stdout).toContain('Received nothing.');
  expect(steadyPps((await sendTrial(lab)).receiver)).toBeGreaterThan(4e6);
});

test('a receiver that crashes reports it, and ends', async () => {
  await using lab = await startFreebsdLab({ faults: [{ kind: 'receiver-crash', at: 1 }] });
  const { receiver, outcomes } = await sendTrial(lab);
  expect(receiver.faults.map(({ kind }) => kind)).toEqual(['crashed', 'negative-duration']);
  expect(outcomes[0]).toMatchObject({ kind: 'exited', code: 0 });
});

test('a slow generator offers what it can in that trial alone', async () => {
  await using lab = await startFreebsdLab({
    faults: [{ kind: 'slow-generator', at: 1, pps: 800_000 }],
  });
  expect(steadyPps((await sendTrial(lab)).sender)).toBeCloseTo(800_000, -2);
  expect(steadyPps((await sendTrial(lab)).sender)).toBeGreaterThan(14e6);
});

test('two senders offer twice as much, and the DUT forwards what it can of both', async () => {
  await using lab = await startFreebsdLab({
    cabling: { senders: 2, generators: 'separate' },
    generatorPps: 3e6,
    noise: { perBoot: 0, perSecond: 0 },
  });
  const [, second] = lab.cabling.senders;
  expect(second).toMatchObject({ machine: 'sender2', interface: 'vcxl0' });
  const { receiver } = await sendTrial(lab, {
    seconds: 30,
    async during() {
      await using host = await connect(lab.senders[1]?.target ?? lab.dut.target);
      await host.output(
        shell`pkt-gen -N -f tx -i vcxl0 -n 24000000 -w 4 -D ${second?.dutMac ?? ''} -s 198.18.10.1 -d 198.19.10.1`,
      );
    },
  });
  const rates = receiver.rates.map(({ pps }) => Math.round(pps / 1e4) * 1e4);
  expect(rates).toContain(3e6);
  expect(Math.max(...rates)).toBe(5e6);
});

test('nothing is forwarded to where no static ARP entry leads', async () => {
  await using lab = await startFreebsdLab();
  const { neighbours } = lab.dut.machine;
  neighbours.splice(
    neighbours.findIndex(({ address }) => address === '198.19.0.108'),
    1,
  );
  expect(steadyPps((await sendTrial(lab)).receiver)).toBe(0);
});

test('nothing is forwarded while forwarding is off', async () => {
  await using lab = await startFreebsdLab({ sysctlConf: { 'net.inet.ip.forwarding': '0' } });
  expect(steadyPps((await sendTrial(lab)).receiver)).toBe(0);
});

test('RSS without threads for it drops nine packets in ten', async () => {
  await using lab = await startFreebsdLab({
    kernel: { ident: 'base', options: ['options RSS'] },
    loaderConf: { 'net.isr.maxthreads': '1' },
    noise: { perBoot: 0, perSecond: 0 },
  });
  expect(steadyPps((await sendTrial(lab)).receiver)).toBeCloseTo(500_000, -3);
});

test('pkt-gen refuses what FreeBSD refuses', async () => {
  await using lab = await startFreebsdLab();
  await using generator = await connect(lab.receiver.target);
  const run = (line: ReturnType<typeof shell>) => generator.run(line);
  expect(await run(shell`pkt-gen -N -f rx -i vcxl1 --json`)).toMatchObject({
    code: 255,
    stderr: expect.stringContaining('pkt-gen: illegal option -- -'),
  });
  expect(await run(shell`pkt-gen -f rx -i vcxl7`)).toMatchObject({
    code: 255,
    stderr: expect.stringContaining('Unable to open netmap:vcxl7: Device not configured'),
  });
  expect(await run(shell`pkt-gen -f tx -i vcxl0 -l 1514`)).toMatchObject({ code: 255 });
  expect(await run(shell`timeout -s INT ten pkt-gen -i vcxl0`)).toMatchObject({ code: 125 });
  expect(await run(shell`timeout -s INT 10 no-such-program`)).toMatchObject({ code: 127 });
});

test('a count ends the sender, and a timeout without -s INT leaves no summary', async () => {
  await using lab = await startFreebsdLab();
  await using generator = await connect(lab.receiver.target);
  const counted = await generator.run(shell`pkt-gen -N -f tx -i vcxl0 -n 30000000 -l 60 -w 4`);
  expect(counted).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Sent 30000000 packets 1800000000 bytes'),
  });
  const killed = await generator.run(shell`timeout 10 pkt-gen -N -f rx -i vcxl1 -w 4`);
  expect(killed).toMatchObject({ code: 124, stdout: '' });
});

describeWith(['shared/corpus/runs', 'shared/freebsd/lab'], 'the logs of real trials', () => {
  test('have the lines that the laboratory makes', async () => {
    await using lab = await startFreebsdLab();
    const { outcomes } = await sendTrial(lab, { seconds: 5 });
    const { requests } = readRecording(`${sharedFolder('freebsd/lab')}/check2.rec.gz`);
    const recorded = requests.flatMap((request) => outputOf(request, 'stderr').split('\n')).map(shapeOf);
    const real = new Set([
      ...recorded,
      ...['receiver', 'sender'].flatMap((side) =>
        shapesOf(readFileSync(`${sharedFolder('corpus')}/${side}-line-shapes.json`, 'utf8')),
      ),
    ]);
    const made = outcomes.flatMap(({ stdout, stderr }) => (stderr + stdout).split('\n')).map(shapeOf);
    expect(made.filter((shape) => !real.has(shape) && shape !== '')).toEqual([]);
  });
});

const shapesOf = (json: string): string[] =>
  (JSON.parse(json) as { example: string }[]).map(({ example }) => shapeOf(example));

/** Ignores numbers, addresses and names of interfaces, and pkt-gen's source lines. */
const shapeOf = (line: string): string =>
  line
    .replace(/(?:[\da-f]{2}:){5}[\da-f]{2}/g, 'MAC')
    .replace(/v?(?:cxl|igb|ix)\d+/g, 'IF')
    .replace(/0x[\da-f]+/g, 'N')
    .replace(/\d+(?:\.\d+)*/g, 'N');
