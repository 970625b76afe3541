// The report of a work directory, made again from its result.
import { join } from 'node:path';
import { renderMarkdown } from '../report/markdown.ts';
import { explained, readResult } from '../report/read.ts';
import { writeResult } from '../report/write.ts';
import { exitCodes } from '../words/upshot.ts';

export type ReportOptions = { json?: true; page?: true };

export async function runReport(directory: string, options: ReportOptions): Promise<number> {
  process.stdout.write(await reported(directory, options));
  return exitCodes.pass;
}

async function reported(directory: string, { json, page }: ReportOptions): Promise<string> {
  const written = await readResult(directory);
  if (json) return `${JSON.stringify(written, null, 2)}\n`;
  if (!page) return renderMarkdown(written);
  const warn = (text: string) => process.stderr.write(`ppsgate: ${text}\n`);
  const { result, profiles } = await explained(written, directory, warn);
  await writeResult(directory, result, profiles, warn);
  return `${join(directory, 'report', 'index.html')}\n`;
}
