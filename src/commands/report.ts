// `ppsgate report`: what a finished gate says, rendered again.
import type { Command } from 'commander';

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('render the report of a work directory again, as Markdown')
    .argument('<dir>', 'work directory that holds a result.json')
    .option('--json', 'print the result itself')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(async (directory: string, options: { json?: true }) => {
      const { runToExit, exitCodes } = await import('../exit.ts');
      const { readResult } = await import('../report/read.ts');
      const { renderMarkdown } = await import('../report/markdown.ts');
      await runToExit(async () => {
        const result = await readResult(directory);
        const text = options.json ? `${JSON.stringify(result, null, 2)}\n` : renderMarkdown(result);
        process.stdout.write(text);
        return exitCodes.pass;
      }, program.opts());
    });
}
