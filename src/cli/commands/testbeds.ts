// `ppsgate testbeds`: holders, list and health of testbeds.

import type { Command } from 'commander';
import { addCommands, type NamedCommand, type Words } from './add-commands.ts';
import { overviewDetails } from './overview-text.ts';

export async function define(command: Command, words: Words): Promise<void> {
  command.addHelpText('after', overviewDetails);
  await addCommands(command, subcommands, words);
}

export const subcommands: readonly NamedCommand[] = [
  {
    name: 'show',
    takes: '[options]',
    description:
      'print who has which, until when, and who waits: what happens without a subcommand',
    load: () => import('./testbeds-show.ts'),
    isDefault: true,
  },
  {
    name: 'list',
    takes: '[options]',
    description: 'print name, kind, DUT, ports and capabilities, one line each',
    load: () => import('./testbeds-list.ts'),
  },
  {
    name: 'check',
    takes: '[options] <name>',
    description: 'look at logins, ports, settings, routes, kernels, builder, power and speed',
    load: () => import('./testbeds-check.ts'),
  },
  {
    name: 'self-test',
    takes: '[options] <name>',
    description: 'do all that a gate does on a FreeBSD testbed, accidents too, before a patch does',
    load: () => import('./testbeds-self-test.ts'),
  },
  {
    name: 'health',
    takes: '[options] [names...]',
    description: 'check that free testbeds are fit for the next patch',
    load: () => import('./testbeds-health.ts'),
  },
  {
    name: 'log',
    takes: '[options] [name]',
    description: 'print what was reserved, by whom, for how long, and what came of it',
    load: () => import('./testbeds-log.ts'),
  },
  {
    name: 'replay',
    takes: '[options] <file>',
    description: 'give a recording of machines to the code of today: what does it not understand?',
    load: () => import('./testbeds-replay.ts'),
  },
];
