// Records a self-test's diagnostics line by line, so that a resumed one skips steps that passed.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { CheckStep, Diagnostic } from '../../lab/check/diagnostic.ts';
import * as bounded from '../../model/bounds.ts';
import { type Cell, cellName, cellSchema } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';

const runSchema = z.object({
  cell: cellSchema,
  /** Counted from 1. */
  boot: bounded.ordinal,
  pps: bounded.measured,
  trialSeconds: bounded.seconds,
});

type SelfTestedRun = z.infer<typeof runSchema>;

const entrySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun'), testbed: bounded.name, at: bounded.time }),
  z.object({
    kind: z.literal('well'),
    step: bounded.name,
    diagnostics: bounded.list(z.object({ kind: z.enum(['ok', 'skipped']), what: bounded.line, why: bounded.prose() })),
  }),
  z.object({ kind: z.literal('booted'), boot: bounded.count, seconds: bounded.seconds }),
  z.object({ kind: z.literal('run'), run: runSchema }),
]);

type SelfTestEntry = z.infer<typeof entrySchema>;

export type SelfTestJournal = {
  lines(): string[];
  at: string;
  /** Wraps a step to return its recorded diagnostics if it passed before. */
  remembered(step: CheckStep): CheckStep;
  runs(): SelfTestedRun[];
  keepRun(run: SelfTestedRun): void;
  bootSeconds(): number[];
  keepBoot(boot: number, seconds: number): void;
};

export const journalIn = (directory: string): string => join(directory, 'self-test.jsonl');

export function beginJournal(directory: string, testbed: string, now: Date): SelfTestJournal {
  const at = now.toISOString();
  return journalOf(directory, [], at, { kind: 'begun', testbed, at });
}

/** Resumes a journal. Throws a UsageError if the directory has none of that testbed. */
export function resumeJournal(directory: string, testbed: string): SelfTestJournal {
  const entries = readEntries(directory);
  const [begun] = entries;
  if (begun?.kind === 'begun' && begun.testbed === testbed) {
    return journalOf(directory, entries, begun.at);
  }
  const whose = begun?.kind === 'begun' ? `one of ${begun.testbed}` : 'none';
  throw new UsageError(
    `--resume: expected the directory of a self-test of ${testbed}, found ${whose} in ${directory}.`,
  );
}

/** Stops at a line that a kill truncated. */
function readEntries(directory: string): SelfTestEntry[] {
  const entries: SelfTestEntry[] = [];
  for (const line of textIn(directory).split('\n')) {
    const entry = entrySchema.safeParse(parsedOrNot(line));
    if (entry.success) entries.push(entry.data);
  }
  return entries;
}

function textIn(directory: string): string {
  try {
    return readFileSync(journalIn(directory), 'utf8');
  } catch {
    return '';
  }
}

function parsedOrNot(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function journalOf(
  directory: string,
  before: readonly SelfTestEntry[],
  at: string,
  first?: SelfTestEntry,
): SelfTestJournal {
  const entries = [...before];
  const keep = (entry: SelfTestEntry) => {
    entries.push(entry);
    // Starts a new line, in case a kill truncated the last one.
    appendFileSync(journalIn(directory), `\n${JSON.stringify(entry)}\n`, { flush: true });
  };
  if (first !== undefined) keep(first);
  return {
    at,
    lines: () => entries.map((entry) => JSON.stringify(entry)),
    remembered(step) {
      const found = entries.find((entry) => entry.kind === 'well' && entry.step === step.what);
      if (found?.kind === 'well') return { ...step, run: async () => found.diagnostics };
      return { ...step, run: (what) => kept(step, what, keep) };
    },
    runs: () => {
      const runs = entries.flatMap((entry) => (entry.kind === 'run' ? [entry.run] : []));
      return [...new Map(runs.map((run) => [`${cellName(run.cell)} ${run.boot}`, run])).values()];
    },
    keepRun: (run) => keep({ kind: 'run', run }),
    bootSeconds: () => entries.flatMap((entry) => (entry.kind === 'booted' ? [entry.seconds] : [])),
    keepBoot: (boot, seconds) => keep({ kind: 'booted', boot, seconds }),
  };
}

/** Skipped steps run again. */
async function* kept(
  { run }: CheckStep,
  what: string,
  keep: (entry: SelfTestEntry) => void,
): AsyncGenerator<Diagnostic> {
  const diagnostics: Exclude<Diagnostic, { kind: 'wrong' }>[] = [];
  let isWell = true;
  for await (const diagnostic of await run(what)) {
    yield diagnostic;
    if (diagnostic.kind === 'wrong') isWell = false;
    else diagnostics.push(diagnostic);
  }
  if (isWell && diagnostics.some(({ kind }) => kind === 'ok')) {
    keep({ kind: 'well', step: what, diagnostics });
  }
}

export const runsOf = (runs: readonly SelfTestedRun[], cell: Cell): SelfTestedRun[] =>
  runs.filter((run) => cellName(run.cell) === cellName(cell));
