// Admits the job's event: reads it, acknowledges its comment, decides, and replies if nothing is measured.

import { applyOverrides, parsePriority } from '../config/overrides.ts';
import { namingStyles } from '../config/parameters.ts';
import { selectorCalled, testbedsFor } from '../config/select-testbeds.ts';
import { placeOf } from '../forge/github/client.ts';
import { parseEarlier, patchOfRevision } from '../forge/patch/revision.ts';
import { findRevision, parseRevisionName, phidsOf } from '../forge/phabricator/revision.ts';
import { exitCodes } from '../model/conclusion.ts';
import { UsageError } from '../model/usage-error.ts';
import { outcomeOfError } from '../publish/reporters/outcome.ts';
import type { Admission, AdmitDeps, Dispatched } from './admission.ts';
import { reply } from './admission-replies.ts';
import { admit } from './admit.ts';
import { readEvent } from './inputs.ts';
import { bisectSelector, gateNames, type JobContext, revisionDepsOf, selectorsFor } from './job.ts';
import { log } from './log.ts';
import { readerOn } from './pull-request-reader.ts';
import { revisionReporter } from './reporters.ts';
import { type Trigger, triggerOf } from './trigger.ts';

/** @param onAdmission replaces admissions that another job carries out */
export async function admitEvent(
  context: JobContext,
  onAdmission: (admission: Admission) => Admission = (admission) => admission,
): Promise<Admission> {
  const { job, patch, ...inputs } = context.inputs;
  // The job's testbed is a default for everything it measures, not an override of one gate.
  const { testbed: _, ...overrides } = inputs.overrides;
  const { testbed: __, ...bisectOverrides } = inputs.bisectOverrides;
  const event = { name: job.eventName, payload: await readEvent(job), commit: job.commit };
  const trigger = triggerOf(event, { patch, overrides, bisectOverrides });
  if (trigger.kind === 'comment') await acknowledge(trigger.id, context);
  const admission = onAdmission(await admit(trigger, depsFor(trigger, context)));
  (admission.kind === 'refused' ? log.error : log.info)(admission.why);
  if ('pullRequest' in admission) await reply(context, admission);
  return admission;
}

function depsFor(trigger: Trigger, context: JobContext): AdmitDeps {
  const { inputs, octokit, repository, readConfig } = context;
  const { job } = inputs;
  const namingOfRequester = trigger.kind === 'dispatched' ? namingStyles.input : namingStyles.comment;
  const optionNameFor = ({ testbed }: { testbed?: string | undefined }): string =>
    testbed
      ? namingOfRequester('testbed')
      : selectorCalled({ testbed: inputs.overrides.testbed, each: inputs.each }, namingStyles.input);
  const priority = inputs.priority || (job.isRerun ? 'rerun' : '');
  return {
    pullRequests: readerOn(octokit, job.repository),
    repository,
    readConfig,
    commit: job.commit,
    readRevision: (trigger) => readRevision(trigger, context),
    nameOf(config, overrides) {
      const selectors = selectorsFor(config, overrides, inputs);
      const overridden = applyOverrides(config, overrides, namingOfRequester);
      const optionName = optionNameFor(overrides);
      for (const selector of selectors) testbedsFor(overridden, selector, optionName);
      return gateNames(selectors)[0] ?? 'ppsgate';
    },
    checkBisection(config, overrides) {
      const overridden = applyOverrides(config, overrides, namingOfRequester);
      testbedsFor(overridden, bisectSelector(config, overrides, inputs), optionNameFor(overrides));
    },
    naming: namingOfRequester,
    priority: priority === '' ? undefined : parsePriority(priority, namingStyles.input('priority')),
  };
}

/** Also reports errors on the revision. */
async function readRevision({ patch: text, overrides, key, build }: Dispatched, context: JobContext) {
  const { job } = context.inputs;
  const config = await context.readConfig(job.commit);
  const deps = revisionDepsOf(context, config);
  const name = parseRevisionName(text, deps.conduit.url);
  if (name === undefined) {
    throw new UsageError(`patch: expected a revision like D27401 or D27401:80677, found "${text}".`);
  }
  const found = await findRevision(deps.conduit, name);
  const { number, diff } = found;
  const phids = phidsOf(found);
  try {
    const earlier = parseEarlier(overrides.earlier || 'none', namingStyles.input('earlier'));
    const named = { revision: number, diff: diff.id, phids };
    const patch = await patchOfRevision(named, earlier, deps);
    return { patch, config };
  } catch (error) {
    const options = {
      name: 'ppsgate',
      runId: job.runId,
      ...(key && { key }),
      ...(build && { build }),
    };
    const about = { number, diff: diff.id, phids };
    const reporter = revisionReporter(context, config, about, options);
    await reporter.conclude(outcomeOfError(error));
    throw error;
  }
}

export const exitCodeOf = ({ kind }: { kind: string }): number =>
  kind === 'refused' ? exitCodes.usage : exitCodes.pass;

/** Reacts to a command's comment before carrying it out. A failure is only logged. */
export async function acknowledge(comment_id: number, { octokit, inputs }: JobContext): Promise<void> {
  await octokit
    .request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
      ...placeOf(inputs.job.repository),
      comment_id,
      content: 'eyes',
    })
    .catch((error: Error) => log.info(`The reaction to the command was not posted (${error.message}).`));
}
