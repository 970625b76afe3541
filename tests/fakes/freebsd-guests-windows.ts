// Sends windows of packets through FreeBSD guests in virtual time: does what windows.sh does, and prints its lines.
import { readFileSync, writeFileSync } from 'node:fs';
import { guestMac } from '../../src/lab/qemu/vm/addresses.ts';
import type { WindowsOutcome, WindowsRequest } from '../../src/lab/qemu/windows.ts';
import type { Family } from '../../src/model/scenario.ts';
import type { Clock } from './freebsd-lab/clock.ts';
import { addressOf } from './freebsd-lab/commands/symbols.ts';
import { type LabScenario, scenarioInForce } from './freebsd-lab/firewall.ts';
import type { Machine } from './freebsd-lab/machine.ts';
import type { Load, Network, Stream } from './freebsd-lab/network.ts';
import { normal } from './freebsd-lab/random.ts';
import { farEnd, type Port } from './freebsd-lab/wiring.ts';

/** Devices on a guest's wires. */
export type Copy = {
  readonly machine: Machine;
  readonly network: Network;
  /** Counts the packets it forwards. */
  readonly egress: Port;
  /** Path of the file of instructions.c. */
  readonly counts: string;
  /** Number of the image's copy, from 1. */
  readonly number: number;
  windows: number;
  /** Instructions by the address of their block. */
  readonly executed: Map<bigint, number>;
  busyNs: number;
  /** QEMU has ended. */
  isOver: boolean;
};

export type Wires = {
  /** Instructions that a packet needs. */
  truth: (load: Load) => number;
  /** Standard deviations of a boot and of a window, as ratios. */
  noise: { seed: number; perBoot: number; perWindow: number };
  clock: Clock;
  /** By the path of its counts. */
  copies: Map<string, Copy>;
};

/** Packets that trafgen sends per second; the guest accepts them, or hangs. */
const packetsPerSecond = 50_000;
const maxSeconds = 30;

export async function sendThrough(
  wires: Wires,
  { guests, flows, packets, windows, signal }: WindowsRequest,
): Promise<WindowsOutcome> {
  const copies = guests.map(({ counts = '' }) => {
    const copy = wires.copies.get(counts);
    if (copy === undefined) throw new TypeError('That is no guest of this laboratory.');
    return copy;
  });
  const sent = readFlows(readFileSync(await flows(), 'utf8'));
  const stuck = new Set<number>();
  let log = '';
  for (const number of plannedFor(guests.length, windows)) {
    signal.throwIfAborted();
    if (copies.some(({ isOver }) => isOver)) return { kind: 'broken', log, lastLine: 'it said nothing' };
    const copy = copies[number - 1];
    if (copy === undefined || stuck.has(number)) continue;
    const before = shown(wires, copy);
    if (!(await sendOne(wires, copy, sent, packets))) stuck.add(number);
    log += `window ${number} ${before} ${shown(wires, copy)}\n`;
    if (stuck.has(number)) log += `stuck ${number}\n`;
  }
  signal.throwIfAborted();
  return { kind: 'sent', log: `${log}end\n` };
}

/** Numbers of guests; each round mirrors the one before. */
function plannedFor(guests: number, rounds: number): number[] {
  const all = Array.from({ length: guests }, (_, index) => index + 1);
  return Array.from({ length: rounds }, (_, round) => (round % 2 === 0 ? all : all.toReversed())).flat();
}

/** Time, forwarded packets, instructions, and the CPU's own time and waiting time in ns. */
function shown({ clock }: Wires, { network, egress, executed, busyNs }: Copy): string {
  network.count();
  const instructions = [...executed.values()].reduce((sum, some) => sum + some, 0);
  const received = Math.round(egress.received.packets);
  return [clock.now().toFixed(6), received, instructions, busyNs, Math.round(busyNs / 1000)].join(' ');
}

type Flows = Pick<Stream, 'sources' | 'family' | 'destinationMac' | 'destination' | 'frameBytesWithoutCrc'> & {
  flows: number;
};

