// `ppsgate gate`: judge one patch of a repository on a testbed of ppsgate.yml.
import type { Command } from 'commander';

export function addGateCommand(program: Command): void {
  program
    .command('gate')
    .description('judge a patch: base and patched side by side, a verdict for every cell')
    .option('-p, --patch <range>', 'commits to judge, as BASE..HEAD')
    .option('-r, --repository <dir>', 'git repository that has them', '.')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-t, --testbed <name>', 'testbed of the configuration (default: its first)')
    .option('-d, --directory <dir>', 'work directory (default: a new ppsgate-gate-…)')
    .option('--scenarios <list>', 'instead of the configured ones, with commas')
    .option('--families <list>', 'inet4, inet6 or both, with a comma')
    .option('--metric <metric>', 'pps or nsPerPacket')
    .option('--margin <percent>', 'the loss that matters, like 2%')
    .option('--runs <number>', 'per variant and cell')
    .option('--seed <number>', 'of the order of runs (default: by chance)')
    .option('--resume <dir>', 'go on in the work directory of a gate that was cut short')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%\n\nExits 0 on a pass, 1 when the patch is at fault, 2 on wrong usage, 3 when nobody can say, 4 when the lab failed.',
    )
    .action(async (options: object) => {
      const { runToExit } = await import('../exit.ts');
      const { runGate } = await import('./run-gate.ts');
      await runToExit((signal) => runGate(options, signal), program.opts());
    });
}
