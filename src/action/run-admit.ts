// `command: admit`: reads the event, decides whether the patch may be measured, and answers commands that measure nothing.

import { applyOverrides, parsePriority } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import { placeOf } from '../forge/github/client.ts';
import { publishComment } from '../forge/github/comment.ts';
import { callOnGithub, commandsFor } from '../forge/patch/command.ts';
import { parseEarlier, patchOfRevision } from '../forge/patch/revision.ts';
import { findRevision, parseRevisionName } from '../forge/phabricator/revision.ts';
import { exitCodes } from '../model/conclusion.ts';
import { codeSpan } from '../model/escape.ts';
import { UsageError } from '../model/usage-error.ts';
import { withoutPaths } from '../model/without-paths.ts';
import { hasCheckRun, standsForAnother } from '../publish/reporters/check-run.ts';
import { composeComment, markerOf, readMemory } from '../publish/reporters/comment-text.ts';
import { endingOfError, endingOfFailure } from '../publish/reporters/outcome-text.ts';
import type { Answer } from '../publish/reporters/reporter.ts';
import { type Admission, admit, noticeName } from './admit.ts';
import { requestText, subjectOf } from './approved-request.ts';
import { readEvent } from './inputs.ts';
import {
  answerFor,
  answerOnPhabricator,
  bisectAnswerFor,
  bisectSelector,
  gateNames,
  type JobContext,
  marksFor,
  revisionDepsOf,
  selectorsFor,
} from './job.ts';
import { log, setOutput } from './log.ts';
import { type Trigger, triggerOf } from './trigger.ts';

/** Hands what may be measured to the next job, by outputs; the exit code is that of a refusal where there is one. */
export async function runAdmit(context: JobContext): Promise<number> {
  const admission = await admitEvent(context);
  setOutput('go', admission.kind === 'go');
  setOutput('bisect', admission.kind === 'bisect');
  setOutput('cancel', admission.kind === 'cancel');
  if (admission.kind === 'cancel') setOutput('subject', `#${admission.pullRequest.number}`);
  if (admission.kind === 'bisect') {
    const { request, config } = admission;
    setOutput('request', requestText(request));
    setOutput('subject', subjectOf(request));
    await begin(bisectAnswerFor(context, request, config, { runId: context.inputs.job.runId }));
  }
  if (admission.kind !== 'go') return exitCodeOf(admission);

  const { request, config } = admission;
  const { runId } = context.inputs.job;
  setOutput('request', requestText(request));
  setOutput('subject', subjectOf(request));
  for (const name of gateNames(selectorsFor(config, request.ask, context.inputs))) {
    await begin(await answerFor(context, request, config, { name, runId }));
  }
  return exitCodes.pass;
}

async function begin(answer: Answer): Promise<void> {
  answer.queued('waits for a runner of the lab');
  await answer.left();
}

/**
 * What the event asks for; people are answered where that is nothing to measure. `here` makes something else of what is
 * not for this job.
 */
export async function admitEvent(
  context: JobContext,
  here: (admission: Admission) => Admission = (admission) => admission,
): Promise<Admission> {
  const { inputs, octokit, repository, readConfig } = context;
  const { job, patch, priority } = inputs;
  // The job's testbed is for all that it measures, and not what somebody asked of one gate.
  const { testbed: _, ...ask } = inputs.ask;
  const { testbed: __, ...bisectAsk } = inputs.bisectAsk;
  const event = { name: job.eventName, payload: await readEvent(job), commit: job.commit };
  const trigger = triggerOf(event, { patch, ask, bisectAsk });
  await acknowledge(trigger, context);
  const calledByAsker = trigger.kind === 'dispatched' ? calledAs.input : calledAs.comment;
  const asked = priority || (job.isRerun ? 'rerun' : '');
  const admitted = await admit(trigger, {
    octokit,
    repositoryName: job.repository,
    repository,
    readConfig,
    commit: job.commit,
    readRevision: (asked) => readRevision(asked, context),
    nameOf(config, ask) {
      const selectors = selectorsFor(config, ask, inputs);
      const asked = applyOverrides(config, ask, calledByAsker);
      for (const selector of selectors) testbedsFor(asked, selector);
      return gateNames(selectors)[0] ?? 'ppsgate';
    },
    checkBisection(config, ask) {
      testbedsFor(applyOverrides(config, ask, calledByAsker), bisectSelector(config, ask, inputs));
    },
    calledAs: calledByAsker,
    priority: asked === '' ? undefined : parsePriority(asked, calledAs.input('priority')),
  });
  const admission = here(admitted);
  if (admission.kind !== 'refused') log.info(admission.why);
  else log.error(admission.why);
  await notify(admission, context);
  return admission;
}

