// A gate as a GitHub workflow meets it: from the event to the comment, the summary and the outputs.
import { join } from 'node:path';
import * as core from '@actions/core';
import type { Octokit } from 'octokit';
import { parseConfig } from '../config/load.ts';
import { applyOverrides, UsageError } from '../config/overrides.ts';
import type { Config } from '../config/schema.ts';
import { exitCodeOfResult, runToExit } from '../exit.ts';
import { randomSeed } from '../experiment/plan.ts';
import { gate } from '../gate.ts';
import { readyMachine } from '../linux-lab/requirements.ts';
import { authorize } from '../patch/authorize.ts';
import { fetchPullRequest, pullRequestFromEvent, pullRequestNumber } from '../patch/github.ts';
import type { PullRequest } from '../patch/patch.ts';
import { openRepository, type Repository } from '../patch/repository.ts';
import { type Output, showProgress } from '../progress.ts';
import { createOctokit, publishComment } from '../publish/github.ts';
import { headline } from '../report/headline.ts';
import { renderMarkdown } from '../report/markdown.ts';
import type { Result } from '../report/result.ts';
import { chooseTestbed, openTestbed } from '../testbed/open.ts';
import { timestampedDirectory } from '../work-directory.ts';
import { labState } from './clean-up.ts';
import { type Inputs, readEvent, readInputs } from './inputs.ts';

/** Ends the process with the verdict's exit code; what kept it from a verdict becomes an annotation. */
export async function runAction(): Promise<void> {
  await runToExit(judgeAndAnswer, { tell: core.error });
}

const log = { debug: core.debug, info: core.info, warn: core.warning, error: core.error };

/** Plain lines even where a runner offers a terminal, as act does: what it is told must begin a line. */
const jobLog: Output = { write: process.stdout.write.bind(process.stdout) };

async function judgeAndAnswer(signal: AbortSignal): Promise<number> {
  const inputs = readInputs(process.env);
  const { job } = inputs;
  const octokit = await createOctokit({ token: inputs.token, apiUrl: job.apiUrl, log });
  const pullRequest = await findAllowed(inputs, octokit);

  const repository = openRepository(job.workspace);
  const config = await readConfig(inputs, repository, pullRequest);
  const testbed = chooseTestbed(config, inputs.testbed);
  if (config.testbeds[testbed]?.kind === 'embedded-linux') {
    const exitCode = await readyMachine(core.info);
    if (exitCode !== undefined) return exitCode;
    core.saveState(labState, 'up');
  }

  const directory = join(job.temporary, timestampedDirectory('ppsgate'));
  const progress = showProgress(jobLog, config.gate.metric, () => performance.now());
  const request = { patch: pullRequest, config, testbed, seed: randomSeed() };
  const result = await gate(request, directory, {
    repository,
    openTestbed: (name, traffic) => openTestbed(name, traffic, config),
    now: () => new Date(),
    onEvent: progress.onEvent,
    signal,
  }).finally(progress.end);

  await answer(result, pullRequest, directory, octokit, inputs);
  return exitCodeOfResult(result);
}

/** The pull request that is meant, once its author may use the testbed. */
async function findAllowed(inputs: Inputs, octokit: Octokit): Promise<PullRequest> {
  const { patch, job } = inputs;
  const isDispatched = job.eventName === 'workflow_dispatch';
  const found = isDispatched
    ? await fetchDispatched(patch, job.repository, octokit)
    : pullRequestFromEvent(job.eventName, await readEvent(job));
  if (found.kind === 'failed') throw new Error(found.why);
  if (found.kind === 'not-found') throw new UsageError(found.why);

  const leave = authorize(isDispatched ? 'workflow_dispatch' : 'pull_request', found);
  if (leave.kind === 'refused') throw new UsageError(leave.why);
  core.info(leave.why);
  return found.pullRequest;
}

async function fetchDispatched(patch: string, repository: string, octokit: Octokit) {
  const number = pullRequestNumber(patch);
  if (number !== undefined) return fetchPullRequest(octokit, repository, number);
  throw new UsageError(`patch: expected a pull request like #123, found "${patch}".`);
}

/** From the base: a patch must not change what it is held to. */
async function readConfig(
  { config: path, overrides }: Inputs,
  repository: Repository,
  { baseCommit }: PullRequest,
): Promise<Config> {
  const commit = await repository.resolve(baseCommit);
  const text = await repository.read(`${commit}:${path}`).catch(() => {
    throw new UsageError(
      `The base ${baseCommit} has no ${path}: add one to the base branch first.`,
    );
  });
  return applyOverrides(parseConfig(text, { path, home: process.env.HOME ?? '/' }), overrides);
}

/** Summary and outputs come first: they hold the result also where no comment can be written. */
async function answer(
  result: Result,
  pullRequest: PullRequest,
  directory: string,
  octokit: Octokit,
  { job }: Inputs,
): Promise<void> {
  const links = {
    rerun: `push again, or [run this job again](${job.runUrl})`,
    rawData: `the [job](${job.runUrl})`,
  };
  const markdown = renderMarkdown(result, links);
  const { outcome } = result;
  core.setOutput('verdict', outcome.kind === 'judged' ? outcome.verdict : outcome.kind);
  core.setOutput('result-path', join(directory, 'result.json'));
  core.setOutput('report-path', join(directory, 'report.md'));
  await core.summary.addRaw(markdown).write();
  core.info(headline(result));

  const marker = `<!-- ppsgate:${result.testbed.name} -->`;
  const published = await publishComment(octokit, pullRequest, markdown, { marker });
  if (published.kind === 'not-published') core.warning(published.why);
  else core.setOutput('comment-url', published.url);
}
