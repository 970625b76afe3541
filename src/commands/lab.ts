// `ppsgate lab`: the embedded lab by hand.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addLabCommand(program: Command): void {
  const lab = program
    .command('lab')
    .description('bring the lab inside this machine up or down, or see whether it can be')
    // The subcommands take it over: wrong usage is 2 for them, too.
    .exitOverride()
    .addHelpText(
      'after',
      '\nExample:\n  sudo ppsgate lab up && ip netns exec ppsgate-dut ip route',
    );

  lab
    .command('up')
    .description(
      'make the three namespaces, their cables and their sshd; what was there is replaced',
    )
    .action(() => perform('up'));
  lab
    .command('down')
    .description('take all of it away, and every process in it')
    .action(() => perform('down'));
  lab
    .command('check')
    .description('say whether this machine can carry the lab, and what of one is there')
    .action(() => perform('check'));

  const perform = async (action: 'up' | 'down' | 'check') => {
    const commands = await import('./run-lab.ts');
    await runToExit(commands[action], program.opts());
  };
}
