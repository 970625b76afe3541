// `ppsgate simulate`: simulates a design, or a bisection, with known noise, before a lab is booked.
import type { Command } from 'commander';

export function define(command: Command): void {
  command
    .option('--noise <file|cv>', "JSON lines with pps, one per cell's runs; or a CV like 1%")
    .option('--max-cv <percent>', 'omit noisier lines (CV: standard deviation over mean)')
    .option('--design <list>', 'fixed, group-sequential, or both, separated by a comma (default: both)')
    .option('--margin <percent>', 'the loss that matters (default: 2%)')
    .option('--effects <list>', 'true changes, separated by commas (default: 0, half the margin, the margin, -50%)')
    .option('--false-alarms <percent>', 'required rate of false alarms, over all cells of a patch (default: 1%)')
    .option('--power <percent>', 'required power, at a loss of the margin (default: 95%)')
    .option('--cells <number>', 'cells of a patch, judged together (default: 1)')
    .option('--max-runs <number>', 'maximum runs of each variant (default: 20)')
    .option('--build-noise <percent>', 'noise between builds of a kernel (CV; default: 0%)')
    .option('--layout-variants <number>', 'layouts of each kernel, which runs boot in turn (default: 1)')
    .option('--history <number>', 'earlier runs of the base of each cell (default: 0)')
    .option('--experiments <number>', 'simulations for each row (default: 20000 cells, or 1000 bisections)')
    .option('--seed <number>', 'seed of all random numbers (default: 1)')
    .option('--reboot <duration>', 'duration of a run without its traffic (default: 4 min)')
    .option('--traffic <duration>', 'duration of the traffic of one run (default: 68 s)')
    .option('--bisect', 'simulate bisections for the commit that changed the rate')
    .option('--commits <list>', 'bisections: steps of the range, separated by commas (default: 256)')
    .option('--broken <percent>', 'bisections: share of commits that cannot be measured (default: 0%)')
    .option('--build-minutes <number>', 'bisections: minutes to build a kernel (default: 10)')
    .option('--max-boots <number>', 'bisections: maximum number of boots (default: 60)')
    .option('--json', 'print the rows as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate simulate --noise 1% --history 10
  ppsgate simulate --noise ~/.local/state/ppsgate/history.jsonl --max-cv 1%
  ppsgate simulate --noise 1% --cells 12 --build-noise 0.5% --layout-variants 8
  ppsgate simulate --bisect --noise 0.6% --commits 64,256 --history 20`,
    )
    .action(async (options: object) => {
      const { runSimulate } = await import('./run-simulate.ts');
      await runSimulate(options);
    });
}
