// Reads past results as a source of noise: JSON lines, each with the runs of one cell at one time.
import { readFile } from 'node:fs/promises';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { z } from 'zod';

/** Keys that distinguish cells, of ppsgate's history and of the results of netbenches. */
const cellKeys = ['testbed', 'cell', 'traffic', 'cpu', 'nic', 'topic', 'label'] as const;

const lineSchema = z.looseObject({ pps: z.array(z.number().positive()) });

/**
 * Returns the sets of runs of each cell, one for each session. Skips lines of a single run, which have no spread;
 * `lines` counts them, too.
 */
export async function readNoiseFile(path: string): Promise<{ cells: number[][][]; lines: number }> {
  const texts = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  const all = texts.map((text) => lineSchema.parse(JSON.parse(text)));
  const cells = Map.groupBy(
    all.filter(({ pps }) => pps.length > 1),
    (line) => JSON.stringify(cellKeys.map((name) => line[name])),
  );
  return { cells: [...cells.values()].map((lines) => lines.map(({ pps }) => pps)), lines: all.length };
}

/** Sample standard deviation over mean. */
export const cvOf = (set: number[]): number => sampleStandardDeviation(set) / mean(set);
