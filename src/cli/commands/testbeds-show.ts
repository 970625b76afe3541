// `ppsgate testbeds`: prints holders and queues once, or at each change.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import { overviewDetails } from './overview-details.ts';
import type { OverviewOptions } from './run-testbeds-show.ts';

export function define(command: Command): void {
  command
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-w, --watch', 'show it again at each change, until Ctrl-C')
    .option('--json', 'print it as JSON; with --watch, one line per change')
    .addHelpText('after', overviewDetails)
    .action(async (options: OverviewOptions) => {
      await runToExit(async (signal) => {
        const { showTestbeds } = await import('./run-testbeds-show.ts');
        return showTestbeds(options, signal);
      }, command.optsWithGlobals());
    });
}
