// `ppsgate phabricator`: checks the setup for a Phabricator.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';

export function define(phabricator: Command): void {
  phabricator
    .addHelpText('after', example)
    .command('check')
    .description('check the server, the bot, its approvers and build plans, the relay and its starter')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText('after', details)
    .action(async (options: object) => {
      await runToExit(async (signal) => {
        const { checkSetUp } = await import('./run-phabricator.ts');
        return checkSetUp(options, signal);
      }, phabricator.optsWithGlobals());
    });
}

const example = '\nExample:\n  ppsgate phabricator check --config /usr/local/etc/ppsgate.yml';

const details = `${example}

Writes and starts nothing. Run it as the relay's user.

As JSON:
  { "phabricator": "https://…",
    "diagnostics": [{ "kind", "what", "why", "fix" }] }
"kind" is "ok", "warning", "wrong", "unreachable" or "skipped"; "fix" is the
remedy.

Exits 0 if there are no faults but warnings, 2 if something is wrong, and 4 if
the only fault is that the server or the relay does not reply.`;
