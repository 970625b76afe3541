// Implements `command: publish`: reports an untrusted job's results on the patch that GitHub names.

import * as core from '@actions/core';
import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import { numbersOf, pullRequestsOfBranch } from '../forge/github/pull-request.ts';
import * as bounded from '../model/bounds.ts';
import { exitCodes } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { UsageError } from '../model/usage-error.ts';
import { outcomeOfFailure } from '../publish/reporters/outcome.ts';
import { outcomeMarkdown, outcomeTitle } from '../publish/reporters/outcome-text.ts';
import { addReportLinks, type Reporter } from '../publish/reporters/reporter.ts';
import { headline } from '../report/headline.ts';
import { reportRefusal } from './admission-replies.ts';
import { isBisection, readRequest } from './approved-request.ts';
import { type ConcludedJob, concludedAs, readOutcomes, type Source } from './artifact-outcomes.ts';
import { readEvent } from './inputs.ts';
import { type JobContext, readConfigFor, reporterNames } from './job.ts';
import { log } from './log.ts';
import { publishData } from './publish-data.ts';
import { type RetryBudget, remaining, retryForAnHour } from './publish-retry.ts';
import { openReporter } from './reporters.ts';

/**
 * Passes once the patch has its report, with any verdict, as the check shows that. After an hour without delivery, the
 * job can be run again: the artifact keeps the measurements.
 */
export async function runPublish(context: JobContext, retry: RetryBudget = retryForAnHour()): Promise<number> {
  const source = await sourceOf(context);
  if (source === undefined) return exitCodes.pass;
  const { request, runId } = source;
  const config = await readConfigFor(request, context);
  const outcomes = await readOutcomes(source, { config, context, retry });
  const reported: { reporter: Reporter; outcome: ConcludedJob }[] = [];
  let isDelivered = outcomes.every((outcome) => outcome.kind === 'refused' || !outcome.mayPass);
  for (const [index, name] of reporterNames(request, config, context.inputs).entries()) {
    const read = outcomes[index];
    if (read === undefined) continue;
    const { patch } = request;
    if (read.kind === 'refused' && patch.kind === 'pull-request' && !isBisection(request)) {
      await reportRefusal(context, { pullRequest: patch, config, name, why: read.why, runId });
      continue;
    }
    const outcome = read.kind === 'refused' ? concludedAs(outcomeOfFailure('usage', read.why)) : read;
    const isOpen = runId === context.inputs.job.runId;
    const options = { name, runId, isOpen, retry: remaining(retry) };
    try {
      const reporter = await openReporter(context, request, config, options);
      if (!(await isReported(outcome, reporter))) isDelivered = false;
      reported.push({ reporter, outcome });
    } catch (error) {
      if (error instanceof UsageError) throw error;
      // The job's other gates are still reported.
      log.error(`${name} is not reported (${reasonOf(error)}).`);
      isDelivered = false;
    }
  }
  // Reports all verdicts before the plots of any.
  for (const { reporter, outcome } of reported) {
    if (isBisection(request) && outcome.reportedOutcome.kind !== 'bisected') continue;
    await publishAndLink(reporter, outcome, config, context);
  }
  if (isDelivered) return exitCodes.pass;
  log.error('Some reports were not delivered, see above: run this job again; it measures nothing.');
  return exitCodes.infrastructure;
}

async function isReported({ reportedOutcome }: ConcludedJob, reporter: Reporter): Promise<boolean> {
  const isDelivered = (await reporter.conclude(reportedOutcome)) !== 'undelivered';
  if (reportedOutcome.kind === 'unmeasured') log.info(outcomeTitle(reportedOutcome));
  else await core.summary.addRaw(outcomeMarkdown(reportedOutcome)).write();
  return isDelivered;
}

/** Returns the request of an earlier job of this run, or that of a fork's own run, whose patch GitHub identifies. */
async function sourceOf(context: JobContext): Promise<Source | undefined> {
  const { request: text, job } = context.inputs;
  if (text !== '') return { request: readRequest(text), runId: job.runId, isTrusted: true };
  if (job.eventName !== 'workflow_run') {
    throw new UsageError('publish: expected the input `request` of an earlier job, or the event workflow_run.');
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
      `${numbersOf(all)} have the head ${run.head_sha}, and GitHub does not report which of them was measured: write /ppsgate run ${run.head_sha} in the intended one.`,
    );
  }
  if (found === undefined) {
    log.info(`No open pull request has ${run.head_sha} as its head anymore: nothing is reported.`);
    return undefined;
  }
  const { pullRequest: patch } = found;
  const request = { patch, overrides: {}, priority: 'patch', purpose: 'patch' } as const;
  return { request, runId: run.id, isTrusted: false };
}

const workflowRun = z.object({
  workflow_run: z.object({
    id: bounded.id,
    head_sha: bounded.word,
    head_branch: bounded.word,
    head_repository: z.object({ owner: z.object({ login: bounded.word }) }),
  }),
});

async function publishAndLink(
  reporter: Reporter,
  { reportedOutcome, publications, corrections }: ConcludedJob,
  config: Config,
  context: JobContext,
): Promise<void> {
  if (reportedOutcome.kind === 'measured') log.info(headline(reportedOutcome.result));
  if (reportedOutcome.kind !== 'measured' && reportedOutcome.kind !== 'bisected') {
    await publishData(context, config, publications);
    return;
  }
  const publish = async () => {
    const [links = {}] = await publishData(context, config, publications);
    return { ...links, corrections };
  };
  await addReportLinks(reporter, reportedOutcome, publish, log.warn);
}
