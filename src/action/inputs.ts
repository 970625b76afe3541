// The Action's inputs and what the runner says of the job, as one typed object.
import { readFile } from 'node:fs/promises';
import * as core from '@actions/core';
import { z } from 'zod';
import type { Overrides } from '../config/overrides.ts';

export type Inputs = {
  /** `#123`; empty for the event's own. */
  patch: string;
  config: string;
  testbed: string;
  overrides: Overrides;
  token: string;
  job: Job;
};

/** See "Variables reference" in GitHub's documentation of Actions. */
const jobSchema = z
  .object({
    GITHUB_API_URL: z.url(),
    GITHUB_SERVER_URL: z.url(),
    GITHUB_REPOSITORY: z.string().regex(/^[^/]+\/[^/]+$/),
    GITHUB_WORKSPACE: z.string(),
    GITHUB_EVENT_NAME: z.string(),
    GITHUB_EVENT_PATH: z.string(),
    GITHUB_RUN_ID: z.string(),
    RUNNER_TEMP: z.string(),
  })
  .transform((variables) => ({
    apiUrl: variables.GITHUB_API_URL,
    repository: variables.GITHUB_REPOSITORY,
    workspace: variables.GITHUB_WORKSPACE,
    eventName: variables.GITHUB_EVENT_NAME,
    eventPath: variables.GITHUB_EVENT_PATH,
    temporary: variables.RUNNER_TEMP,
    runUrl: `${variables.GITHUB_SERVER_URL}/${variables.GITHUB_REPOSITORY}/actions/runs/${variables.GITHUB_RUN_ID}`,
  }));

export type Job = z.infer<typeof jobSchema>;

export function readInputs(environment: NodeJS.ProcessEnv): Inputs {
  const token = core.getInput('token', { required: true });
  core.setSecret(token);
  return {
    patch: core.getInput('patch'),
    config: core.getInput('config', { required: true }),
    testbed: core.getInput('testbed'),
    overrides: {
      scenarios: core.getInput('scenarios'),
      families: core.getInput('families'),
      runs: core.getInput('runs'),
      margin: core.getInput('margin'),
    },
    token,
    job: jobSchema.parse(environment),
  };
}

/** The payload of the event that started the job. */
export const readEvent = async ({ eventPath }: Job): Promise<unknown> =>
  JSON.parse(await readFile(eventPath, 'utf8'));
