// Defines the commands that report on results, without a testbed.
import type { Command } from 'commander';
import { run } from '../run.ts';

export function addReportCommands(program: Command): void {
  program
    .command('badge')
    .description("print Markdown for the badges of a configuration's testbeds")
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--testbed <names...>', 'only these testbeds')
    .option('--repository <owner/name>', 'repository on GitHub (default: that of the remote origin)')
    .option('--branch <name>', 'branch with the badges (default: github.data.branch)')
    .option('--json', 'print them as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate badge --testbed hp-t540 --repository example/router >> README.md

As JSON: [{ "label", "image", "endpoint", "markdown" }]. The image is an SVG,
and the endpoint is for https://img.shields.io/endpoint?url=ENDPOINT.

A badge exists once a patch was judged on the default branch; the last badge of
a testbed, for its A/A runs, exists after its first nightly run.
Exits 2 if the repository is unknown.`,
    )
    .action(run(() => import('./badge.ts')));

  program
    .command('site')
    .description('write pages of the branch over time: changes, series, error rates, the lab')
    .requiredOption('--from <dir>', 'checkout of the data branch, or the data directory')
    .requiredOption('--to <dir>', 'folder of the site; an earlier site there is replaced')
    .option('--lab <file>', 'output of `testbeds --json` (default: lab.json of --from)')
    .option('--health <file>', 'output of `testbeds health --json` (default: health.json of --from)')
    .addHelpText(
      'after',
      `
Example:
  git worktree add ../data origin/ppsgate-data
  ppsgate site --from ../data --to ../site

The folder is self-contained: any web server can serve it, and a browser can
open its index.html from disk.

Exits 2 if --from is anything else, or --to has other content.`,
    )
    .action(run(() => import('./site.ts'), { endsAtOnce: true }));

  program
    .command('report')
    .description('render the report of a work directory again, as Markdown')
    .argument('<dir>', 'work directory of a gate or a bisection, or its result.json')
    .option('--json', 'print result.json')
    .option('--page', 'write the page, its plots and flamegraphs again, and print its path')
    .addHelpText('after', '\nExample:\n  ppsgate report ppsgate-gate-20261120-231655')
    .action(run(() => import('./report.ts'), { endsAtOnce: true }));

  program
    .command('analyze')
    .description('judge earlier runs again, from their raw logs')
    .argument(
      '<dir>',
      'work directory of a gate, or one with bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver logs of pkt-gen',
    )
    .option('--netbenches-trim', 'use medians, as in the .pps files of the netbenches archive')
    .option('--base <image>', 'set to compare the others with (default: the first)')
    .option('--margin <percent>', 'the loss that matters', '2%')
    .option('--false-alarms <percent>', 'false alarms over all sets, if nothing was lost', '1%')
    .option('--power <percent>', 'share of losses of the margin to detect', '95%')
    .option('--json', 'print the numbers as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate analyze --netbenches-trim results/fbsd12-r325006-D12685

Exits as gate does: 0 on a pass, 1 on a regression, 2 on wrong usage, 3 when
undecided.`,
    )
    .action(run(() => import('./analyze.ts'), { endsAtOnce: true }));

  program
    .command('changes')
    .description('find lasting changes in a series of nightly runs, not single outliers')
    .argument('<file>', 'file with one line per nightly run, a name and its values; or a folder of REV[.CONFIG].pps')
    .option('--least <percent>', 'the smallest change that matters', '1%')
    .option('--json', 'print the changes as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate changes nightly.txt

nightly.txt has the nightly runs in order:
  n268411 1042331 1043120 1041877
  n268502 1041022 1042345 1040998

Judges the nightly runs one after the other, as if each were the latest. A
change that was found stays; one or two bad nightly runs are none. As JSON:
  { "changes": [{ "series", "name", "index",
                  "before", "after", "changeRatio" }] }
"name" and "index" (from 0) are those of the first nightly run at the new level,
"before" and "after" the medians of the runs up to the next change.

Exits 0 with or without changes, and 2 if the file cannot be read.`,
    )
    .action(run(() => import('./changes.ts'), { endsAtOnce: true }));
}
