// `ppsgate gate`: judge one patch of a repository on a testbed of ppsgate.yml.
import type { Command } from 'commander';
import { type GateOptions, kebabCase, parameter, parametersThat } from '../config/parameters.ts';
import { runToExit } from '../exit.ts';

export function addGateCommand(program: Command): void {
  const command = program
    .command('gate')
    .description('judge a patch: base and patched side by side, a verdict for every cell');
  for (const name of parametersThat(({ option }) => option !== undefined)) {
    const {
      flags = `--${kebabCase(name)}`,
      value,
      says = '',
      default: usual,
    } = parameter(name).option ?? {};
    command.option(value === undefined ? flags : `${flags} <${value}>`, says, usual);
  }
  command
    .addHelpText(
      'after',
      '\nExample:\n  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%\n\nExits 0 on a pass, 1 when the patch is at fault, 2 on wrong usage, 3 when nobody can say, 4 when the lab failed.',
    )
    .action(async (options: GateOptions) => {
      const { runGate } = await import('./run-gate.ts');
      await runToExit((signal) => runGate(options, signal), program.opts());
    });
}
