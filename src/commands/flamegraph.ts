// `ppsgate flamegraph`: a profile as a picture, alone or against another one.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addFlamegraphCommand(program: Command): void {
  program
    .command('flamegraph')
    .description(
      'draw a profile as a flamegraph, alone or against a base, in an SVG that needs nothing else',
    )
    .argument('<FILE>', 'profile: of pmcstat -G, of perf script or folded; - is standard input')
    .option(
      '--base <FILE>',
      'profile to compare with: red is more of all samples than there, blue less',
    )
    .option('-o, --output <FILE>', 'the SVG to write; - is standard output', '-')
    .option('--title <text>', 'above it (default: the kernel that the profile tells, or its name)')
    .option('--idle', 'with what idle processors did')
    .addHelpText('after', details)
    .action(async (file: string, options: FlamegraphOptions) => {
      const { runFlamegraph } = await import('./run-flamegraph.ts');
      await runToExit((signal) => runFlamegraph(file, options, signal), program.opts());
    });
}

export type FlamegraphOptions = {
  readonly base?: string;
  readonly output: string;
  readonly title?: string;
  readonly idle?: boolean;
};

const details = `
Example:
  ppsgate flamegraph pmc.graph -o pmc.svg
  ppsgate flamegraph patched.graph --base base.graph -o difference.svg

In a browser a click or Enter zooms, / searches, Escape goes back, and arrow keys walk from frame to frame. Widths are
shares of all samples, so profiles of different lengths compare. What only the base has is drawn below.

Exits 2 where a file cannot be read as a profile, or nothing of it is left.`;
