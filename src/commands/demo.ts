// `ppsgate demo`: the main job on this machine, without a lab, an account or a configuration.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('judge three small patches with real packets in a lab inside this machine')
    .option(
      '-d, --directory <dir>',
      'where the work directories go (default: a new ppsgate-demo-…)',
    )
    .option('--resume <dir>', 'go on with a demo that was cut short')
    .option('--seed <number>', 'of the order of runs (default: by chance)')
    .option('--design <name>', 'fixed takes all runs: to compare with the usual group-sequential')
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  sudo ppsgate demo\n\nNeeds root on Linux. Takes about a minute. Exits 0 when all three patches come out as they must.',
    )
    .action(async (options: object) => {
      const { runDemoCommand } = await import('./run-demo.ts');
      await runToExit((signal) => runDemoCommand(options, signal), program.opts());
    });
}
