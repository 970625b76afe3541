// `ppsgate reserve`: a testbed by hand, for as long as a command runs.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addReserveCommand(program: Command): void {
  program
    .command('reserve')
    .description('reserve a testbed and run a command of yours meanwhile')
    .argument('<wish>', 'a name, or what it has to be, like "mellanox and 40G"')
    .argument('[command...]', 'behind two dashes')
    .option('--purpose <text>', 'what others see that it is for', 'by hand')
    .option('--priority <name>', 'in the queue: release, patch or rerun', 'patch')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText('after', details)
    .action(async (wish: string, command: string[], options: object) => {
      const { runReserve } = await import('./run-reserve.ts');
      await runToExit((signal) => runReserve(wish, command, options, signal), program.opts());
    });
}

const details = `
Examples:
  ppsgate reserve hp-t540 --purpose "new cables" -- ssh root@192.0.2.11
  ppsgate reserve "chelsio and 10G" -- sh -c 'ssh "root@$PPSGATE_DUT" pmcstat -T'

The command has these in its environment:
  PPSGATE_TESTBED  name of the testbed
  PPSGATE_DUT      host of its DUT; not set for the embedded lab
  PPSGATE_TOKEN    number of the reservation: higher than of any before

When the command ends, whatever came of it, the testbed is brought to its base and given back. When the testbed is
lost, the command gets SIGTERM, and SIGKILL 10 s later.

Exits with the code of the command, with 4 when nothing was reserved or the testbed was lost, with 2 on wrong usage.`;
