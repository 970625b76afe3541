// Three guests of QEMU's as a laboratory: a DUT with a console and a power switch, a sender, and a receiver. They are wired
// by datagrams on the loopback, and are set up by the lines of docs/lab/rcc-ve-i350.md.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { HostConfig } from '../../../src/config/fields.ts';
import { connectTo } from '../../../src/lab/connect.ts';
import { reasonOf } from '../../../src/model/one-line.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { filesOf } from '../../fakes/lab-pages.ts';
import type { GivenImage } from './given.ts';

const roles = ['dut', 'sender', 'receiver'] as const;
type Role = (typeof roles)[number];

export type LabOfGuests = AsyncDisposable & {
  /** Keys, disks, the DUT's console, and the program that is its power switch. */
  readonly folder: string;
  /** The testbed as in ppsgate.yml. */
  readonly testbed: Readonly<Record<string, unknown>>;
};

/** Longest wait for a guest to let root in, on a machine that others use. */
const bootSeconds = 600;

type Machine = { role: Role; login: HostConfig; disk: string; cards: readonly Card[] };
/** A card whose frames go to the port `to` of the loopback, and that has its own at `from`. */
type Card = { mac: string; from: number; to: number };

/** Boots all three, sets them up, and boots the DUT again. */
export async function startLabOfGuests(image: GivenImage): Promise<LabOfGuests> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-guests-'));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const machines = await machinesOf(image, folder);
  const switches = machines.map((machine) => new PowerSwitch(machine, folder));
  for (const each of switches) opened.defer(() => each.off());
  for (const each of switches) await each.on();
  for (const machine of machines) await setUp(machine, machines);
  const [dut] = switches;
  if (dut === undefined) throw new TypeError('There is no DUT.');
  // Its writes reach its disk only once it has switched itself off.
  await dut.ended();
  await dut.on();
  opened.use(await serveSwitch(dut, folder));
  for (const { login, role } of machines) await (await loggedIn(login, role)).close();
  const all = opened.move();
  return {
    folder,
    testbed: testbedOf(machines, folder),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function machinesOf(image: GivenImage, folder: string): Promise<Machine[]> {
  const [fromSender, toDut, fromDut, toReceiver] = await freePorts(4, freeDatagramPort);
  const ports = await freePorts(roles.length, freePort);
  const knownHostsPath = join(folder, 'known_hosts');
  const lines = ports.map((port) => `[127.0.0.1]:${port} ${image.hostKey}\n`);
  writeFileSync(knownHostsPath, lines.join(''));
  const cards: Record<Role, Card[]> = {
    dut: [cardOf(1, toDut, fromSender), cardOf(2, fromDut, toReceiver)],
    sender: [cardOf(3, fromSender, toDut)],
    receiver: [cardOf(4, toReceiver, fromDut)],
  };
  const made = roles.map((role, index) => ({
    role,
    disk: join(folder, `${role}.raw`),
    cards: cards[role],
    login: {
      host: '127.0.0.1',
      port: ports[index] ?? 0,
      user: 'root',
      privateKeyPath: image.keyPath,
      knownHostsPath,
    },
  }));
  // Raw, so that nothing of a disk is lost with the QEMU that is killed.
  for (const { disk } of made) await run('qemu-img', ['convert', '-O', 'raw', image.path, disk]);
  return made;
}

const cardOf = (number: number, from = 0, to = 0): Card => ({
  mac: `02:00:00:00:00:0${number}`,
  from,
  to,
});

/** A guest that is on while its QEMU runs. */
class PowerSwitch {
  readonly #machine: Machine;
  readonly #folder: string;
  #qemu: { ended: Promise<unknown>; kill(): void } | undefined;

  constructor(machine: Machine, folder: string) {
    this.#machine = machine;
    this.#folder = folder;
  }

  get isOn(): boolean {
    return this.#qemu !== undefined;
  }

  async on(): Promise<void> {
    if (this.isOn) return;
    // Ends with the process that started it, in any way.
    const words = ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...qemuWords(this.#machine, this.#folder)];
    const child = spawn('setpriv', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'spawn');
    const ended = once(child, 'exit').finally(() => {
      this.#qemu = undefined;
    });
    this.#qemu = { ended, kill: () => void child.kill('SIGKILL') };
  }

  async off(): Promise<void> {
    this.#qemu?.kill();
    await this.ended();
  }

  async ended(): Promise<void> {
    await this.#qemu?.ended;
  }
}

/**
 * Holds a guest to 31 million instructions a second, 32 ns each: far less than a CPU emulates, so its rate is steady on a
 * busy machine, too. At twice as many it was late after its boot, and faster until it had made up for that.
 */
const steadyIcount = 'shift=5,align=on';

function qemuWords({ role, login, disk, cards }: Machine, folder: string): string[] {
  const wire = ({ mac, from, to }: Card, index: number) => [
    '-netdev',
    `dgram,id=wire${index},local.type=inet,local.host=127.0.0.1,local.port=${from},remote.type=inet,remote.host=127.0.0.1,remote.port=${to}`,
    '-device',
    `virtio-net-pci,netdev=wire${index},mac=${mac},romfile=`,
  ];
  return [
    ...['-nodefaults', '-no-user-config', '-machine', 'q35,graphics=off', '-accel', 'tcg'],
    ...(role === 'dut' ? ['-icount', steadyIcount] : []),
    ...['-cpu', 'max', '-smp', '1', '-m', '1024', '-display', 'none'],
    ...['-chardev', `file,id=console,append=on,path=${consoleOf(folder, role)}`],
    ...['-serial', 'chardev:console'],
    ...['-netdev', `user,id=control,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:${login.port}-:22`],
    ...['-device', 'virtio-net-pci,netdev=control,romfile='],
    ...cards.flatMap(wire),
    ...['-device', 'virtio-rng-pci'],
    ...['-drive', `if=none,id=disk,file=${disk},format=raw,cache=unsafe`],
    ...['-device', 'virtio-blk-pci,drive=disk'],
  ];
}

const consoleOf = (folder: string, role: Role): string => join(folder, `${role}.console`);

/** Writes the page's lines into the files of a guest, with the names of its own ports. */
async function setUp({ role, login }: Machine, machines: readonly Machine[]): Promise<void> {
  await using host = await loggedIn(login, role);
  const page = filesOf('rcc-ve-i350');
  const files = role === 'dut' ? page.DUT : page.generator;
  for (const [path, text] of Object.entries(files ?? {})) {
    const lines = text.split('\n').filter((line) => isForGuest(line, role));
    const own = lines.map((line) => asOfGuest(line, role, machines)).join('\n');
    await host.output(shell`tee -a ${path}`, { stdin: Buffer.from(`\n${own}\n`) });
  }
  if (role === 'dut') await host.output(shell`shutdown -p now`);
  else await host.output(shell`service netif restart vtnet1`);
}

/** Cards of guests have no flow control, and a console at their first port; a generator's page is of one machine. */
function isForGuest(line: string, role: Role): boolean {
  if (/^dev\.|^comconsole_port/.test(line)) return false;
  if (role === 'sender') return !line.includes('igb3');
  return role === 'dut' || !line.includes('igb2');
}

function asOfGuest(line: string, role: Role, machines: readonly Machine[]): string {
  const ofRole = (wanted: Role) => machines.find((one) => one.role === wanted)?.cards[0]?.mac ?? '';
  return line
    .replace('igb2', 'vtnet1')
    .replace('igb3', role === 'dut' ? 'vtnet2' : 'vtnet1')
    .replace('00:1b:21:c4:95:7a', ofRole('sender'))
    .replace('00:1b:21:c4:95:7b', ofRole('receiver'));
}

function testbedOf([dut, sender, receiver]: readonly Machine[], folder: string): Readonly<Record<string, unknown>> {
  const loginOf = ({ login }: Machine) => ({
    host: login.host,
    port: login.port,
    key: login.privateKeyPath,
    knownHosts: login.knownHostsPath,
  });
  const generator = (machine: Machine) => ({
    ...loginOf(machine),
    interface: 'vtnet1',
    mac: machine.cards[0]?.mac,
  });
  if (dut === undefined || sender === undefined || receiver === undefined) {
    throw new TypeError('There are not three guests.');
  }
  const power = join(import.meta.dirname, 'power.ts');
  const turn = (word: string) => [process.execPath, power, switchIn(folder), word];
  return {
    kind: 'freebsd',
    dut: {
      ...loginOf(dut),
      ingress: { interface: 'vtnet1' },
      egress: { interface: 'vtnet2' },
      boot: { limit: '10 min' },
      power: { kind: 'command', on: turn('on'), off: turn('off'), state: turn('state') },
      console: { kind: 'command', command: ['tail', '-n', '0', '-F', consoleOf(folder, 'dut')] },
    },
    senders: [{ ...generator(sender), inet4: '198.18.0.203' }],
    receiver: { ...generator(receiver), inet4: '198.19.0.203' },
  };
}

/** Path of the socket for power.ts. */
const switchIn = (folder: string): string => join(folder, 'power');

async function serveSwitch(dut: PowerSwitch, folder: string): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    socket.setEncoding('utf8').once('data', async (data) => {
      const word = String(data).trim();
      if (word === 'on') await dut.on();
      if (word === 'off') await dut.off();
      socket.end(dut.isOn ? 'on\n' : 'off\n');
    });
    socket.on('error', () => {});
  });
  server.listen(switchIn(folder));
  await once(server, 'listening');
  chmodSync(switchIn(folder), 0o600);
  return server;
}

async function loggedIn(login: HostConfig, role: Role): Promise<Host> {
  const until = Date.now() + bootSeconds * 1000;
  for (;;) {
    try {
      return await connectTo(login, role);
    } catch (error) {
      if (Date.now() > until) {
        throw new Error(`The ${role} did not let root in for ${bootSeconds} s: ${reasonOf(error)}`);
      }
      await setTimeout(1000);
    }
  }
}

/** Ports that are free now, all of them different. */
async function freePorts(count: number, find: () => Promise<number>): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await find());
  return [...ports];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}

async function freeDatagramPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} has ended with ${code}.`);
}
