// A workflow's job in the test's own process: the variables of GitHub's runner, and the job's input.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { readInputs } from '../../src/action/inputs.ts';
import type { JobContext } from '../../src/action/job.ts';
import type { Config } from '../../src/config/schema.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { temporaryFolder } from './folder.ts';
import { hastyOctokit } from './github/hasty-octokit.ts';
import { type FakeGitHub, installationToken } from './github/server.ts';

type Job = {
  github: FakeGitHub;
  /** Path of the git repository that is checked out. */
  workspace: string;
  command: string;
  /** Text of the admitted request; absent: none yet. */
  request?: string;
  event: { name: string; payload?: object };
  config: Config;
};

/** The job's context, the file of its outputs, and the folder for its measurements. */
export async function jobHere({ github, workspace, command, request, event, config }: Job) {
  const temporary = temporaryFolder();
  const [output, eventPath] = [join(temporary, 'output'), join(temporary, 'event.json')];
  writeFileSync(output, '');
  writeFileSync(eventPath, JSON.stringify(event.payload ?? {}));
  const environment = {
    INPUT_COMMAND: command,
    INPUT_TOKEN: installationToken,
    INPUT_CONFIG: 'ppsgate.yml',
    INPUT_REQUEST: request ?? '',
    GITHUB_OUTPUT: output,
    GITHUB_STATE: output,
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'example/router',
    GITHUB_WORKSPACE: workspace,
    GITHUB_RUN_ID: '42',
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: eventPath,
    RUNNER_TEMP: temporary,
    GITHUB_STEP_SUMMARY: '/dev/null',
  };
  for (const [name, text] of Object.entries(environment)) vi.stubEnv(name, text);
  onTestFinished(() => void vi.unstubAllEnvs());
  const context: JobContext = {
    inputs: readInputs(process.env),
    octokit: await hastyOctokit(github),
    repository: openRepository(workspace),
    readConfig: async () => config,
  };
  return { context, output, folder: join(temporary, 'ppsgate') };
}
