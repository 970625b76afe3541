// `ppsgate badge`: prints README lines that show the latest verdict of the default branch.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { type Config, scenariosIn, type TestbedConfig } from '../../config/schema.ts';
import { isCommitName } from '../../forge/patch/resolve-commit.ts';
import { cellsOf } from '../../gate/experiment/plan.ts';
import { exitCodes } from '../../model/conclusion.ts';
import type { Cell } from '../../model/scenario.ts';
import { expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { type DataPlace, linkTo } from '../../publish/data-branch/links.ts';
import { badgeLabel, badgePath, samePath } from '../../publish/data-branch/paths.ts';
import { runToExit } from '../../system/exit.ts';
import { configPath, namedTestbed } from './named-testbed.ts';
import { print, printJson } from './table.ts';

export function define(command: Command): void {
  command
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--testbed <names...>', 'only these testbeds')
    .option(
      '--repository <owner/name>',
      'repository on GitHub (default: that of the remote origin)',
    )
    .option('--branch <name>', 'branch with the badges (default: github.data.branch)')
    .option('--json', 'print them as JSON')
    .addHelpText('after', details)
    .action(async (options: object) => {
      await runToExit(() => printBadges(options), command.optsWithGlobals());
    });
}

const details = `
Example:
  ppsgate badge --testbed hp-t540 --repository example/router >> README.md

As JSON: [{ "label", "image", "endpoint", "markdown" }]. The image is an SVG,
and the endpoint is for https://img.shields.io/endpoint?url=ENDPOINT.

A badge exists once a patch was judged on the default branch; the last badge of
a testbed, for its A/A runs, exists after its first nightly run.
Exits 2 if the repository is unknown.`;

export type BadgeOptions = {
  config?: string;
  testbed?: string[];
  repository?: string;
  branch?: string;
  json?: true;
};

export async function printBadges(options: BadgeOptions): Promise<number> {
  const path = configPath(options.config);
  const config = await loadConfig(path);
  const names = options.testbed ?? Object.keys(config.testbeds);
  const place = await placeOf(config, options);
  const badges = names.flatMap((testbed) => [
    ...cellsOn(config, namedTestbed(config, path, testbed)).map((cell) =>
      badgeOf(place, badgeLabel({ testbed, cell }), badgePath({ testbed, cell })),
    ),
    badgeOf(place, `${testbed} A/A`, samePath(testbed)),
  ]);
  const texts = badges.map(({ markdown }) => markdown);
  if (options.json) printJson(badges);
  else print(texts.join('\n'));
  return exitCodes.pass;
}

async function placeOf(config: Config, options: BadgeOptions): Promise<DataPlace> {
  const { branch = config.github.data.branch, repository = await originOnGithub() } = options;
  if (branch === undefined) {
    throw new UsageError(
      '--branch: the configuration stores no results on GitHub; set `github.data.branch`, or name a branch.',
    );
  }
  if (!isCommitName(branch)) {
    throw new UsageError(`--branch: ${expected('the name of a branch')({ input: branch })}.`);
  }
  if (repository === undefined) {
    throw new UsageError(
      '--repository: the remote origin is not on github.com; give OWNER/NAME of the repository.',
    );
  }
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw new UsageError(`--repository: expected OWNER/NAME, found "${repository}".`);
  }
  const { pages } = config.github.data;
  const serverUrl = process.env.GITHUB_SERVER_URL || 'https://github.com';
  return { repository, branch, serverUrl, ...(pages !== undefined && { pages }) };
}

/** `owner/name`, for any spelling of the URL; undefined if the remote origin is missing or not on github.com. */
async function originOnGithub(): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)('git', ['remote', 'get-url', 'origin']).catch(
    () => ({ stdout: '' }),
  );
  const url = /^(?:https:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[/:](.+?)(?:\.git)?\/?$/i;
  return url.exec(stdout.trim())?.[1];
}

function cellsOn(config: Config, testbed: TestbedConfig): Cell[] {
  const carried = scenariosIn({ testbeds: { testbed }, rules: config.rules });
  const scenarios = config.scenarios.filter((scenario) => carried.includes(scenario));
  return cellsOf({ ...config, scenarios });
}

function badgeOf(place: DataPlace, label: string, path: string) {
  const image = linkTo(place, `${path}.svg`);
  const target = linkTo(place, 'README.md');
  return {
    label,
    image,
    endpoint: linkTo(place, `${path}.json`),
    markdown: `[![${label}](${image})](${target})`,
  };
}
