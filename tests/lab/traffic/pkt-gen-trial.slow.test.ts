import { delimiter } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import { closePorts, openPorts, pktGenTrial, trialThrough } from '../../../src/lab/traffic/pkt-gen-trial.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { layPktGen, madeLog, trial as ramped } from '../../fakes/pkt-gen.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';

type Request = Parameters<typeof pktGenTrial>[1];

const request: Request = {
  family: 'inet4',
  flows: { sources: 20, destinations: 100 },
  frameBytes: 64,
  threads: 1,
  settleSeconds: 4,
  trafficSeconds: 30,
};

type Changes = Partial<Request> & {
  receiverInterface?: string;
  senderInterfaces?: string[];
  signal?: AbortSignal;
};

/** The DUT forwards 5 Mpps. */
async function trialIn(lab: FreebsdLab, { signal, ...changes }: Changes = {}) {
  const { receiverInterface, senderInterfaces, ...more } = changes;
  await using receiver = await connect(lab.receiver.target);
  await using connections = new AsyncDisposableStack();
  const hosts: Host[] = [];
  for (const { target } of lab.senders) hosts.push(connections.use(await connect(target)));
  const senders = lab.cabling.senders.map((port, index) => ({
    host: hosts[index] ?? receiver,
    interface: senderInterfaces?.[index] ?? port.interface,
    sourceMac: port.mac,
    destinationMac: port.dutMac,
  }));
  return await pktGenTrial(
    {
      senders,
      receiver: { host: receiver, interface: receiverInterface ?? lab.cabling.receiver.interface },
    },
    { ...request, ...more },
    signal ?? new AbortController().signal,
  );
}

async function measured(options: FreebsdLabOptions, changes: Changes = {}) {
  await using lab = await startFreebsdLab({ noise: { perBoot: 0 }, ...options });
  const outcome = await trialIn(lab, changes);
  if (outcome.kind === 'failed') throw new Error(outcome.reason);
  return outcome;
}

const sentIn = (lab: FreebsdLab) =>
  [...new Set(lab.senders)].flatMap(({ journal }) => journal).filter(({ command }) => command.includes('-f tx'));

const summaries = ({ senders }: { senders: string[] }) => senders.map((log) => parsePktGenLog(log).summary);

describe('in the laboratory', () => {
  test('a trial gives what the DUT forwards of more than it can, from all raw logs', async () => {
    const { run, logs } = await measured({});
    expect(run.validity).toEqual({ kind: 'valid' });
    expect(run.medianPps / 5e6).toBeCloseTo(1, 2);
    expect(run.offeredPps).toBeGreaterThan(14.8e6);
    const received = parsePktGenLog(logs.receiver).rates.reduce((sum, one) => sum + one.packets, 0);
    expect(received).toBeGreaterThan(140e6);
    expect(summaries(logs).at(0)?.packets).toBeGreaterThan(420e6);
  });

  test('each sender has its own addresses, its share of the flows and of the rate', async () => {
    await using lab = await startFreebsdLab({ cabling: { senders: 2 } });
    await trialIn(lab, { ratePps: 12e6, flows: { sources: 3, destinations: 100 } });
    const commands = sentIn(lab).map(({ command }) => command.replaceAll("'", ''));
    const [first, second] = lab.cabling.senders;
    expect(commands).toEqual([
      expect.stringMatching(`-S ${first?.mac} -s 198.18.10.1:2000-198.18.10.1 .* -D ${first?.dutMac} -R 4000000`),
      expect.stringMatching(`-S ${second?.mac} -s 198.18.10.2:2000-198.18.10.3 .* -D ${second?.dutMac} -R 8000000`),
    ]);
  });

  test('the logs and the requested rate decide the validity of the run', async () => {
    const { run } = await measured({ generatorPps: 3e6 }, { ratePps: 4e6 });
    expect(run.validity).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(/slower than requested/) });
  });

  test('a trial of adaptive length ends when the median is known, and the senders write their summaries', async () => {
    await using lab = await startFreebsdLab({ noise: { perBoot: 0 }, cabling: { senders: 2 } });
    const startedAt = lab.clock.now();
    const outcome = await trialIn(lab, { trafficSeconds: 300, atLeastSeconds: 15 });
    if (outcome.kind === 'failed') throw new Error(outcome.reason);
    expect(lab.clock.now() - startedAt).toBeLessThan(60);
    expect(outcome.run.validity).toEqual({ kind: 'valid' });
    expect(outcome.run.seconds).toBeGreaterThanOrEqual(15);
    expect(outcome.run.medianPps / 5e6).toBeCloseTo(1, 2);
    for (const summary of summaries(outcome.logs)) expect(summary?.packets).toBeGreaterThan(0);
  });

  test('a second trial through open ports begins at once, and no link goes down for it', async () => {
    await using lab = await startFreebsdLab({ noise: { perBoot: 0 } });
    const [{ target }, port] = [lab.receiver, lab.cabling.senders[0]];
    await using host = await connect(target);
    const macs = { sourceMac: port?.mac ?? '', destinationMac: port?.dutMac ?? '' };
    const sender = { host, interface: port?.interface ?? '', ...macs };
    const receiver = { host, interface: lab.cabling.receiver.interface };
    const howLong = { settleSeconds: 4, seconds: 200, holdsSenders: true };
    const { signal } = new AbortController();
    const opened = await openPorts({ senders: [sender], receiver }, howLong, signal);
    if (opened.kind === 'failed') throw new Error(opened.reason);
    const links = () => lab.dut.machine.interfaces.map((one) => one.port.cable?.upAt);
    const linksBefore = links();
    for (const _ of [1, 2]) {
      const startedAt = lab.clock.now();
      const { settleSeconds: _, ...trial } = { ...request, trafficSeconds: 12 };
      const outcome = await trialThrough(opened.ports, [sender], trial, signal);
      expect(outcome).toMatchObject({ kind: 'measured', run: { validity: { kind: 'valid' } } });
      expect(lab.clock.now() - startedAt).toBeLessThan(12 + 4);
    }
    expect(links()).toEqual(linksBefore);
    await closePorts(opened.ports);
    expect(links()).not.toEqual(linksBefore);
    expect(lab.receiver.machine.programs.size).toBe(0);
  });

  test('a receiver that does not start sends nothing, with the reason', async () => {
    await using lab = await startFreebsdLab();
    const outcome = await trialIn(lab, { receiverInterface: 'cxl9' });
    expect(outcome).toMatchObject({
      kind: 'failed',
      logs: { receiver: expect.stringContaining('vcxl9'), senders: [] },
      reason: expect.stringMatching(/^the receiver on cxl9 of .*: Unable to open netmap:vcxl9: /),
    });
    expect(sentIn(lab)).toEqual([]);
  });

  test('a sender that does not start ends the others at once, and all logs are kept', async () => {
    await using lab = await startFreebsdLab({ cabling: { senders: 2 } });
    const startedAt = lab.clock.now();
    const outcome = await trialIn(lab, {
      trafficSeconds: 300,
      senderInterfaces: ['vcxl0', 'vcxl9'],
    });
    expect(lab.clock.now() - startedAt).toBeLessThan(60);
    expect(outcome).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/^the sender on vcxl9 of .*: Unable to open netmap:vcxl9: /),
    });
    expect(outcome.logs.senders).toHaveLength(2);
    expect(lab.receiver.machine.programs.size).toBe(0);
  });

  test('a trial that is cancelled ends all generators, and throws the reason', async () => {
    await using lab = await startFreebsdLab({ cabling: { senders: 2, generators: 'separate' } });
    const cancel = new AbortController();
    const startedAt = lab.clock.now();
    const over = trialIn(lab, { trafficSeconds: 300, signal: cancel.signal });
    over.catch(() => {});
    await lab.clock.sleep(20);
    cancel.abort(new Error('the job was cancelled'));
    await expect(over).rejects.toThrow('the job was cancelled');
    const machines = [lab.receiver, ...lab.senders].map(({ machine }) => machine);
    expect(machines.map(({ programs }) => programs.size)).toEqual([0, 0, 0]);
    expect(lab.clock.now() - startedAt).toBeLessThan(60);
  });
});

