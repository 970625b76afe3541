// Reads past results as a source of noise: JSON lines, each with the runs of one cell at one time.
import { readFile } from 'node:fs/promises';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { z } from 'zod';
import { keyName } from '../../config/problem.ts';
import * as bounded from '../../model/bounds.ts';
import { maxRuns } from '../../model/result.ts';
import { expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';

/**
 * Reads the runs of a file of JSON lines, each with a list `pps` of numbers above 0 and any other keys, like ppsgate's
 * history. Returns the sets of each cell, one for each session. Lines of one cell agree in testbed, cell, traffic,
 * label and the like. Skips lines of a single run, which have no spread; `lines` counts them, too. Throws a
 * `UsageError` that names the first bad line.
 */
export async function readNoiseFile(path: string): Promise<{ cells: number[][][]; lines: number }> {
  const text = await readFile(path, 'utf8').catch(cannotRead(path));
  const all = text
    .split('\n')
    .flatMap((line, index) => (line.trim() ? [parseLine(line, `--noise: ${path}:${index + 1}`)] : []));
  const cells = Map.groupBy(
    all.filter(({ pps }) => pps.length >= minRuns),
    ({ key }) => key,
  );
  if (cells.size > 0) {
    return {
      cells: [...cells.values()].map((lines) => lines.map(({ pps }) => pps)),
      lines: all.length,
    };
  }
  const found = all.length === 0 ? 'nothing' : `${all.length} with fewer`;
  throw new UsageError(
    `--noise: ${path}: expected JSON lines with the pps of at least ${minRuns} runs, found ${found}.`,
  );
}

/** A single run has no spread. */
export const minRuns = 2;

const cannotRead =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : `cannot be read (${error.code})`;
    throw new UsageError(`--noise: ${path}: ${why}; name a file of JSON lines, or a CV like 1%.`);
  };

const rateError = expected('a number above 0');
/** Keys that distinguish cells, of ppsgate's history and of the results of netbenches. */
const cellKeys = ['testbed', 'cell', 'traffic', 'cpu', 'nic', 'topic', 'label'] as const;

const lineSchema = z.looseObject(
  {
    pps: z
      .array(
        z.number({ error: rateError }).refine((pps) => bounded.measured.safeParse(pps).success, { error: rateError }),
        { error: expected('a list of numbers above 0') },
      )
      .max(maxRuns),
  },
  { error: expected('an object with pps, a list of numbers above 0') },
);

type NoiseLine = { key: string; pps: number[] };

function parseLine(line: string, place: string): NoiseLine {
  const parsed = lineSchema.safeParse(parseJson(line, place));
  if (parsed.success) {
    const { data } = parsed;
    return { key: JSON.stringify(cellKeys.map((name) => data[name])), pps: data.pps };
  }
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
