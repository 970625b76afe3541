// Defines the commands that serve a Phabricator.
import type { Command } from 'commander';
import { run } from '../run.ts';

export function addRelayCommands(program: Command): void {
  program
    .command('relay')
    .description("start gates for revisions on Herald's webhooks and Harbormaster's builds")
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText('after', `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`)
    .action(run(() => import('./relay.ts')));

  program
    .command('poll')
    .description('start gates for revisions by polling the server, which needs no set-up')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--every <seconds>', 'seconds between two polls, from 10 to 3600', '60')
    .option('--once', 'poll once, start the gates that are due, and exit')
    .addHelpText('after', `\nExample:\n  ppsgate poll --every 120\n\n${ends}`)
    .action(run(async () => ({ run: (await import('./relay.ts')).poll })));

  program
    .command('phabricator')
    .description('check the set-up for a Phabricator server')
    .addHelpText('after', example)
    .command('check')
    .description('check the server, the bot, its approvers and build plans, the relay and its starter')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText(
      'after',
      `${example}

Writes and starts nothing. Run it as the relay's user.

As JSON:
  { "phabricator": "https://…",
    "diagnostics": [{ "kind", "what", "why", "fix" }] }
"kind" is "ok", "warning", "wrong", "unreachable" or "skipped"; "fix" is the
remedy.

Exits 0 if there are no faults but warnings, 2 if something is wrong, and 4 if
the only fault is that the server or the relay does not reply.`,
    )
    .action(run(() => import('./phabricator.ts')));
}

const ends = 'Runs until interrupted. Its gates continue, and its queue is kept for the next\nstart.';

const example = '\nExample:\n  ppsgate phabricator check --config /usr/local/etc/ppsgate.yml';
