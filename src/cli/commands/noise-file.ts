// Reads past results as a source of noise: JSON lines, each with the runs of one cell at one time.
import { readFile } from 'node:fs/promises';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { z } from 'zod';
import { keyName } from '../../config/problem.ts';
import { expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';

/**
 * Reads the list `pps` of each line, numbers above 0; other keys are ignored, as in ppsgate's history. Lines with fewer
 * than three runs are skipped, but counted in `lines`. Throws a `UsageError` that names the first bad line.
 */
export async function readNoiseFile(path: string): Promise<{ sets: number[][]; lines: number }> {
  const text = await readFile(path, 'utf8').catch(cannotRead(path));
  const all = text
    .split('\n')
    .flatMap((line, index) =>
      line.trim() ? [parseLine(line, `--noise: ${path}:${index + 1}`)] : [],
    );
  const sets = all.filter((set) => set.length >= fewestRuns);
  if (sets.length > 0) return { sets, lines: all.length };
  const found = all.length === 0 ? 'nothing' : `${all.length} with fewer`;
  throw new UsageError(
    `--noise: ${path}: expected JSON lines with the pps of ${fewestRuns} runs or more, found ${found}.`,
  );
}

/** The spread of two runs means little. */
export const fewestRuns = 3;

const cannotRead =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    const why =
      error.code === 'ENOENT' ? 'there is no such file' : `cannot be read (${error.code})`;
    throw new UsageError(`--noise: ${path}: ${why}; name a file of JSON lines, or a CV like 1%.`);
  };

const rateError = expected('a number above 0');
const lineSchema = z.object(
  {
    pps: z.array(
      z.number({ error: rateError }).refine((pps) => pps > 0, { error: rateError }),
      { error: expected('a list of numbers above 0') },
    ),
  },
  { error: expected('an object with pps, a list of numbers above 0') },
);

function parseLine(line: string, place: string): number[] {
  const parsed = lineSchema.safeParse(parseJson(line, place));
  if (parsed.success) return parsed.data.pps;
  const [{ path, message } = { path: [], message: 'cannot be used' }] = parsed.error.issues;
  throw new UsageError([place, keyName(path), `${message}.`].filter(Boolean).join(': '));
}

function parseJson(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new UsageError(`${place}: expected JSON like {"pps": [980100, 979500, 981200]}.`);
  }
}

/** Sample standard deviation over mean. */
export const cvOf = (set: number[]): number => sampleStandardDeviation(set) / mean(set);
