// Profiles a guest's instructions for each packet, by function, from QEMU's counts of translated blocks of code.
import { readFile } from 'node:fs/promises';
import { HostError } from '../../system/host/host-error.ts';
import { impossible, judgeProfile, missed } from '../judge-profile.ts';
import type { KeepLog, ProfileOutcome, ProfileRequest } from '../testbed.ts';
import { type GuestTestbed, installRules, send } from './guest-windows.ts';
import { foldedInstructions } from './hot-functions.ts';
import { guestsFor, stopAll } from './virtual-trial.ts';

/** A timer that runs in one window is not an effect of the patch. */
const windows = 3;

/** Counts windows one by one after a discarded one. Counting leaves no trace in the guest, which stays up. */
export async function profile(
  guests: GuestTestbed,
  { cell, variant }: ProfileRequest,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<ProfileOutcome> {
  if (guests.config.accelerator !== 'tcg') {
    return impossible('instructions are not counted with hardware virtualization');
  }
  const known = guests.running?.booted ?? [];
  if (known.every((one) => one.variant !== variant)) {
    // Boots all variants, for a pair without runs: their profiles are requested next.
    const runs = [...guests.system.ready()].map((name) => ({ variant: name }));
    const up = await guestsFor(guests, { pair: 0, runs, signal }, keepLog);
    if (up.kind !== 'up') return missed(whyNot(up.outcome));
  }
  const booted = guests.running?.booted.find((one) => one.variant === variant);
  const counts = booted?.guest.counts;
  if (booted === undefined || counts === undefined) return missed('no instruction counter was active');
  try {
    const installed = await installRules(guests, [booted], cell);
    if (installed?.kind === 'lost') return missed(installed.reason);
    if (installed !== undefined) return missed(whyNot(installed.outcome));
    const points: Uint8Array[] = [];
    let log = '';
    for (let window = 0; window <= windows; window += 1) {
      const sent = await send(guests, [booted], cell, 1, signal);
      if (sent.kind !== 'sent') return missed('no packets flowed while instructions were counted');
      points.push(await readFile(counts));
      log += sent.log;
    }
    await keepLog('windows.log', log);
    const symbols = await guests.system.symbols(booted);
    const text = foldedInstructions({ counts: points, symbols });
    return judgeProfile(text, { event: 'instructions', kernel: booted.kernel }, keepLog);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    await stopAll(guests);
    return missed(error.message);
  }
}

const whyNot = (outcome: { kind: string; reason?: string }): string => outcome.reason ?? 'the variant does not boot';
