import { expect, test } from 'vitest';
import { parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import { pktGenTrial } from '../../../src/lab/traffic/pkt-gen-trial.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';

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
  await using receiver = await lab.receiver.connect('receiver');
  await using connections = new AsyncDisposableStack();
  const hosts: Host[] = [];
  for (const { connect } of lab.senders) hosts.push(connections.use(await connect('sender')));
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
  const slices = ['10.1:2000-198.18.10.1 .* -R 4000000', '10.2:2000-198.18.10.3 .* -R 8000000'];
  const own = lab.cabling.senders.map(({ mac, dutMac }, index) =>
    expect.stringMatching(`-S ${mac} -s 198.18.${slices[index]?.replace('.* ', `.* -D ${dutMac} `)}`),
  );
  expect(commands).toEqual(own);
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
  // By their own process ids, the receiver last, which counts on for a second.
  const ended = lab.receiver.journal.filter(({ command }) => command.startsWith('kill -INT '));
  const ids = ended.map(({ command }) => Number(/\d+/.exec(command)?.[0]));
  expect(new Set(ids).size).toBe(3);
  expect(ids.at(-1)).toBe(Math.min(...ids));
  const [, before = expect.fail(), last = expect.fail()] = ended;
  expect(last.at).toBeGreaterThan(before.at);
});

test('a receiver that does not start sends nothing, with the reason', async () => {
  await using lab = await startFreebsdLab();
  expect(await trialIn(lab, { receiverInterface: 'cxl9' })).toMatchObject({
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
