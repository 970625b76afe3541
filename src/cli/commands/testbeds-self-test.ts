// `ppsgate testbeds self-test`: exercises a gate and its accidents on a FreeBSD testbed, one line per step.
import type { Command } from 'commander';
import { selfTestParts } from '../../gate/self-test/self-test-request.ts';
import { runToExit } from '../../system/exit.ts';
import type { SelfTestOptions } from './run-testbeds-self-test.ts';

export function define(command: Command): void {
  command
    .argument('<name>', 'testbed of the configuration')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--yes', 'cause the accidents without asking')
    .option('--skip <parts>', `parts to leave out, separated by commas: ${selfTestParts.join(', ')}`)
    .option(
      '--base-kernel <file>',
      "archive of the kernel to try, for nanobsd an image (default: the builder's, or the DUT's own)",
    )
    .option('--resume <dir>', 'continue an interrupted self-test')
    .option('--record <file>', 'record all commands and replies of the machines')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText(
      'after',
      `
Boots a kernel under another name, installs each scenario, measures each cell,
takes a profile, makes the DUT panic and hang (each only after asking), measures
the noise of six boots, and undoes all of it.

Example:
  ppsgate testbeds self-test hp-t540
  ppsgate testbeds self-test hp-t540 --yes --skip hang,noise

Exits 0 if all is well, 2 on wrong usage, and 4 if something is wrong.`,
    )
    .action(async (name: string, options: SelfTestOptions) => {
      const closingLines: string[] = [];
      const work = async (signal: AbortSignal) => {
        const { selfTestOf } = await import('./run-testbeds-self-test.ts');
        return selfTestOf(name, options, signal, closingLines);
      };
      await runToExit(work, { ...command.optsWithGlobals(), closingLines: closingLines });
    });
}