describeWith(['sshd', 'ssh-keygen'], 'over a real sshd', () => {
  /** Two senders and a receiver on one machine, whose `logs` are those of their ports. */
  async function trialOver(
    logs: Record<string, string>,
    changes: Partial<Request>,
    secondsAfterRate: Record<string, number> = {},
  ) {
    const pktGen = layPktGen(temporaryFolder(), logs, secondsAfterRate);
    const path = [pktGen.bin, process.env.PATH].join(delimiter);
    await using sshd = await startSshd(undefined, path);
    await using host = await connect({ ...sshd, label: 'generator' });
    const macs = { sourceMac: '00:07:43:2e:e5:92', destinationMac: '00:07:43:2e:e4:70' };
    const outcome = await pktGenTrial(
      {
        senders: ['igb0', 'igb1'].map((port) => ({ host, interface: port, ...macs })),
        receiver: { host, interface: 'igb2' },
      },
      { ...request, ...changes },
      new AbortController().signal,
    );
    if (outcome.kind !== 'measured') throw new Error(outcome.reason);
    return { outcome, journal: pktGen.journal() };
  }

  const sent = madeLog({ side: 'sender', pps: ramped(14e6, 600) });
  const received = madeLog({ pps: ramped(5e6, 600) });

  test('the generators are ended by their own process ids, the receiver last', async () => {
    const { outcome, journal } = await trialOver({ igb0: sent, igb1: sent, igb2: received }, { atLeastSeconds: 12 });
    const calls = journal.filter((entry) => !entry.startsWith('counted'));
    expect(calls.at(0)).toBe('start igb2');
    expect(calls.at(-1)).toBe('interrupted igb2');
    for (const sender of ['igb0', 'igb1']) {
      const own = calls.filter((entry) => entry.endsWith(sender));
      expect(own).toEqual([`start ${sender}`, `interrupted ${sender}`]);
    }
    expect(calls).toHaveLength(6);
    expect(outcome.run.medianPps).toBe(5e6);
    for (const summary of summaries(outcome.logs)) expect(summary).toMatchObject({ packets: 80 });
  });

  test('the receiver counts on for a second after the senders have ended', async () => {
    const { journal } = await trialOver(
      { igb0: madeLog({ side: 'sender', pps: ramped(14e6, 1) }), igb1: sent, igb2: received },
      {},
      // Otherwise the receiver might count once more before its interrupt.
      { igb2: 3 },
    );
    const afterwards = journal.slice(journal.indexOf('interrupted igb1'));
    expect(afterwards).toContain('counted igb2');
    expect(afterwards.at(-1)).toBe('interrupted igb2');
  });
});
