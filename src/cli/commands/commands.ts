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
    description: 'judge a patch: measure base and patched side by side, with a verdict for every cell',
    load: () => import('./gate.ts'),
  },
  {
    name: 'compare',
    takes: '[options] <old> <new>',
    description: 'compare two rule files, overlays or kernels outside any repository',
    load: () => import('./compare.ts'),
  },
  {
    name: 'plan',
    takes: '[options]',
    description: 'estimate the minutes of a gate, for what, and how to save some',
    load: () => import('./plan.ts'),
  },
  {
    name: 'bisect',
    takes: '[options]',
    description: 'find the commit of a range that lost performance, with few boots',
    load: () => import('./bisect.ts'),
  },
  {
    name: 'nightly',
    takes: '[options]',
    description: 'measure a branch head against itself, and follow up changes',
    load: () => import('./nightly.ts'),
  },
  {
    name: 'init',
    takes: '[options]',
    description: 'write the workflow and ppsgate.yml into this repository, and create the label',
    load: () => import('./init.ts'),
  },
  {
    name: 'comment',
    takes: '[options] <text>',
    description: "show the workflow's decision on a comment, and measure nothing",
    load: () => import('./comment.ts'),
  },
  {
    name: 'badge',
    takes: '[options]',
    description: "print Markdown for the badges of a configuration's testbeds",
    load: () => import('./badge.ts'),
  },
  {
    name: 'site',
    takes: '[options]',
    description: 'write pages of the branch over time: changes, series, error rates, the lab',
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
    description: 'judge earlier runs again, from their raw logs',
    load: () => import('./analyze.ts'),
  },
  {
    name: 'changes',
    takes: '[options] <file>',
    description: 'find lasting changes in a series of nightly runs, not single outliers',
    load: () => import('./changes.ts'),
  },
  {
    name: 'ministat',
    takes: '[options] [FILE...]',
    description: "compare sets of numbers with the first, with the output of FreeBSD's ministat(1)",
    load: () => import('./ministat.ts'),
  },
  {
    name: 'fold',
    takes: '[options] [FILE]',
    description: 'print a profile of pmcstat -G or perf script as folded stacks',
    load: () => import('./fold.ts'),
  },
  {
    name: 'flamegraph',
    takes: '[options] <FILE>',
    description: 'draw a profile, or its difference from a base, as a flamegraph in a self-contained SVG',
    load: () => import('./flamegraph.ts'),
  },
  {
    name: 'simulate',
    takes: '[options]',
    description: 'simulate the error rates and the number of runs of a design, for known noise',
    load: () => import('./simulate.ts'),
  },
  {
    name: 'lab',
    description: 'set up, remove or check the lab inside this machine',
    load: () => import('./lab.ts'),
  },
  {
    name: 'testbeds',
    description: 'show the holders of testbeds; list, check and maintain those of ppsgate.yml',
    load: () => import('./testbeds.ts'),
  },
  {
    name: 'reserve',
    takes: '[options] <selector> [command...]',
    description: 'reserve a testbed while a command of yours runs',
    load: () => import('./reserve.ts'),
  },
  {
    name: 'release',
    takes: '[options] [name]',
    description: 'take a testbed from its holder, or release one that a gate left',
    load: () => import('./release.ts'),
  },
  {
    name: 'quarantine',
    takes: '[options] <name>',
    description: 'put a testbed into quarantine, or lift it',
    load: () => import('./quarantine.ts'),
  },
  {
    name: 'relay',
    takes: '[options]',
    description: "start gates for revisions on Herald's webhooks and Harbormaster's builds",
    load: () => import('./relay.ts'),
  },
  {
    name: 'poll',
    takes: '[options]',
    description: 'start gates for revisions by polling the server, which needs no set-up',
    load: () => import('./relay.ts').then(({ definePoll: define }) => ({ define })),
  },
  {
    name: 'phabricator',
    description: 'check the set-up for a Phabricator server',
    load: () => import('./phabricator.ts'),
  },
];

export async function programFor(words: Words): Promise<Command> {
  const program = new Command('ppsgate')
    .description(packageJson.description)
    .version(packageJson.version)
    .option('--debug', 'show the stack trace of an error')
    .addHelpText('after', '\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch')
    // Inherited by all commands: wrong usage prints one sentence and exits with 2, where commander uses 1.
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  await addCommands(program, commands, words);
  return program;
}
