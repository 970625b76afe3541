// `ppsgate site`: writes pages of the branch over time into a folder.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import type { SiteOptions } from './run-site.ts';

export function define(command: Command): void {
  command
    .requiredOption('--from <dir>', 'checkout of the data branch, or the data directory')
    .requiredOption('--to <dir>', 'folder of the site; an earlier site there is replaced')
    .option('--lab <file>', 'output of `testbeds --json` (default: lab.json of --from)')
    .option('--health <file>', 'output of `testbeds health --json` (default: health.json of --from)')
    .addHelpText('after', details)
    .action(async (options: SiteOptions) => {
      const exit = { ...command.optsWithGlobals(), endsAtOnce: true };
      await runToExit(async () => {
        const { makeSite } = await import('./run-site.ts');
        return makeSite(options);
      }, exit);
    });
}

const details = `
Example:
  git worktree add ../data origin/ppsgate-data
  ppsgate site --from ../data --to ../site

The folder is self-contained: any web server can serve it, and a browser can
open its index.html from disk.

Exits 2 if --from is anything else, or --to has other content.`;
