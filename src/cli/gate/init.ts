// Runs `ppsgate init`.

import { join } from 'node:path';
import { parse } from 'yaml';
import { createOctokit } from '../../forge/github/client.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { hostedConfig, labConfig, starterRules } from '../init/config-file.ts';
import { freebsdImageSteps, freebsdRulesConfig, freebsdTreeConfig, freebsdTreeSteps } from '../init/freebsd-tree.ts';
import { type PlacedFile, type PlannedFile, placeFile, readIfThere } from '../init/init-files.ts';
import { missingOverlay } from '../init/init-overlay.ts';
import { type InitOptions, kindOf, readSelectors, type Selectors } from '../init/init-selectors.ts';
import { initText } from '../init/init-text.ts';
import { createLabel, labelByHand, type PlacedLabel } from '../init/label.ts';
import { ownAction, readClone } from '../init/setting.ts';
import { approvalLabel, splitWorkflow } from '../init/workflows.ts';
import { type AskPerson, askOnTerminal } from '../prompt.ts';
import type { Call } from '../run.ts';
import { print, printJson } from '../table.ts';

type InitDeps = {
  directory: string;
  ask: AskPerson;
  /** The running ppsgate as an action, if it is a clone from GitHub. */
  own?: string | undefined;
  /** Absent or empty: people create the label by hand. */
  token?: string | undefined;
  apiUrl: string;
};

export async function run(options: InitOptions, { signal }: Call): Promise<number> {
  const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = 'https://api.github.com' } = process.env;
  const own = await ownAction(import.meta.dirname);
  return runInit(options, { directory: process.cwd(), own, ask: askOnTerminal(signal), token, apiUrl });
}

export async function runInit(options: InitOptions, deps: InitDeps): Promise<number> {
  const { force = false, dryRun = false, json = false } = options;
  const clone = await readClone(deps.directory);
  const { directory } = clone;
  const ask = options.yes ? undefined : deps.ask;
  const kind = await kindOf(options, directory);
  const selectors = await readSelectors(options, { ...clone, ...kind }, { own: deps.own, ask });
  const config = configFor(selectors);
  const rules =
    selectors.image === undefined
      ? await rulesFor(directory, config.text, async (folder) =>
          // A small example beside the real rules would be measured instead of them.
          selectors.found.size > 0 ? false : options.yes ? true : wantsRules(folder, ask),
        )
      : [];
  const files: PlacedFile[] = [];
  const hasPhabricator = namesPhabricator((await readIfThere(join(directory, config.path))) ?? config.text);
  const workflows = workflowsFor(selectors, hasPhabricator);
  for (const file of [...workflows, config, ...rules, workDirectories]) {
    // It belongs to an earlier workflow, which stays.
    if ('isObsolete' in file && files.some(({ kind }) => kind === 'kept')) continue;
    const placed = await placeFile(file, { directory, force, dryRun });
    if (placed !== undefined) files.push(placed);
  }
  const label = await labelFor(selectors, deps, dryRun);
  if (json) printJson({ files, label });
  else print(initText(files, label, selectors));
  return exitCodes.pass;
}

function workflowsFor({ runner, action, branch, image, found }: Selectors, hasPhabricator: boolean): PlannedFile[] {
  if (action === undefined) return [];
  const setting = {
    name: 'ppsgate',
    branch,
    action,
    runner: runner.labels,
    hasPhabricator,
    ...(image !== undefined && {
      readyRunner: found.size > 0 ? freebsdImageSteps(image) : freebsdTreeSteps(image),
    }),
  };
  return [
    { path: '.github/workflows/ppsgate.yml', text: splitWorkflow(setting) },
    { path: '.github/workflows/ppsgate-publish.yml', isObsolete: true },
  ];
}

/** False for an invalid file, which the gate refuses. */
function namesPhabricator(config: string): boolean {
  try {
    const parsed: unknown = parse(config);
    return typeof parsed === 'object' && parsed !== null && 'phabricator' in parsed;
  } catch {
    return false;
  }
}

function configFor(selectors: Selectors) {
  return { path: 'ppsgate.yml', text: configText(selectors), isTheirs: true } as const;
}

function configText({ runner, action, image, found }: Selectors): string {
  if (image !== undefined && found.size > 0) return freebsdRulesConfig(action, image, found);
  if (image !== undefined) return freebsdTreeConfig(action, image);
  return runner.kind === 'hosted' ? hostedConfig(action, found) : labConfig(action, found);
}

/** Empty if the lab already has files to install. */
async function rulesFor(
  directory: string,
  config: string,
  isWanted: (folder: string) => Promise<boolean>,
): Promise<PlannedFile[]> {
  const folder = await missingOverlay(directory, config);
  if (folder === undefined) return [];
  const path = join(folder, 'nftables.conf');
  return [(await isWanted(folder)) ? { path, text: starterRules } : { path, isMissing: true }];
}

async function wantsRules(folder: string, ask: AskPerson): Promise<boolean> {
  const answer = await ask?.(`${folder} has no rules to measure yet: write a small nftables.conf there? [yes] `);
  return answer !== undefined && /^(?:y|yes|)$/i.test(answer);
}

const workDirectories: PlannedFile = {
  path: '.gitignore',
  line: '/ppsgate-*/',
  isThere: /^\/?ppsgate-\*\/?$/,
};

/** Undefined without a workflow, which alone reads the label. */
async function labelFor(
  { repository, action }: Selectors,
  { token, apiUrl }: InitDeps,
  dryRun: boolean,
): Promise<PlacedLabel | undefined> {
  if (action === undefined) return undefined;
  if (dryRun) return labelByHand('With --dry-run the label is not created.', repository);
  const what = `The label ${approvalLabel} does not exist yet`;
  if (repository === undefined) {
    return labelByHand(
      `${what}: this clone has no origin on GitHub; name the repository with --repository OWNER/NAME.`,
      repository,
    );
  }
  if (!token) return labelByHand(`${what}: GITHUB_TOKEN has no token to create it.`, repository);
  return createLabel(await createOctokit({ token, apiUrl, log: silence }), repository);
}

/** The text has each failure once, with instructions. */
const silence = { debug() {}, info() {}, warn() {}, error() {} };
