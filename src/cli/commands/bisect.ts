// `ppsgate bisect`: finds the commit of a range that costs packets, on a testbed of ppsgate.yml.
import type { Command } from 'commander';
import { metricChoice, usualMostBoots } from '../../config/parameters.ts';
import { runToExit } from '../../system/exit.ts';
import { usualConfig } from './find-config.ts';
import type { BisectOptions } from './run-bisect.ts';

export function define(command: Command): void {
  command
    .option('--good <commit>', 'commit before the loss')
    .option('--bad <commit>', 'commit after the loss')
    .option('-p, --patch <revision>', 'bisect the diffs of a revision: D27401 or D27401:80677')
    .option('--earlier <diffs>', 'with --patch: all earlier diffs, or ids separated by commas', 'all')
    .option('--from <result>', 'work directory of a gate: uses its base, patched and worst cell')
    .option('--fix-up <commit>', 'FIX or FIX:FIRST, applied to commits that need it', also, [])
    .option('--skip <commits>', 'a commit or A..B to leave out; with --resume, only commits', also, [])
    .option('-r, --repository <dir>', 'git repository with the commits', '.')
    .option('-c, --config <file>', 'configuration', usualConfig)
    .option('-t, --testbed <selector>', 'name, or required properties like "mellanox and 40G"')
    .option('--scenario <name>', 'scenario of the cell to measure')
    .option('--family <name>', 'family of that cell: inet4 or inet6')
    .option('--frame-size <size>', 'frame size of that cell, like 64B')
    .option('--metric <metric>', metricChoice)
    .option('--profile <how>', 'on, off, or the sampling time, like 20s')
    .option('--max-boots <number>', 'maximum number of boots; with --resume more than before', String(usualMostBoots))
    .option('--verify-revert', 'also measure the bad commit with the culprit reverted')
    .option('--dry-run', 'show the estimate, and reserve nothing')
    .option('--priority <name>', 'priority in the queue: release, patch or rerun', 'patch')
    .option('-d, --directory <dir>', 'work directory (default: a new ppsgate-bisect-…)')
    .option('--seed <number>', 'seed of the order of runs (default: random)')
    .option('--resume <dir>', 'continue an interrupted one in its work directory')
    .option('--answer', 'post the outcome as a comment on the revision')
    .option('--run <key>', 'with --answer: key of this run, for one comment per run')
    .option('--details <url>', 'with --answer: page with the details')
    .option('--site <url>', 'with --answer: URL of the work directory for browsers')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', details)
    .action(async (options: BisectOptions) => {
      const closingLines: string[] = [];
      const isTyped = command.getOptionValueSource('maxBoots') === 'cli';
      const given = { ...options, ...(!isTyped && { maxBoots: undefined }) };
      const exit = { ...command.optsWithGlobals(), closingLines: closingLines };
      await runToExit(async (signal) => {
        const { runBisect } = await import('./run-bisect.ts');
        return runBisect(given, signal, closingLines);
      }, exit);
    });
}

const details = `
Example:
  ppsgate bisect --good v1.2 --bad main --scenario forwarding --family inet4
  ppsgate bisect --from ppsgate-gate-20261120-231655 --dry-run

Exits 0 if it names one commit or a few, 2 on wrong usage, 3 if undecided, and
4 if the lab failed.`;

const also = (text: string, before: readonly string[]): string[] => [
  ...before,
  ...text.split(',').map((part) => part.trim()),
];
