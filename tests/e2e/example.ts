// A repository with the project's action, workflow and example router in it, and a branch that changes the router's rules.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { parseDocument } from 'yaml';
import { type Setting, splitWorkflow } from '../../src/cli/init/workflows.ts';
import { commit, git } from '../fakes/repository.ts';

export type Example = {
  /** Its working tree, with the branch checked out. */
  directory: string;
  baseCommit: string;
  /** Commits the base's rules with these lines added to the early chain; returns the commit. */
  push(rules: readonly string[]): string;
};

/** The project's own workflow, as `ppsgate init` writes it: a separate job measures, with a read-only token. */
export const workflow = '.github/workflows/gate.yml';
/** The same workflow beside a lab with its own runner, and with a Phabricator. */
export const labWorkflow = '.github/workflows/lab.yml';
/**
 * A single job that does everything, as earlier versions wrote it, and the workflow that reports for it on a fork's
 * patch.
 */
export const oneJobWorkflow = '.github/workflows/one-job.yml';
export const publisher = '.github/workflows/publisher.yml';

/**
 * Rules that cost about 12 ns each for every packet and change nothing. The base has enough of them that the DUT stays
 * slower than a sender whose CPU has other work, too.
 */
export const noOps = (count: number): string[] => new Array<string>(count).fill('meta l4proto 254 drop');

const setting: Setting = {
  name: 'lab',
  branch: 'main',
  action: './',
  runner: ['self-hosted'],
  hasPhabricator: true,
  config: 'docs/example/ppsgate.yml',
};

const project = join(import.meta.dirname, '../..');
const config = 'docs/example/ppsgate.yml';
const ruleset = 'docs/example/dut/nftables.conf';

/**
 * Creates the repository in a new folder, with a `dist/` built from the sources, and with these keys in its
 * ppsgate.yml.
 */
export function makeExample(directory: string, keys: Record<string, unknown> = {}): Example {
  mkdirSync(directory);
  for (const path of ['action.yml', 'package.json', workflow, 'docs/example']) {
    cpSync(join(project, path), join(directory, path), { recursive: true });
  }
  cpSync(join(import.meta.dirname, 'workflows'), join(directory, '.github/workflows'), {
    recursive: true,
  });
  writeFileSync(join(directory, labWorkflow), splitWorkflow(setting));
  cpSync(inject('bundle'), join(directory, 'dist'), { recursive: true });
  writeFileSync(join(directory, config), quickConfig(directory, keys));
  const baseRules = withRules(readFileSync(join(directory, ruleset), 'utf8'), noOps(800));
  writeFileSync(join(directory, ruleset), baseRules);

  git(directory, 'init', '--quiet', '--initial-branch=main');
  const baseCommit = commit(directory, {});
  git(directory, 'switch', '--quiet', '--create', 'patch');
  return {
    directory,
    baseCommit,
    push(rules) {
      // Workflows may have tokens in them.
      git(directory, 'restore', '.');
      return commit(directory, { [ruleset]: withRules(baseRules, rules) });
    },
  };
}

/** The example's own, with one cell and few runs, a margin that noise does not reach with so few, and no profiles. */
function quickConfig(directory: string, keys: Record<string, unknown>): string {
  const document = parseDocument(readFileSync(join(project, config), 'utf8'));
  document.set('scenarios', ['forwarding']);
  document.set('families', ['inet4']);
  document.setIn(['traffic', 'runsPerTrial'], 32);
  document.setIn(['gate', 'maxRuns'], 16);
  document.set('history', `${directory}.history.jsonl`);
  document.set('reservations', { file: `${directory}.reservations.sqlite` });
  document.setIn(['gate', 'margin'], '30%');
  document.set('profile', { enabled: false });
  // The example's server does not exist.
  document.delete('phabricator');
  for (const [key, value] of Object.entries(keys)) document.set(key, value);
  return document.toString();
}

const withRules = (ruleset: string, rules: readonly string[]): string =>
  ruleset.replace('policy accept;', (policy) => [policy, ...rules].join('\n    '));
