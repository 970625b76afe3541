// Recomputes the journal of an experiment from its raw logs.
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FreebsdLogs,
  freebsdLogNames,
  readFreebsdLogs,
} from '../../lab/freebsd/freebsd-logs.ts';
import { type LinuxLogs, logNames, readLinuxLogs } from '../../lab/netns/netns-logs.ts';
import {
  pairsOf,
  readVirtualLogs,
  type VirtualLogs,
  windowsLogName,
} from '../../lab/qemu/trial-logs.ts';
import type { TrialOutcome } from '../../lab/testbed.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { type JournalEntry, journalIn, readJournal } from './journal.ts';
import type { Plan } from './plan.ts';

/** Trials with missing or unreadable logs keep their journal entry and are counted in `unread`. */
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
  // Excludes variants that had been left out.
  const numbers = new Set(entry.runs.map(({ number }) => number));
  const planned = { ...trial, runs: trial.runs.filter(({ number }) => numbers.has(number)) };
  const { attempt, startedAt, egressPackets, ingressPackets } = summary;
  const ports = {
    ...(egressPackets !== undefined && { egressPackets }),
    ...(ingressPackets !== undefined && { ingressPackets }),
  };
  const folder = join(directory, summary.logs);
  const outcome = await outcomeIn(folder);
  if (outcome?.kind !== 'measured') return undefined;
  return {
    ...entry,
    summary: { ...summary, ...outcome.summary },
    runs: outcome.runs.map((run) => ({ ...run, attempt })),
  };

  async function outcomeIn(folder: string): Promise<TrialOutcome | undefined> {
    const { traffic } = plan;
    if (traffic.windows !== undefined) {
      const virtual = await readVirtual(folder, planned);
      return virtual && readVirtualLogs(planned, startedAt, traffic.windows.packets, virtual);
    }
    const linux = await readLinux(folder);
    if (linux !== undefined) return readLinuxLogs(planned, startedAt, linux);
    const freebsd = await readFreebsd(folder);
    return freebsd && readFreebsdLogs(planned, freebsd, { startedAt, traffic, summary: ports });
  }
}

async function readVirtual(
  folder: string,
  planned: PlannedTrial,
): Promise<VirtualLogs | undefined> {
  try {
    const logs = pairsOf(planned).map(async ([pair]) => {
      return [pair, await readFile(join(folder, windowsLogName(pair)), 'utf8')] as const;
    });
    return new Map(await Promise.all(logs));
  } catch {
    return undefined;
  }
}

async function readLinux(folder: string): Promise<LinuxLogs | undefined> {
  const text = (name: string) => readFile(join(folder, name), 'utf8');
  try {
    const [dut, sender, counters] = await Promise.all([
      text(logNames.dut),
      text(logNames.sender),
      text(logNames.counters),
    ]);
    return { dut, sender, counters };
  } catch {
    return undefined;
  }
}

async function readFreebsd(folder: string): Promise<FreebsdLogs | undefined> {
  try {
    const receiver = await readFile(join(folder, freebsdLogNames.receiver), 'utf8');
    const senders: string[] = [];
    while (await exists(join(folder, freebsdLogNames.sender(senders.length)))) {
      senders.push(await readFile(join(folder, freebsdLogNames.sender(senders.length)), 'utf8'));
    }
    return { receiver, senders };
  } catch {
    return undefined;
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
