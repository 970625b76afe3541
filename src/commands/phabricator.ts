// `ppsgate phabricator`: whether the set-up for a Phabricator is right.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addPhabricatorCommand(program: Command): void {
  const phabricator = program
    .command('phabricator')
    .description('see whether the set-up for a Phabricator is right')
    // The subcommand takes it over: wrong usage is 2 for it, too.
    .exitOverride()
    .addHelpText('after', example);

  phabricator
    .command('check')
    .description(
      'look at the server, the bot, its leave and build plans, the relay and its starter',
    )
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print the findings as JSON, at the end')
    .addHelpText('after', details)
    .action(async (options: object) => {
      const { checkSetUp } = await import('./run-phabricator-check.ts');
      await runToExit((signal) => checkSetUp(options, signal), program.opts());
    });
}

const example = '\nExample:\n  ppsgate phabricator check --config /usr/local/etc/ppsgate.yml';

const details = `${example}

Nothing is written and nothing is started. Run it as the user that runs the relay.

As JSON: { "phabricator": "https://…", "findings": [{ "kind", "what", "why", "mend" }] }, where "kind" is "ok", "warning",
"wrong", "unreachable" or "skipped", and "mend" says what to do.

Exits 0 when all is right or worth a warning at most, 2 when something is wrong, 4 when all that is wrong is that the
server or the relay does not answer.`;
