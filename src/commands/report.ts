// `ppsgate report`: what a finished gate says, rendered again.

import { join } from 'node:path';
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { explained, readResult } from '../report/read.ts';
import { writeResult } from '../report/write.ts';
import type { Result } from '../words/result.ts';
import { exitCodes } from '../words/upshot.ts';
import { printJson } from './table.ts';

export function define(command: Command): void {
  command
    .argument('<dir>', 'work directory that holds a result.json')
    .option('--json', 'print the result itself')
    .option('--page', 'write the page, its plots and flamegraphs again, and print where it is')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(async (directory: string, options: object) => {
      await runToExit(() => runReport(directory, options), command.optsWithGlobals());
    });
}

type ReportOptions = { json?: true; page?: true };

async function runReport(directory: string, options: ReportOptions): Promise<number> {
  const written = await readResult(directory);
  if (options.json) printJson(written);
  else process.stdout.write(await reported(directory, written, options));
  return exitCodes.pass;
}

async function reported(
  directory: string,
  written: Result,
  { page }: ReportOptions,
): Promise<string> {
  if (!page) return renderMarkdown(written);
  const warn = (text: string) => process.stderr.write(`ppsgate: ${text}\n`);
  const { result, profiles } = await explained(written, directory, warn);
  await writeResult(directory, result, profiles, warn);
  return `${join(directory, 'report', 'index.html')}\n`;
}
