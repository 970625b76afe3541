// `ppsgate init`: what a repository needs to have its patches judged on GitHub.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('write the workflow and ppsgate.yml into this repository, and make the label')
    .option('--runner <labels>', 'ubuntu-latest, with the lab inside it, or self-hosted,LABEL')
    .option('--action <pin>', 'OWNER/ppsgate@COMMIT (default: the ppsgate that runs, if cloned)')
    .option('--branch <name>', 'default branch of the repository (default: as git knows it)')
    .option('--repository <name>', 'OWNER/NAME on GitHub (default: that of origin)')
    .option('--force', 'overwrite workflows that differ; ppsgate.yml never is')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--json', 'answer as JSON')
    .addHelpText('after', details)
    .action(async (options: object) => {
      const { askOnTerminal } = await import('./run-release.ts');
      const { runInit } = await import('./run-init.ts');
      const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = 'https://api.github.com' } =
        process.env;
      const directory = process.cwd();
      await runToExit(
        (signal) => runInit(options, { directory, ask: askOnTerminal(signal), token, apiUrl }),
        program.opts(),
      );
    });
}

const details = `
Examples:
  ppsgate init
  ppsgate init --runner self-hosted,lab --action OWNER/ppsgate@COMMIT --yes

At a terminal it asks for what no flag tells. The label is made with the token in GITHUB_TOKEN, where there is one.

Run it again at any time: a file that is as it would be written stays, and one that differs is kept and told of.

Exits with 0 also when files were kept, with 2 on wrong usage, with 4 when something else went wrong.`;
