// Appends the steps of an experiment to a file of JSON lines, which survives a kill at any moment.
import { glob, open, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { rejectionSchema } from '../../model/rejection.ts';
import { cellProfileSchema, runSchema, trialSchema } from '../../model/result.ts';
import { cellSchema } from '../../model/scenario.ts';
import { readForeignText } from '../../system/foreign-files.ts';

const at = bounded.time;

const entrySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('started'),
    at,
    fingerprint: bounded.facts,
    warnings: bounded.list(bounded.line, 1000),
  }),
  z.object({
    kind: z.literal('rejected'),
    at,
    variant: bounded.variant,
    rejection: rejectionSchema,
  }),
  z.object({
    kind: z.literal('measured'),
    at,
    summary: trialSchema,
    runs: bounded.list(runSchema),
  }),
  z.object({
    kind: z.literal('failed'),
    at,
    trial: bounded.count,
    reason: bounded.line,
    /** Variants to measure; absent if the plan has them. */
    variants: bounded.list(bounded.variant, 1000).optional(),
    /** See `TrialOutcome`. */
    lacksControl: z.literal(true).optional(),
  }),
  z.object({
    kind: z.literal('profiled'),
    at,
    cell: cellSchema,
    profile: cellProfileSchema,
    isFinal: z.boolean(),
  }),
  /** A warning of the testbed since its start. */
  z.object({ kind: z.literal('warned'), at, text: bounded.line }),
  z.object({ kind: z.literal('finished'), at }),
]);

export type JournalEntry = z.infer<typeof entrySchema>;

export type Journal = {
  entries: JournalEntry[];
  /** Resolves once the line is on disk. */
  append(entry: JournalEntry): Promise<void>;
  close(): Promise<void>;
};

/** Drops a last line that a kill truncated. Throws a `JournalError` for any other bad line. */
export async function openJournal(path: string): Promise<Journal> {
  const { entries, text, whole } = await read(path);
  if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));

  const file = await open(path, 'a');
  return {
    entries,
    async append(entry) {
      await file.appendFile(`${JSON.stringify(entry)}\n`);
      await file.datasync();
      entries.push(entry);
    },
    close: () => file.close(),
  };
}

const file = 'journal.jsonl';

export const journalIn = (directory: string): string => join(directory, file);

/** Reads without changing the file. Empty if there is no journal. */
export const readJournal = async (path: string): Promise<JournalEntry[]> => (await read(path)).entries;

/** True if deleting the directory would lose a trial, of it or of a gate in a folder below. */
export async function hasMeasured(directory: string): Promise<boolean> {
  for await (const name of glob([file, `*/${file}`], { cwd: directory })) {
    const entries = await readJournal(join(directory, name)).catch(() => undefined);
    // An unreadable journal may have some.
    if (entries === undefined || entries.some(({ kind }) => kind === 'measured')) return true;
  }
  return false;
}

/** A trial needs a few kilobytes. */
const maxBytes = 256 * 1024 ** 2;

/** `whole` is the text up to its last newline. */
async function read(path: string): Promise<{ entries: JournalEntry[]; text: string; whole: string }> {
  const text = (await readForeignText(dirname(path), basename(path), maxBytes)) ?? '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return { entries: whole.split('\n').filter(Boolean).map(parseLine(path)), text, whole };
}

export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly conclusion = 'usage';
}

const parseLine =
  (path: string) =>
  (line: string, index: number): JournalEntry => {
    try {
      return entrySchema.parse(JSON.parse(line));
    } catch {
      throw new JournalError(
        `${path}:${index + 1} is not a valid line of an experiment's journal: the directory cannot be resumed; start a new experiment.`,
      );
    }
  };
