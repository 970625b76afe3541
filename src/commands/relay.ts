// `ppsgate relay` and `ppsgate poll`: have revisions of Phabricator measured as they come.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addRelayCommands(program: Command): void {
  program
    .command('relay')
    .description('take webhooks of Herald and builds of Harbormaster, and have revisions measured')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`,
    )
    .action(async (options: object) => {
      const { runRelay } = await import('./run-relay.ts');
      await runToExit((signal) => runRelay(options, signal), program.opts());
    });
  program
    .command('poll')
    .description('the same without any set-up of the server: ask it what has changed')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--every <seconds>', 'between two looks, from 10 to 3600', '60')
    .option('--once', 'look once and start what there is to start')
    .addHelpText('after', `\nExample:\n  ppsgate poll --every 120\n\n${ends}`)
    .action(async (options: object) => {
      const { runPoll } = await import('./run-relay.ts');
      await runToExit((signal) => runPoll(options, signal), program.opts());
    });
}

const ends =
  'Runs until it is interrupted; gates that it has started go on. What is queued is there again at the next start.';
