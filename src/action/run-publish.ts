// `command: publish`: answers with what another job has measured, which is taken for hostile, on the patch that GitHub names.

import * as core from '@actions/core';
import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import { numbersOf, pullRequestsOfBranch } from '../forge/github/pull-request.ts';
import { exitCodes } from '../model/conclusion.ts';
import { shortId } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import {
  cancelled,
  endingOfFailure,
  summaryOf,
  titleOf,
} from '../publish/reporters/outcome-text.ts';
import { type Answer, linkedAfterwards } from '../publish/reporters/reporter.ts';
import { headline } from '../report/headline.ts';
import { type AdmittedRequest, isBisection, readRequest } from './approved-request.ts';
import { type Ended, ended, endingsOf, type Source } from './artifact-outcomes.ts';
import { readEvent } from './inputs.ts';
import { answerFor, configCommitOf, gateNames, type JobContext, selectorsFor } from './job.ts';
import { log } from './log.ts';
import { publishBisection } from './publish-bisect.ts';
import { publishData } from './publish-data.ts';
import { anHour, exitCodeIf, leftOf, type Patience } from './publish-retry.ts';
import { tellRefusal } from './run-admit.ts';

/**
 * Passes when the patch is answered, whatever the verdict: that is for the check to say. Where that could not be done
 * within an hour, the job can be run again: what was measured lies in the artifact.
 */
export async function runPublish(
  context: JobContext,
  patience: Patience = anHour(),
): Promise<number> {
  const { request: handed } = context.inputs;
  const given = handed === '' ? undefined : readRequest(handed);
  if (given !== undefined && isBisection(given)) return publishBisection(given, context, patience);
  const source = await sourceOf(context, given);
  if (source === undefined) return exitCodes.pass;
  const { request, isTrusted } = source;
  const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
  const selectors = selectorsFor(config, request.ask, context.inputs);
  const names = gateNames(selectors);
  const endings = await endingsOf(source, { config, selectors, context, patience });
  const { runId } = source;
  const isOpen = runId === context.inputs.job.runId;
  const answered: { answer: Answer; left: Ended }[] = [];
  let isGiven = endings.every((left) => left.kind === 'refused' || !left.mayPass);
  for (const [index, name] of names.entries()) {
    const left = endings[index] ?? ended(cancelled);
    if (left.kind === 'refused' && request.patch.kind === 'pull-request') {
      const refusal = { pullRequest: request.patch, config, name, why: left.why, runId };
      await tellRefusal(context, refusal);
      continue;
    }
    const known = left.kind === 'refused' ? ended(endingOfFailure('usage', left.why)) : left;
    const { ending } = known;
    const place = { name, runId, isOpen, patience: leftOf(patience) };
    const answer = await answerFor(context, request, config, place);
    if ((await answer.ended(ending)) === 'untaken') isGiven = false;
    answered.push({ answer, left: known });
    if (ending.kind === 'unmeasured') log.info(titleOf(ending));
    else await core.summary.addRaw(summaryOf(ending)).write();
  }
  // All verdicts are told before anything is drawn of one.
  for (const { answer, left } of answered) {
    await withLinks(answer, left, { request, isTrusted }, config, context);
  }
  return exitCodeIf(isGiven);
}

/** The patch as an earlier job of this run fixed it, or as GitHub says that a fork's own run was for. */
async function sourceOf(
  context: JobContext,
  given: AdmittedRequest | undefined,
): Promise<Source | undefined> {
  const { job } = context.inputs;
  if (given !== undefined) return { request: given, runId: job.runId, isTrusted: true };
  if (job.eventName !== 'workflow_run') {
    throw new UsageError(
      'publish: expected the input `request` of an earlier job, or the event workflow_run.',
    );
  }
  const { workflow_run: run } = workflowRun.parse(await readEvent(job));
  const all = await pullRequestsOfBranch(context.octokit, job.repository, {
    owner: run.head_repository.owner.login,
    branch: run.head_branch,
    commit: run.head_sha,
  });
  const [found, ...more] = all;
  if (more.length > 0) {
    throw new UsageError(
      `${numbersOf(all)} have the head ${run.head_sha}, and GitHub does not tell which of them was measured: write /ppsgate run ${shortId(run.head_sha)} at the one that is meant.`,
    );
  }
  if (found === undefined) {
    log.info(`No open pull request has ${run.head_sha} as its head any more: nobody is answered.`);
    return undefined;
  }
  const { pullRequest: patch } = found;
  const request: AdmittedRequest = { patch, ask: {}, priority: 'patch', purpose: 'patch' };
  return { request, runId: run.id, isTrusted: false };
}

const workflowRun = z.object({
  workflow_run: z.object({
    id: z.int().positive(),
    head_sha: z.string(),
    head_branch: z.string(),
    head_repository: z.object({ owner: z.object({ login: z.string() }) }),
  }),
});

async function withLinks(
  answer: Answer,
  { ending, own, parts, corrections }: Ended,
  { request, isTrusted }: Pick<Source, 'request' | 'isTrusted'>,
  config: Config,
  context: JobContext,
): Promise<void> {
  const isDefaultBranch = request.purpose !== 'patch';
  if (ending.kind !== 'measured' || own === undefined) {
    await publishData(context, config, []);
    return;
  }
  const { result } = ending;
  log.info(headline(result));
  const make = async () => {
    const publication = { ...own, isDefaultBranch, isTrusted };
    const [links = {}] = await publishData(context, config, [publication, ...parts]);
    return { ...links, corrections };
  };
  await linkedAfterwards(answer, ending, make, log.warn);
}
