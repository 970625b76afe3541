// `ppsgate gate`: judge one patch of a repository on a testbed of ppsgate.yml.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addGateCommand(program: Command): void {
  program
    .command('gate')
    .description('judge a patch: base and patched side by side, a verdict for every cell')
    .option(
      '-p, --patch <patch>',
      'commits as BASE..HEAD, or a revision like D27401 or D27401:80677',
    )
    .option('--earlier <diffs>', 'of the revision, measured beside it: all, or ids with commas')
    .option('-r, --repository <dir>', 'git repository that has them', '.')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-t, --testbed <wish>', 'a name, or what it has to be, like "mellanox and 40G"')
    .option('--each <wishes>', 'on one testbed of each, with commas')
    .option('--priority <name>', 'in the queue: release, patch or rerun', 'patch')
    .option('-d, --directory <dir>', 'work directory (default: a new ppsgate-gate-…)')
    .option('--scenarios <list>', 'instead of the configured ones, with commas')
    .option('--families <list>', 'inet4, inet6 or both, with a comma')
    .option('--metric <metric>', 'pps or nsPerPacket')
    .option('--margin <percent>', 'the loss that matters, like 2%')
    .option('--false-alarms <percent>', 'regressions of patches that lose nothing, like 1%')
    .option('--power <percent>', 'cells that are not passed when they lose the margin, like 95%')
    .option('--design <name>', 'fixed, group-sequential or glr (default: by the history)')
    .option(
      '--max-runs <number>',
      'most runs of each variant and cell; with --resume more than before',
    )
    .option('--profile <how>', 'on, off, or for how long samples are taken, like 20s')
    .option('--base-kernel <file>', 'of FreeBSD, built before: a tar archive of its folder')
    .option('--patched-kernel <file>', 'the same, of the patch')
    .option('--seed <number>', 'of the order of runs (default: by chance)')
    .option('--resume <dir>', 'go on in the work directory of a gate that was cut short')
    .option('--answer', 'tell how it goes and ends on Phabricator, in a comment')
    .option('--run <key>', 'with --answer: of this run, which is answered once')
    .option('--build <phid>', 'with --answer: the Harbormaster build that waits, too')
    .option('--details <url>', 'with --answer: where the rest is to be found')
    .option('--site <url>', 'with --answer: where browsers find the work directory')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%\n\nExits 0 on a pass, 1 when the patch is at fault, 2 on wrong usage, 3 when nobody can say, 4 when the lab failed.',
    )
    .action(async (options: object) => {
      const { runGate } = await import('./run-gate.ts');
      await runToExit((signal) => runGate(options, signal), program.opts());
    });
}
