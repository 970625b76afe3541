// Runs what was planned, writes down each step as it ends, and goes on where an earlier process stopped.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rejection } from '../report/result.ts';
import { type Cell, cellName } from '../scenario/scenario.ts';
import type { Verdict } from '../stats/judge.ts';
import { type Standing, standings } from '../stats/standing.ts';
import type { Rejected, Testbed } from '../testbed/testbed.ts';
import { type CellProgress, cellsSoFar } from './cells.ts';
import { type Entry, openJournal } from './journal.ts';
import type { Plan } from './plan.ts';
import type { PlannedBlast } from './schedule.ts';

export type ExperimentEvent =
  | { kind: 'planned'; plan: Plan }
  | { kind: 'warning'; text: string }
  /** What is being done before the next blast. */
  | { kind: 'preparing'; text: string }
  | { kind: 'blast'; blast: PlannedBlast; attempt: number; done: number; of: number }
  | { kind: 'ended'; blast: PlannedBlast; entry: Entry }
  /** The cell gets no more runs; `verdict` is undefined where too few of them count. */
  | { kind: 'decided'; cell: Cell; verdict: Verdict | undefined; pairs: number };

export type ExperimentOptions = {
  directory: string;
  plan: Plan;
  testbed: Testbed;
  now: () => Date;
  onEvent: (event: ExperimentEvent) => void;
  signal: AbortSignal;
};

/** Runs every blast that the journal lacks; ends early when nothing can be measured with a variant. Answers the whole journal. */
export async function runExperiment(options: ExperimentOptions): Promise<Entry[]> {
  const { directory, plan, testbed, now, onEvent, signal } = options;
  const journal = await openJournal(join(directory, 'journal.jsonl'));
  const at = () => now().toISOString();
  const told = new Set<string>();
  try {
    onEvent({ kind: 'planned', plan });
    const cells = plan.cells.map(({ cell }) => cell);
    const inspection = await testbed.inspect(cells);
    await journal.append({ kind: 'started', at: at(), ...inspection });
    for (const warning of inspection.warnings) onEvent({ kind: 'warning', text: warning });
    signal.throwIfAborted();
    const prepared = await testbed.prepare({
      variants: plan.variants,
      rules: plan.rules,
      cells,
      keepLog: (name, text) => writeLog(join(directory, 'builds'), name, text),
      tell: (text) => onEvent({ kind: 'preparing', text }),
      signal,
    });
    if (prepared.kind === 'rejected') {
      await journal.append(rejectionEntry(prepared, at()));
      return journal.entries;
    }

    for (;;) {
      signal.throwIfAborted();
      const next = nextBlast(plan, journal.entries);
      if (next === undefined) break;
      const { blast, attempt, done, of } = next;
      onEvent({ kind: 'blast', blast, attempt, done, of });

      const logs = join('blasts', logFolder(blast, attempt));
      const keepLog = (name: string, text: string) => writeLog(join(directory, logs), name, text);
      const outcome = await testbed.blast(blast, keepLog, signal);
      if (outcome.kind === 'rejected') {
        await journal.append(rejectionEntry(outcome, at()));
        return journal.entries;
      }
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
      for (const decided of closedCells(plan, journal.entries)) {
        const name = cellName(decided.cell);
        if (!told.has(name)) onEvent({ kind: 'decided', ...decided });
        told.add(name);
      }
    }
    await journal.append({ kind: 'finished', at: at() });
    return journal.entries;
  } finally {
    await journal.close();
  }
}

/** Nothing can be said of a patch whose base does not work. */
export class BaseRejectedError extends Error {
  override readonly name = 'BaseRejectedError';

  constructor(rejection: Rejection) {
    const { kind, message } = rejection;
    const panic =
      'panic' in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : '';
    super(`The base itself ${baseFaults[kind]}, so nothing was measured: ${message}${panic}`);
  }
}

const baseFaults: Record<Rejection['kind'], string> = {
  'does-not-apply': 'does not apply',
  'build-failed': 'does not build',
  'out-of-disk': 'finds no room',
  'does-not-load': 'does not load',
  'boot-failed': 'does not boot',
  'panics-under-load': 'panics under load',
};

function rejectionEntry({ variant, rejection }: Rejected, at: string): Entry {
  if (variant === 'base') throw new BaseRejectedError(rejection);
  return { kind: 'rejected', at, variant, rejection };
}

/**
 * The next blast that an undecided cell needs for its next look; one that failed comes again after all others.
 * Nothing but the journal decides, so a resumed experiment goes the same way.
 */
export function nextBlast(
  plan: Pick<Plan, 'cells' | 'blasts' | 'policy'>,
  entries: readonly Entry[],
): { blast: PlannedBlast; attempt: number; done: number; of: number } | undefined {
  const cells = cellsSoFar(plan, entries);
  const undecided = standings(cells, plan.policy).filter(({ closed }) => !closed);
  const open = undecided
    .flatMap(({ input }) => input.open)
    .toSorted((a, b) => a.tries.length - b.tries.length || a.blast.number - b.blast.number);
  const [next] = open;
  if (next === undefined) return undefined;
  return {
    blast: next.blast,
    attempt: next.tries.length + 1,
    ...blastCount(plan, cells, undecided),
  };
}

function closedCells(plan: Pick<Plan, 'cells' | 'blasts' | 'policy'>, entries: readonly Entry[]) {
  const closed = standings(cellsSoFar(plan, entries), plan.policy).filter((one) => one.closed);
  return closed.map(({ input, judgement }) => ({
    cell: input.cell,
    verdict: judgement?.verdict === 'inconclusive' ? undefined : judgement?.verdict,
    pairs: judgement?.look.pairs ?? input.closedPairs,
  }));
}

/** How many blasts were measured, and how many there will be at most. */
function blastCount(
  plan: Pick<Plan, 'blasts'>,
  cells: readonly CellProgress[],
  undecided: readonly Standing<CellProgress>[],
): { done: number; of: number } {
  const names = new Set(undecided.map(({ input }) => cellName(input.cell)));
  const open = new Set(cells.flatMap((cell) => cell.open.map(({ blast }) => blast.number)));
  const measured = new Set(cells.flatMap(({ runs }) => runs.map((run) => run.blast)));
  const isDone = (number: number) => measured.has(number) && !open.has(number);
  const done = plan.blasts.filter(({ number }) => isDone(number)).length;
  const ahead = plan.blasts.filter(
    ({ number, cell }) => names.has(cellName(cell)) && !isDone(number),
  );
  return { done, of: done + ahead.length };
}

/** `003-forwarding-inet4`, and `003-forwarding-inet4.2` for a second attempt. */
function logFolder(blast: PlannedBlast, attempt: number): string {
  const number = String(blast.number).padStart(3, '0');
  const name = `${number}-${cellName(blast.cell).replaceAll(' ', '-')}`;
  return attempt === 1 ? name : `${name}.${attempt}`;
}

async function writeLog(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
}
