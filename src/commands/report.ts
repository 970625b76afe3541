// `ppsgate report`: what a finished gate says, rendered again.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('render the report of a work directory again, as Markdown')
    .argument('<dir>', 'work directory that holds a result.json')
    .option('--json', 'print the result itself')
    .option('--page', 'write the page, its plots and flamegraphs again, and print where it is')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(async (directory: string, options: object) => {
      const { runReport } = await import('./run-report.ts');
      await runToExit(() => runReport(directory, options), program.opts());
    });
}
