// `ppsgate compare`: judges one rule file, overlay or kernel against another, without a repository of the user's.
import type { Command } from 'commander';
import type { GateOptions } from '../../config/parameters.ts';
import { runToExit } from '../../system/exit.ts';
import { addGateOptions } from './gate-options.ts';

/** Options of `ppsgate gate` on a repository, a revision, or a work directory of an earlier gate. */
const leftOut: ReadonlySet<string> = new Set([
  ...['patch', 'repository', 'earlier', 'baseKernel', 'patchedKernel', 'resume', 'record'],
  ...['layoutNoise', 'answer', 'run', 'build', 'details', 'site'],
]);

export function define(command: Command): void {
  command.argument('<old>', 'rule file, overlay folder or kernel').argument('<new>', 'another one of the same kind');
  addGateOptions(command, (name) => !leftOut.has(name));
  command
    .addHelpText(
      'after',
      `
Examples:
  ppsgate compare /etc/nftables.conf new.nft
  ppsgate compare old-overlay new-overlay --scenarios forwarding
  ppsgate compare linux-6.1.deb linux-6.12.deb --testbed guests

Exits like ppsgate gate. Continue an interrupted comparison with
ppsgate gate --resume.`,
    )
    .action(async (old: string, other: string, options: GateOptions) => {
      const closingLines: string[] = [];
      const exit = { ...command.optsWithGlobals(), closingLines: closingLines };
      await runToExit(async (signal) => {
        const { compare } = await import('./run-compare.ts');
        return compare([old, other], options, signal, closingLines);
      }, exit);
    });
}
