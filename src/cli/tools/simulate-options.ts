// Parses options and aligns output shared by both kinds of simulation.
import { z } from 'zod';
import type { NoiseSource } from '../../analysis/stats/simulate.ts';
import { kebabCase } from '../../config/parameters.ts';
import { formatPercent, grouped } from '../../model/format.ts';
import { duration, expected, type QuantityLimit, ratio, sentence } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { cvOf, minRuns, readNoiseFile } from './noise-file.ts';

/** Throws a `UsageError` that names the first wrong option. */
export function parse<Schema extends z.ZodType>(schema: Schema, options: object): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: 'cannot be used' }] = parsed.error.issues;
  throw new UsageError(`--${kebabCase(String(path[0]))}: ${sentence(message)}`);
}

export const listOf = (text: string): string[] => text.split(',').map((item) => item.trim());

const largestCv: QuantityLimit = {
  description: 'a percentage above 0% and up to 100%',
  holds: (value) => value > 0 && value <= 1,
};
const largestChange: QuantityLimit = {
  description: 'a change from -99% to +99%',
  holds: (value) => value <= 0.99,
};
const atMostADay: QuantityLimit = {
  description: 'a duration of up to 1440 min',
  holds: (value) => value <= 24 * 60 * 60,
};

const wrongNoise = expected('a file of JSON lines with pps, or a CV like 1%');

export const sharedOptions = z.object({
  noise: z.string({ error: wrongNoise }).min(1, { error: wrongNoise }),
  maxCv: ratio(largestCv).optional(),
  effects: z
    .string()
    .transform(listOf)
    .pipe(z.array(z.string().transform(parseChange)))
    .optional(),
  history: count(0, 1000).prefault('0'),
  seed: count(0, 2 ** 31 - 1).prefault('1'),
  reboot: duration(atMostADay).prefault('4 min'),
  traffic: duration(atMostADay).prefault('68 s'),
});

export function count(least: number, most: number) {
  const error = expected(`a whole number from ${least} to ${most}`);
  return z
    .string()
    .regex(/^\d{1,10}$/, { error, abort: true })
    .refine((text) => Number(text) >= least && Number(text) <= most, { error })
    .transform(Number);
}

/** `0`, `-1.5%`, `+2%`; also accepts the minus sign of our reports. */
function parseChange(text: string, context: z.RefinementCtx): number {
  if (text === '0') return 0;
  const size = ratio(largestChange).safeParse(text.replace(/^[-−+]/, ''));
  if (size.success) return /^[-−]/.test(text) && size.data > 0 ? -size.data : size.data;
  const message = expected(`0, or ${largestChange.description}`)({ input: text });
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

type Noise = Pick<z.output<typeof sharedOptions>, 'noise' | 'maxCv'>;

export async function readNoise({ noise, maxCv }: Noise): Promise<{ source: NoiseSource; noiseText: string }> {
  if (noise.endsWith('%')) {
    if (maxCv !== undefined) {
      throw new UsageError('--max-cv: leaves out lines of a file, but --noise is a CV: drop one of them.');
    }
    const { noise: cv } = parse(z.object({ noise: ratio(largestCv) }), { noise });
    return { source: { kind: 'normal', cv }, noiseText: `normal noise, CV ${formatPercent(cv)}` };
  }
  const { cells, lines } = await readNoiseFile(noise);
  const kept = cells
    .map((sets) => sets.filter((set) => cvOf(set) <= (maxCv ?? Infinity)))
    .filter((sets) => sets.length > 0);
  if (kept.length === 0) throw new UsageError(nothingLeft(noise, cells.flat(), maxCv));
  const limit = maxCv === undefined ? '' : ` and a CV of at most ${formatPercent(maxCv)}`;
  return {
    source: { kind: 'sets', cells: kept },
    noiseText: `${noise}: ${grouped(kept.flat().length)} of ${grouped(lines)} sets of runs, those with at least ${minRuns} runs${limit}, of ${grouped(kept.length)} ${kept.length === 1 ? 'cell' : 'cells'}`,
  };
}

function nothingLeft(path: string, sets: number[][], maxCv = Infinity): string {
  const quietest = formatPercent(Math.min(...sets.map(cvOf)));
  return `--max-cv: ${path} has no set of runs with a CV of at most ${formatPercent(maxCv)}; its quietest has ${quietest}.`;
}

/** The first column is left-aligned, numbers are right-aligned. */
export function aligned(lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(cell).join('  ')).join('\n');
}
