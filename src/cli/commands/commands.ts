// The commands by their names: each loads what it takes and does when it is called, and not before.
import { Command, Help } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };

/** Words of a command line, or `all`: what they name is loaded, see `addCommands`. */
export type Words = readonly string[] | 'all';

export type NamedCommand = {
  name: string;
  /** What it takes, as the list of --help has it; absent: subcommands. */
  takes?: string;
  /** What it does, as the list of --help has it. */
  description: string;
  load(): Promise<{ define(command: Command, words: Words): unknown }>;
  /** What is meant where none is named. */
  isDefault?: true;
};

/** All commands, in the order of --help. */
export const commands: readonly NamedCommand[] = [
  {
    name: 'demo',
    takes: '[options]',
    description: 'judge three small patches with real packets in a lab inside this machine',
    load: () => import('./demo.ts'),
  },
  {
    name: 'gate',
    takes: '[options]',
    description: 'judge a patch: base and patched side by side, a verdict for every cell',
    load: () => import('./gate.ts'),
  },
  {
    name: 'plan',
    takes: '[options]',
    description: 'how many minutes a gate will take, where they go, and what would save some',
    load: () => import('./plan.ts'),
  },
  {
    name: 'bisect',
    takes: '[options]',
    description: 'find the commit of a range that costs the packets, by booting few of them',
    load: () => import('./bisect.ts'),
  },
  {
    name: 'nightly',
    takes: '[options]',
    description: 'measure the head of a branch against itself, and look into what has changed',
    load: () => import('./nightly.ts'),
  },
  {
    name: 'init',
    takes: '[options]',
    description: 'write the workflow and ppsgate.yml into this repository, and make the label',
    load: () => import('./init.ts'),
  },
  {
    name: 'badge',
    takes: '[options]',
    description: "print Markdown that shows the badges of a configuration's testbeds",
    load: () => import('./badge.ts'),
  },
  {
    name: 'site',
    takes: '[options]',
    description: 'make pages of the branch over time: changes, series, error rates, the lab',
    load: () => import('./site.ts'),
  },
  {
    name: 'report',
    takes: '[options] <dir>',
    description: 'render the report of a work directory again, as Markdown',
    load: () => import('./report.ts'),
  },
  {
    name: 'analyze',
    takes: '[options] <dir>',
    description: 'judge runs that were measured before, by their raw logs',
    load: () => import('./analyze.ts'),
  },
  {
    name: 'changes',
    takes: '[options] <file>',
    description:
      'find the nightly runs from which on a series has another level, and no bad nightly run',
    load: () => import('./changes.ts'),
  },
  {
    name: 'ministat',
    takes: '[options] [FILE...]',
    description: "compare sets of numbers with the first, as FreeBSD's ministat(1) does and prints",
    load: () => import('./ministat.ts'),
  },
  {
    name: 'fold',
    takes: '[options] [FILE]',
    description: 'print a profile of pmcstat -G or perf script as folded stacks, one a line',
    load: () => import('./fold.ts'),
  },
  {
    name: 'flamegraph',
    takes: '[options] <FILE>',
    description:
      'draw a profile as a flamegraph, alone or against a base, in an SVG that needs nothing else',
    load: () => import('./flamegraph.ts'),
  },
  {
    name: 'simulate',
    takes: '[options]',
    description: 'how often a design errs, and how many runs it takes, on noise that is known',
    load: () => import('./simulate.ts'),
  },
  {
    name: 'lab',
    description: 'bring the lab inside this machine up or down, or see whether it can be',
    load: () => import('./lab.ts'),
  },
  {
    name: 'testbeds',
    description: 'show who has which testbed; list, check or look after those of ppsgate.yml',
    load: () => import('./testbeds.ts'),
  },
  {
    name: 'reserve',
    takes: '[options] <selector> [command...]',
    description: 'reserve a testbed and run a command of yours meanwhile',
    load: () => import('./reserve.ts'),
  },
  {
    name: 'release',
    takes: '[options] [name]',
    description: 'take a testbed from whoever has it, or give back what a gate left',
    load: () => import('./release.ts'),
  },
  {
    name: 'quarantine',
    takes: '[options] <name>',
    description: 'take a testbed out of use, or back into it',
    load: () => import('./quarantine.ts'),
  },
  {
    name: 'relay',
    takes: '[options]',
    description: 'take webhooks of Herald and builds of Harbormaster, and have revisions measured',
    load: () => import('./relay.ts'),
  },
  {
    name: 'poll',
    takes: '[options]',
    description: 'the same without any set-up of the server: ask it what has changed',
    load: () => import('./relay.ts').then(({ definePoll: define }) => ({ define })),
  },
  {
    name: 'phabricator',
    description: 'see whether the set-up for a Phabricator is right',
    load: () => import('./phabricator.ts'),
  },
  {
    name: 'completion',
    takes: '<shell>',
    description: 'print what makes bash, zsh or fish complete these commands',
    load: () => import('./completion.ts'),
  },
];

/** The command `ppsgate` with its commands. */
export async function programFor(words: Words): Promise<Command> {
  const program = new Command('ppsgate')
    .description(packageJson.description)
    .version(packageJson.version)
    .option('--debug', 'show where an error came from')
    .addHelpText('after', '\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch')
    // Wrong usage is one sentence of ours and 2 for every command, which all take this over; commander itself would say 1.
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  await addCommands(program, commands, words);
  return program;
}

/**
 * Gives a command its subcommands, and loads those that one of the words names: an option of its parent may have a value
 * that is called like a command, which then is loaded for nothing.
 */
export async function addCommands(
  parent: Command,
  named: readonly NamedCommand[],
  words: Words,
): Promise<void> {
  const isCalled = ({ name }: NamedCommand) => words === 'all' || words.includes(name);
  const terms = new Map(
    named.map(({ name, takes }) => [name, [name, takes].filter(Boolean).join(' ')]),
  );
  parent.configureHelp({
    // The names with what they take are more than half of a line.
    minWidthToWrap: 30,
    subcommandTerm: (command) => terms.get(command.name()) ?? new Help().subcommandTerm(command),
  });
  for (const one of named) {
    const { name, description, load, isDefault = false } = one;
    const command = parent.command(name, { isDefault }).description(description);
    if (isCalled(one) || (isDefault && !named.some(isCalled))) {
      await (await load()).define(command, words);
    }
  }
}
