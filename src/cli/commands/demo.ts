// `ppsgate demo`: shows the main function here, without lab, account or configuration.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';

export function define(command: Command): void {
  command
    .option('-d, --directory <dir>', 'parent of the work directories (default: a new ppsgate-demo-…)')
    .option('--resume <dir>', 'continue an interrupted demo')
    .option('--seed <number>', 'seed of the order of runs (default: random)')
    .option('--bisect', 'find the one of 24 commits that lost performance, instead of judging patches')
    .option(
      '--kernels [base,patched]',
      'judge kernels and a rule in virtual machines; with two files, or with kernels from apt-get',
    )
    .option('--freebsd [image]', 'judge rules of pf, and two kernels of --kernels, on an official image of FreeBSD')
    .option('--design <name>', 'fixed measures all runs, for comparison with the default, group-sequential')
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      `
Example:
  sudo ppsgate demo
  sudo ppsgate demo --bisect
  sudo ppsgate demo --kernels
  sudo ppsgate demo --kernels linux-image-6.1.0-50.deb,linux-image-6.1.0-56.deb
  sudo ppsgate demo --freebsd FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz

Needs root on Linux. Lasts about three minutes, with --bisect less than two.
Exits 0 if every patch gets the expected verdict, or the commit is found.`,
    )
    .action(async (options: object) => {
      const closingLines: string[] = [];
      const exit = { ...command.optsWithGlobals(), closingLines: closingLines };
      await runToExit(async (signal) => {
        const { runDemoCommand } = await import('./run-demo.ts');
        return runDemoCommand(options, signal, closingLines);
      }, exit);
    });
}
