// `ppsgate plan`: estimates the parts of a gate before anything is reserved.
import type { Command } from 'commander';
import { type GateOptions, namingStyles, parameter } from '../../config/parameters.ts';
import { runToExit } from '../../system/exit.ts';

const planOptions = [
  ...(['patch', 'repository', 'config', 'testbed', 'each', 'scenarios', 'families'] as const),
  ...(['metric', 'margin', 'falseAlarms', 'power', 'design', 'maxRuns', 'profile'] as const),
  ...(['measureAnyway', 'earlier', 'stopAtFirst'] as const),
];

export function define(command: Command): void {
  for (const name of planOptions) {
    const option = parameter(name).option;
    const { flags = namingStyles.flag(name), value, help = '', default: usual } = option ?? {};
    command.option(value === undefined ? flags : `${flags} <${value}>`, help, usual);
  }
  command
    .option('--json', 'print the estimate as JSON, in seconds')
    .addHelpText(
      'after',
      `
Example:
  ppsgate plan --testbed chelsio --scenarios forwarding --margin 1%

Accepts the options of \`ppsgate gate\` that change its duration. Reserves
nothing, and contacts no machine. Estimates minutes from earlier gates on the
testbed, and runs from the noise of its history. With --patch it also lists
testbeds that need no measurement, as the patch changes nothing installed there.`,
    )
    .action(async (options: GateOptions) => {
      await runToExit(async (signal) => {
        const { plan } = await import('./run-plan.ts');
        return plan(options, signal);
      }, command.optsWithGlobals());
    });
}
