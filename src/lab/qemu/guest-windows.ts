// Installs a cell's rules in guests, sends windows of packets through them, and reads what limited the packets.
import type { Traffic } from '../../config/schema.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';
import type { TrialLimits } from '../../model/limits.ts';
import type { Cell } from '../../model/scenario.ts';
import { pathName } from '../../model/variant-name.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Tallies } from '../fault-attribution.ts';
import type { KeepLog } from '../testbed.ts';
import { withEnds } from '../trial-limits.ts';
import type { BootedGuest, GuestCounting, GuestCounts, GuestSystem, RefusedRules } from './guests.ts';
import { endsIn } from './trial-logs.ts';
import { guestCpu, senderCpu, type VirtualLab } from './vm/virtual-lab.ts';
import type { sendWindows, WindowsOutcome } from './windows.ts';

type RunningPair = {
  pair: number;
  booted: readonly BootedGuest[];
  /** False until their first packets; see `shareCpu`. */
  haveOneCpu: boolean;
};

export type GuestTestbed = {
  lab: Pick<VirtualLab, 'wire'>;
  config: VirtualTestbed;
  traffic: Traffic;
  tallies: Tallies;
  system: GuestSystem;
  running: RunningPair | undefined;
  now(): number;
  flowsFor(cell: Cell): Promise<string>;
  sendWindows: typeof sendWindows;
};

export function windowsOf({ windows }: Traffic): { windows: number; packets: number } {
  if (windows === undefined) {
    throw new TypeError('Virtual testbeds need a number of packets to send, but none was requested.');
  }
  return { windows: windows.count, packets: windows.packets };
}

type SentWindows = Extract<WindowsOutcome, { kind: 'sent' }>;
type LostGuests = { kind: 'lost'; reason: string };
export async function installRules(
  { system }: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
): Promise<LostGuests | RefusedRules | undefined> {
  try {
    for (const one of booted) {
      const outcome = await system.installRules(one, cell);
      if (outcome !== undefined) return { kind: 'refused', outcome };
    }
    return undefined;
  } catch (error) {
    return lost(error);
  }
}

export async function send(
  guests: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
  windows: number,
  signal: AbortSignal,
): Promise<SentWindows | LostGuests> {
  const { lab, traffic, flowsFor, sendWindows } = guests;
  const { packets } = windowsOf(traffic);
  await shareCpu(guests);
  const request = {
    guests: booted.map(({ guest }) => guest),
    flows: () => flowsFor(cell),
    packets,
    windows,
    signal,
  };
  const sent = await sendWindows(lab, request);
  return sent.kind === 'sent' ? sent : { kind: 'lost', reason: `the windows stopped early: ${sent.lastLine}` };
}

/**
 * Guests prepare on all CPUs, and forward on one. The sender and QEMU's threads for the wires have the other: packets
 * then wait for a guest, which takes them in batches of one size even on a busy machine.
 */
async function shareCpu({ running }: GuestTestbed): Promise<void> {
  if (running === undefined || running.haveOneCpu) return;
  running.haveOneCpu = true;
  const { booted } = running;
  await Promise.all(booted.map(({ guest }) => guest.pinTo(guestCpu, senderCpu)));
}

export async function installAndSend(
  guests: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
  windows: number,
  signal: AbortSignal,
): Promise<SentWindows | LostGuests | RefusedRules> {
  const installed = await installRules(guests, booted, cell);
  return installed ?? send(guests, booted, cell, windows, signal);
}

type CountedWindows = SentWindows & { counting: readonly GuestCounting[] };

/** Reads counters before the first window, outside of all counted instructions. */
export async function countAndSend(
  guests: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
  windows: number,
  signal: AbortSignal,
): Promise<CountedWindows | LostGuests | RefusedRules> {
  const begun = await guests.system.installCounting(booted, cell).catch(lost);
  if (begun.kind !== 'counting') return begun;
  const { counting } = begun;
  const cancel = () => {
    for (const one of counting) one.cancel();
  };
  try {
    const sent = await send(guests, booted, cell, windows, signal);
    if (sent.kind === 'sent') return { ...sent, counting };
    cancel();
    return sent;
  } catch (error) {
    cancel();
    throw error;
  }
}

function lost(error: unknown): LostGuests {
  if (!(error instanceof HostError)) throw error;
  return { kind: 'lost', reason: error.message };
}

type CountedPair = { pair: number; booted: readonly BootedGuest[]; packets: number };

/** Called right after the packets: what limited them, by variant. A guest without an answer has no limits. */
export async function limitsOf(
  { log, counting }: CountedWindows,
  { pair, booted, packets }: CountedPair,
  keepLog: KeepLog,
): Promise<Record<string, TrialLimits>> {
  const all = await Promise.all(counting.map(countsOf));
  const ends = endsIn(log, packets);
  const limits: Record<string, TrialLimits> = {};
  for (const [index, counts] of all.entries()) {
    const variant = booted[index]?.variant;
    if (counts === undefined || variant === undefined) continue;
    await keepLog(`counters-${pair}-${pathName(variant)}.log`, counts.log);
    if (counts.limits === undefined) continue;
    // A guest has one CPU, whose ticks follow the host's clock.
    const { busiestCpuRatio: _, ...counted } = counts.limits;
    limits[variant] = withEnds(counted, ends.get(index + 1) ?? {});
  }
  return limits;
}

const countsOf = async (counting: GuestCounting): Promise<GuestCounts | undefined> => {
  try {
    return await counting.end();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return undefined;
  }
};
