// Defines the commands that measure patches, or prepare that.
import type { Command } from 'commander';
import {
  isOfGate,
  metricChoice,
  namingStyles,
  type ParameterName,
  parameter,
  parametersThat,
} from '../../config/parameters.ts';
import { run } from '../run.ts';

export function addGateCommands(program: Command): void {
  program
    .command('demo')
    .description('judge three small patches with real packets in a lab inside this machine')
    .option('-d, --directory <dir>', 'parent of the work directories (default: a new ppsgate-demo-…)')
    .option('--resume <dir>', 'continue an interrupted demo')
    .option('--seed <number>', 'seed of the order of runs (default: random)')
    .option('--bisect', 'find the one of 24 commits that lost performance, instead of judging patches')
    .option(
      '--kernels [base,patched]',
      'judge kernels and a rule in virtual machines; with two files, or with kernels from apt-get',
    )
    .option('--freebsd [image]', 'judge rules of pf, and two kernels of --kernels, on an official image of FreeBSD')
    .option('--design <name>', 'fixed measures all runs, for comparison with the default, group-sequential')
    .option('--json', 'print the results as JSON')
    .addHelpText(
      'after',
      `
Example:
  sudo ppsgate demo
  sudo ppsgate demo --bisect
  sudo ppsgate demo --kernels
  sudo ppsgate demo --kernels linux-image-6.1.0-50.deb,linux-image-6.1.0-56.deb
  sudo ppsgate demo --freebsd FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz

Needs root on Linux. Lasts about three minutes, with --bisect less than two.
Exits 0 if every patch gets the expected verdict, or the commit is found.`,
    )
    .action(run(() => import('./demo.ts')));

  const gate = program
    .command('gate')
    .description('judge a patch: measure base and patched side by side, with a verdict for every cell');
  addOptions(gate, gateOptions);
  gate
    .addHelpText(
      'after',
      `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges your changes since the main branch, committed or not.

Exits 0 on a pass, 1 if the patch is at fault, 2 on wrong usage, 3 if undecided,
and 4 if the lab failed.`,
    )
    .action(run(() => import('./gate.ts')));

  const compare = program
    .command('compare')
    .description('compare two rule files, overlays or kernels outside any repository')
    .argument('<old>', 'rule file, overlay folder or kernel')
    .argument('<new>', 'another one of the same kind');
  addOptions(
    compare,
    gateOptions.filter((name) => !notOfCompare.has(name)),
  );
  compare
    .addHelpText(
      'after',
      `
Examples:
  ppsgate compare /etc/nftables.conf new.nft
  ppsgate compare old-overlay new-overlay --scenarios forwarding
  ppsgate compare linux-6.1.deb linux-6.12.deb --testbed guests

Exits like ppsgate gate. Continue an interrupted comparison with
ppsgate gate --resume.`,
    )
    .action(run(() => import('./compare.ts')));

  const plan = program.command('plan').description('estimate the minutes of a gate, for what, and how to save some');
  addOptions(plan, planOptions);
  plan
    .option('--json', 'print the estimate as JSON, in seconds')
    .addHelpText(
      'after',
      `
Example:
  ppsgate plan --testbed chelsio --scenarios forwarding --margin 1%

Accepts the options of \`ppsgate gate\` that change its duration. Reserves
nothing, and contacts no machine. Estimates minutes from earlier gates on the
testbed, and runs from the noise of its history. With --patch it also lists
testbeds that need no measurement, as the patch changes nothing installed there.`,
    )
    .action(run(() => import('./plan.ts')));

  program
    .command('bisect')
    .description('find the commit of a range that lost performance, with few boots')
    .option('--good <commit>', 'commit before the loss')
    .option('--bad <commit>', 'commit after the loss')
    .option('-p, --patch <revision>', 'bisect the diffs of a revision: D27401 or D27401:80677')
    .option('--earlier <diffs>', 'with --patch: all earlier diffs, or ids separated by commas', 'all')
    .option('--from <result>', 'work directory of a gate: uses its base, patched and worst cell')
    .option('--fix-up <commit>', 'FIX or FIX:FIRST, applied to commits that need it', also, [])
    .option('--skip <commits>', 'a commit or A..B to leave out; with --resume, only commits', also, [])
    .option('-r, --repository <dir>', 'git repository with the commits', '.')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-t, --testbed <selector>', 'name, or required properties like "mellanox and 40G"')
    .option('--scenario <name>', 'scenario of the cell to measure')
    .option('--family <name>', 'family of that cell: inet4 or inet6')
    .option('--frame-size <size>', 'frame size of that cell, like 64B')
    .option('--metric <metric>', metricChoice)
    .option('--profile <how>', 'on, off, or the sampling time, like 20s')
    .option('--max-boots <number>', 'maximum number of boots; with --resume more than before (default: "60")')
    .option('--verify-revert', 'also measure the bad commit with the culprit reverted')
    .option('--dry-run', 'show the estimate, and reserve nothing')
    .option('--priority <name>', 'priority in the queue: release, patch or rerun', 'patch')
    .option('-d, --directory <dir>', 'work directory (default: a new ppsgate-bisect-…)')
    .option('--seed <number>', 'seed of the order of runs (default: random)')
    .option('--resume <dir>', 'continue an interrupted one in its work directory')
    .option('--answer', 'post the outcome as a comment on the revision')
    .option('--run <key>', 'with --answer: key of this run, for one comment per run')
    .option('--details <url>', 'with --answer: page with the details')
    .option('--site <url>', 'with --answer: URL of the work directory for browsers')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate bisect --good v1.2 --bad main --scenario forwarding --family inet4
  ppsgate bisect --from ppsgate-gate-20261120-231655 --dry-run

Exits 0 if it names one commit or a few, 2 on wrong usage, 3 if undecided, and
4 if the lab failed.`,
    )
    .action(run(() => import('./bisect.ts')));

  program
    .command('nightly')
    .description('measure a branch head against itself, and follow up changes')
    .option('--commit <name>', 'commit to measure against itself', 'HEAD')
    .option('-r, --repository <dir>', 'git repository with the commit', '.')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-t, --testbed <selector>', 'name, or required properties like "mellanox and 40G"')
    .option('--data <dir>', 'folder of nightly runs and results (default: as configured)')
    .option('--priority <name>', 'priority in the queue: release, patch or rerun', 'rerun')
    .option('-d, --directory <dir>', 'work directory (default: a new ppsgate-nightly-…)')
    .option('--resume <dir>', 'continue an interrupted one in its work directory')
    .option('--json', 'print the result of the A/A run as JSON')
    .addHelpText(
      'after',
      `
Cells that differ from earlier nightly runs are measured again at once. If a
change lasts, a gate compares its last good commit with its first bad one; with
\`trend: { bisect: true }\` in ppsgate.yml, a confirmed change is bisected.

Example:
  ppsgate nightly --commit origin/main --data /srv/www/ppsgate

Exits 0 if it was measured, 2 on wrong usage, and 4 if the lab failed.`,
    )
    .action(run(() => import('./nightly.ts')));

  program
    .command('init')
    .description('write the workflow and ppsgate.yml into this repository, and create the label')
    .option(
      '--kind <name>',
      'linux: rules of a router; freebsd: a source tree of FreeBSD, or rules of pf or ipfw (default: by the rules found)',
    )
    .option('--image <url>', 'with --kind freebsd: the official image that guests boot')
    .option('--sha512 <sum>', 'SHA-512 of that image, from its CHECKSUM.SHA512')
    .option('--runner <labels>', 'ubuntu-latest, with the lab inside it, or self-hosted,LABEL')
    .option('--action <pin>', 'OWNER/ppsgate@COMMIT (default: the running ppsgate, if cloned)')
    .option('--branch <name>', "default branch of the repository (default: git's)")
    .option('--repository <name>', 'OWNER/NAME on GitHub (default: that of origin)')
    .option('--force', 'overwrite workflows that differ; ppsgate.yml never is')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--json', 'print the outcome as JSON')
    .addHelpText(
      'after',
      `
Examples:
  ppsgate init
  ppsgate init --runner self-hosted,lab --action OWNER/ppsgate@COMMIT --yes
  ppsgate init --kind freebsd --image https://…-BASIC-CI-ufs.raw.xz --sha512 SUM

At a terminal it asks for missing options, and offers to write a small
dut/nftables.conf if the repository has no rules yet; --yes writes one. It finds
nftables.conf, sysctl.conf, pf.conf and ipfw.rules at the top and in etc/, and
configures measurements of their changes. If GITHUB_TOKEN has a token, it
creates the label.

Run it again at any time: it keeps and reports files that differ from what it
would write.

Exits 0 even if it kept files, 2 on wrong usage, and 4 on any other failure.`,
    )
    .action(run(() => import('./init.ts')));

  program
    .command('comment')
    .description("show the workflow's decision on a comment, and measure nothing")
    .argument('<text>', 'the comment, like "/ppsgate run margin=2%"')
    .option('--dry-run', 'required: only show the decision; post and measure nothing')
    .option('--by <login>', 'author of the comment', 'maintainer')
    .option('--role <role>', "the author's permission: write or read", 'write')
    .option('--fork', 'the pull request comes from a fork')
    .option('--base <commit>', 'base of the pull request, whose ppsgate.yml applies', 'main')
    .option('--head <commit>', 'head of the pull request', 'HEAD')
    .option('-r, --repository <dir>', 'git repository with the commits', '.')
    .option('-c, --config <file>', 'path of the configuration in the repository', 'ppsgate.yml')
    .option(
      '--pull-request <name>',
      'read this pull request from GitHub, like example/router#7, with the token in GITHUB_TOKEN',
    )
    .addHelpText(
      'after',
      `
Examples:
  ppsgate comment "/ppsgate run" --dry-run
  ppsgate comment "/ppsgate run" --dry-run --fork --by alice --role read

Without --pull-request it uses no network.
Exits 0 if the comment is approved or measures nothing, and 2 if it is refused.`,
    )
    .action(run(() => import('./comment.ts')));
}

const gateOptions = parametersThat((one) => isOfGate(one) && one.option !== undefined);

/** Options of `ppsgate gate` on a repository, a revision, or a work directory of an earlier gate. */
const notOfCompare: ReadonlySet<string> = new Set([
  ...['patch', 'repository', 'earlier', 'baseKernel', 'patchedKernel', 'resume', 'record'],
  ...['layoutNoise', 'answer', 'run', 'build', 'details', 'site'],
]);

const planOptions = [
  ...(['patch', 'repository', 'config', 'testbed', 'each', 'scenarios', 'families'] as const),
  ...(['metric', 'margin', 'falseAlarms', 'power', 'design', 'maxRuns', 'profile'] as const),
  ...(['measureAnyway', 'earlier', 'stopAtFirst'] as const),
];

function addOptions(command: Command, names: readonly ParameterName[]): void {
  for (const name of names) {
    const { flags = namingStyles.flag(name), value, help = '', default: usual } = parameter(name).option ?? {};
    command.option(value === undefined ? flags : `${flags} <${value}>`, help, usual);
  }
}

const also = (text: string, before: readonly string[]): string[] => [
  ...before,
  ...text.split(',').map((part) => part.trim()),
];
