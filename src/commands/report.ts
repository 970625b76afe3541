// `ppsgate report`: what a finished gate says, rendered again.
import { join } from 'node:path';
import type { Command } from 'commander';

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('render the report of a work directory again, as Markdown')
    .argument('<dir>', 'work directory that holds a result.json')
    .option('--json', 'print the result itself')
    .option('--page', 'write the page, its plots and flamegraphs again, and print where it is')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(async (directory: string, options: ReportOptions) => {
      const { runToExit, exitCodes } = await import('../exit.ts');
      await runToExit(async () => {
        process.stdout.write(await reported(directory, options));
        return exitCodes.pass;
      }, program.opts());
    });
}

type ReportOptions = { json?: true; page?: true };

async function reported(directory: string, { json, page }: ReportOptions): Promise<string> {
  const { explained, readResult } = await import('../report/read.ts');
  const { renderMarkdown } = await import('../report/markdown.ts');
  const written = await readResult(directory);
  if (json) return `${JSON.stringify(written, null, 2)}\n`;
  if (!page) return renderMarkdown(written);
  const { writeResult } = await import('../report/write.ts');
  const warn = (text: string) => process.stderr.write(`ppsgate: ${text}\n`);
  const { result, profiles } = await explained(written, directory, warn);
  await writeResult(directory, result, profiles, warn);
  return `${join(directory, 'report', 'index.html')}\n`;
}
