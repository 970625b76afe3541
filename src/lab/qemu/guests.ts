// What the trials of a virtual testbed ask of its guests, whichever system they have.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { GuestMachine } from '../../config/virtual-testbed.ts';
import type { PlannedRun } from '../../model/planned-trial.ts';
import type { Cell } from '../../model/scenario.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import type { Inspection, Testbed, TrialOutcome } from '../testbed.ts';
import type { Guest } from './vm/guest.ts';

/** A guest that runs what it should, by its own proof. */
export type Booted = {
  kind: 'booted';
  variant: string;
  guest: Guest;
  host: Host;
  /** What runs, by its own words. */
  kernel: string;
};

export type NotBooted = {
  kind: 'not-booted';
  variant: string;
  outcome: TrialOutcome;
  console: string;
};

/** The variants of a pair, which has boots of its own. */
export type PairOfGuests = {
  pair: number;
  runs: readonly Pick<PlannedRun, 'variant' | 'link'>[];
  signal: AbortSignal;
};

export type GuestSystem = {
  inspect(cells: readonly Cell[]): Promise<Inspection>;
  prepare: Testbed['prepare'];
  ready: Testbed['ready'];
  /** Boots the variants side by side, and answers in their order. */
  boot(pair: PairOfGuests): Promise<(Booted | NotBooted)[]>;
  /** Installs all that will be installed once, so that none of it is refused later; undefined where none was. Throws a HostError. */
  tryAll(booted: readonly Booted[]): Promise<TrialOutcome | undefined>;
  /** Installs a cell's rules on one; undefined where they are in force. Throws a HostError. */
  lay(one: Booted, cell: Cell): Promise<TrialOutcome | undefined>;
  /** Asked right after a cell's packets, of which none came through where it is silent: why its rules were not in force. */
  whyNotInForce(
    one: Booted,
    cell: Cell,
    packets: { isSilent: boolean },
  ): Promise<string | undefined>;
  /** Functions of the kernel that runs and of its modules, by their addresses: lines like nm(1)'s. Throws a HostError. */
  symbols(one: Booted): Promise<string>;
  /** Nothing more is measured in these boots, and all is well with them. */
  leave(booted: readonly Booted[]): Promise<void>;
  /** Switches these off. */
  end(booted: readonly Booted[]): Promise<void>;
  /** Gives up whatever else there is of them. */
  close(): Promise<void>;
};

/**
 * Where a guest that does not answer is, as `, stood in pf_test+0x1c`: what it then says is the answer to our interrupt, and
 * no panic of its own.
 */
export async function interrupted(guest: Guest): Promise<{ where: string; words: LastWords }> {
  await guest.interrupt().catch(() => {});
  const { console } = lastWords(guest.console(), false);
  const place = places.map((pattern) => pattern.exec(console ?? '')?.[1]).find(Boolean);
  return {
    where: place === undefined ? '' : `, stood in ${place}`,
    words: console === undefined ? {} : { console },
  };
}

/**
 * Of Linux's registers, and of FreeBSD's debugger, which its nmi_call_kdb() hands over to; without `options DDB` it goes on, and
 * tells no place. The last is its stack below trap 19, which is T_NMI, where firmware says that it panics of one.
 */
const places = [
  /^(?:\[.*\] )?RIP: \S+?:(\w+\+0x\w+)/m,
  /^Stopped at\s+([\w.]+(?:\+0x[0-9a-f]+)?):/m,
  /^--- trap 0x13,.*\n\w+\(\) at (\w+\+0x[0-9a-f]+)/m,
];

/** The machine that QEMU makes, for a fingerprint. */
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
