// Replaces virtual machines: each guest prints, ends and forwards as recorded.
import { z } from 'zod';
import { ConsoleTape } from '../../lab/console/console-tape.ts';
import type { LabOfGuests } from '../../lab/qemu/virtual-testbed.ts';
import { wireAddress } from '../../lab/qemu/vm/addresses.ts';
import { type Guest, portOf } from '../../lab/qemu/vm/guest.ts';
import type { LinuxGuest, VirtualLab } from '../../lab/qemu/vm/virtual-lab.ts';
import * as bounded from '../../model/bounds.ts';
import { guestHost, thisMachine } from './recorded-guests.ts';
import type { ReplayedMachines } from './replay-machines.ts';

const kernelFiles = z.object({
  image: bounded.path,
  modules: bounded.path,
  atBoot: bounded.list(bounded.name, 1000),
  version: bounded.document,
});

const windowsOutcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sent'), log: bounded.document }),
  z.object({ kind: z.literal('broken'), log: bounded.document, lastLine: bounded.document }),
]);

const booted = z.object({ commandLine: bounded.document });

const maxConsoleBytes = 1024 ** 2;

export function replayedGuests(machines: ReplayedMachines): LabOfGuests {
  const guestOf = (number: number): Guest => {
    const host = guestHost(number);
    const tape = new ConsoleTape(maxConsoleBytes);
    const listeners = new Set<(piece: Buffer) => void>();
    const ended = machines.hear(host, (piece) => {
      tape.write(piece);
      for (const onOutput of listeners) onOutput(piece);
    });
    return {
      number,
      address: { host: wireAddress, port: portOf(number) },
      interfaces: { sender: '', receiver: '' },
      counts: undefined,
      consoleInput: undefined,
      cpuThread: '',
      ended,
      console: () => tape.text(),
      listen(onOutput) {
        listeners.add(onOutput);
        return () => void listeners.delete(onOutput);
      },
      async pinTo() {},
      async interrupt() {
        await machines.ofGuest(host, 'interrupt');
      },
      async reset() {
        await machines.ofGuest(host, 'reset');
      },
      async stop() {},
    };
  };

  const lab: Omit<VirtualLab, 'wire' | 'bootToPrepare'> = {
    // Would hold packets and built kernels, but a replay has neither.
    folder: '',
    kernel: async () => kernelFiles.parse(await machines.ofGuest(thisMachine, 'kernel')),
    async boot(number): Promise<LinuxGuest> {
      const answer = await machines.ofGuest(guestHost(number), 'boot');
      const { commandLine } = booted.parse(answer);
      const up = machines.ofGuest(guestHost(number), 'up').then(() => {});
      up.catch(() => {});
      return { ...guestOf(number), commandLine, up };
    },
    async bootImage(number) {
      await machines.ofGuest(guestHost(number), 'boot');
      return guestOf(number);
    },
    login: ({ address }) => ({ ...address, ...access }),
    loginTo: async (_, { address }) => ({ ...address, ...access }),
    async down() {},
  };

  return {
    // Only windows use wires, and images of a recording are already prepared.
    up: async () => lab as VirtualLab,
    facts: async () => bounded.facts.parse(await machines.ofGuest(thisMachine, 'facts')),
    sendWindows: async () => windowsOutcome.parse(await machines.ofGuest(thisMachine, 'windows')),
  };
}

const access = { user: 'root', knownHostsPath: '/dev/null' };
