// `ppsgate gate`: judges one patch of a repository on a testbed of ppsgate.yml.

import type { Command } from 'commander';
import type { GateOptions } from '../../config/parameters.ts';
import { addGateOptions } from './gate-options.ts';

export function define(command: Command): void {
  addGateOptions(command, () => true);
  command
    .addHelpText(
      'after',
      `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges your changes since the main branch, committed or not.

Exits 0 on a pass, 1 if the patch is at fault, 2 on wrong usage, 3 if undecided,
and 4 if the lab failed.`,
    )
    .action(async (options: GateOptions) => {
      // Loaded here, as help needs none of it.
      const { runGate } = await import('./run-gate.ts');
      await runGate(options, command.optsWithGlobals());
    });
}
