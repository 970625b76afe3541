// `ppsgate relay` and `ppsgate poll`: measure revisions of Phabricator as they arrive.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import type { PollOptions } from './run-relay.ts';

export function define(command: Command): void {
  command
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText('after', `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`)
    .action(async (options: object) => {
      await runToExit(async (signal) => {
        const { runRelay } = await import('./run-relay.ts');
        return runRelay(options, signal);
      }, command.optsWithGlobals());
    });
}

/** Works without any setup of the server. */
export function definePoll(command: Command): void {
  command
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--every <seconds>', 'seconds between two polls, from 10 to 3600', '60')
    .option('--once', 'poll once, start the gates that are due, and exit')
    .addHelpText('after', `\nExample:\n  ppsgate poll --every 120\n\n${ends}`)
    .action(async (options: PollOptions) => {
      await runToExit(async (signal) => {
        const { runPoll } = await import('./run-relay.ts');
        return runPoll(options, signal);
      }, command.optsWithGlobals());
    });
}

const ends = 'Runs until interrupted. Its gates continue, and its queue is kept for the next\nstart.';
