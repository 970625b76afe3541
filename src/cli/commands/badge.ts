// `ppsgate badge`: prints README lines that show the latest verdict of the default branch.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';

export function define(command: Command): void {
  command
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--testbed <names...>', 'only these testbeds')
    .option('--repository <owner/name>', 'repository on GitHub (default: that of the remote origin)')
    .option('--branch <name>', 'branch with the badges (default: github.data.branch)')
    .option('--json', 'print them as JSON')
    .addHelpText('after', details)
    .action(async (options: object) => {
      await runToExit(async () => {
        const { printBadges } = await import('./run-badge.ts');
        return printBadges(options);
      }, command.optsWithGlobals());
    });
}

const details = `
Example:
  ppsgate badge --testbed hp-t540 --repository example/router >> README.md

As JSON: [{ "label", "image", "endpoint", "markdown" }]. The image is an SVG,
and the endpoint is for https://img.shields.io/endpoint?url=ENDPOINT.

A badge exists once a patch was judged on the default branch; the last badge of
a testbed, for its A/A runs, exists after its first nightly run.
Exits 2 if the repository is unknown.`;