/** Returns whether the guest accepted all packets. */
async function sendOne(wires: Wires, copy: Copy, sent: Flows, packets: number): Promise<boolean> {
  const { machine, network } = copy;
  const { clock } = wires;
  const entry = machine.interfaces.find(({ mac }) => mac === guestMac.ingress);
  const from = entry && farEnd(entry.port);
  if (entry === undefined || from === undefined) throw new TypeError('The guest has lost its card.');
  const perPacket = instructionsFor(wires, copy, sent.family);
  const stream: Stream = {
    ...sent,
    from,
    pps: packetsPerSecond,
    flows: Math.min(sent.flows, packets),
  };
  const takes = () => machine.stage === 'up' && entry.isUp;
  const before = copy.egress.received.packets;
  copy.windows += 1;
  network.beginTrial();
  network.begin(stream);
  await clock.sleep(packets / packetsPerSecond);
  network.end(stream);
  network.endTrial();
  const forwarded = Math.round(copy.egress.received.packets - before);
  execute(copy, forwarded, perPacket);
  if (takes()) return true;
  // The queue of its card is full, so trafgen waits for space.
  await clock.sleep(maxSeconds);
  return takes();
}

type PerPacket = { scenario: LabScenario; family: Family; instructions: number };

/** Undefined if nothing is forwarded. */
function instructionsFor(
  { truth, noise }: Wires,
  { machine, number, windows }: Copy,
  family: Family,
): PerPacket | undefined {
  const scenario = scenarioInForce(machine, family);
  if (machine.running === undefined || scenario === 'blocked') return undefined;
  const { seed, perBoot, perWindow } = noise;
  const ratio = Math.exp(perBoot * normal(seed, number, machine.boots) + perWindow * normal(seed, number, windows, 1));
  const { ident } = machine.running.kernel;
  return { scenario, family, instructions: truth({ ident, scenario, family }) * ratio };
}

/** Cost of every packet with any kernel; the rest is the cost of the scenario's function. */
const always = [
  ['vtnet_rxq_eof', 3000],
  ['ether_input', 1500],
  ['ip_input', 500],
] as const;

function lastOf({ scenario, family }: PerPacket): string {
  if (scenario.startsWith('pf')) return 'pf_test';
  if (scenario.startsWith('ipfw')) return 'ipfw_chk';
  return family === 'inet4' ? 'ip_tryforward' : 'ip6_tryforward';
}

const idleInstructions = 20_000;
const userlandInstructions = 5000;
/** Slots of instructions.c. */
const userland = 1n;

function execute(copy: Copy, forwarded: number, perPacket: PerPacket | undefined): void {
  const { executed, counts, machine } = copy;
  let busy = 0;
  const add = (address: bigint, instructions: number) => {
    executed.set(address, (executed.get(address) ?? 0) + Math.round(instructions));
    busy += Math.round(instructions);
  };
  if (machine.running !== undefined) {
    add(addressOf('acpi_cpu_c1'), idleInstructions);
    add(userland, userlandInstructions);
  }
  if (perPacket !== undefined && forwarded > 0) {
    let left = perPacket.instructions;
    for (const [name, most] of always) {
      const some = Math.min(left, most);
      add(addressOf(name) + 0x10n, some * forwarded);
      left -= some;
    }
    add(addressOf(lastOf(perPacket)) + 0x10n, left * forwarded);
  }
  copy.busyNs += busy * 2;
  writeFileSync(counts, countsFile(executed));
}

function countsFile(executed: ReadonlyMap<bigint, number>): Buffer {
  const file = Buffer.alloc(64 + 16 * executed.size);
  let total = 0n;
  for (const [index, [address, instructions]] of [...executed].entries()) {
    file.writeBigUInt64LE(address, 64 + 16 * index);
    file.writeBigUInt64LE(BigInt(instructions), 72 + 16 * index);
    total += BigInt(instructions);
  }
  file.writeBigUInt64LE(total);
  return file;
}

/** Frames of trafgen's configuration, all of one kind. */
function readFlows(text: string): Flows {
  const frames = text
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line.replace(/[{} ]/g, '').split(',').map(Number)));
  const [first] = frames;
  if (first === undefined) throw new TypeError('There are no packets to send.');
  const isInet6 = first.readUInt16BE(12) === 0x86dd;
  const macs = new Set(frames.map((frame) => frame.toString('hex', 0, 6)));
  if (macs.size !== 1) throw new TypeError('Not all packets go to one card.');
  return {
    family: isInet6 ? 'inet6' : 'inet4',
    destinationMac: (first.toString('hex', 0, 6).match(/../g) ?? []).join(':'),
    destination: isInet6 ? groups(first.subarray(38, 54)) : first.subarray(30, 34).join('.'),
    sources: new Set(frames.map((frame) => frame.toString('hex', 26, isInet6 ? 38 : 30))).size,
    frameBytesWithoutCrc: first.length,
    flows: new Set(frames.map((frame) => frame.toString('hex'))).size,
  };
}

const groups = (address: Buffer): string => (address.toString('hex').match(/.{4}/g) ?? []).join(':');
