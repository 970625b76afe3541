// Runs a trial on virtual machines: boots a pair's guests, installs rules, sends windows, and attributes faults.
import type { TrialLimits } from '../../model/limits.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { Rejected } from '../../model/rejection.ts';
import type { Cell } from '../../model/scenario.ts';
import { pathName } from '../../model/variant-name.ts';
import { HostError } from '../../system/host/host-error.ts';
import { shell } from '../../system/shell.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import { isAtFault, lacksControl, tallyOf } from '../fault-attribution.ts';
import type { KeepLog, TrialOutcome } from '../testbed.ts';
import { countAndSend, type GuestTestbed, installAndSend, limitsOf, send, windowsOf } from './guest-windows.ts';
import { type BootedGuest, interrupted, type PairOfGuests } from './guests.ts';
import { pairsOf, readVirtualLogs, silentIn, windowsLogName, withDrops } from './trial-logs.ts';

export async function trial(
  guests: GuestTestbed,
  planned: PlannedTrial,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const { traffic, tallies } = guests;
  const { cell } = planned;
  const { windows, packets } = windowsOf(traffic);
  /** Set after the boot, if there is one. */
  let startedAt: string | undefined;
  const logs = new Map<number, string>();
  const kernels: Record<string, string> = {};
  const limits: Record<string, TrialLimits> = {};
  let bootSeconds = 0;
  for (const [pair, runs] of pairsOf(planned)) {
    const begunAt = guests.now();
    const up = await guestsFor(guests, { pair, runs, signal }, keepLog);
    if (up.kind !== 'up') return up.outcome;
    const { booted } = up;
    if (up.hasBooted) bootSeconds += guests.now() - begunAt;
    startedAt ??= new Date().toISOString();
    const sent = await countAndSend(guests, booted, cell, windows + 1, signal);
    if (sent.kind === 'lost') {
      const ends = await endsOf(booted);
      const outcome = await afterDeaths(guests, ends, { planned, keepLog, signal });
      await stopAll(guests);
      return outcome ?? { kind: 'failed', reason: sent.reason };
    }
    if (sent.kind === 'refused') return sent.outcome;
    await keepLog(windowsLogName(pair), sent.log);
    const silent = silentIn(sent.log, packets);
    const [inForce, read] = await Promise.all([
      whyNotInForce(guests, booted, cell, silent),
      limitsOf(sent, { pair, booted, packets }, keepLog),
    ]);
    Object.assign(limits, read);
    if (silent.size > 0 || inForce.kind === 'lost') {
      const ends = await endsOf(booted, (index) => inForce.kind === 'lost' || silent.has(index + 1));
      const outcome = await afterDeaths(guests, ends, { planned, keepLog, signal });
      if (outcome !== undefined) return outcome;
    }
    if (inForce.reason !== undefined) return { kind: 'failed', reason: inForce.reason };
    const drops = await dropsOf(guests, booted, cell, { silent, signal });
    const log = drops.size === 0 ? sent.log : withDrops(sent.log, drops);
    if (drops.size > 0) await keepLog(windowsLogName(pair), log);
    logs.set(pair, log);
    for (const { variant, kernel } of booted) {
      tallyOf(tallies, variant).hasStoodTrial = true;
      kernels[variant] = kernel;
    }
  }
  startedAt ??= new Date().toISOString();
  const outcome = readVirtualLogs(planned, startedAt, packets, logs);
  if (outcome.kind !== 'measured') return outcome;
  return {
    ...outcome,
    summary: {
      ...outcome.summary,
      kernels,
      ...(bootSeconds > 0 && { bootSeconds }),
      ...(Object.keys(limits).length > 0 && { limits }),
    },
  };
}

/** Call it while packets' states live; `silent` are the numbers, from 1, of guests that forwarded nothing. */
async function whyNotInForce(
  { system }: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
  silent: ReadonlySet<number>,
): Promise<{ kind: 'told' | 'lost'; reason: string | undefined }> {
  try {
    const reasons = await Promise.all(
      booted.map((one, index) => system.whyNotInForce(one, cell, { isSilent: silent.has(index + 1) })),
    );
    return { kind: 'told', reason: reasons.find((reason) => reason !== undefined) };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { kind: 'lost', reason: error.message };
  }
}

/** Packets must flow as long as the guest traces them. */
const windowsToTrace = 10;

