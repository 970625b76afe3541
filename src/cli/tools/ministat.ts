// `ppsgate ministat`: summarizes files of numbers like FreeBSD's ministat(1), on any system.

import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { getSystemErrorMessage } from 'node:util';
import { parseColumn } from '../../analysis/stats/columns.ts';
import { compare, type MinistatOptions, type MinistatSet, ministatPieces } from '../../analysis/stats/ministat.ts';
import { type ConfidencePercent, confidencePercents } from '../../analysis/stats/student.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { expected } from '../../model/excerpt.ts';
import { whyNotText, withoutMark } from '../../model/text-file.ts';
import { UsageError } from '../../model/usage-error.ts';
import { printPieces } from './print-chunks.ts';

type MinistatFlags = {
  readonly A?: true;
  readonly n?: true;
  readonly P?: true;
  readonly q?: true;
  readonly s?: true;
  readonly C: string;
  readonly c: string;
  readonly d?: string;
  readonly w?: string;
  readonly json?: true;
};

export async function run(files: readonly string[], flags: MinistatFlags): Promise<number> {
  const options = readOptions(flags);
  const sets = await readSets(files, flags);
  await printPieces(
    flags.json ? [`${JSON.stringify(compare(sets, options), null, 2)}\n`] : ministatPieces(sets, options),
  );
  return exitCodes.pass;
}

function readOptions(flags: MinistatFlags): MinistatOptions {
  return {
    confidencePercent: readConfidence(flags.c),
    population: flags.P === true,
    summariesOnly: flags.n === true,
    withoutPlot: flags.A === true,
    quiet: flags.q === true,
    separateBars: flags.s === true,
    width: flags.w === undefined ? usualWidth() : readCount('-w', flags.w, 2, 10_000),
  };
}

function readConfidence(text: string): ConfidencePercent {
  const known = confidencePercents.find((percent) => percent === Number(text));
  if (known !== undefined) return known;
  const what = `one of ${confidencePercents.join(', ')} percent`;
  throw new UsageError(`-c: ${expected(what)({ input: text })}.`);
}

function readCount(flag: string, text: string, from: number, to: number): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= from && count <= to) return count;
  const what = `a whole number from ${from} to ${to}`;
  throw new UsageError(`${flag}: ${expected(what)({ input: text })}.`);
}

/** On a terminal, `COLUMNS` sets the width of the plot itself, as in ministat. */
function usualWidth(): number {
  if (!process.stdout.isTTY) return 74;
  const columns = Number.parseInt(process.env.COLUMNS ?? '', 10);
  return Math.max(2, columns > 0 ? columns : process.stdout.columns - 2);
}

async function readSets(files: readonly string[], flags: MinistatFlags): Promise<MinistatSet[]> {
  const column = readCount('-C', flags.C, 1, 1_000_000);
  const { d: delimiters = ' \t' } = flags;
  if (delimiters === '') {
    throw new UsageError('-d: expected at least one character, found none.');
  }

  const sets: MinistatSet[] = [];
  for (const name of files.length === 0 ? ['<stdin>'] : files) {
    const text = await readText(name, files.length === 0 || name === '-');
    const values = parseColumn(text, { name, column, delimiters });
    const why = whyNoNumber(text, values, column);
    if (why !== undefined) throw new UsageError(`${name} ${why}.`);
    sets.push({ name, values });
  }
  return sets;
}

function whyNoNumber(text: Buffer, values: Float64Array, column: number): string | undefined {
  if (values.length > 0) return undefined;
  return text.length === 0
    ? 'is empty: give at least 3 numbers, in a file or through a pipe'
    : `holds no number in column ${column}: choose another with -C, or other delimiters with -d`;
}

async function readText(name: string, isStandardInput: boolean): Promise<Buffer> {
  const bytes = isStandardInput ? await buffer(process.stdin) : readBytes(name);
  const why = whyNotText(bytes.subarray(0, 2));
  if (why !== undefined) throw new UsageError(`${name} ${why}.`);
  return withoutMark(bytes);
}

function readBytes(name: string): Buffer {
  try {
    return readFileSync(name);
  } catch (error) {
    throw new UsageError(`Cannot read ${name}: ${reason(error)}; name a file of numbers.`);
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'errno' in error && typeof error.errno === 'number' ? getSystemErrorMessage(error.errno) : error.message;
}
