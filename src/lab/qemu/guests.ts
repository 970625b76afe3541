// Defines the guests of a virtual testbed as its trials use them, with Linux or FreeBSD.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { GuestMachine } from '../../config/virtual-testbed.ts';
import type { PlannedRun } from '../../model/planned-trial.ts';
import type { Rejected } from '../../model/rejection.ts';
import type { Cell } from '../../model/scenario.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import { isToBlame, lacksControl, type Milestone, type Tallies } from '../fault-attribution.ts';
import { rejected } from '../freebsd/boots.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import type { Testbed, TrialOutcome } from '../testbed.ts';
import type { Guest } from './vm/guest.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';

/** A guest that has proven to run its variant. */
export type BootedGuest = {
  kind: 'booted';
  variant: string;
  guest: Guest;
  host: Host;
  /** Kernel that runs, as it reports itself. */
  kernel: string;
};

export type NotBooted = {
  kind: 'not-booted';
  variant: string;
  outcome: TrialOutcome;
  console: string;
};

/** Variants of a pair, which has boots of its own. */
export type PairOfGuests = {
  pair: number;
  runs: readonly Pick<PlannedRun, 'variant' | 'layout'>[];
  signal: AbortSignal;
};

/** Lab, CPUs and faults that the guests of a testbed share. */
export type GuestResources = {
  lab: VirtualLab;
  tallies: Tallies;
  /** CPUs of this machine that guests boot on. */
  cpus: readonly number[];
  flows: number;
  deps: FreebsdDeps;
};

/** Guests of one operating system. */
export interface GuestSystem extends Pick<Testbed, 'inspect' | 'prepare' | 'ready'> {
  /** Boots the variants side by side, and returns them in their order. */
  boot(pair: PairOfGuests): Promise<(BootedGuest | NotBooted)[]>;
  /** Installs the rules of all cells once, so that none is refused later; undefined where none was. Throws a HostError. */
  tryRules(booted: readonly BootedGuest[]): Promise<TrialOutcome | undefined>;
  /** Installs a cell's rules on a guest; undefined where they are in force. Throws a HostError. */
  installRules(booted: BootedGuest, cell: Cell): Promise<TrialOutcome | undefined>;
  /** Checks right after a cell's packets why its rules were not in force; `isSilent` where none came through. */
  whyNotInForce(
    booted: BootedGuest,
    cell: Cell,
    packets: { isSilent: boolean },
  ): Promise<string | undefined>;
  /** Lists functions of the running kernel and its modules by address, in lines like nm(1)'s. Throws a HostError. */
  symbols(booted: BootedGuest): Promise<string>;
  /** Ends the measurements in these boots, which went well. */
  release(booted: readonly BootedGuest[]): Promise<void>;
  /** Switches these off. */
  stop(booted: readonly BootedGuest[]): Promise<void>;
  /** Frees all else that they use. */
  close(): Promise<void>;
}

/** Rejects a variant whose fault it is, and reports any other trial as failed. */
export function blameOrFail(
  tallies: Tallies,
  variant: string,
  [fault, proof]: ['bootFailures' | 'deaths', Milestone],
  { rejection, reason }: { rejection: Rejected['rejection']; reason: string },
): TrialOutcome {
  if (isToBlame(tallies, variant, fault, proof)) return rejected(variant, rejection);
  return {
    kind: 'failed',
    reason,
    ...(lacksControl(tallies, variant, proof) && { lacksControl: true }),
  };
}

/** Memory for the symbols of a kernel: those of a distribution are some 150,000, in 7 MB. */
export const maxSymbolBytes = 64 * 1024 ** 2;

/**
 * Interrupts a guest that does not answer, and returns where it was, as `, stood in pf_test+0x1c`. The console's last lines
 * then are its answer to the interrupt, and no panic of its own.
 */
export async function interrupted(guest: Guest): Promise<{ where: string; words: LastWords }> {
  await guest.interrupt().catch(() => {});
  const { console } = lastWords(guest.console(), false);
  const location = stackPatterns.map((pattern) => pattern.exec(console ?? '')?.[1]).find(Boolean);
  return {
    where: location === undefined ? '' : `, stood in ${location}`,
    words: console === undefined ? {} : { console },
  };
}

/**
 * Match Linux's registers, and FreeBSD's debugger, which its nmi_call_kdb() enters; without `options DDB` it goes on, and
 * prints no location. The last matches its stack below trap 19 (T_NMI), where it panics of the interrupt.
 */
const stackPatterns = [
  /^(?:\[.*\] )?RIP: \S+?:(\w+\+0x\w+)/m,
  /^Stopped at\s+([\w.]+(?:\+0x[0-9a-f]+)?):/m,
  /^--- trap 0x13,.*\n\w+\(\) at (\w+\+0x[0-9a-f]+)/m,
];

/** Describes the machine that QEMU makes, for a fingerprint. */
export async function machineOf({
  accelerator,
  memoryMebibytes,
}: GuestMachine): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)('qemu-system-x86_64', ['--version']);
  const model = accelerator === 'tcg' ? 'max' : 'host';
  return {
    machine: `virtual: ${stdout.split('\n')[0]?.trim()}, ${accelerator}, q35, CPU model ${model}, 1 CPU, ${memoryMebibytes} MiB`,
  };
}
