// Replies on a pull request to commands and pushes that measure nothing.

import { publishComment } from '../forge/github/comment.ts';
import { commandsFor } from '../forge/patch/command.ts';
import { codeSpan, pageUrl } from '../model/escape.ts';
import { callOnGithub, type PullRequest } from '../model/patch.ts';
import { withoutPaths } from '../model/without-paths.ts';
import { checkIsForAnother, hasCheckRun } from '../publish/reporters/check-run.ts';
import { composeComment, markerOf, readMemory } from '../publish/reporters/comment-text.ts';
import { outcomeOfFailure } from '../publish/reporters/outcome.ts';
import { type CommandReply, noticeName, type Refusal } from './admission.ts';
import { gateNames, type JobContext, selectorsFor } from './job.ts';
import { log } from './log.ts';
import { openMarks } from './reporters.ts';

export const reply = (context: JobContext, admission: Refusal | CommandReply): Promise<void> =>
  admission.kind === 'refused'
    ? reportRefusal(context, { ...admission, runId: context.inputs.job.runId })
    : replyToCommand(context, admission);

/**
 * Comments on the refusal, even for a job whose token can only read. A check that passed the head for another base or
 * pull request fails from now on; a head that waits for the merge queue has a neutral check.
 */
export async function reportRefusal(
  context: JobContext,
  refusal: Omit<Refusal, 'kind'> & { runId: number },
): Promise<void> {
  const { pullRequest, config, name, why, what, commits = [], runId } = refusal;
  const { octokit, inputs } = context;
  const { number, headCommit } = pullRequest;
  const heading = what ?? `#${number} waits for a maintainer`;
  for (const id of commits) log.info(id);
  const list = commits.map((id) => commitLine(pullRequest, id)).join('\n');
  const body = `### ⏸️ ppsgate: ${heading}\n\n${quoted(why)}\n\n${list}`;
  const writing = { name, run: runId, headCommit, at: new Date() };
  await comment(context, pullRequest, name, (before) =>
    name !== noticeName && isReported(before, headCommit) ? undefined : composeComment(before, body, writing),
  );
  if (name === noticeName) return;
  const subject = { repository: pullRequest.repository, patch: pullRequest };
  for (const gate of gateNames(selectorsFor(config, {}, inputs))) {
    const isForAnother = await checkIsForAnother(octokit, subject, gate);
    const isQueued = config.github.unasked === 'neutral';
    if (!isForAnother && (!isQueued || (await hasCheckRun(octokit, subject, gate)))) continue;
    const marks = await openMarks(context, pullRequest, config.github, { name: gate, runId });
    await marks.conclude(outcomeOfFailure(isForAnother ? 'waits-for-approval' : 'left-to-merge-queue', why));
  }
}

/** A pull request reopened at the same head keeps the comment with its measurements. */
const isReported = (comment: string | undefined, headCommit: string): boolean =>
  comment !== undefined && readMemory(comment)?.headCommit === headCommit;

function replyToCommand(context: JobContext, { kind, pullRequest, why }: CommandReply): Promise<void> {
  const parts = {
    cancel: ['### ⏹️ ppsgate: cancelled', quoted(why)],
    mistaken: ['### 🤔 ppsgate did not understand', quoted(why), help],
    help: ['### ppsgate', help],
  };
  const text = [markerOf(noticeName), ...parts[kind]].join('\n\n');
  return comment(context, pullRequest, noticeName, () => text);
}

async function comment(
  { octokit }: JobContext,
  pullRequest: PullRequest,
  name: string,
  compose: (before: string | undefined) => string | undefined,
): Promise<void> {
  const marker = markerOf(name);
  const published = await publishComment(octokit, pullRequest, compose, { marker });
  if (published.kind === 'not-published') log.warn(published.why);
}

function commitLine({ url }: PullRequest, id: string): string {
  const page = pageUrl(`${url}/commits/${id}`);
  return page === undefined ? `- ${codeSpan(id)}` : `- [${codeSpan(id)}](${page})`;
}

const quoted = (why: string): string => codeSpan(withoutPaths(why), 1000);

const help = [
  '| write | to |',
  '|---|---|',
  ...commandsFor(callOnGithub).map(({ write, to }) => `| \`${write}\` | ${to} |`),
].join('\n');
