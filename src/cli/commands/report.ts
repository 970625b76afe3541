// `ppsgate report`: renders the result of a finished gate again.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';

export function define(command: Command): void {
  command
    .argument('<dir>', 'work directory of a gate or a bisection, or its result.json')
    .option('--json', 'print result.json')
    .option('--page', 'write the page, its plots and flamegraphs again, and print its path')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(async (path: string, options: object) => {
      const exit = { ...command.optsWithGlobals(), endsAtOnce: true };
      await runToExit(async () => {
        const { runReport } = await import('./run-report.ts');
        return runReport(path, options);
      }, exit);
    });
}
