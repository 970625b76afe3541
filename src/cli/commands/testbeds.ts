// `ppsgate testbeds`: holders, list and health of testbeds.

import type { Command } from 'commander';
import { addCommands, type NamedCommand, type Words } from './add-commands.ts';
import { overviewDetails } from './overview-details.ts';

export async function define(command: Command, words: Words): Promise<void> {
  command.addHelpText('after', overviewDetails);
  await addCommands(command, subcommands, words);
}

export const subcommands: readonly NamedCommand[] = [
  {
    name: 'show',
    takes: '[options]',
    description: 'print holders, their expected ends, and the queue (the default)',
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
    description: 'check logins, ports, settings, routes, kernels, builder, power and speed',
    load: () => import('./testbeds-check.ts'),
  },
  {
    name: 'self-test',
    takes: '[options] <name>',
    description: 'test everything that a gate does on a FreeBSD testbed, accidents included',
    load: () => import('./testbeds-self-test.ts'),
  },
  {
    name: 'health',
    takes: '[options] [names...]',
    description: 'check that free testbeds are ready for the next patch',
    load: () => import('./testbeds-health.ts'),
  },
  {
    name: 'log',
    takes: '[options] [name]',
    description: 'print past reservations: holder, duration and outcome',
    load: () => import('./testbeds-log.ts'),
  },
  {
    name: 'replay',
    takes: '[options] <file>',
    description: "check if today's code understands a recording of machines",
    load: () => import('./testbeds-replay.ts'),
  },
];
