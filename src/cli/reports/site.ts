// Runs `ppsgate site`.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { exitCodes } from '../../model/conclusion.ts';
import { parseJson } from '../../model/json.ts';
import { UsageError } from '../../model/usage-error.ts';
import { readDirectoryTrend } from '../../publish/data-branch/directory.ts';
import { indexPath } from '../../publish/data-branch/layout.ts';
import { healthSchema, type LabSnapshot, overviewSchema } from '../../publish/site/site-source.ts';
import { writeSite } from '../../publish/site/write-site.ts';
import { readForeignText } from '../../system/foreign-files.ts';
import { print } from '../table.ts';

export type SiteOptions = { from: string; to: string; lab?: string; health?: string };

export async function run({ from, to, lab, health }: SiteOptions): Promise<number> {
  if ((await stat(join(from, indexPath)).catch(() => undefined))?.isFile() !== true) {
    throw new UsageError(
      `--from: ${from} has no ${indexPath}; name a checkout of the data branch, or the data directory.`,
    );
  }
  const trend = await readDirectoryTrend(from);
  const overview = await readLabFile('--lab', lab, [from, 'lab.json'], overviewSchema);
  const healths = await readLabFile('--health', health, [from, 'health.json'], healthSchema);
  const known: LabSnapshot | undefined = overview && {
    overview,
    ...(healths && { health: healths }),
  };
  const leftOut = (why: string) => void process.stderr.write(`ppsgate: ${why}\n`);
  const pages = await writeSite({ ...trend, ...(known && { lab: known }) }, { from, to, now: new Date(), leftOut });
  print(`${join(to, 'index.html')}: ${pages} pages`);
  return exitCodes.pass;
}

const maxLabBytes = 16 * 1024 ** 2;

/** Undefined if no file was named and the default is missing. */
async function readLabFile<T>(
  option: string,
  named: string | undefined,
  [from, usual]: readonly [folder: string, name: string],
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const path = named ?? join(from, usual);
  const text =
    named === undefined
      ? await readForeignText(from, usual, maxLabBytes)
      : await readFile(named, 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw new UsageError(`${option}: ${path} cannot be read (${error.code}).`);
        });
  if (text === undefined) return undefined;
  const { success, data } = schema.safeParse(parseJson(text));
  if (success) return data;
  throw new UsageError(`${option}: ${path} is not in the format of this version of ppsgate; write it again.`);
}
