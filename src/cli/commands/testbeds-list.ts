// `ppsgate testbeds list`: prints one line per testbed of ppsgate.yml.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import type { ListOptions } from './run-testbeds-list.ts';

export function define(command: Command): void {
  command
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print them as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate testbeds list')
    .action(async (options: ListOptions) => {
      await runToExit(async () => {
        const { listTestbeds } = await import('./run-testbeds-list.ts');
        return listTestbeds(options);
      }, command.optsWithGlobals());
    });
}
