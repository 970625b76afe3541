// `ppsgate analyze`: what a directory of logs says, ours or one of benchmark logs, computed again.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addAnalyzeCommand(program: Command): void {
  program
    .command('analyze')
    .description('judge runs that were measured before, by their raw logs')
    .argument(
      '<dir>',
      'work directory of a gate, or one with bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver logs of pkt-gen',
    )
    .option('--netbenches-trim', 'medians as the netbenches archive has them in its .pps files')
    .option('--base <image>', 'what the other sets are compared with (default: the first)')
    .option('--margin <percent>', 'the loss that matters', '2%')
    .option('--false-alarms <percent>', 'regressions where nothing was lost, over all sets', '1%')
    .option('--power <percent>', 'losses of the margin that are found', '95%')
    .option('--json', 'the numbers as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  ppsgate analyze --netbenches-trim results/fbsd12-r325006-D12685\n\nExits as gate does: 0 on a pass, 1 on a regression, 2 on wrong usage, 3 when nobody can say.',
    )
    .action(async (directory: string, options: object) => {
      const { runAnalyze } = await import('./run-analyze.ts');
      await runToExit(() => runAnalyze(directory, options), program.opts());
    });
}
