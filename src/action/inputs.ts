// Parses the Action's inputs and the runner's variables into one typed object.

import { readFile } from 'node:fs/promises';
import * as core from '@actions/core';
import { z } from 'zod';
import { wrongName } from '../config/did-you-mean.ts';
import { bisectOverrideNames, kebabCase, overrideNames } from '../config/parameters.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import type { GateOverrides } from '../forge/patch/command.ts';
import { sentence } from '../model/excerpt.ts';
import { UsageError } from '../model/usage-error.ts';
import { mask } from './log.ts';

export type Inputs = {
  command: (typeof commands)[number];
  /** Output of a step with `command: admit`; empty if this step admits for itself. */
  request: string;
  /** `#123`, `D27401`, a commit or a range; empty for the event's own patch. */
  patch: string;
  config: string;
  each: string;
  priority: string;
  overrides: GateOverrides;
  bisectOverrides: BisectOverrides;
  token: string;
  conduitToken: string;
  job: GithubJob;
};

/**
 * `gate` and `bisect` do everything in one job. With `admit` and `publish`, three jobs each have their own permissions.
 */
const commands = ['gate', 'bisect', 'admit', 'publish', 'accept'] as const;

/** See "Variables reference" in GitHub's documentation of Actions. */
const jobSchema = z
  .object({
    GITHUB_API_URL: z.url(),
    GITHUB_SERVER_URL: z.url(),
    GITHUB_REPOSITORY: z.string().regex(/^[^/]+\/[^/]+$/),
    GITHUB_WORKSPACE: z.string(),
    GITHUB_EVENT_NAME: z.string(),
    GITHUB_EVENT_PATH: z.string(),
    GITHUB_RUN_ID: z.coerce.number(),
    GITHUB_SHA: z.string().prefault(''),
    GITHUB_ACTION_REPOSITORY: z.string().prefault(''),
    GITHUB_RUN_ATTEMPT: z.coerce.number().prefault(1),
    GITHUB_WORKFLOW: z.string().prefault(''),
    GITHUB_ACTOR: z.string().prefault('unknown'),
    RUNNER_NAME: z.string().prefault('a runner'),
    RUNNER_TEMP: z.string(),
  })
  .transform((variables) => ({
    apiUrl: variables.GITHUB_API_URL,
    repository: variables.GITHUB_REPOSITORY,
    workspace: variables.GITHUB_WORKSPACE,
    eventName: variables.GITHUB_EVENT_NAME,
    eventPath: variables.GITHUB_EVENT_PATH,
    temporary: variables.RUNNER_TEMP,
    serverUrl: variables.GITHUB_SERVER_URL,
    runId: variables.GITHUB_RUN_ID,
    commit: variables.GITHUB_SHA,
    /** The action is in the repository itself, so a patch may change it. */
    isOwnAction: variables.GITHUB_ACTION_REPOSITORY === '',
    isRerun: variables.GITHUB_RUN_ATTEMPT > 1,
    workflow: variables.GITHUB_WORKFLOW,
    who: `${variables.GITHUB_ACTOR} on ${variables.RUNNER_NAME}`,
    runUrl: `${variables.GITHUB_SERVER_URL}/${variables.GITHUB_REPOSITORY}/actions/runs/${variables.GITHUB_RUN_ID}`,
  }));

export type GithubJob = z.infer<typeof jobSchema>;

export function readInputs(environment: NodeJS.ProcessEnv): Inputs {
  const token = core.getInput('token', { required: true });
  mask(token);
  const conduitToken = core.getInput('conduit-token');
  if (conduitToken !== '') mask(conduitToken);
  const command = core.getInput('command') || 'gate';
  return {
    command: oneOf('command', commands, command),
    request: core.getInput('request'),
    patch: core.getInput('patch'),
    config: core.getInput('config', { required: true }),
    each: core.getInput('each'),
    priority: core.getInput('priority'),
    overrides: inputsBy(overrideNames),
    bisectOverrides: inputsBy(bisectOverrideNames),
    token,
    conduitToken,
    job: jobSchema.parse(environment),
  };
}

const inputsBy = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, core.getInput(kebabCase(name))]));

function oneOf<Name extends string>(input: string, names: readonly Name[], text: string): Name {
  const name = names.find((one) => one === text);
  if (name !== undefined) return name;
  throw new UsageError(`${input}: ${sentence(wrongName(names)({ input: text }))}`);
}

export const readEvent = async ({ eventPath }: GithubJob): Promise<unknown> =>
  JSON.parse(await readFile(eventPath, 'utf8'));
