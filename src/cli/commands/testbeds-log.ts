// `ppsgate testbeds log`: prints past reservations with holder, duration and outcome.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import type { LogOptions } from './run-testbeds-log.ts';

export function define(command: Command): void {
  command
    .argument('[name]', 'one testbed alone')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print it as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate testbeds log hp-t540 | tail')
    .action(async (name: string | undefined, options: LogOptions) => {
      await runToExit(async () => {
        const { showLog } = await import('./run-testbeds-log.ts');
        return showLog(name, options);
      }, command.optsWithGlobals());
    });
}
