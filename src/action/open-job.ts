// Opens GitHub and the checkout for a job of the Action, and reads ppsgate.yml from a commit of its base.
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { createOctokit } from '../forge/github/client.ts';
import { openRepository, type Repository } from '../forge/patch/repository.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Inputs } from './inputs.ts';
import type { JobContext } from './job.ts';
import { log, mask } from './log.ts';

export async function openJob(inputs: Inputs): Promise<JobContext> {
  const { job, token, config: path } = inputs;
  const octokit = await createOctokit({ token, apiUrl: job.apiUrl, log });
  const repository = openRepository(job.workspace, withToken(token, job.serverUrl));
  return {
    inputs,
    octokit,
    repository,
    readConfig: (base) => configAt(base, path, repository),
  };
}

/**
 * Passes the token to git in the environment, which other users cannot read (`GIT_CONFIG_COUNT` in git-config(1)), so
 * that no credentials remain in the checkout. GitHub accepts a token as any user's password.
 */
function withToken(token: string, serverUrl: string): NodeJS.ProcessEnv {
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
  mask(credentials);
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${serverUrl}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${credentials}`,
  };
}

/** @param path in the repository. Throws a UsageError if the commit has no such file. */
export async function configAt(
  base: string,
  path: string,
  repository: Pick<Repository, 'resolve' | 'read'>,
): Promise<Config> {
  const commit = await repository.resolve(base);
  const text = await repository.read(`${commit}:${path}`).catch(() => {
    throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
  });
  return parseConfig(text, { path, home: process.env.HOME ?? '/' });
}
