// Defines the interface between a virtual testbed's trials and its guests, with Linux or FreeBSD.
import { execFile } from 'node:child_process';
import { release } from 'node:os';
import { promisify } from 'node:util';
import type { GuestMachine } from '../../config/virtual-testbed.ts';
import type { TrialLimits } from '../../model/limits.ts';
import type { PlannedRun } from '../../model/planned-trial.ts';
import type { Rejected } from '../../model/rejection.ts';
import type { Cell } from '../../model/scenario.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import { isAtFault, lacksControl, type Milestone, type Tallies } from '../fault-attribution.ts';
import { rejected } from '../freebsd/boots.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import type { Testbed, TrialOutcome } from '../testbed.ts';
import type { Guest } from './vm/guest.ts';
import { kernelCommandLine, type VirtualLab } from './vm/virtual-lab.ts';

export type BootedGuest = {
  kind: 'booted';
  variant: string;
  guest: Guest;
  host: Host;
  kernel: string;
};

export type NotBooted = {
  kind: 'not-booted';
  variant: string;
  outcome: TrialOutcome;
  console: string;
};

export type PairOfGuests = {
  pair: number;
  runs: readonly Pick<PlannedRun, 'variant' | 'layout'>[];
  signal: AbortSignal;
};

export type GuestResources = {
  lab: VirtualLab;
  tallies: Tallies;
  cpus: readonly number[];
  /** Flows that each create a state in a stateful scenario. */
  flows: number;
  /** Networks that test packets have. */
  addresses: TestNetworks | undefined;
  deps: FreebsdDeps;
  facts(): Promise<Record<string, string>>;
};

export type RefusedRules = { kind: 'refused'; outcome: TrialOutcome };

/** Counts packets between two readings of a guest's counters. */
export type GuestCounting = {
  /** Reads the counters again. Throws a HostError. */
  end(): Promise<GuestCounts>;
  cancel(): void;
};

/** Without limits where the counters are not understood. */
export type GuestCounts = { log: string; limits: TrialLimits | undefined };

export interface GuestSystem extends Pick<Testbed, 'inspect' | 'prepare' | 'ready'> {
  /** Returns the warnings since the last call. */
  takeWarnings(): string[];
  /** Boots the variants in parallel, and returns them in the same order. */
  boot(pair: PairOfGuests): Promise<(BootedGuest | NotBooted)[]>;
  /**
   * Installs the rules of all cells once, so that a refusal shows early; returns undefined without a refusal. Throws a
   * HostError.
   */
  tryRules(booted: readonly BootedGuest[]): Promise<TrialOutcome | undefined>;
  /** Returns undefined if the cell's rules are in force. Throws a HostError. */
  installRules(booted: BootedGuest, cell: Cell): Promise<TrialOutcome | undefined>;
  /** Likewise in all guests, and counts the packets that follow. */
  installCounting(
    booted: readonly BootedGuest[],
    cell: Cell,
  ): Promise<RefusedRules | { kind: 'counting'; counting: readonly GuestCounting[] }>;
  /** Called right after a cell's packets; `isSilent` where none came through. */
  whyNotInForce(booted: BootedGuest, cell: Cell, packets: { isSilent: boolean }): Promise<string | undefined>;
  /** Returns a phrase that continues "dropped by"; undefined if unknown. `send` sends packets once more. */
  droppedBy(booted: BootedGuest, send: () => Promise<unknown>): Promise<string | undefined>;
  /** Lists functions of the running kernel and its modules by address, like nm(1). Throws a HostError. */
  symbols(booted: BootedGuest): Promise<string>;
  release(booted: readonly BootedGuest[]): Promise<void>;
  stop(booted: readonly BootedGuest[]): Promise<void>;
  close(): Promise<void>;
}

/** Rejects a variant that is to blame; otherwise the trial has failed. */
export function blameOrFail(
  tallies: Tallies,
  variant: string,
  [fault, proof]: ['bootFailures' | 'deaths', Milestone],
  { rejection, reason }: { rejection: Rejected['rejection']; reason: string },
): TrialOutcome {
  if (isAtFault(tallies, variant, fault, proof)) return rejected(variant, rejection);
  return {
    kind: 'failed',
    reason,
    ...(lacksControl(tallies, variant, proof) && { lacksControl: true }),
  };
}

/** A distribution's kernel has about 150,000 symbols in 7 MB. */
export const maxSymbolBytes = 64 * 1024 ** 2;

/**
 * Returns the location of a stuck guest, as `, stood in pf_test+0x1c`; the console shows the reply to an interrupt, not
 * a panic.
 */
export async function interrupted(guest: Guest): Promise<{ where: string; words: LastWords }> {
  await guest.interrupt().catch(() => {});
  const { console, consoleLines } = lastWords(guest.console(), false);
  const location = stackPatterns.map((pattern) => pattern.exec(console ?? '')?.[1]).find(Boolean);
  return {
    where: location === undefined ? '' : `, stood in ${location}`,
    words: {
      ...(console !== undefined && { console }),
      ...(consoleLines !== undefined && { consoleLines }),
    },
  };
}

/**
 * Match Linux's registers, and FreeBSD's debugger, which its nmi_call_kdb() enters; without `options DDB` FreeBSD
 * continues and prints no location. The last matches FreeBSD's stack below trap 19 (T_NMI), if the interrupt makes it
 * panic.
 */
const stackPatterns = [
  /^(?:\[.*\] )?RIP: \S+?:(\w+\+0x\w+)/m,
  /^Stopped at\s+([\w.]+(?:\+0x[0-9a-f]+)?):/m,
  /^--- trap 0x13,.*\n\w+\(\) at (\w+\+0x[0-9a-f]+)/m,
];

const run = promisify(execFile);

export async function factsOf({
  accelerator,
  memoryMebibytes,
  system,
}: GuestMachine & { system: 'linux' | 'freebsd' }): Promise<Record<string, string>> {
  const { stdout } = await run('qemu-system-x86_64', ['--version']);
  const model = accelerator === 'tcg' ? 'max' : 'host';
  const machine = `virtual: ${stdout.split('\n')[0]?.trim()}, ${accelerator}, q35, CPU model ${model}, 1 CPU, ${memoryMebibytes} MiB`;
  if (system === 'freebsd') return { machine };
  const nftables = await run('nft', ['--version']);
  return {
    machine,
    'kernel command line': kernelCommandLine('…'),
    nftables: nftables.stdout.trim(),
    'kernel of this machine': release(),
  };
}
