// Opens the reporters of a request, and records open ones for the end of the job, which runs even after a kill.

import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import { type Octokit, ownLogin } from '../forge/github/client.ts';
import * as bounded from '../model/bounds.ts';
import { type Patch, patchName, type Revision, type RevisionDiff, shortId } from '../model/patch.ts';
import { type CheckRunOptions, openCheckRun } from '../publish/reporters/check-run.ts';
import { type CommentOptions, openComment } from '../publish/reporters/comment.ts';
import { combineReporters, type Reporter } from '../publish/reporters/reporter.ts';
import { openRevisionComment, openRevisionReporter } from '../publish/reporters/revision-comment.ts';
import { failingOnSharedHead } from '../publish/reporters/shared-head.ts';
import { openStatus } from '../publish/reporters/status.ts';
import {
  type ApprovedRequest,
  approvedRequestSchema,
  type BisectRequest,
  type GateRequest,
  isBisection,
} from './approved-request.ts';
import type { Inputs } from './inputs.ts';
import { bisectName, type JobContext, revisionDepsOf } from './job.ts';
import { log, saveState } from './log.ts';

type ReporterOptions = {
  name: string;
  /** Id of the workflow run that measures, and has the journal. */
  runId: number;
  isOpen?: boolean;
  retry?: Pick<CheckRunOptions, 'patienceSeconds' | 'pause'>;
  keepComment?(url: string): void;
};

/** Opens the reporters of a gate or a bisection; a nightly run has none. */
export async function openReporter(
  context: JobContext,
  request: ApprovedRequest,
  config: Config,
  options: ReporterOptions,
): Promise<Reporter> {
  const { patch } = request;
  if (isBisection(request)) return bisectReporter(context, request, config, options);
  if (request.purpose === 'nightly') return combineReporters([]);
  return patch.kind === 'revision'
    ? revisionReporter(context, config, patch, { ...options, ...request.relay })
    : githubReporter(context, { ...request, patch }, config, options);
}

async function githubReporter(
  context: JobContext,
  { patch, overrides, purpose }: GateRequest & { patch: Exclude<Patch, Revision> },
  { github }: Config,
  options: ReporterOptions,
): Promise<Reporter> {
  // A merged commit can no longer be kept from being merged.
  const undecided = purpose === 'history' ? 'neutral' : github.undecided;
  const marks = await openMarks(context, patch, { ...github, undecided }, options);
  if (patch.kind !== 'pull-request') return marks;
  const shared = commentOptions(context, options);
  return combineReporters([marks, openComment(context.octokit, patch, { ...shared, name: options.name, overrides })]);
}

const commentOptions = (
  { inputs }: JobContext,
  { runId, keepComment, retry }: ReporterOptions,
): Omit<CommentOptions, 'name' | 'overrides'> => ({
  run: runId,
  detailsUrl: runUrl(inputs.job, runId),
  log,
  now: () => new Date(),
  ...(keepComment && { keep: keepComment }),
  ...retry,
});

export async function openMarks(
  { octokit, inputs: { job } }: JobContext,
  patch: Exclude<Patch, Revision>,
  { undecided, status }: Pick<Config['github'], 'undecided' | 'status'>,
  { name, runId, isOpen = false, retry }: ReporterOptions,
): Promise<Reporter> {
  const repository = patch.kind === 'pull-request' ? patch.repository : job.repository;
  const subject = { repository, patch };
  const shared = { name, detailsUrl: runUrl(job, runId), log, now: () => new Date(), ...retry };
  const login = await ownLogin(octokit).catch(() => workflowLogin);
  const isOwnApp = login !== workflowLogin;
  const check = openCheckRun(octokit, subject, { ...shared, undecided, isOpen, isOwnApp });
  if (patch.kind !== 'pull-request') return combineReporters([check]);
  const marks = [check, ...(status ? [openStatus(octokit, subject, shared)] : [])];
  return failingOnSharedHead(octokit, patch, combineReporters(marks), retry);
}

const workflowLogin = 'github-actions[bot]';

export function revisionReporter(
  context: JobContext,
  config: Config,
  revision: RevisionDiff,
  { name, runId, key, build, retry }: ReporterOptions & GateRequest['relay'],
): Reporter {
  const { conduit, config: phabricator } = revisionDepsOf(context, config);
  const run = key ?? `${runId}`;
  return openRevisionReporter(conduit, revision, {
    run: name === 'ppsgate' ? run : `${run} ${name.replace(/^ppsgate: /, '')}`,
    takesCommands: key !== undefined,
    details: runUrl(context.inputs.job, runId),
    undecided: phabricator.undecided,
    log,
    ...retry,
    ...(build !== undefined && { build }),
  });
}

/** Opens a separate comment. A bisection does not judge the head, so there is no check. */
function bisectReporter(
  context: JobContext,
  request: BisectRequest,
  config: Config,
  options: ReporterOptions,
): Reporter {
  const { patch, relay } = request;
  if (patch.kind !== 'revision') {
    const shared = commentOptions(context, options);
    return openBisectComment(context.octokit, request, shared) ?? combineReporters([]);
  }
  const { runId, retry } = options;
  return openRevisionComment(revisionDepsOf(context, config).conduit, patch, {
    run: relay?.key ?? `${runId}`,
    details: runUrl(context.inputs.job, runId),
    takesCommands: relay?.key !== undefined,
    log,
    ...retry,
  });
}

export function openBisectComment(
  octokit: Octokit,
  { patch, isOwn, good, bad }: BisectRequest,
  options: Omit<CommentOptions, 'name' | 'subject' | 'overrides'>,
): Reporter | undefined {
  if (patch.kind !== 'pull-request') return undefined;
  const commits = isOwn ? patchName(patch) : `${shortId(good)}..${shortId(bad)}`;
  const subject = `the bisection of ${commits}`;
  return combineReporters([openComment(octokit, patch, { ...options, name: bisectName, subject, overrides: {} })]);
}

const runUrl = ({ serverUrl, repository }: Inputs['job'], runId: number): string =>
  `${serverUrl}/${repository}/actions/runs/${runId}`;

const openReporterSchema = z.object({ name: bounded.word, request: approvedRequestSchema });

export type OpenReporter = z.infer<typeof openReporterSchema>;

export const saveOpenReporters = (reporters: readonly OpenReporter[]): void =>
  saveState('open-reporters', JSON.stringify(reporters));

export const readOpenReporters = (text: string): OpenReporter[] =>
  text === '' ? [] : bounded.list(openReporterSchema).parse(JSON.parse(text));
