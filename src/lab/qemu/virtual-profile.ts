// Profiles a guest's instructions for each packet, by function, from QEMU's counts of translated blocks of code.
import { readFile } from 'node:fs/promises';
import { HostError } from '../../system/host/host-error.ts';
import { impossible, judgeProfile, missed } from '../judge-profile.ts';
import type { KeepLog, ProfileOutcome, ProfileRequest } from '../testbed.ts';
import { foldedInstructions } from './hot-functions.ts';
import { type GuestTestbed, guestsFor, installRules, send, stopAll } from './virtual-trial.ts';

/** Counts one window after a discarded one. Counting leaves no trace in the guest, which stays up. */
export async function profile(
  guests: GuestTestbed,
  { cell, variant }: ProfileRequest,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<ProfileOutcome> {
  if (guests.config.accelerator !== 'tcg') {
    return impossible('instructions are not counted where the CPU itself executes a guest');
  }
  const known = guests.running?.booted ?? [];
  if (known.every((one) => one.variant !== variant)) {
    // All variants, for a pair without runs: their profiles are requested next.
    const runs = [...guests.system.ready()].map((name) => ({ variant: name }));
    const up = await guestsFor(guests, { pair: 0, runs, signal }, keepLog);
    if (up.kind !== 'up') return missed(whyNot(up.outcome));
  }
  const booted = guests.running?.booted.find((one) => one.variant === variant);
  const counts = booted?.guest.counts;
  if (booted === undefined || counts === undefined) return missed('nothing counted instructions');
  try {
    const installed = await installRules(guests, [booted], cell);
    if (installed?.kind === 'lost') return missed(installed.reason);
    if (installed !== undefined) return missed(whyNot(installed.outcome));
    await send(guests, [booted], cell, 1, signal);
    const before = await readFile(counts);
    const sent = await send(guests, [booted], cell, 1, signal);
    const after = await readFile(counts);
    if (sent.kind !== 'sent') return missed('packets did not flow while instructions were counted');
    await keepLog('windows.log', sent.log);
    const symbols = await guests.system.symbols(booted);
    const text = foldedInstructions({ before, after, symbols });
    return judgeProfile(text, { event: 'instructions', kernel: booted.kernel }, keepLog);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    await stopAll(guests);
    return missed(error.message);
  }
}

const whyNot = (outcome: { kind: string; reason?: string }): string =>
  outcome.reason ?? 'the variant does not boot';
