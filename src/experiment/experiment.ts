// Runs what was planned, writes down each step as it ends, and goes on where an earlier process stopped.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cellName } from '../scenario/scenario.ts';
import { isEnough, validPairs } from '../stats/verdict.ts';
import type { Testbed } from '../testbed/testbed.ts';
import { type Entry, openJournal } from './journal.ts';
import type { Plan } from './plan.ts';
import type { PlannedBlast } from './schedule.ts';

export type ExperimentEvent =
  | { kind: 'preparing' }
  | { kind: 'blast'; blast: PlannedBlast; attempt: number; done: number; of: number }
  | { kind: 'ended'; blast: PlannedBlast; entry: Entry };

export type ExperimentOptions = {
  directory: string;
  plan: Plan;
  testbed: Testbed;
  now: () => Date;
  onEvent: (event: ExperimentEvent) => void;
  signal: AbortSignal;
};

const mostAttempts = 3;

/** Runs every blast that the journal lacks; ends early when a variant does not load. Answers the whole journal. */
export async function runExperiment(options: ExperimentOptions): Promise<Entry[]> {
  const { directory, plan, testbed, now, onEvent, signal } = options;
  const journal = await openJournal(join(directory, 'journal.jsonl'));
  const at = () => now().toISOString();
  try {
    onEvent({ kind: 'preparing' });
    await journal.append({ kind: 'started', at: at(), fingerprint: await testbed.fingerprint() });
    const prepared = await testbed.prepare(plan.variants, plan.cells);
    if (prepared.kind === 'does-not-load') {
      if (prepared.variant === 'base') throw new BaseDoesNotLoadError(prepared.message);
      await journal.append({ ...prepared, at: at() });
      return journal.entries;
    }

    for (;;) {
      signal.throwIfAborted();
      const next = nextBlast(plan, journal.entries);
      if (next === undefined) break;
      const { blast, attempt, done } = next;
      onEvent({ kind: 'blast', blast, attempt, done, of: plan.blasts.length });

      const logs = join('blasts', logFolder(blast, attempt));
      const keepLog = (name: string, text: string) => writeLog(join(directory, logs), name, text);
      const outcome = await testbed.blast(blast, keepLog, signal);
      const entry: Entry =
        outcome.kind === 'measured'
          ? {
              kind: 'measured',
              at: at(),
              summary: { ...outcome.summary, attempt, logs },
              runs: outcome.runs.map((run) => ({ ...run, attempt })),
            }
          : { kind: 'failed', at: at(), blast: blast.number, reason: outcome.reason };
      await journal.append(entry);
      onEvent({ kind: 'ended', blast, entry });
    }
    await journal.append({ kind: 'finished', at: at() });
    return journal.entries;
  } finally {
    await journal.close();
  }
}

/** Nothing can be said of a patch whose base does not work. */
export class BaseDoesNotLoadError extends Error {
  constructor(message: string) {
    super(`The base itself does not load, so nothing was measured: ${message}`);
  }
}

/**
 * The first blast without a whole measurement; one that failed, or of which too few pairs count, comes again
 * after all others, twice at the most. Nothing but the journal decides, so a resumed experiment goes the same way.
 */
export function nextBlast(
  plan: Pick<Plan, 'blasts'>,
  entries: readonly Entry[],
): { blast: PlannedBlast; attempt: number; done: number } | undefined {
  const open = plan.blasts
    .map((blast) => ({ blast, tries: entries.filter((entry) => numberOf(entry) === blast.number) }))
    .filter(({ blast, tries }) => tries.length < mostAttempts && !tries.some(isWhole(blast)));
  const fewestTries = Math.min(...open.map(({ tries }) => tries.length));
  const next = open.find(({ tries }) => tries.length === fewestTries);
  return (
    next && {
      blast: next.blast,
      attempt: next.tries.length + 1,
      done: plan.blasts.length - open.length,
    }
  );
}

function numberOf(entry: Entry): number | undefined {
  if (entry.kind === 'measured') return entry.summary.number;
  return entry.kind === 'failed' ? entry.blast : undefined;
}

const isWhole =
  ({ runs }: PlannedBlast) =>
  (entry: Entry): boolean =>
    entry.kind === 'measured' &&
    isEnough(validPairs(entry.runs).length, new Set(runs.map((run) => run.pair)).size);

/** `003-forwarding-inet4`, and `003-forwarding-inet4.2` for a second attempt. */
function logFolder(blast: PlannedBlast, attempt: number): string {
  const number = String(blast.number).padStart(3, '0');
  const name = `${number}-${cellName(blast.cell).replace(' ', '-')}`;
  return attempt === 1 ? name : `${name}.${attempt}`;
}

async function writeLog(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
}
