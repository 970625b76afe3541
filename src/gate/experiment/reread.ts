// Recomputes an experiment's journal from its raw logs.
import { type FreebsdLogs, freebsdLogNames, readFreebsdLogs } from '../../lab/freebsd/freebsd-logs.ts';
import { type LinuxLogs, logNames, readLinuxLogs } from '../../lab/netns/netns-logs.ts';
import { pairsOf, readVirtualLogs, type VirtualLogs, windowsLogName } from '../../lab/qemu/trial-logs.ts';
import type { TrialOutcome } from '../../lab/testbed.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { ForeignFileError, readForeignText } from '../../system/foreign-files.ts';
import { type JournalEntry, journalIn, readJournal } from './journal.ts';
import type { Plan } from './plan.ts';

/** Trials with missing or unreadable logs keep their journal entry, and are counted in `unread`. */
type RereadJournal = { entries: JournalEntry[]; unread: number };

export async function reread(directory: string, plan: Plan): Promise<RereadJournal> {
  const entries: JournalEntry[] = [];
  let unread = 0;
  for (const entry of await readJournal(journalIn(directory))) {
    const again = entry.kind === 'measured' ? await measureAgain(directory, plan, entry) : entry;
    if (again === undefined) unread += 1;
    entries.push(again ?? entry);
  }
  return { entries, unread };
}

async function measureAgain(
  directory: string,
  plan: Plan,
  entry: Extract<JournalEntry, { kind: 'measured' }>,
): Promise<JournalEntry | undefined> {
  const { summary } = entry;
  const trial = plan.trials.find(({ number }) => number === summary.number);
  if (trial === undefined) return undefined;
  // Excludes omitted variants.
  const numbers = new Set(entry.runs.map(({ number }) => number));
  const planned = { ...trial, runs: trial.runs.filter(({ number }) => numbers.has(number)) };
  const { attempt, startedAt, egressPackets, ingressPackets, lineGigabits } = summary;
  const { starvation, limits } = summary;
  const counted = {
    ...(egressPackets !== undefined && { egressPackets }),
    ...(ingressPackets !== undefined && { ingressPackets }),
    ...(lineGigabits !== undefined && { lineGigabits }),
    ...(starvation !== undefined && { starvation }),
    ...(limits !== undefined && { limits }),
  };
  const outcome = await outcomeIn(logsIn(directory, summary.logs)).catch((error: unknown) => {
    if (error instanceof ForeignFileError) return undefined;
    throw error;
  });
  if (outcome?.kind !== 'measured') return undefined;
  return {
    ...entry,
    summary: { ...summary, ...outcome.summary },
    runs: outcome.runs.map((run) => ({ ...run, attempt })),
  };

  async function outcomeIn(log: ReadLog): Promise<TrialOutcome | undefined> {
    const { traffic } = plan;
    if (traffic.windows !== undefined) {
      const virtual = await readVirtual(log, planned);
      return virtual && readVirtualLogs(planned, startedAt, traffic.windows.packets, virtual);
    }
    const linux = await readLinux(log);
    if (linux !== undefined) return readLinuxLogs(planned, startedAt, linux);
    const freebsd = await readFreebsd(log);
    return freebsd && readFreebsdLogs(planned, freebsd, { startedAt, traffic, summary: counted });
  }
}

/** Returns undefined for a missing log. */
type ReadLog = (name: string) => Promise<string | undefined>;

/** A log has a few kilobytes for each second of its trial. */
const maxLogBytes = 64 * 1024 ** 2;

const logsIn =
  (directory: string, folder: string): ReadLog =>
  (name) =>
    readForeignText(directory, `${folder}/${name}`, maxLogBytes);

async function readVirtual(log: ReadLog, planned: PlannedTrial): Promise<VirtualLogs | undefined> {
  const logs = new Map<number, string>();
  for (const [pair] of pairsOf(planned)) {
    const text = await log(windowsLogName(pair));
    if (text === undefined) return undefined;
    logs.set(pair, text);
  }
  return logs;
}

async function readLinux(log: ReadLog): Promise<LinuxLogs | undefined> {
  const [dut, sender, counters] = [await log(logNames.dut), await log(logNames.sender), await log(logNames.counters)];
  if (dut === undefined || sender === undefined || counters === undefined) return undefined;
  return { dut, sender, counters };
}

async function readFreebsd(log: ReadLog): Promise<FreebsdLogs | undefined> {
  const receiver = await log(freebsdLogNames.receiver);
  if (receiver === undefined) return undefined;
  const senders: string[] = [];
  for (;;) {
    const sender = await log(freebsdLogNames.sender(senders.length));
    if (sender === undefined) return { receiver, senders };
    senders.push(sender);
  }
}
