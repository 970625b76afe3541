// Runs `ppsgate badge`.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
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
import { configPath, namedTestbed } from '../find-config.ts';
import { print, printJson } from '../table.ts';

export type BadgeOptions = {
  config?: string;
  testbed?: string[];
  repository?: string;
  branch?: string;
  json?: true;
};

export async function run(options: BadgeOptions): Promise<number> {
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
    throw new UsageError('--repository: the remote origin is not on github.com; give OWNER/NAME of the repository.');
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
  const { stdout } = await promisify(execFile)('git', ['remote', 'get-url', 'origin']).catch(() => ({ stdout: '' }));
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
