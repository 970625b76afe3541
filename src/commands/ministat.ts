// `ppsgate ministat`: reads files of numbers and prints what FreeBSD's ministat(1) prints, on any system.
import type { Command } from 'commander';
import type { MinistatFlags } from './run-ministat.ts';

export function addMinistatCommand(program: Command): void {
  program
    .command('ministat')
    .description("compare sets of numbers with the first, as FreeBSD's ministat(1) does and prints")
    .argument('[FILE...]', 'up to seven files of numbers; - or no file is standard input')
    .option('-A', 'no plot')
    .option('-n', 'summaries only: no plot, no test')
    .option('-P', 'standard deviation of a whole population, and no test')
    .option('-q', 'no names, no column heads')
    .option('-s', 'a line of its own for the bar of each set')
    .option('-C <column>', 'column to read, from 1', '1')
    .option('-c <confidence>', 'in percent: 80, 90, 95, 98, 99 or 99.5', '95')
    .option('-d <delimiters>', 'characters between columns (default: space and tab)')
    .option('-w <width>', 'of the plot (default: 74, or the width of the terminal less 2)')
    .option('--json', 'the numbers as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate ministat -s -w 60 base.pps patched.pps')
    .action(async (files: readonly string[], flags: MinistatFlags) => {
      const { runMinistat } = await import('./run-ministat.ts');
      await runMinistat(files, flags);
    });
}
