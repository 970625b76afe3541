// Names the commands; the code of each is loaded on use.
import { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { addCommands, type NamedCommand, type Words } from './add-commands.ts';

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
    name: 'compare',
    takes: '[options] <old> <new>',
    description: 'judge two rule files, overlays or kernels that are in no repository',
    load: () => import('./compare.ts'),
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
    name: 'comment',
    takes: '[options] <text>',
    description: 'show what the workflow would decide on a comment, and measure nothing',
    load: () => import('./comment.ts'),
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
    description: 'take a testbed from its holder, or give back what a gate left',
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
    load: async () => {
      const { defineCompletion } = await import('./completion.ts');
      return { define: (command) => defineCompletion(command, () => programFor('all')) };
    },
  },
];

export async function programFor(words: Words): Promise<Command> {
  const program = new Command('ppsgate')
    .description(packageJson.description)
    .version(packageJson.version)
    .option('--debug', 'show where an error came from')
    .addHelpText('after', '\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch')
    // Inherited by all commands: wrong usage prints one sentence and exits with 2, where commander uses 1.
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  await addCommands(program, commands, words);
  return program;
}
