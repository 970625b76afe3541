// Records guests' consoles, ends and windows of packets, and facts of this machine.
import type { LabOfGuests } from '../../lab/qemu/virtual-testbed.ts';
import type { Guest } from '../../lab/qemu/vm/guest.ts';
import type { LinuxGuest, VirtualLab } from '../../lab/qemu/vm/virtual-lab.ts';
import { OutputLines } from './output-lines.ts';
import type { RecordedCall } from './recording-entry.ts';
import { endStream, logged, type RequestLog } from './request-log.ts';

type Recording = { request(host: string, recordedCall: RecordedCall): RequestLog };

type GuestOrder = Extract<RecordedCall, { what: 'guest' }>['order'];

export const thisMachine = 'this machine';

export const guestHost = (number: number): string => `guest ${number}`;

export function recordedGuests(lab: LabOfGuests, recording: Recording): LabOfGuests {
  /** Records the result as JSON. */
  const call = async <T>(host: string, order: GuestOrder, work: () => Promise<T>): Promise<T> => {
    const log = recording.request(host, { what: 'guest', order });
    let result: T | undefined;
    await logged(log, async () => {
      result = await work();
      return JSON.stringify(result ?? null);
    });
    return result as T;
  };

  const recorded = <Some extends Guest>(guest: Some): Some => {
    const host = guestHost(guest.number);
    logConsole(guest, recording.request(host, { what: 'console', order: 'hear' }));
    return {
      ...guest,
      interrupt: () => call(host, 'interrupt', () => guest.interrupt()),
      reset: () => call(host, 'reset', () => guest.reset()),
    };
  };

  const recordedLab = (virtual: VirtualLab): VirtualLab => ({
    ...virtual,
    kernel: (archive) => call(thisMachine, 'kernel', () => virtual.kernel(archive)),
    async boot(...request): Promise<LinuxGuest> {
      const host = guestHost(request[0]);
      let guest: LinuxGuest | undefined;
      await call(host, 'boot', async () => {
        guest = await virtual.boot(...request);
        return { commandLine: guest.commandLine };
      });
      const booted = recorded(guest as LinuxGuest);
      const up = call(host, 'up', () => booted.up);
      up.catch(() => {});
      return { ...booted, up };
    },
    async bootImage(...request): Promise<Guest> {
      let guest: Guest | undefined;
      await call(guestHost(request[0]), 'boot', async () => {
        guest = await virtual.bootImage(...request);
      });
      return recorded(guest as Guest);
    },
  });

  return {
    up: async (config) => recordedLab(await lab.up(config)),
    facts: (config) => call(thisMachine, 'facts', () => lab.facts(config)),
    sendWindows: (wires, request) => call(thisMachine, 'windows', () => lab.sendWindows(wires, request)),
  };
}

/** Records a guest's console until its QEMU ends. */
function logConsole(guest: Guest, log: RequestLog): void {
  const lines = new OutputLines();
  const receive = (piece: Uint8Array) => {
    const text = lines.add(piece);
    if (text !== '') log.output('stdout', text);
  };
  receive(Buffer.from(guest.console()));
  const leave = guest.listen(receive);
  void guest.ended.then((why) => {
    leave();
    endStream(log, 'stdout', lines);
    log.end({ kind: 'done', said: why });
  });
}
