// Tests that a profile counts only if its window had packets and its samples are not idle.
import { expect, test } from 'vitest';
import { sampleUnderLoad, type UnderLoad } from '../../../src/lab/freebsd/sample-under-load.ts';
import type { ProfileOutcome } from '../../../src/lab/testbed.ts';
import { closePorts, openPorts, type PktGenPorts, trialThrough } from '../../../src/lab/traffic/pkt-gen-trial.ts';
import { textOf } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';

type Sending = (
  lab: FreebsdLab,
  seconds: number,
  /** The generator, whose ports were opened before. */
  send: (seconds: number) => ReturnType<UnderLoad['send']>,
) => ReturnType<UnderLoad['send']>;

async function profileWhile(sending: Sending, event?: string): Promise<ProfileOutcome> {
  await using lab = await startFreebsdLab();
  await using dut = await lab.dut.connect('DUT');
  await using generator = await lab.receiver.connect('receiver');
  const [port] = lab.cabling.senders;
  const sender = {
    host: generator,
    interface: port?.interface ?? '',
    sourceMac: port?.mac ?? '',
    destinationMac: port?.dutMac ?? '',
  };
  const receiver = { host: generator, interface: lab.cabling.receiver.interface };
  let ports: PktGenPorts | undefined;
  const sendThrough = async (trafficSeconds: number) => {
    if (ports === undefined) throw new Error('The ports are not open.');
    const traffic = { flows: { sources: 20, destinations: 100 }, frameBytes: 64, threads: 1 };
    const trial = { family: 'inet4', ...traffic, trafficSeconds } as const;
    return trialThrough(ports, [sender], trial, new AbortController().signal);
  };
  const request = { cell: { scenario: 'forwarding', family: 'inet4' }, variant: 'base' } as const;
  const outcome = await sampleUnderLoad(
    { ...request, seconds: 10, attempt: 1, ...(event !== undefined && { event }) },
    {
      dut,
      folder: '/var/tmp/ppsgate',
      egress: lab.cabling.exit,
      async open(seconds) {
        const howLong = { settleSeconds: 4, seconds: seconds + 120, holdsSenders: true };
        const signal = new AbortController().signal;
        const opened = await openPorts({ senders: [sender], receiver }, howLong, signal);
        if (opened.kind === 'failed') return opened;
        ports = opened.ports;
        return undefined;
      },
      send: (seconds) => sending(lab, seconds, sendThrough),
    },
    async () => {},
  );
  if (ports !== undefined) await closePorts(ports);
  // In every case, the DUT has neither its module nor its files.
  expect(lab.dut.machine.modules).not.toContain('hwpmc');
  expect(textOf(lab.dut.machine.files, '/var/tmp/ppsgate/pmc.out')).toBeUndefined();
  return outcome;
}

test('a window that closes before packets flow has missed them', async () => {
  const late: Sending = async (lab, seconds, send) => {
    await lab.clock.sleep(60);
    return send(seconds);
  };
  expect(await profileWhile(late)).toEqual({
    kind: 'missed',
    reason: 'the sampling window missed the trial: only 0 % of its packets were forwarded during it',
  });
});

test('an event of which a virtual CPU takes no sample is impossible, with an alternative', async () => {
  expect(await profileWhile((_, seconds, send) => send(seconds), 'CLOCK.HARD')).toEqual({
    kind: 'impossible',
    reason: expect.stringContaining('pmccontrol -L'),
  });
});