/** Returns the causes of drops in silent guests, by number; omits guests that do not reply. */
async function dropsOf(
  guests: GuestTestbed,
  booted: readonly BootedGuest[],
  cell: Cell,
  { silent, signal }: { silent: ReadonlySet<number>; signal: AbortSignal },
): Promise<ReadonlyMap<number, string>> {
  const drops = new Map<number, string>();
  for (const [index, one] of booted.entries()) {
    if (!silent.has(index + 1)) continue;
    try {
      const by = await guests.system.droppedBy(one, () => send(guests, [one], cell, windowsToTrace, signal));
      if (by !== undefined) drops.set(index + 1, by);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }
  return drops;
}

type RunningGuests = {
  kind: 'up';
  booted: readonly BootedGuest[];
  /** False if the guests were already up. */
  hasBooted: boolean;
};

export async function guestsFor(
  guests: GuestTestbed,
  pair: PairOfGuests,
  keepLog: KeepLog,
): Promise<RunningGuests | { kind: 'down'; outcome: TrialOutcome }> {
  const { running, system } = guests;
  const known = pair.runs.map((run) => running?.booted.find(({ variant }) => variant === run.variant));
  if (running?.pair === pair.pair && known.every((one) => one !== undefined)) {
    return { kind: 'up', booted: known, hasBooted: false };
  }
  guests.running = undefined;
  if (running !== undefined) await system.release(running.booted);
  const all = await system.boot(pair);
  const booted = all.filter((one) => one.kind === 'booted');
  guests.running = { pair: pair.pair, booted, haveOneCpu: false };
  const down = all.filter((one) => one.kind === 'not-booted');
  for (const { variant, console } of down) await keepLog(consoleLogName(variant), console);
  const outcome =
    gravest(down.map(({ variant, outcome, console }) => (console === '' ? outcome : withConsole(variant, outcome)))) ??
    (await tryAll(guests, booted));
  if (outcome === undefined) return { kind: 'up', booted, hasBooted: true };
  if (down.length > 0) await stopAll(guests);
  return { kind: 'down', outcome };
}

/** Prefers a rejection to a failure that may be retried. */
const gravest = (outcomes: readonly TrialOutcome[]): TrialOutcome | undefined =>
  outcomes.find(({ kind }) => kind === 'rejected') ?? outcomes[0];

async function tryAll(guests: GuestTestbed, booted: readonly BootedGuest[]): Promise<TrialOutcome | undefined> {
  try {
    return await guests.system.tryRules(booted);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    await stopAll(guests);
    return { kind: 'failed', reason: error.message };
  }
}

export async function stopAll(guests: GuestTestbed): Promise<void> {
  const { running, system } = guests;
  guests.running = undefined;
  if (running !== undefined) await system.stop(running.booted);
}

type GuestEnds = { one: BootedGuest; end: GuestEnd | undefined }[];

const endsOf = (booted: readonly BootedGuest[], isOverride = (_index: number) => true): Promise<GuestEnds> =>
  Promise.all(
    booted.map(async (one, index) => ({
      one,
      end: isOverride(index) ? await endOf(one) : undefined,
    })),
  );

type LostTrial = { planned: PlannedTrial; keepLog: KeepLog; signal: AbortSignal };

/** Returns undefined if no guest has died; otherwise first checks that base survives the same packets. */
async function afterDeaths(
  guests: GuestTestbed,
  ends: GuestEnds,
  { planned: { cell }, keepLog, signal }: LostTrial,
): Promise<TrialOutcome | undefined> {
  if (ends.every(({ end }) => end === undefined)) return undefined;
  const { tallies, traffic } = guests;
  const outcomes: TrialOutcome[] = [];
  const base = ends.find(({ one, end }) => one.variant === 'base' && end === undefined);
  if (base !== undefined && !tallyOf(tallies, 'base').hasStoodTrial) {
    const control = await installAndSend(guests, [base.one], cell, 2, signal);
    tallyOf(tallies, 'base').hasStoodTrial =
      control.kind === 'sent' && silentIn(control.log, windowsOf(traffic).packets).size === 0;
  }
  for (const { one, end } of ends) {
    if (end === undefined) continue;
    const { variant, guest } = one;
    await keepLog(consoleLogName(variant), guest.console());
    tallyOf(tallies, variant).deaths += 1;
    const died = afterDeath(guests, variant, `under ${traffic.flows} flows`, end);
    outcomes.push(withConsole(variant, died));
  }
  await stopAll(guests);
  return gravest(outcomes);
}

type GuestEnd = { how: string; words: LastWords };

async function endOf({ guest, host }: BootedGuest): Promise<GuestEnd | undefined> {
  const isAlive = await host.output(shell`uname`, { timeoutSeconds: answerSeconds }).then(
    () => true,
    () => false,
  );
  if (isAlive) return undefined;
  const words = lastWords(guest.console(), false);
  if (words.panic !== undefined) return { how: `it panicked: ${words.panic}`, words };
  const { where, words: interruptedWords } = await interrupted(guest);
  return { how: `it stopped responding${where}, and was power-cycled`, words: interruptedWords };
}

const answerSeconds = 10;

function afterDeath({ tallies }: GuestTestbed, name: string, where: string, { how, words }: GuestEnd): TrialOutcome {
  if (isAtFault(tallies, name, 'deaths', 'hasStoodTrial')) {
    return rejected(name, {
      kind: 'panics-under-load',
      message: `Twice, ${where}${words.panic === undefined ? `: ${how}` : ''}.`,
      ...words,
    });
  }
  return {
    kind: 'failed',
    reason: `the guest with ${name} died ${where}: ${how}`,
    ...(lacksControl(tallies, name, 'hasStoodTrial') && { lacksControl: true }),
  };
}

const rejected = (variant: string, rejection: Rejected['rejection']): Rejected => ({
  kind: 'rejected',
  variant,
  rejection,
});

/** Names the log of a discarded guest. */
function withConsole(variant: string, outcome: TrialOutcome): TrialOutcome {
  const log = consoleLogName(variant);
  if (outcome.kind === 'failed') {
    return {
      ...outcome,
      reason: `${outcome.reason.replace(/\.$/, '')}; the guest was discarded, and its console is in ${log}`,
    };
  }
  if (outcome.kind !== 'rejected') return outcome;
  const { rejection } = outcome;
  const isCrash = rejection.kind === 'boot-failed' || rejection.kind === 'panics-under-load';
  return isCrash ? { ...outcome, rejection: { ...rejection, guestConsole: log } } : outcome;
}

const consoleLogName = (variant: string): string => `console-${pathName(variant)}.log`;
