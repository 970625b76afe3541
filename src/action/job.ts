// What every command of the Action shares: the inputs, GitHub, the checkout, and how a patch is answered.

import { parseConfig } from '../config/load.ts';
import { calledAs } from '../config/parameters.ts';
import type { PhabricatorConfig } from '../config/phabricator.ts';
import type { Config } from '../config/schema.ts';
import { selectorsOf } from '../config/select-testbeds.ts';
import { createOctokit, type Octokit, ownLogin } from '../forge/github/client.ts';
import type { BisectAsk } from '../forge/patch/bisect-command.ts';
import type { Ask } from '../forge/patch/command.ts';
import {
  type LinearRepository,
  openRepository,
  type WritableRepository,
} from '../forge/patch/repository.ts';
import type { RevisionDeps } from '../forge/patch/revision.ts';
import { openConduit } from '../forge/phabricator/conduit.ts';
import { phabricatorOf } from '../forge/phabricator/login.ts';
import { type Patch, patchName, type RevisionDiff, shortId } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import { type CheckRunOptions, openCheckRun } from '../publish/reporters/check-run.ts';
import { type CommentOptions, openComment } from '../publish/reporters/comment.ts';
import { type Answer, together } from '../publish/reporters/reporter.ts';
import { openRevisionAnswer, openRevisionComment } from '../publish/reporters/revision-comment.ts';
import { forOneBase } from '../publish/reporters/shared-head.ts';
import { openStatus } from '../publish/reporters/status.ts';
import type { AdmittedRequest, BisectRequest } from './approved-request.ts';
import type { Inputs } from './inputs.ts';
import { log, mask } from './log.ts';

export type JobContext = {
  inputs: Inputs;
  octokit: Octokit;
  repository: WritableRepository & LinearRepository;
  /** Reads the configuration from a commit of the base: a patch must not change what it is held to. */
  readConfig(commit: string): Promise<Config>;
};

/** A revision is made for whatever its author had, so for it the configuration is that of the branch that the job runs on. */
export const configCommitOf = (patch: Patch, { job }: Inputs): string =>
  patch.kind === 'revision' ? job.commit : patch.baseCommit;

export async function openJob(inputs: Inputs): Promise<JobContext> {
  const { job, token, config: path } = inputs;
  const octokit = await createOctokit({ token, apiUrl: job.apiUrl, log });
  const repository = openRepository(job.workspace, withToken(token, job.serverUrl));
  return {
    inputs,
    octokit,
    repository,
    async readConfig(base) {
      const commit = await repository.resolve(base);
      const text = await repository.read(`${commit}:${path}`).catch(() => {
        throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
      });
      return parseConfig(text, { path, home: process.env.HOME ?? '/' });
    },
  };
}

/**
 * Credentials for a private repository, whose checkout leaves none behind: in the environment, where nobody else sees
 * them (`GIT_CONFIG_COUNT` in git-config(1)). GitHub takes a token as the password of any user.
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

/** Phabricator as the bot whose token the job has; throws a `UsageError` where it has none. */
export function revisionDepsOf(
  { inputs: { conduitToken: token }, repository }: JobContext,
  configuration: Config,
): RevisionDeps & { config: PhabricatorConfig } {
  const config = phabricatorOf(configuration);
  if (token === '') {
    throw new UsageError(
      'conduit-token: a revision needs the token of a bot on Phabricator: give it as a secret.',
    );
  }
  return { conduit: openConduit({ url: config.url, token, log }), repository, config };
}

/** Selectors for testbeds: what a comment asks for comes before the inputs, and those before the configuration. */
export const selectorsFor = (config: Config, ask: Ask, inputs: Inputs): string[] =>
  selectorsOf(
    config,
    ask.testbed ? { testbed: ask.testbed } : { testbed: inputs.ask.testbed, each: inputs.each },
    calledAs.input,
  );

/** A bisection has one testbed. */
export const bisectSelector = (
  config: Config,
  { testbed }: Pick<BisectAsk, 'testbed'>,
  inputs: Inputs,
): string | undefined => selectorsFor(config, testbed ? { testbed } : {}, inputs)[0];

/** What the comment and the check of each gate are called. */
export const gateNames = (selectors: readonly string[]): string[] =>
  selectors.length === 1 ? ['ppsgate'] : selectors.map((selector) => `ppsgate: ${selector}`);

type AnswerPlace = {
  /** Name of the comment and of the check; see `gateNames`. */
  name: string;
  /** Id of the workflow run that measures, and has the journal. */
  runId: number;
  /** An earlier job of the same run has begun to answer. */
  isOpen?: boolean;
  /** Where the end is tried for longer than usual. */
  patience?: Pick<CheckRunOptions, 'patienceSeconds' | 'pause'>;
  /** Hears where the comment is. */
  keepComment?(url: string): void;
};

