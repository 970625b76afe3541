// `ppsgate fold`: a profile as folded stacks, for people, for other flamegraph tools, for grep.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addFoldCommand(program: Command): void {
  program
    .command('fold')
    .description('print a profile of pmcstat -G or perf script as folded stacks, one a line')
    .argument('[FILE]', 'profile, also one folded already; - or no file is standard input')
    .option('--no-idle', 'leave out what idle processors did')
    .option('--modules', 'name the kernel module, library or program of each frame: pf.ko`pf_test')
    .option('--json', 'the stacks as JSON')
    .addHelpText('after', details)
    .action(async (file: string | undefined, options: FoldOptions) => {
      const { runFold } = await import('./run-fold.ts');
      await runToExit((signal) => runFold(file, options, signal), program.opts());
    });
}

export type FoldOptions = {
  readonly idle: boolean;
  readonly modules?: boolean;
  readonly json?: true;
};

const details = `
Example:
  pmcstat -R pmc.out -z 100 -G pmc.graph
  ppsgate fold --no-idle pmc.graph | grep pf_test

The stacks of pmcstat are folded as stackcollapse-pmc.pl folds them. As JSON: { "format", "event", "kernel", "samples",
"notes", "idle": { "samples", "frames" }, "stacks": [{ "frames", "samples" }] }, from the outermost caller inwards;
"event" and "kernel" where the profile tells them, "idle" with --no-idle.

Exits 2 where a file cannot be read as a profile.`;
