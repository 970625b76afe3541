// Runs `ppsgate report`.
import { join } from 'node:path';
import type { BisectResult } from '../../model/bisect-result.ts';
import { exitCodes } from '../../model/conclusion.ts';
import type { Result } from '../../model/result.ts';
import { explained, readAnyResult } from '../../report/read-result.ts';
import { renderMarkdown } from '../../report/reports.ts';
import { writeResult } from '../../report/write-reports.ts';
import { printJson } from '../table.ts';

type ReportOptions = { json?: true; page?: true };

export async function run(path: string, options: ReportOptions): Promise<number> {
  const { directory, result } = await readAnyResult(path);
  if (options.json) printJson(result);
  else process.stdout.write(await reported(directory, result, options));
  return exitCodes.pass;
}

async function reported(directory: string, written: Result | BisectResult, { page }: ReportOptions): Promise<string> {
  if (!page) return renderMarkdown(written);
  const warn = (text: string) => process.stderr.write(`ppsgate: ${text}\n`);
  const { result, profiles } = await explained(written, directory, warn);
  await writeResult(directory, result, profiles, warn);
  return `${join(directory, 'report', 'index.html')}\n`;
}