/** Where people look for how a gate goes; nobody waits for what is measured at night. */
export async function answerFor(
  context: JobContext,
  { patch, ask, purpose, revisionAnswer }: AdmittedRequest,
  config: Config,
  { keepComment, ...place }: AnswerPlace,
): Promise<Answer> {
  const { name, runId } = place;
  if (purpose === 'nightly') return together([]);
  if (patch.kind === 'revision') {
    return answerOnPhabricator(context, config, patch, { ...place, ...revisionAnswer });
  }
  // Nobody can be kept from merging what is merged already.
  const undecided = purpose === 'history' ? 'neutral' : config.github.undecided;
  const github = { ...config.github, undecided };
  const marks = await marksFor(context, patch, github, place);
  if (patch.kind !== 'pull-request') return marks;
  const comment = openComment(context.octokit, patch, {
    ...{ name, run: runId, ask, detailsUrl: runUrl(context.inputs.job, runId) },
    ...{ log, now: () => new Date(), ...(keepComment && { keep: keepComment }) },
    ...place.patience,
  });
  return together([marks, comment]);
}

/** What stands on the head commit: the check, and at a pull request the status where it is asked for. */
export async function marksFor(
  { octokit, inputs: { job } }: JobContext,
  patch: Exclude<Patch, { kind: 'revision' }>,
  { undecided, status }: Pick<Config['github'], 'undecided' | 'status'>,
  { name, runId, isOpen = false, patience }: Omit<AnswerPlace, 'keepComment'>,
): Promise<Answer> {
  const repository = patch.kind === 'pull-request' ? patch.repository : job.repository;
  const subject = { repository, patch };
  const shared = { name, detailsUrl: runUrl(job, runId), log, now: () => new Date(), ...patience };
  const login = await ownLogin(octokit).catch(() => workflowsOwn);
  const isOwnApp = login !== workflowsOwn;
  const check = openCheckRun(octokit, subject, { ...shared, undecided, isOpen, isOwnApp });
  if (patch.kind !== 'pull-request') return together([check]);
  const marks = [check, ...(status ? [openStatus(octokit, subject, shared)] : [])];
  return forOneBase(octokit, patch, together(marks), patience);
}

/** Tells how the gate goes, or what kept it from being one; `key` and `build` are those of a relay. */
export function answerOnPhabricator(
  context: JobContext,
  config: Config,
  revision: RevisionDiff,
  { name, runId, key, build, patience }: AnswerPlace & AdmittedRequest['revisionAnswer'],
): Answer {
  const { conduit, config: phabricator } = revisionDepsOf(context, config);
  const run = key ?? `${runId}`;
  return openRevisionAnswer(conduit, revision, {
    run: name === 'ppsgate' ? run : `${run} ${name.replace(/^ppsgate: /, '')}`,
    takesCommands: key !== undefined,
    details: runUrl(context.inputs.job, runId),
    undecided: phabricator.undecided,
    log,
    ...patience,
    ...(build !== undefined && { build }),
  });
}

/**
 * Where people look for how a bisection goes: in a comment of its own where it was asked for. It says nothing of the head,
 * so there is no check.
 */
export function bisectAnswerFor(
  context: JobContext,
  request: BisectRequest,
  config: Config,
  { runId, keepComment, patience }: Omit<AnswerPlace, 'name' | 'isOpen'>,
): Answer {
  const { patch, revisionAnswer } = request;
  const detailsUrl = runUrl(context.inputs.job, runId);
  if (patch.kind === 'revision') {
    const { conduit } = revisionDepsOf(context, config);
    const { key } = revisionAnswer ?? {};
    const about = { details: detailsUrl, takesCommands: key !== undefined, log, ...patience };
    return openRevisionComment(conduit, patch, { run: key ?? `${runId}`, ...about });
  }
  const comment = openBisectComment(context.octokit, request, {
    ...{ run: runId, detailsUrl, log, now: () => new Date() },
    ...(keepComment && { keep: keepComment }),
    ...patience,
  });
  return comment ?? together([]);
}

/** Beside the gate's comment, which stays as it is; undefined for what is at no pull request. */
export function openBisectComment(
  octokit: Octokit,
  { patch, isOwn, good, bad }: BisectRequest,
  options: Omit<CommentOptions, 'name' | 'subject' | 'ask'>,
): Answer | undefined {
  if (patch.kind !== 'pull-request') return undefined;
  const of = isOwn ? patchName(patch) : `${shortId(good)}..${shortId(bad)}`;
  const about = { name: 'ppsgate bisect', subject: `the bisection of ${of}`, ask: {} };
  return together([openComment(octokit, patch, { ...options, ...about })]);
}

const runUrl = ({ serverUrl, repository }: Inputs['job'], runId: number): string =>
  `${serverUrl}/${repository}/actions/runs/${runId}`;

const workflowsOwn = 'github-actions[bot]';
