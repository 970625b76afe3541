// One blast on virtual machines: a pair's guests booted, rules laid, windows of packets sent through each in turn, and
// whose fault it is where that does not succeed.
import type { Traffic } from '../../config/schema.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';
import { type LastWords, lastWords } from '../../console/shown.ts';
import { HostError } from '../../host/host-error.ts';
import { shell } from '../../host/shell.ts';
import { guestCpu } from '../../virtual-lab/lab.ts';
import type { PlannedBlast } from '../../words/planned-blast.ts';
import type { Rejected } from '../../words/rejection.ts';
import { type Cell, isLinuxScenario, type LinuxScenario } from '../../words/scenario.ts';
import { pathName } from '../../words/variant-name.ts';
import { isToBlame, lacksControl, type Tallies, tallyOf } from '../blame.ts';
import type { BlastOutcome, KeepLog } from '../testbed.ts';
import { type Bootable, type Booted, type BootWorld, bootTogether, interrupted } from './boots.ts';
import { pairsOf, readVirtualLogs, silentIn, windowsLogName } from './logs.ts';
import { sendWindows, type Windows } from './windows.ts';

/** The testbed from blast to blast. */
export type Guests = Omit<BootWorld, 'signal'> & {
  config: VirtualTestbed;
  traffic: Traffic;
  tallies: Tallies;
  /** What was readied, by the names of variants. */
  wanted: ReadonlyMap<string, Bootable>;
  scenarios: readonly LinuxScenario[];
  /** The guests that are up, and the pair that they count for. */
  running: { pair: number; booted: readonly Booted[] } | undefined;
  /** Writes trafgen's packets, and answers where. */
  flowsFor(cell: Cell): Promise<string>;
};

