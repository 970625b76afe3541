// `ppsgate testbeds check`: prints one line per check.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import type { CheckOptions } from './run-testbeds-check.ts';

export function define(command: Command): void {
  command
    .argument('<name>', 'testbed of the configuration')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--no-traffic', 'send no packets')
    .option('--power', 'turn the DUT off and on, and wait until it is up again')
    .option('--record <file>', 'record all commands and replies of the machines, for replay')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText(
      'after',
      `
Example:
  ppsgate testbeds check hp-t540 --no-traffic

Exits 0 if all is well, 2 for an unknown name, and 4 if something is wrong.`,
    )
    .action(async (name: string, options: CheckOptions) => {
      await runToExit(async (signal) => {
        const { checkTestbed } = await import('./run-testbeds-check.ts');
        return checkTestbed(name, options, signal);
      }, command.optsWithGlobals());
    });
}
