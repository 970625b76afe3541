// Runs a virtual machine: a QEMU that boots a kernel or a disk, its console, and its end.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { GuestMachine } from '../../../config/virtual-testbed.ts';
import { lastLine } from '../../../model/one-line.ts';
import { openPacedPipe } from '../../../system/paced-pipe.ts';
import { ConsoleTape } from '../../console/console-tape.ts';
import { guestAddress, guestMac, guestNetwork, wireAddress } from './addresses.ts';
import type { DiskImage } from './disk-image.ts';
import { openQmp } from './qmp.ts';
import { unprivilegedUserId } from './unprivileged-user.ts';
import type { Wire } from './wire.ts';

const execute = promisify(execFile);

type GuestRequest = {
  /** Counts from 1; unique among running guests. */
  number: number;
  folder: string;
  boots: BootSource;
  machine: GuestMachine;
  plugin?: string | undefined;
  /** QEMU's options that make it drop its privileges; see `unprivileged`. */
  user: readonly string[];
  cpu: number;
};

export type BootSource =
  /** A kernel, its command line, and the path of its initrd. A reset ends QEMU. */
  | { kind: 'kernel'; path: string; commandLine: string; initrd: string }
  /** A disk, which boots by BIOS; `hasConsoleInput` lets this process type on its console. */
  | { kind: 'disk'; image: DiskImage; hasConsoleInput?: boolean };

export type Guest = {
  readonly number: number;
  readonly address: { host: string; port: number };
  /** Ends of its wires: frames sent into the first end come out of the second. */
  readonly interfaces: { sender: string; receiver: string };
  /** File of its instruction counters; see instructions.c. */
  readonly counts: string | undefined;
  readonly cpuThread: string;
  /** Named pipe of its keyboard, if it has one. */
  readonly consoleInput: string | undefined;
  /** Resolves to QEMU's own last line once QEMU has ended, for example after a kernel's panic. Never rejects. */
  readonly ended: Promise<string>;
  /** Console output since its start: the first panic, and at most the last mebibyte. */
  console(): string;
  /** Passes on new console output, until the returned function is called. */
  listen(onOutput: (piece: Buffer) => void): () => void;
  /**
   * Moves its CPU's thread, and QEMU's other threads, which read and write its wires, to another CPU if named. Does
   * nothing if the guest has ended; throws if taskset fails for one that runs.
   */
  pinTo(cpu: number, othersCpu?: number): Promise<void>;
  /** Makes a stuck CPU print its location, by a non-maskable interrupt, and waits for that output. */
  interrupt(): Promise<void>;
  reset(): Promise<void>;
  stop(): Promise<void>;
};

const maxConsoleBytes = 1024 ** 2;
const secondsForLastWords = 5;