export async function blast(
  guests: Guests,
  planned: PlannedBlast,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<BlastOutcome> {
  const { windows, packets } = windowsOf(guests.traffic);
  const startedAt = new Date().toISOString();
  const logs = new Map<number, string>();
  const kernels: Record<string, string> = {};
  for (const [pair, runs] of pairsOf(planned)) {
    const names = runs.map(({ variant }) => variant);
    const up = await guestsFor(guests, { pair, names }, keepLog, signal);
    if (up.kind !== 'up') return up.outcome;
    const sent = await layAndSend(guests, up.booted, planned.cell, windows + 1, signal);
    if (sent.kind === 'lost') {
      const ends = await endsOf(up.booted);
      const outcome = await afterDeaths(guests, ends, { planned, keepLog, signal });
      await stopAll(guests);
      return outcome ?? { kind: 'failed', reason: sent.reason };
    }
    if (sent.kind === 'rejected') return sent;
    await keepLog(windowsLogName(pair), sent.log);
    const silent = silentIn(sent.log, packets);
    if (silent.size > 0) {
      const ends = await endsOf(up.booted, (index) => silent.has(index + 1));
      const outcome = await afterDeaths(guests, ends, { planned, keepLog, signal });
      if (outcome !== undefined) return outcome;
    }
    logs.set(pair, sent.log);
    for (const { variant, kernel } of up.booted) {
      tallyOf(guests.tallies, variant.variant).hasStoodBlast = true;
      kernels[variant.variant] = kernel;
    }
  }
  const outcome = readVirtualLogs(planned, startedAt, packets, logs);
  if (outcome.kind !== 'measured') return outcome;
  return { ...outcome, summary: { ...outcome.summary, kernels } };
}

export function windowsOf({ windows }: Traffic): { windows: number; packets: number } {
  if (windows === undefined)
    throw new TypeError('Virtual testbeds count packets out, and none were asked for.');
  return { windows: windows.count, packets: windows.packets };
}

type Up = { kind: 'up'; booted: readonly Booted[] };

/** One boot serves all cells of a pair. */
export async function guestsFor(
  guests: Guests,
  { pair, names }: { pair: number; names: readonly string[] },
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<Up | { kind: 'down'; outcome: BlastOutcome }> {
  const { running } = guests;
  const known = names.map((name) =>
    running?.booted.find(({ variant }) => variant.variant === name),
  );
  if (running?.pair === pair && known.every((one) => one !== undefined)) {
    return { kind: 'up', booted: known };
  }
  await stopAll(guests);
  const bootables = names.map((name) => {
    const bootable = guests.wanted.get(name);
    if (bootable === undefined) throw new TypeError(`${name} was not readied.`);
    return bootable;
  });
  const all = await bootTogether({ ...guests, signal }, bootables);
  const booted = all.filter((one) => one.kind === 'booted');
  guests.running = { pair, booted };
  for (const { variant } of booted) {
    const tally = tallyOf(guests.tallies, variant.variant);
    tally.hasBooted = true;
    tally.bootFailures = 0;
  }
  const outcomes: BlastOutcome[] = [];
  for (const one of all) {
    const name = one.variant.variant;
    if (one.kind === 'booted') continue;
    await keepLog(consoleLogName(name), one.console);
    tallyOf(guests.tallies, name).bootFailures += 1;
    outcomes.push(afterBootFailure(guests, name, one));
  }
  const [outcome] = outcomes.toSorted((a, b) => weight(b) - weight(a));
  if (outcome !== undefined) {
    await stopAll(guests);
    return { kind: 'down', outcome };
  }
  const refused = await readyAll(guests, booted);
  if (refused !== undefined) return { kind: 'down', outcome: refused };
  return { kind: 'up', booted };
}

/** Whoever is rejected is told before what is tried again. */
const weight = ({ kind }: BlastOutcome): number => (kind === 'rejected' ? 1 : 0);

/** Lays every scenario once, so that none is refused later, and has all share one CPU from then on: their time does not count. */
async function readyAll(
  guests: Guests,
  booted: readonly Booted[],
): Promise<BlastOutcome | undefined> {
  try {
    const all = await Promise.all(
      booted.map(({ dut, variant }) => dut.prepare([variant], guests.scenarios)),
    );
    for (const { guest } of booted) await guest.pinTo(guestCpu);
    const refused = all.filter((prepared) => prepared.kind === 'rejected');
    // What base is refused as well is not the patch's fault.
    return refused.find(({ variant }) => variant === 'base') ?? refused[0];
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const full = await withoutRoom(guests, booted);
    await stopAll(guests);
    return full ?? { kind: 'failed', reason: error.message };
  }
}

/** What has nothing left where rules are laid; a kernel that keeps it full is to blame. */
async function withoutRoom(
  { tallies }: Guests,
  booted: readonly Booted[],
): Promise<BlastOutcome | undefined> {
  for (const { host, variant } of booted) {
    const name = variant.variant;
    const shown = await host.output(shell`df -P -k /run | tail -n 1`).catch(() => '');
    // See POSIX, df: the fourth column is what is available.
    if (shown.trim().split(/\s+/)[3] !== '0') continue;
    tallyOf(tallies, name).refusals += 1;
    const message = `no room is left in /run of the guest with ${name}`;
    if (!isToBlame(tallies, name, 'refusals', 'hasBooted'))
      return { kind: 'failed', reason: message };
    return rejected(name, { kind: 'out-of-disk', message: `Twice: ${message}.` });
  }
  return undefined;
}

export async function stopAll(guests: Guests): Promise<void> {
  const { running } = guests;
  guests.running = undefined;
  for (const { host, guest } of running?.booted ?? []) {
    await host.close().catch(() => {});
    await guest.stop();
  }
}

function afterBootFailure(
  { tallies }: Guests,
  name: string,
  { reason, words: { panic, console } }: { reason: string; words: LastWords },
): BlastOutcome {
  if (isToBlame(tallies, name, 'bootFailures', 'hasBooted')) {
    return rejected(name, {
      kind: 'boot-failed',
      message: `Twice in a row: ${reason}.`,
      ...(panic !== undefined && { panic }),
      ...(console !== undefined && { console }),
    });
  }
  const why = panic === undefined ? '' : ` (panic: ${panic})`;
  return {
    ...{ kind: 'failed', reason: `${name} did not boot: ${reason}${why}` },
    ...(lacksControl(tallies, name, 'hasBooted') && { lacksControl: true }),
  };
}

type Sent = Extract<Windows, { kind: 'sent' }>;
type Lost = { kind: 'lost'; reason: string };

/** Lays the cell's rules on each, and sends so many windows through them. */
async function layAndSend(
  guests: Guests,
  booted: readonly Booted[],
  cell: Cell,
  windows: number,
  signal: AbortSignal,
): Promise<Sent | Lost | Rejected> {
  const laid = await layAll(booted, cell);
  return laid ?? send(guests, booted, cell, windows, signal);
}

/** Undefined where all have taken them. */
export async function layAll(
  booted: readonly Booted[],
  { scenario }: Cell,
): Promise<Lost | Rejected | undefined> {
  if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is none of Linux.`);
  try {
    for (const { dut, variant } of booted) {
      const laid = await dut.lay(variant.variant, scenario);
      if (laid.kind === 'rejected') return laid;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { kind: 'lost', reason: error.message };
  }
}

export async function send(
  { lab, traffic, flowsFor }: Guests,
  booted: readonly Booted[],
  cell: Cell,
  windows: number,
  signal: AbortSignal,
): Promise<Sent | Lost> {
  const flows = await flowsFor(cell);
  const { packets } = windowsOf(traffic);
  const request = { guests: booted.map(({ guest }) => guest), flows, packets, windows, signal };
  const sent = await sendWindows(lab, request);
  return sent.kind === 'sent' ? sent : { kind: 'lost', reason: `windows broke off: ${sent.said}` };
}

type Ends = { one: Booted; end: End | undefined }[];

/** How it stands with those that may have died. */
const endsOf = (booted: readonly Booted[], isAsked = (_index: number) => true): Promise<Ends> =>
  Promise.all(
    booted.map(async (one, index) => ({ one, end: isAsked(index) ? await endOf(one) : undefined })),
  );

type Loss = { planned: PlannedBlast; keepLog: KeepLog; signal: AbortSignal };

/** Undefined where none has died; else shows first whether base stands what the others may have died of. */
async function afterDeaths(
  guests: Guests,
  ends: Ends,
  { planned: { cell }, keepLog, signal }: Loss,
): Promise<BlastOutcome | undefined> {
  if (ends.every(({ end }) => end === undefined)) return undefined;
  const { tallies, traffic } = guests;
  const outcomes: BlastOutcome[] = [];
  const base = ends.find(({ one, end }) => one.variant.variant === 'base' && end === undefined);
  if (base !== undefined && !tallyOf(tallies, 'base').hasStoodBlast) {
    const control = await layAndSend(guests, [base.one], cell, 2, signal);
    tallyOf(tallies, 'base').hasStoodBlast =
      control.kind === 'sent' && silentIn(control.log, windowsOf(traffic).packets).size === 0;
  }
  for (const { one, end } of ends) {
    if (end === undefined) continue;
    const name = one.variant.variant;
    await keepLog(consoleLogName(name), one.guest.console());
    tallyOf(tallies, name).deaths += 1;
    outcomes.push(afterDeath(guests, name, `under ${traffic.flows} flows`, end));
  }
  await stopAll(guests);
  const [outcome] = outcomes.toSorted((a, b) => weight(b) - weight(a));
  return outcome;
}

type End = { how: string; words: LastWords };

/** Undefined for a guest that is well. */
async function endOf({ guest, host }: Booted): Promise<End | undefined> {
  const isAlive = await host.output(shell`true`, { timeoutSeconds: answerSeconds }).then(
    () => true,
    () => false,
  );
  if (isAlive) return undefined;
  const words = lastWords(guest.console(), false);
  if (words.panic !== undefined) return { how: `it panicked: ${words.panic}`, words };
  const { where, words: asked } = await interrupted(guest);
  return { how: `it did not answer any more${where}, and was power-cycled`, words: asked };
}

const answerSeconds = 10;

function afterDeath(
  { tallies }: Guests,
  name: string,
  where: string,
  { how, words: { panic, console } }: End,
): BlastOutcome {
  if (isToBlame(tallies, name, 'deaths', 'hasStoodBlast')) {
    return rejected(name, {
      kind: 'panics-under-load',
      message: `Twice, ${where}${panic === undefined ? `: ${how}` : ''}.`,
      ...(panic !== undefined && { panic }),
      ...(console !== undefined && { console }),
    });
  }
  return {
    ...{ kind: 'failed', reason: `the guest with ${name} died ${where}: ${how}` },
    ...(lacksControl(tallies, name, 'hasStoodBlast') && { lacksControl: true }),
  };
}

const rejected = (variant: string, rejection: Rejected['rejection']): Rejected => ({
  kind: 'rejected',
  variant,
  rejection,
});

/** Its console in the folder of a blast. */
const consoleLogName = (variant: string): string => `console-${pathName(variant)}.log`;
