// `ppsgate release`: a testbed taken from its holder, or given back after a gate that could not.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addReleaseCommand(program: Command): void {
  program
    .command('release')
    .description('take a testbed from whoever has it, or give back what a gate left')
    .argument('[name]', 'testbed of the configuration')
    .option('--force', 'take it from its holder, whose measurement ends')
    .option('--by <name>', 'who you are, for the log (default: you are asked)')
    .option('--yes', 'do not ask')
    .option(
      '-d, --directory <dir>',
      'work directory of a gate that has ended: give back its testbed',
    )
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      '\nExamples:\n  ppsgate release hp-t540 --force\n  ppsgate release --directory ppsgate-gate-20261120-231655\n\nExits 0 also when nobody had it, 2 on wrong usage, 4 when the store cannot be used.',
    )
    .action(async (name: string | undefined, options: object) => {
      const { askOnTerminal, runRelease } = await import('./run-release.ts');
      await runToExit((signal) => runRelease(name, options, askOnTerminal(signal)), program.opts());
    });
}