/** Returns before the guest has booted. Throws if QEMU does not start. */
export async function startGuest(wire: Wire, request: GuestRequest): Promise<Guest> {
  const { number, folder, plugin, boots } = request;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700, recursive: true });
  const [sender, receiver] = [`ppsgate-tx${number}`, `ppsgate-rx${number}`];
  await createWires(wire, [sender, receiver]);
  const qmpPath = join(folder, 'qmp');
  const counts = plugin === undefined ? undefined : join(folder, 'counts');
  const consolePath = join(folder, 'console');
  const hasInput = boots.kind === 'disk' && boots.hasConsoleInput === true;
  const consoleInput = hasInput ? `${consolePath}.in` : undefined;
  if (consoleInput !== undefined) await execute('mkfifo', ['-m', '600', consoleInput]);
  const place = {
    sender,
    receiver,
    qmpPath,
    consoleDevice: hasInput ? `pipe,path=${escaped(consolePath)}` : `file,path=${escaped(consolePath)}`,
    counts,
  };
  const options = qemuArguments(request, place);
  const tape = new ConsoleTape(maxConsoleBytes);
  const listeners = new Set<(piece: Buffer) => void>();
  const console = openPacedPipe(hasInput ? `${consolePath}.out` : consolePath, (piece) => {
    tape.write(piece);
    for (const onOutput of listeners) onOutput(piece);
  });
  const running = wire.start(
    'setpriv',
    ['--no-new-privs', 'taskset', '--cpu-list', String(request.cpu), ...options],
    boots.kind === 'disk' ? boots.image.descriptor : undefined,
  );
  let errors = '';
  const ended = once(running, 'close')
    .then(
      () => lastLine(errors) ?? 'it said nothing',
      (error: unknown) => String(error),
    )
    .finally(() => console.close());
  running.stdout?.resume();
  running.stderr?.on('data', (piece: Buffer) => {
    errors = (errors + piece.toString()).slice(-4096);
  });
  const qemu = await qemuOf(running.pid, ended);
  const cpuThread = await cpuThreadOf(qemu, ended);
  const guest: Guest = {
    number,
    address: { host: wireAddress, port: portOf(number) },
    interfaces: { sender, receiver },
    counts,
    cpuThread,
    consoleInput,
    ended,
    console() {
      console.read();
      return tape.text();
    },
    listen(onOutput) {
      listeners.add(onOutput);
      return () => void listeners.delete(onOutput);
    },
    async pinTo(cpu, othersCpu = cpu) {
      try {
        await pin(['--all-tasks'], othersCpu, String(qemu));
        await pin([], cpu, basename(cpuThread));
      } catch (error) {
        const timeout = setTimeout(secondsForLastWords * 1000, 'runs' as const);
        if ((await Promise.race([ended, timeout])) === 'runs') throw error;
      }
    },
    async interrupt() {
      const before = tape.length;
      using qmp = await openQmp(qmpPath);
      await qmp.execute('inject-nmi');
      // A kernel that panics resets the machine, which ends QEMU.
      await Promise.race([ended, setTimeout(secondsForLastWords * 1000)]);
      if (tape.length === before) await setTimeout(200);
    },
    async reset() {
      using qmp = await openQmp(qmpPath);
      await qmp.execute('system_reset');
    },
    async stop() {
      endProcess(qemu);
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
  return guest;
}

async function pin(options: readonly string[], cpu: number, id: string): Promise<void> {
  await execute('taskset', [...options, '--pid', '--cpu-list', String(cpu), id]);
}

export class GuestEndedError extends Error {
  override readonly name = 'GuestEndedError';
}

export const portOf = (number: number): number => 2200 + number;

/** Creates a tap for each name, which yields the guest's frames or delivers frames to it, without ARP or IP of ours. */
async function createWires(wire: Wire, names: readonly string[]): Promise<void> {
  await wire.run('sh', ['-c', createTaps, 'sh', ...names]);
}

/** Without these settings this machine would reply to ARP for the wire's address, and accept its packets. */
const createTaps = `set -e
for name; do
  ip link delete "$name" 2>/dev/null || :
  ip tuntap add dev "$name" mode tap
  cd /proc/sys/net
  echo 1 >"ipv6/conf/$name/disable_ipv6"
  echo 8 >"ipv4/conf/$name/arp_ignore"
  echo 1 >"ipv4/conf/$name/rp_filter"
  ip link set dev "$name" up
done`;

function qemuArguments(
  { number, boots, machine, plugin, user }: GuestRequest,
  place: {
    sender: string;
    receiver: string;
    qmpPath: string;
    consoleDevice: string;
    counts: string | undefined;
  },
): string[] {
  const card = (id: string, mac: string) => ['-device', `virtio-net-pci,netdev=${id},mac=${mac},romfile=`];
  const tap = (id: string, name: string) => ['-netdev', `tap,id=${id},ifname=${name},script=no,downscript=no`];
  const forward = `hostfwd=tcp:${wireAddress}:${portOf(number)}-${guestAddress}:22`;
  return [
    'qemu-system-x86_64',
    '-name',
    `ppsgate-${number},debug-threads=on`,
    '-nodefaults',
    '-no-user-config',
    '-machine',
    'q35,graphics=off',
    '-accel',
    machine.accelerator,
    '-cpu',
    machine.accelerator === 'kvm' ? 'host' : 'max',
    '-smp',
    '1',
    '-m',
    String(machine.memoryMebibytes),
    '-display',
    'none',
    // QEMU opens its files as root, and drops all privileges before the guest executes anything.
    ...user,
    '-sandbox',
    'on,obsolete=deny,spawn=deny',
    '-chardev',
    `${place.consoleDevice},id=console`,
    '-serial',
    'chardev:console',
    '-qmp',
    `unix:${place.qmpPath},server=on,wait=off`,
    '-netdev',
    `user,id=control,restrict=on,ipv6=off,${guestNetwork},${forward}`,
    ...card('control', guestMac.management),
    ...tap('in', place.sender),
    ...card('in', guestMac.ingress),
    ...tap('out', place.receiver),
    ...card('out', guestMac.egress),
    '-device',
    'virtio-rng-pci',
    // Disks come after the cards, so that the first card is the control card.
    ...bootArguments(boots),
    ...(plugin === undefined ? [] : ['-plugin', `${plugin},counts=${place.counts}`]),
  ];
}

/** QEMU's options escape a comma by doubling it. */
const escaped = (path: string): string => path.replaceAll(',', ',,');

/** Returns QEMU's option to drop privileges: one up to 9.2, another since that one's removal. */
export async function unprivileged(wire: Wire): Promise<string[]> {
  const help = await wire.run('qemu-system-x86_64', ['-help']);
  return /^-runas /m.test(help)
    ? ['-runas', `${unprivilegedUserId}:${unprivilegedUserId}`]
    : ['-run-with', `user=${unprivilegedUserId}:${unprivilegedUserId}`];
}

function bootArguments(boots: BootSource): string[] {
  if (boots.kind === 'kernel') {
    const { path, initrd, commandLine } = boots;
    return ['-no-reboot', '-kernel', path, '-initrd', initrd, '-append', commandLine];
  }
  return [...boots.image.qemuArguments];
}

/** Waits until the started program has entered the namespaces and has QEMU as its child. */
async function qemuOf(entering: number | undefined, ended: Promise<string>): Promise<number> {
  const path = `/proc/${entering}/task/${entering}/children`;
  return retryUntilFound(ended, async () => {
    const [child] = (await readFile(path, 'utf8')).trim().split(' ').filter(Boolean);
    return child === undefined ? undefined : Number(child);
  });
}

/** QEMU names its threads; see its `-name`. */
async function cpuThreadOf(qemu: number, ended: Promise<string>): Promise<string> {
  return retryUntilFound(ended, async () => {
    for (const thread of await readdir(`/proc/${qemu}/task`)) {
      const folder = `/proc/${qemu}/task/${thread}`;
      const name = await readFile(`${folder}/comm`, 'utf8').catch(() => '');
      if (name.startsWith('CPU 0/')) return folder;
    }
    return undefined;
  });
}

async function retryUntilFound<Found>(ended: Promise<string>, find: () => Promise<Found | undefined>): Promise<Found> {
  let why: string | undefined;
  ended.then((last) => {
    why = last;
  });
  for (;;) {
    const found = await find().catch(() => undefined);
    if (found !== undefined) return found;
    if (why !== undefined)
      throw new GuestEndedError(
        `QEMU started no guest (${why}): install what is missing on this machine, or remove \`accelerator: kvm\`.`,
      );
    await setTimeout(20);
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
