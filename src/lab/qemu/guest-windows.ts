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
import type {
  BootedGuest,
  GuestCounting,
  GuestCounts,
  GuestSystem,
  RefusedRules,
} from './guests.ts';
import { endsIn } from './trial-logs.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';
import type { sendWindows, WindowsOutcome } from './windows.ts';

export type GuestTestbed = {
  lab: Pick<VirtualLab, 'wire'>;
  config: VirtualTestbed;
  traffic: Traffic;
  tallies: Tallies;
  system: GuestSystem;
  running: { pair: number; booted: readonly BootedGuest[] } | undefined;
  now(): number;
  flowsFor(cell: Cell): Promise<string>;
  sendWindows: typeof sendWindows;
};

export function windowsOf({ windows }: Traffic): { windows: number; packets: number } {
  if (windows === undefined) {
    throw new TypeError(
      'Virtual testbeds need a number of packets to send, but none was requested.',
    );
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
  { lab, traffic, flowsFor, sendWindows }: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
  windows: number,
  signal: AbortSignal,
): Promise<SentWindows | LostGuests> {
  const { packets } = windowsOf(traffic);
  const request = {
    guests: booted.map(({ guest }) => guest),
    flows: () => flowsFor(cell),
    packets,
    windows,
    signal,
  };
  const sent = await sendWindows(lab, request);
  return sent.kind === 'sent'
    ? sent
    : { kind: 'lost', reason: `the windows stopped early: ${sent.lastLine}` };
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
    limits[variant] = withEnds(spreadOf(counts.limits), ends.get(index + 1) ?? {});
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

/** One CPU, or one queue, has the whole work: only several show how it is spread. */
const spreadOf = ({ cpuBusyRatios, queues, ...limits }: TrialLimits): TrialLimits => ({
  ...limits,
  cpuBusyRatios: cpuBusyRatios.length > 1 ? cpuBusyRatios : [],
  queues: queues.length > 1 ? queues : [],
});
