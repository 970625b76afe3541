// `ppsgate quarantine`: a testbed out of use, and back.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addQuarantineCommand(program: Command): void {
  program
    .command('quarantine')
    .description('take a testbed out of use, or back into it')
    .argument('<name>', 'testbed of the configuration')
    .option('--reason <text>', 'why, for all who see it')
    .option('--lift', 'it is in use again')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      '\nExamples:\n  ppsgate quarantine hp-t540 --reason "port 1 loses its link"\n  ppsgate quarantine hp-t540 --lift\n\nExits 0 also when there was none to lift, 2 on wrong usage, 4 when the store cannot be used.',
    )
    .action(async (name: string, options: object) => {
      const { runQuarantine } = await import('./run-quarantine.ts');
      await runToExit(() => runQuarantine(name, options), program.opts());
    });
}
