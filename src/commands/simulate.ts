// `ppsgate simulate`: what a design would do on noise that is known, before a lab is booked for it.
import type { Command } from 'commander';

export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('how often a design errs, and how many runs it takes, on noise that is known')
    .option('--noise <file|cv>', 'JSON lines with pps, the runs of a cell; or a CV like 1%')
    .option('--max-cv <percent>', 'leave out noisier lines (CV: standard deviation over mean)')
    .option('--design <list>', 'fixed, group-sequential, glr, with commas (default: all three)')
    .option('--margin <percent>', 'the loss that matters (default: 2%)')
    .option('--effects <list>', 'true changes, with commas (default: 0, half the margin, it, -50%)')
    .option('--false-alarms <percent>', 'asked for, over all cells of a patch (default: 1%)')
    .option('--power <percent>', 'asked for, at a loss of the margin (default: 95%)')
    .option('--cells <number>', 'cells of a patch, which are judged together (default: 1)')
    .option('--max-runs <number>', 'most runs of each variant (default: 20)')
    .option('--history <number>', 'earlier runs of the base of each cell (default: 0)')
    .option('--experiments <number>', 'cells that are judged for each row (default: 20000)')
    .option('--seed <number>', 'of all chance (default: 1)')
    .option('--reboot <duration>', 'what a run takes beside its traffic (default: 4 min)')
    .option('--traffic <duration>', 'of one run (default: 68 s)')
    .option('--json', 'print the rows as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  ppsgate simulate --noise 1% --history 10\n  ppsgate simulate --noise ~/.local/state/ppsgate/history.jsonl --max-cv 1% --cells 12',
    )
    .action(async (options: object) => {
      const { runSimulate } = await import('./run-simulate.ts');
      await runSimulate(options);
    });
}
