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
}
