// `ppsgate badge`: the lines of a README that show what was last judged of the default branch.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addBadgeCommand(program: Command): void {
  program
    .command('badge')
    .description("print Markdown that shows the badges of a configuration's testbeds")
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--testbed <names...>', 'of these testbeds alone')
    .option('--repository <owner/name>', "on GitHub (default: that of git's remote origin)")
    .option('--branch <name>', 'where the badges are (default: github.data.branch)')
    .option('--json', 'print them as JSON')
    .addHelpText('after', details)
    .action(async (options: object) => {
      const { printBadges } = await import('./run-badge.ts');
      await runToExit(() => printBadges(options), program.opts());
    });
}

const details = `
Example:
  ppsgate badge --testbed hp-t540 --repository example/router >> README.md

As JSON: [{ "label", "image", "endpoint", "markdown" }], where the image is an SVG, and the endpoint is for
https://img.shields.io/endpoint?url=ENDPOINT.

A badge is there once a patch was judged on the default branch. Exits 2 where the repository is not known.`;
