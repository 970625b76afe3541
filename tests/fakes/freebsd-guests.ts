// Fakes FreeBSD virtual machines without QEMU: each is a machine of the fake FreeBSD lab that boots a copy of an image.
// All share the lab's virtual time. Packets pass as windows.sh sends them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuilderConfig } from '../../src/config/builder.ts';
import type { FreebsdGuestsConfig, GuestImage } from '../../src/config/virtual-testbed.ts';
import { connectTo } from '../../src/lab/connect.ts';
import type { FreebsdDeps } from '../../src/lab/freebsd/freebsd-deps.ts';
import { factsOf } from '../../src/lab/qemu/guests.ts';
import type { LabOfGuests } from '../../src/lab/qemu/virtual-testbed.ts';
import { guestMac, receiverMac, senderMac } from '../../src/lab/qemu/vm/addresses.ts';
import type { Guest } from '../../src/lab/qemu/vm/guest.ts';
import type { VirtualLab } from '../../src/lab/qemu/vm/virtual-lab.ts';
import type { SshTarget } from '../../src/system/host/login.ts';
import type { Host } from '../../src/system/host/ssh.ts';
import { temporaryFolder } from './folder.ts';
import { type Copy, sendThrough, type Wires } from './freebsd-guests-windows.ts';
import { type Clock, virtualClock } from './freebsd-lab/clock.ts';
import { type DirectConnect, leadsTo } from './freebsd-lab/direct-host.ts';
import { type Fault, faultsOf } from './freebsd-lab/faults.ts';
import { makeFolder } from './freebsd-lab/file-system.ts';
import { interrupt, reset, setPower } from './freebsd-lab/lifecycle.ts';
import type { Interface, Machine } from './freebsd-lab/machine.ts';
import { dutOf, type Files } from './freebsd-lab/machines.ts';
import { networkThrough } from './freebsd-lab/network.ts';
import { type JournalEntry, type Key, newKey, openMachine } from './freebsd-lab/open-machine.ts';
import { connectPorts, port } from './freebsd-lab/wiring.ts';

export type FakeGuestsOptions = {
  /** Texts that replace files of an official image, after a first boot that allowed root's login; by path. */
  image?: { files: Files };
  /** Instructions per packet; absent: 9000 for all. */
  truth?: Wires['truth'];
  /** Faults of an image's copy, counted from 1. Its machine is `guest`, and its first boot the image's. */
  faultsOf?: (copy: number) => readonly Fault[];
  /** Overrides of ppsgate.yml. */
  says?: { key?: Key; builder?: BuilderConfig };
};

/** A machine that booted a copy of the image. */
export type FakeGuest = {
  /** Its whole state, for tests to read and change. */
  readonly machine: Machine;
  readonly guest: Guest;
  /** Every command that it ran, with its time. */
  readonly journal: readonly JournalEntry[];
  readonly target: SshTarget;
  /** Connects without ssh. */
  readonly connect: DirectConnect;
  /** Ends QEMU unexpectedly, with this as its last output. */
  end(said: string): Promise<void>;
};

export type FakeGuests = AsyncDisposable & {
  readonly lab: LabOfGuests;
  readonly clock: Clock;
  readonly deps: FreebsdDeps;
  readonly config: FreebsdGuestsConfig & { image: GuestImage };
  /** Every copy of the image that was booted, in order. */
  readonly copies: readonly FakeGuest[];
  running(): readonly FakeGuest[];
  /** Connections that were not closed. */
  readonly open: ReadonlySet<Host>;
  /** Number of times the lab was set up and removed. */
  readonly times: { up: number; down: number };
};

/** FreeBSD in QEMU after `sysrc sshd_enable=YES`, with a key for root. */
const usualFiles: Files = {
  '/boot/loader.conf': '',
  '/etc/sysctl.conf': '',
  '/etc/rc.conf': [
    'hostname="freebsd"',
    'ifconfig_DEFAULT="DHCP inet6 accept_rtadv"',
    'growfs_enable="YES"',
    'sshd_enable="YES"',
    '',
  ].join('\n'),
};

/** Output of Debian's SeaBIOS 1.16 in QEMU without a screen. */
const firmwareText = '\x1bc\x1b[?7l\x1b[2J\x1b[0mSeaBIOS (version 1.16.2-debian-1.16.2-1)\nBooting from Hard Disk...\n';

/** See QEMU's `-netdev user`: with `restrict`, it announces no router. */
const leases = new Map([[guestMac.management, 'inet 169.254.74.15 netmask 0xffffff00 broadcast 169.254.74.255']]);

