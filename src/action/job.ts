// Defines the context of every job of the Action: its inputs, GitHub, the checkout, and the base's configuration.

import { namingStyles } from '../config/parameters.ts';
import type { PhabricatorConfig } from '../config/phabricator.ts';
import type { Config } from '../config/schema.ts';
import { selectorsOf } from '../config/select-testbeds.ts';
import type { Octokit } from '../forge/github/client.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import type { GateOverrides } from '../forge/patch/command.ts';
import { PatchError } from '../forge/patch/patch-error.ts';
import type { LinearRepository, WritableRepository } from '../forge/patch/repository.ts';
import { lineOfDiffs, type RevisionDeps, restoreRevision } from '../forge/patch/revision.ts';
import { openConduit, withPatience } from '../forge/phabricator/conduit.ts';
import { phabricatorOf } from '../forge/phabricator/login.ts';
import { patchName } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import { type ApprovedRequest, isBisection } from './approved-request.ts';
import type { Inputs } from './inputs.ts';
import { log } from './log.ts';

export type JobContext = {
  inputs: Inputs;
  octokit: Octokit;
  repository: WritableRepository & LinearRepository;
  /** Reads the configuration from a commit of the base: a patch must not change its own rules. */
  readConfig(commit: string): Promise<Config>;
};

/** Reads it at the base for commits to judge, and at the job's own commit for a revision or a bisection of commits. */
export function readConfigFor(request: ApprovedRequest, { inputs, readConfig }: JobContext): Promise<Config> {
  const { patch } = request;
  const isOfBase = isBisection(request) ? patch.kind === 'pull-request' : patch.kind !== 'revision';
  return readConfig(isOfBase ? patch.baseCommit : inputs.job.commit);
}

/** Recreates another machine's commits. Throws a `PatchError` if they differ from the approved ones. */
export async function restoreCommits(request: ApprovedRequest, config: Config, context: JobContext): Promise<void> {
  const { patch } = request;
  if (patch.kind !== 'revision' || (isBisection(request) && !request.isOwn)) return;
  await restoreRevision(patch, revisionDepsOf(context, config));
  if (!isBisection(request)) return;
  const restored = await lineOfDiffs(patch, context.repository);
  if (restored.bad === request.bad) return;
  throw new PatchError(`The diffs of ${patchName(patch)} have changed: request it again.`);
}

/** Connects to Phabricator as the bot of the job's token. Throws a `UsageError` without a token. */
export function revisionDepsOf(
  { inputs: { conduitToken: token }, repository }: JobContext,
  configuration: Config,
): RevisionDeps & { config: PhabricatorConfig } {
  const config = phabricatorOf(configuration);
  if (token === '') {
    throw new UsageError('conduit-token: a revision needs the token of a bot on Phabricator: pass it from a secret.');
  }
  const conduit = openConduit({ url: config.url, token, log });
  const patience = { log, signal: new AbortController().signal, maxSeconds: secondsOfRead };
  return { conduit: withPatience(conduit, patience), repository, config };
}

/** The shortest job, which admits a patch, lasts at most ten minutes. */
const secondsOfRead = 240;

/** Precedence: the comment, the inputs, the configuration. */
export const selectorsFor = (
  config: Config,
  overrides: GateOverrides,
  inputs: Pick<Inputs, 'overrides' | 'each'>,
): string[] =>
  selectorsOf(
    config,
    overrides.testbed ? { testbed: overrides.testbed } : { testbed: inputs.overrides.testbed, each: inputs.each },
    namingStyles.input,
  );

export const bisectSelector = (
  config: Config,
  { testbed }: Pick<BisectOverrides, 'testbed'>,
  inputs: Inputs,
): string | undefined => selectorsFor(config, testbed ? { testbed } : {}, inputs)[0];

export const gateNames = (selectors: readonly string[]): string[] =>
  selectors.length === 1 ? ['ppsgate'] : selectors.map((selector) => `ppsgate: ${selector}`);

export const reporterNames = (request: ApprovedRequest, config: Config, inputs: Inputs): string[] =>
  isBisection(request) ? [bisectName] : gateNames(selectorsFor(config, request.overrides, inputs));

export const bisectName = 'ppsgate bisect';
