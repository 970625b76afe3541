// What both jobs of a bisection need to know of it: what it is held to, its commits, and how it was asked for.
import { applyOverrides, parseMostBoots, parseSwitch } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import type { BisectAsk } from '../forge/patch/bisect-command.ts';
import { lineOfDiffs, PatchError, restoreRevision } from '../forge/patch/revision.ts';
import { patchName, shortId } from '../model/patch.ts';
import type { BisectRequest } from './approved-request.ts';
import { bisectSelector, type JobContext, revisionDepsOf } from './job.ts';

/** The configuration that a bisection at a pull request is held to is that of its base, and any other that of the job. */
export const readBisectConfig = (
  { patch }: BisectRequest,
  { inputs, readConfig }: JobContext,
): Promise<Config> =>
  readConfig(patch.kind === 'pull-request' ? patch.baseCommit : inputs.job.commit);

export type Held = {
  /** The configuration of the job, with the one cell that is measured. */
  config: Config;
  testbeds: string[];
  mostBoots: number;
  isVerified: boolean;
};

/** What is asked, in place of what the job's inputs and the configuration say; throws a `UsageError`. */
export function heldTo({ ask, cell }: BisectRequest, written: Config, context: JobContext): Held {
  const { inputs } = context;
  const configured = applyOverrides(written, inputs.ask, calledAs.input);
  const named = { ...ask, scenarios: cell.scenario, families: cell.family };
  const asked = applyOverrides(configured, named, calledAs.comment);
  const { frameSizes: [size] = [] } = asked;
  const frameBytes = cell.frameBytes ?? size;
  const config = { ...asked, ...(frameBytes !== undefined && { frameSizes: [frameBytes] }) };
  const { maxBoots, verifyRevert } = inputs.bisectAsk;
  return {
    config,
    testbeds: testbedsFor(config, bisectSelector(config, ask, inputs)),
    mostBoots: parseMostBoots(ask.maxBoots || maxBoots, calledAs.input('maxBoots')),
    isVerified: [ask.verifyRevert, verifyRevert].some((text) =>
      parseSwitch(text, calledAs.input('verifyRevert')),
    ),
  };
}

/**
 * Makes again the commits that another machine made of a revision's diffs; throws a `PatchError` where they are others,
 * for then they are not what there was leave for.
 */
export async function restoreCommits(
  { patch, isOwn, bad }: BisectRequest,
  config: Config,
  context: JobContext,
): Promise<void> {
  if (patch.kind !== 'revision' || !isOwn) return;
  await restoreRevision(patch, revisionDepsOf(context, config));
  const made = await lineOfDiffs(patch, context.repository);
  if (made.bad === bad) return;
  throw new PatchError(`The diffs of ${patchName(patch)} are not what they were: ask once more.`);
}

/** What was asked for, as people would write it. */
export function askedOf({ ask, cell, isOwn, good, bad }: BisectRequest): BisectAsk {
  const short = (ids: string) => ids.replace(/[0-9a-f]{40,64}/g, shortId);
  return {
    ...ask,
    ...(!isOwn && { good: short(good), bad: short(bad) }),
    ...{ scenarios: cell.scenario, families: cell.family },
    ...(ask.fixUp && { fixUp: short(ask.fixUp) }),
    ...(ask.skip && { skip: short(ask.skip) }),
  };
}
