// Defines the commands that work on files of numbers and profiles, without a configuration.
import type { Command } from 'commander';
import { run } from '../run.ts';

export function addToolCommands(program: Command): void {
  program
    .command('ministat')
    .description("compare sets of numbers with the first, with the output of FreeBSD's ministat(1)")
    .argument('[FILE...]', 'up to seven files of numbers; - or no file is standard input')
    .option('-A', 'no plot')
    .option('-n', 'summaries only: no plot, no test')
    .option('-P', 'standard deviation of a whole population; no test')
    .option('-q', 'omit names and column headings')
    .option('-s', 'draw the bar of each set on a separate line')
    .option('-C <column>', 'column to read, from 1', '1')
    .option('-c <confidence>', 'in percent: 80, 90, 95, 98, 99 or 99.5', '95')
    .option('-d <delimiters>', 'characters between columns (default: space and tab)')
    .option('-w <width>', 'width of the plot (default: 74, or that of the terminal less 2)')
    .option('--json', 'print the numbers as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate ministat -s -w 60 base.pps patched.pps')
    .action(run(() => import('./ministat.ts'), { endsAtOnce: true }));

  program
    .command('fold')
    .description('print a profile of pmcstat -G or perf script as folded stacks')
    .argument('[FILE]', 'profile, or folded stacks; - or no file is standard input')
    .option('--no-idle', 'omit samples of idle CPUs')
    .option('--modules', 'name the kernel module, library or program of each frame: pf.ko`pf_test')
    .option('--json', 'the stacks as JSON')
    .addHelpText(
      'after',
      `
Example:
  pmcstat -R pmc.out -z 100 -G pmc.graph
  ppsgate fold --no-idle pmc.graph | grep pf_test

Stacks of pmcstat are folded like stackcollapse-pmc.pl does. As JSON:
  { "format", "event", "kernel", "samples", "notes",
    "idle": { "samples", "frames" }, "stacks": [{ "frames", "samples" }] }
Frames go from the outermost caller inwards. "event" and "kernel" are present if
the profile has them, "idle" with --no-idle.

Exits 2 if a file is no readable profile.`,
    )
    .action(run(() => import('./fold.ts'), { endsAtOnce: true }));

  program
    .command('flamegraph')
    .description('draw a profile, or its difference from a base, as a flamegraph in a self-contained SVG')
    .argument('<FILE>', 'profile of pmcstat -G or perf script, or folded stacks; - is standard input')
    .option(
      '--base <FILE>',
      'profile to compare with: red is a greater share of samples than there, blue a smaller one',
    )
    .option('-o, --output <FILE>', 'SVG to write; - is standard output', '-')
    .option('--title <text>', "title (default: the profile's kernel, or its name)")
    .option('--idle', 'include samples of idle CPUs')
    .addHelpText(
      'after',
      `
Example:
  ppsgate flamegraph pmc.graph -o pmc.svg
  ppsgate flamegraph patched.graph --base base.graph -o difference.svg

In a browser a click or Enter zooms, / searches, Escape goes back, and arrow
keys move between frames. Widths are shares of all samples, so profiles of
different lengths can be compared. Stacks of the base alone are drawn below.

Exits 2 if a file is no readable profile, or has no samples left.`,
    )
    .action(run(() => import('./flamegraph.ts'), { endsAtOnce: true }));

  program
    .command('simulate')
    .description('simulate the error rates and the number of runs of a design, for known noise')
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
    .action(run(() => import('./simulate.ts'), { endsAtOnce: true }));
}
