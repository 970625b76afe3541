// `ppsgate quarantine`: takes a testbed out of service, or returns it.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';

export function define(command: Command): void {
  command
    .argument('<name>', 'testbed of the configuration')
    .option('--reason <text>', 'reason, visible to all')
    .option('--lift', 'lift the quarantine')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      `
Examples:
  ppsgate quarantine hp-t540 --reason "port 1 loses its link"
  ppsgate quarantine hp-t540 --lift

Exits 0 even if there was none to lift, 2 on wrong usage, and 4 if the store
cannot be used.`,
    )
    .action(async (name: string, options: object) => {
      await runToExit(async () => {
        const { runQuarantine } = await import('./run-quarantine.ts');
        return runQuarantine(name, options);
      }, command.optsWithGlobals());
    });
}
