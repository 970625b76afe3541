// `ppsgate report`: renders the result of a finished gate again.

import { join } from 'node:path';
import type { Command } from 'commander';
import type { BisectResult } from '../../model/bisect-result.ts';
import { exitCodes } from '../../model/conclusion.ts';
import type { Result } from '../../model/result.ts';
import { explained, readAnyResult } from '../../report/read-result.ts';
import { renderMarkdown } from '../../report/reports.ts';
import { writeResult } from '../../report/write-reports.ts';
import { runToExit } from '../../system/exit.ts';
import { printJson } from './table.ts';

export function define(command: Command): void {
  command
    .argument('<dir>', 'work directory of a gate or a bisection, or its result.json')
    .option('--json', 'print result.json')
    .option('--page', 'write the page, its plots and flamegraphs again, and print its path')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(async (path: string, options: object) => {
      const exit = { ...command.optsWithGlobals(), endsAtOnce: true };
      await runToExit(() => runReport(path, options), exit);
    });
}

type ReportOptions = { json?: true; page?: true };

async function runReport(path: string, options: ReportOptions): Promise<number> {
  const { directory, result } = await readAnyResult(path);
  if (options.json) printJson(result);
  else process.stdout.write(await reported(directory, result, options));
  return exitCodes.pass;
}

async function reported(
  directory: string,
  written: Result | BisectResult,
  { page }: ReportOptions,
): Promise<string> {
  if (!page) return renderMarkdown(written);
  const warn = (text: string) => process.stderr.write(`ppsgate: ${text}\n`);
  const { result, profiles } = await explained(written, directory, warn);
  await writeResult(directory, result, profiles, warn);
  return `${join(directory, 'report', 'index.html')}\n`;
}
