// `command: publish` after a bisection: answers with what another job has found, which is taken for hostile.

import * as core from '@actions/core';
import { type CellProfiles, withReasons } from '../analysis/profile/result-profiles.ts';
import type { Config } from '../config/schema.ts';
import { profilesIn, readEntries } from '../forge/github/artifact.ts';
import {
  type BisectAnswer,
  type BisectResult,
  bisectResultSchema,
} from '../model/bisect-result.ts';
import { parseJson } from '../model/json.ts';
import { reasonOf } from '../model/one-line.ts';
import { cellName } from '../model/scenario.ts';
import {
  type Bisected,
  cancelled,
  type Ending,
  endingOfFailure,
  summaryOf,
  titleOf,
  type Unmeasured,
} from '../publish/reporters/outcome-text.ts';
import { linkedNow } from '../publish/reporters/reporter.ts';
import { type BisectRequest, failureOfText, fileOf } from './approved-request.ts';
import { askedOf, heldTo, readBisectConfig, restoreCommits } from './bisect-job.ts';
import { artifactName } from './extend.ts';
import { bisectAnswerFor, type JobContext } from './job.ts';
import { log } from './log.ts';
import { publishData } from './publish-data.ts';
import { exitCodeIf, fetchPatiently, leftOf, type Patience } from './publish-retry.ts';

/** Passes when whoever asked is answered, whatever was found. */
export async function publishBisection(
  request: BisectRequest,
  context: JobContext,
  patience: Patience,
): Promise<number> {
  const config = await readBisectConfig(request, context);
  const { runId } = context.inputs.job;
  const { ending, profiles = [], mayPass } = await endingOf(request, config, context, patience);
  const answer = bisectAnswerFor(context, request, config, { runId, patience: leftOf(patience) });
  const given = await answer.ended(ending);
  if (ending.kind === 'unmeasured') log.info(titleOf(ending));
  else await core.summary.addRaw(summaryOf(ending)).write();
  if (ending.kind === 'bisected') {
    const publication = { result: ending.result, profiles, ...kept };
    const make = async () => (await publishData(context, config, [publication]))[0] ?? {};
    await linkedNow(answer, ending, make, log.warn);
  }
  return exitCodeIf(given !== 'untaken' && !mayPass);
}

/** A bisection tells the branch's badges nothing, and nobody computes its numbers again. */
const kept = { isDefaultBranch: false, isTrusted: false } as const;

type Left = {
  ending: Ending;
  /** The profiles that a result tells of, as far as they could be read. */
  profiles?: readonly CellProfiles[];
  /** The artifact could not be read for a reason that passes. */
  mayPass?: boolean;
};

async function endingOf(
  request: BisectRequest,
  config: Config,
  context: JobContext,
  patience: Patience,
): Promise<Left> {
  const { octokit, inputs } = context;
  const { repository, runId, runUrl } = inputs.job;
  const artifact = await fetchPatiently(
    octokit,
    { repository, runId, name: artifactName },
    patience,
  );
  if (artifact.kind === 'none') return { ending: cancelled };
  if (artifact.kind !== 'fetched') {
    const mayPass = artifact.kind === 'failed' && artifact.mayPass;
    return { ending: endingOfFailure('infrastructure', artifact.why), mayPass };
  }
  const [result, failure] = [fileOf('result', 0, 1), fileOf('failure', 0, 1)];
  const entries = await readEntries(artifact.bytes, [result, failure]);
  if (entries.kind === 'refused') {
    return { ending: endingOfFailure('infrastructure', entries.why) };
  }
  const text = entries.texts.get(result);
  if (text === undefined) return { ending: endingOfText(entries.texts.get(failure)) };
  const read = bisectResultSchema.safeParse(parseJson(text));
  const found = read.success
    ? await verifiedBisection(read.data, request, config, context)
    : {
        kind: 'refused' as const,
        why: 'The result is none of a bisection, or of another version.',
      };
  if (found.kind === 'refused') return { ending: endingOfFailure('infrastructure', found.why) };
  const links = { rawData: `the [job](${runUrl})` };
  const asked = askedOf(request);
  const profiles = await profilesIn(artifact.bytes, found.result, '', log.warn);
  const explained = withReasons(found.result, profiles);
  const ending: Bisected = { kind: 'bisected', result: explained, asked, links };
  return { ending, profiles };
}

function endingOfText(text: string | undefined): Unmeasured {
  const failure = failureOfText(text);
  return failure === undefined ? cancelled : endingOfFailure(failure.why, failure.said);
}

type Verified = { kind: 'verified'; result: BisectResult } | { kind: 'refused'; why: string };

/**
 * Believes the numbers of what was measured, and of commits what git says of them here: whoever lies about the numbers
 * blames another commit, and passes none.
 */
export async function verifiedBisection(
  result: BisectResult,
  request: BisectRequest,
  written: Config,
  context: JobContext,
): Promise<Verified> {
  const refused = (why: string): Verified => ({ kind: 'refused', why: `The result is ${why}.` });
  const { config, testbeds } = heldTo(request, written, context);
  const [frameBytes] = config.frameSizes ?? [];
  const cell = { ...request.cell, ...(frameBytes !== undefined && { frameBytes }) };
  if (result.good !== request.good || result.bad !== request.bad) {
    return refused('of other commits than were asked for');
  }
  if (!testbeds.includes(result.testbed.name)) return refused('of another testbed');
  if (cellName(result.cell) !== cellName(cell) || result.metric !== config.gate.metric) {
    return refused('of another cell, or by another metric');
  }
  if (indicesIn(result.answer).some((index) => index >= result.revisions.length)) {
    return refused('of commits that it does not have');
  }
  try {
    await restoreCommits(request, written, context);
    const known = await commitsOf(request, context);
    const revisions = result.revisions.flatMap((revision) => {
      const { place, ...rest } = known.get(revision.commit) ?? {};
      return place === revision.place ? [{ ...revision, ...rest }] : [];
    });
    if (revisions.length < result.revisions.length) return refused('of commits of another range');
    return { kind: 'verified', result: { ...result, revisions } };
  } catch (error) {
    return refused(`of commits that cannot be read here (${reasonOf(error)})`);
  }
}

type Known = { place: number; subject: string; author: string };

/** What git knows of the good commit and of those after it along first parents, by their ids. */
async function commitsOf(
  { good, bad }: BisectRequest,
  { repository }: JobContext,
): Promise<Map<string, Known>> {
  await repository.resolve(bad);
  const known = new Map([[good, { place: 0, ...(await repository.describe(good)) }]]);
  for await (const { commit, subject, author } of repository.firstParents(good, bad)) {
    known.set(commit, { place: known.size, subject, author });
  }
  return known;
}

/** All that an answer has of revisions, by their indices. */
function indicesIn(answer: BisectAnswer): number[] {
  switch (answer.kind) {
    case 'culprit':
      return [answer.revision];
    case 'group':
      return [answer.after, answer.last];
    case 'several':
      return [
        ...answer.found.flatMap(indicesIn),
        ...answer.open.flatMap(({ after, last }) => [after, last]),
      ];
    case 'not-reproduced':
      return answer.fault === undefined ? [] : [answer.fault.revision];
    case 'slide':
      return answer.steps;
    case 'inconclusive':
      return answer.best.map(({ revision }) => revision);
  }
}
