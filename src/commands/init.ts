// `ppsgate init`: what a repository needs to have its patches judged on GitHub.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';
import { createOctokit } from '../github/client.ts';
import { hostedConfig, labConfig } from '../init/config-file.ts';
import { type PlacedFile, type PlannedFile, placeFile } from '../init/files.ts';
import { createLabel, labelByHand, type PlacedLabel } from '../init/label.ts';
import {
  type Clone,
  ownAction,
  parseAction,
  parseBranch,
  parseRepository,
  parseRunner,
  type Runner,
  readClone,
} from '../init/setting.ts';
import { leaveLabel, oneJobWorkflow, publishWorkflow, splitWorkflow } from '../init/workflows.ts';
import { exitCodes } from '../words/upshot.ts';
import { type AskPerson, askOnTerminal } from './ask.ts';
import { columns, oneLine, print } from './table.ts';

export function define(command: Command): void {
  command
    .option('--runner <labels>', 'ubuntu-latest, with the lab inside it, or self-hosted,LABEL')
    .option('--action <pin>', 'OWNER/ppsgate@COMMIT (default: the ppsgate that runs, if cloned)')
    .option('--branch <name>', 'default branch of the repository (default: as git knows it)')
    .option('--repository <name>', 'OWNER/NAME on GitHub (default: that of origin)')
    .option('--force', 'overwrite workflows that differ; ppsgate.yml never is')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--json', 'answer as JSON')
    .addHelpText('after', details)
    .action(async (options: object) => {
      const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = 'https://api.github.com' } =
        process.env;
      const directory = process.cwd();
      await runToExit(
        (signal) => runInit(options, { directory, ask: askOnTerminal(signal), token, apiUrl }),
        command.optsWithGlobals(),
      );
    });
}

const details = `
Examples:
  ppsgate init
  ppsgate init --runner self-hosted,lab --action OWNER/ppsgate@COMMIT --yes

At a terminal it asks for what no flag tells. The label is made with the token
in GITHUB_TOKEN, where there is one.

Run it again at any time: a file that is as it would be written stays, and one
that differs is kept and told of.

Exits with 0 also when files were kept, with 2 on wrong usage, with 4 when
something else went wrong.`;

export type InitOptions = {
  runner?: string;
  action?: string;
  branch?: string;
  repository?: string;
  force?: true;
  yes?: true;
  dryRun?: true;
  json?: true;
};

type InitWorld = {
  /** Anywhere in the repository. */
  directory: string;
  ask: AskPerson;
  /** Absent or empty: a person makes the label. */
  token?: string | undefined;
  apiUrl: string;
};

export async function runInit(options: InitOptions, world: InitWorld): Promise<number> {
  const { force = false, dryRun = false, json = false } = options;
  const clone = await readClone(world.directory);
  const wishes = await readWishes(options, clone, options.yes ? undefined : world.ask);
  const files: Placed[] = [];
  for (const file of filesFor(wishes)) {
    const placed = await placeFile(file, { directory: clone.directory, force, dryRun });
    files.push({ ...placed, ...(dryRun && { text: file.text }) });
  }
  const label = dryRun
    ? labelByHand('With --dry-run the label is not made.', wishes.repository)
    : await placeLabel(wishes, world);
  print(json ? JSON.stringify({ files, label }, null, 2) : textOf(files, label, wishes));
  return exitCodes.pass;
}

type Wishes = { runner: Runner; action: string; branch: string; repository: string | undefined };

/** `text` is what would be written, where nothing is. */
type Placed = PlacedFile & { text?: string };

async function readWishes(options: InitOptions, clone: Clone, ask: AskPerson): Promise<Wishes> {
  const answer = async (flag: string | undefined, question: string, usual = '') =>
    flag ?? ((await ask?.(usual === '' ? `${question} ` : `${question} [${usual}] `)) || usual);

  const runner = await answer(
    options.runner,
    'Which runner measures: ubuntu-latest, or self-hosted with its labels?',
    'ubuntu-latest',
  );
  const pin = await answer(
    options.action,
    'Which ppsgate, as OWNER/ppsgate@COMMIT?',
    await ownAction(import.meta.dirname),
  );
  const branch = await answer(options.branch, 'What is the default branch?', clone.branch);
  const repository = await answer(
    options.repository,
    'Which repository on GitHub, as OWNER/NAME?',
    clone.repository,
  );
  return {
    runner: parseRunner(runner),
    action: parseAction(pin),
    branch: parseBranch(branch),
    repository: repository === '' ? undefined : parseRepository(repository),
  };
}

function filesFor({ runner, action, branch }: Wishes): PlannedFile[] {
  const names = { name: 'ppsgate', publisher: 'ppsgate-publish' };
  const setting = { ...names, branch, action, runner: runner.labels };
  const workflow = (name: string, text: string) => ({
    path: `.github/workflows/${name}.yml`,
    text,
  });
  const config = (text: string): PlannedFile => ({ path: 'ppsgate.yml', text, isTheirs: true });
  if (runner.kind === 'self-hosted') {
    return [workflow(names.name, splitWorkflow(setting)), config(labConfig)];
  }
  return [
    workflow(names.name, oneJobWorkflow(setting)),
    workflow(names.publisher, publishWorkflow(setting)),
    config(hostedConfig),
  ];
}

async function placeLabel(
  { repository }: Wishes,
  { token, apiUrl }: InitWorld,
): Promise<PlacedLabel> {
  const what = `The label ${leaveLabel} is not made yet`;
  if (repository === undefined) {
    return labelByHand(`${what}: nobody said which repository on GitHub this is.`, repository);
  }
  if (!token) return labelByHand(`${what}: GITHUB_TOKEN holds no token for it.`, repository);
  return createLabel(await createOctokit({ token, apiUrl, log: silence }), repository);
}

/** What GitHub did not do is told once, with what to do instead. */
const silence = { debug() {}, info() {}, warn() {}, error() {} };

const told: Record<PlacedFile['kind'], string> = {
  created: '',
  unchanged: '',
  kept: 'differs from what would be written; --force overwrites workflows, and never ppsgate.yml',
  overwritten: '',
};

function textOf(files: readonly Placed[], label: PlacedLabel, { branch }: Wishes): string {
  const texts = files.flatMap(({ path, kind, text }) =>
    text === undefined || kind === 'unchanged' || kind === 'kept' ? [] : [`--- ${path}`, text],
  );
  const rows = files.map(({ path, kind }) => [kind, path, told[kind]]);
  return [
    ...texts,
    ...(texts.length > 0 ? ['Nothing is written yet. This would come of it:'] : []),
    ...columns([...rows, ...labelRow(label)]),
    ...(label.kind === 'not-created' ? [oneLine(label.why), `  ${label.command}`] : []),
    '',
    `1. Commit these files to ${branch}: they count from there, never from a patch.`,
    `2. Put the label ${leaveLabel} on a pull request from a fork, once you have read it, to have it measured as it stands.`,
    '3. Comment `/ppsgate run` on any pull request to have it measured.',
  ].join('\n');
}

const labelRow = (label: PlacedLabel): string[][] =>
  label.kind === 'not-created'
    ? []
    : [[label.kind, `label ${leaveLabel}`, `of ${label.repository}`]];