const hardware = { 'hw.model': 'QEMU TCG CPU version 2.5+', 'hw.ncpu': '1' };

/** Its disposal removes its folder and ports; it throws if a test requested a feature that FreeBSD lacks. */
export function fakeGuests(options: FakeGuestsOptions = {}): FakeGuests {
  const clock = virtualClock();
  const complaints: string[] = [];
  const [keyOfRoot, hostKey] = [newKey(), newKey()];
  const folder = temporaryFolder();
  const config = configOf(folder, keyOfRoot, hostKey, options.says);
  const wires: Wires = {
    truth: options.truth ?? (() => 9000),
    noise: { seed: 1, perBoot: 0.0005, perWindow: 0.0005 },
    clock,
    copies: new Map(),
  };
  const copies: FakeGuest[] = [];
  const numbers = new Map<number, FakeGuest>();
  const running = new Set<FakeGuest>();
  const open = new Set<Host>();
  const times = { up: 0, down: 0 };

  let begun = 0;
  let attempts = 0;

  const boot = async (number: number): Promise<FakeGuest> => {
    begun += 1;
    const ordinal = begun;
    const deps = { clock, faults: faultsOf(options.faultsOf?.(ordinal) ?? []) };
    const { interfaces, egress } = plugIn();
    const machine = dutOf(
      { dut: { interfaces: [...interfaces], routes: [], neighbours: [] } },
      {
        name: 'guest',
        hardware,
        product: 'Standard PC (Q35 + ICH9, 2009)',
        leases,
        firmwareText,
        kernel: { ident: 'image' },
        timing: { bootSeconds: 20, shutdownSeconds: 5, dumpSeconds: 15 },
        // A dump needs swap, and a reset of QEMU leaves no message if the next kernel is another.
        crashes: { keepsMessages: false, dumpsTo: 'nowhere' },
        files: { ...usualFiles, ...options.image?.files },
      },
    );
    makeFolder(machine.files, '/boot/loader.conf.d');
    const network = networkThrough(machine, deps, {
      truth: () => Number.POSITIVE_INFINITY,
      noise: { seed: 1, perBoot: 0, perSecond: 0, perBuild: 0 },
      generatorPps: Number.POSITIVE_INFINITY,
      receiverPps: Number.POSITIVE_INFINITY,
      secondsToDie: 0.1,
    });
    let shown = Buffer.alloc(0);
    machine.console.listen((piece) => {
      shown = Buffer.concat([shown, piece]).subarray(-maxConsoleBytes);
    });
    const { sshd, journal, target, connect } = await openMachine({
      machine,
      deps,
      network,
      complaints,
      hostKey,
      user: keyOfRoot,
      start: reset,
      beginUpload: () => () => true,
      faultsAt: (command) => deps.faults.takeAt(machine.name, command),
    });
    const over = Promise.withResolvers<string>();
    const place = join(folder, `guest-${number}`);
    mkdirSync(place);
    const counts = join(place, 'counts');
    const copy: Copy = {
      machine,
      network,
      egress,
      counts,
      number: ordinal,
      windows: 0,
      executed: new Map(),
      busyNs: 0,
      isOver: false,
    };
    writeFileSync(counts, Buffer.alloc(64));
    const end = async (said: string) => {
      copy.isOver = true;
      running.delete(fake);
      if (numbers.get(number) === fake) numbers.delete(number);
      setPower(machine, deps, 'off');
      for (const endProgram of [...machine.programs]) endProgram();
      await sshd.stop();
      over.resolve(said);
    };
    const alive = () => {
      if (copy.isOver) throw new Error(`connect ENOENT ${join(place, 'qmp')}`);
    };
    const guest: Guest = {
      number,
      address: { host: sshd.host, port: sshd.port },
      interfaces: { sender: `ppsgate-tx${number}`, receiver: `ppsgate-rx${number}` },
      counts,
      cpuThread: `/proc/${number}/task/${number}`,
      consoleInput: undefined,
      ended: over.promise,
      console: () => shown.toString(),
      listen: (onOutput) => machine.console.listen(onOutput),
      async pinTo() {
        alive();
      },
      async interrupt() {
        alive();
        interrupt(machine);
        await clock.sleep(secondsForLastWords);
      },
      async reset() {
        alive();
        reset(machine, deps);
      },
      async stop() {
        if (!copy.isOver) await end('it said nothing');
        rmSync(place, { recursive: true, force: true });
      },
    };
    const fake: FakeGuest = { machine, guest, journal, target, connect, end };
    wires.copies.set(counts, copy);
    copies[ordinal - 1] = fake;
    running.add(fake);
    numbers.set(number, fake);
    return fake;
  };

  const lab: LabOfGuests = {
    async up(machine) {
      if (machine !== config) throw new TypeError('That is another testbed.');
      times.up += 1;
      const virtual: Pick<VirtualLab, 'folder' | 'bootImage' | 'loginTo' | 'down'> = {
        folder,
        async bootImage(number) {
          await numbers.get(number)?.guest.stop();
          return (await boot(number)).guest;
        },
        async loginTo(image, { address: { host, port } }) {
          const knownHostsPath = join(folder, `known_hosts_of_image.${port}`);
          writeFileSync(knownHostsPath, `[${host}]:${port} ${image.hostKey}\n`);
          const { privateKeyPath } = image;
          return {
            host,
            port,
            user: 'root',
            knownHostsPath,
            ...(privateKeyPath !== undefined && { privateKeyPath }),
          };
        },
        async down() {
          times.down += 1;
          for (const { guest } of [...running]) await guest.stop();
        },
      };
      return virtual as VirtualLab;
    },
    sendWindows: (_, request) => sendThrough(wires, request),
    facts: factsOf,
  };

  return {
    lab,
    clock,
    config,
    copies,
    open,
    times,
    running: () => [...running],
    deps: {
      async connect(host, label) {
        const guest = [...running].find(({ target }) => leadsTo(host, target));
        // While a guest boots, QEMU's network accepts connections: it resets one, and leaves the next without a reply.
        if (guest?.machine.stage === 'booting') {
          attempts += 1;
          if (attempts % 2 === 0) await clock.sleep(silentSeconds, { pace: 'idle' });
        }
        const connected = await (guest?.connect(label) ?? connectTo(host, label, { keepaliveSeconds: 0 }));
        const close = async () => {
          open.delete(tracked);
          await connected.close();
        };
        const tracked: Host = { ...connected, close, [Symbol.asyncDispose]: close };
        open.add(tracked);
        return tracked;
      },
      openPower: () => Promise.reject(new TypeError('A guest has no power control.')),
      openConsole: () => Promise.reject(new TypeError('A guest has its own console.')),
      sleep: (seconds) => clock.sleep(seconds),
      now: () => clock.now(),
    },
    async [Symbol.asyncDispose]() {
      clock.stop();
      for (const { guest } of [...running]) await guest.stop();
      const [first] = complaints;
      if (first !== undefined) throw new Error(`The FreeBSD guests complain: ${first}.`);
    },
  };
}