/** What keeps it from being a patch is for its author, too. */
async function readRevision(
  { patch: text, ask, key, build }: Extract<Trigger, { kind: 'dispatched' }>,
  context: JobContext,
) {
  const config = await context.readConfig(context.inputs.job.commit);
  const deps = revisionDepsOf(context, config);
  const name = parseRevisionName(text, deps.conduit.url);
  if (name === undefined) {
    throw new UsageError(
      `patch: expected a revision like D27401 or D27401:80677, found "${text}".`,
    );
  }
  const { number, diff } = await findRevision(deps.conduit, name);
  try {
    const which = parseEarlier(ask.earlier || 'none', calledAs.input('earlier'));
    const patch = await patchOfRevision({ revision: number, diff: diff.id }, which, deps);
    return { patch, config };
  } catch (error) {
    const place = {
      name: 'ppsgate',
      runId: context.inputs.job.runId,
      ...(key && { key }),
      ...(build && { build }),
    };
    const answer = answerOnPhabricator(context, config, { number, diff: diff.id }, place);
    await answer.ended(endingOfError(error));
    throw error;
  }
}

export const exitCodeOf = ({ kind }: Admission): number =>
  kind === 'refused' ? exitCodes.usage : exitCodes.pass;

/** Reacts to the comment of a command at once, and whatever comes of it. */
async function acknowledge(trigger: Trigger, { octokit, inputs }: JobContext): Promise<void> {
  if (trigger.kind !== 'comment') return;
  const { owner, repo } = placeOf(inputs.job.repository);
  const { id: comment_id } = trigger;
  await octokit
    .request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
      owner,
      repo,
      comment_id,
      content: 'eyes',
    })
    .catch((error: Error) => log.info(`The command got no reaction (${error.message}).`));
}

/** A refusal takes the place of what the comment told of an earlier push; the answer to a command has one of its own. */
async function notify(admission: Admission, context: JobContext): Promise<void> {
  if (admission.kind === 'go' || admission.kind === 'bisect' || admission.kind === 'nothing')
    return;
  const { octokit, inputs } = context;
  if (admission.kind === 'refused') {
    await tellRefusal(context, { ...admission, runId: inputs.job.runId });
    return;
  }
  const compose = () => answerTo(admission);
  const { pullRequest } = admission;
  const published = await publishComment(octokit, pullRequest, compose, { marker: notice });
  if (published.kind === 'not-published') log.warn(published.why);
}

type Of<Kind extends Admission['kind']> = Extract<Admission, { kind: Kind }>;

/**
 * Also in the name of a job whose token may only read. A check on the head that was passed for another base, or another
 * pull request, fails from now on; where a merge queue measures what nobody has asked for, a head has a neutral one.
 */
export async function tellRefusal(
  context: JobContext,
  refusal: Omit<Of<'refused'>, 'kind'> & { runId: number },
): Promise<void> {
  const { pullRequest, config, name, why, what, runId: run } = refusal;
  const { octokit, inputs } = context;
  const { number, headCommit } = pullRequest;
  const heading = what ?? `#${number} waits for a maintainer`;
  const body = `### ⏸️ ppsgate: ${heading}\n\n${codeSpan(withoutPaths(why), 1000)}`;
  const writing = { name, run, headCommit, at: new Date() };
  const compose = (before: string | undefined) =>
    name !== noticeName && isTold(before, headCommit)
      ? undefined
      : composeComment(before, body, writing);
  const published = await publishComment(octokit, pullRequest, compose, { marker: markerOf(name) });
  if (published.kind === 'not-published') log.warn(published.why);
  if (name === noticeName) return;
  const subject = { repository: pullRequest.repository, patch: pullRequest };
  const failureFor = async (gate: string) => {
    if (await standsForAnother(octokit, subject, gate)) return 'waits-for-leave';
    const isFirst =
      config.github.unasked === 'neutral' && !(await hasCheckRun(octokit, subject, gate));
    return isFirst ? 'left-to-queue' : undefined;
  };
  for (const gate of gateNames(selectorsFor(config, {}, inputs))) {
    const failure = await failureFor(gate);
    if (failure === undefined) continue;
    const marks = await marksFor(context, pullRequest, config.github, { name: gate, runId: run });
    await marks.ended(endingOfFailure(failure, why));
  }
}

/** Or whoever opens it again would wipe out what was measured of the same head. */
const isTold = (comment: string | undefined, headCommit: string): boolean =>
  comment !== undefined && readMemory(comment)?.headCommit === headCommit;

const notice = markerOf(noticeName);

function answerTo({ kind, why }: Of<'cancel' | 'help' | 'mistaken'>): string {
  const said = codeSpan(withoutPaths(why), 1000);
  const parts = {
    cancel: ['### ⏹️ ppsgate: cancelled', said],
    mistaken: ['### 🤔 ppsgate did not understand', said, help],
    help: ['### ppsgate', help],
  };
  return [notice, ...parts[kind]].join('\n\n');
}

const help = [
  '| write | to |',
  '|---|---|',
  ...commandsFor(callOnGithub).map(({ write, to }) => `| \`${write}\` | ${to} |`),
].join('\n');