const maxConsoleBytes = 1024 ** 2;
const secondsForLastWords = 5;
/** Silence before QEMU's network gives up a connection. */
const silentSeconds = 20;

function configOf(
  folder: string,
  keyOfRoot: Key,
  hostKey: Key,
  { key = keyOfRoot, builder }: FakeGuestsOptions['says'] = {},
): FakeGuests['config'] {
  const privateKeyPath = join(folder, 'key');
  writeFileSync(privateKeyPath, key.private, { mode: 0o600 });
  const disk = join(folder, 'freebsd.qcow2');
  writeFileSync(disk, 'QFI\xfb', 'latin1');
  return {
    kind: 'virtual',
    system: 'freebsd',
    accelerator: 'tcg',
    memoryMebibytes: 1024,
    image: {
      path: disk,
      privateKeyPath,
      hostKey: hostKey.public,
      bootSeconds: 120,
    },
    ...(builder !== undefined && { builder }),
  };
}

/** Three cards, as in QEMU: one for control, and two with a wire each. */
function plugIn(): { interfaces: readonly Interface[]; egress: Copy['egress'] } {
  const ends = { management: port(), ingress: port(senderMac), egress: port(receiverMac) };
  const interfaces = (['management', 'ingress', 'egress'] as const).map((role, index) => {
    const near = port(guestMac[role]);
    connectPorts(near, ends[role]);
    return cardAt(`vtnet${index}`, guestMac[role], near);
  });
  return { interfaces, egress: ends.egress };
}

const cardAt = (name: string, mac: string, near: Interface['port']): Interface => ({
  name,
  mac,
  port: near,
  card: 'virtio',
  mediaBits: 10e9,
  mtu: 1500,
  addresses: [],
  capabilities: new Set(),
  isUp: false,
});
