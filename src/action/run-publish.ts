// `command: publish`: answers with what another job has measured, which is taken for hostile, on the patch that GitHub names.

import { relative } from 'node:path';
import * as core from '@actions/core';
import { z } from 'zod';
import { type Answer, linkedAfterwards } from '../answer/answer.ts';
import {
  cancelled,
  type Ending,
  endingOfFailure,
  endingOfResult,
  summaryOf,
  titleOf,
} from '../answer/ending.ts';
import { testbedsThatDiffer } from '../build/unchanged.ts';
import { variantsByMaking } from '../build/variant.ts';
import { applyOverrides } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import type { Publication } from '../data-branch/layout.ts';
import { type Asked, type Recomputed, recompute } from '../experiment/recompute.ts';
import { agreesWith, parseResult, profilesIn, readEntries, withPatch } from '../github/artifact.ts';
import { numbersOf, pullRequestsOfBranch } from '../github/pull-request.ts';
import { testbedsFor } from '../inventory/wishes.ts';
import type { Repository } from '../patch/repository.ts';
import { restoreRevision } from '../patch/revision.ts';
import { type CellProfiles, withReasons } from '../profile/of-result.ts';
import { headline } from '../report/headline.ts';
import { reasonOf } from '../words/one-line.ts';
import { type Patch, patchName, shortId } from '../words/patch.ts';
import type { Result } from '../words/result.ts';
import { exitCodes } from '../words/upshot.ts';
import { UsageError } from '../words/usage-error.ts';
import { believedParts } from './believed-night.ts';
import { artifactName } from './extend.ts';
import { type GithubJob, readEvent } from './inputs.ts';
import {
  answerFor,
  configCommitOf,
  gateNames,
  type JobContext,
  revisionWorldOf,
  wishesFor,
} from './job.ts';
import { log } from './log.ts';
import { anHour, exitCodeIf, fetchPatiently, leftOf, type Patience } from './patience.ts';
import { publishBisection } from './publish-bisect.ts';
import { publishData } from './publish-data.ts';
import {
  type AdmittedRequest,
  failureOfText,
  fileOf,
  gateFolder,
  isBisection,
  isMeasuredAnyway,
  mostParts,
  partName,
  readRequest,
} from './request.ts';
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
  const wishes = wishesFor(config, request.ask, context.inputs);
  const names = gateNames(wishes);
  const endings = await endingsOf(source, { config, wishes, context, patience });
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

/** How a gate ended, or why it was not let begin. */
type Left =
  | { kind: 'refused'; why: string }
  | {
      kind: 'ended';
      ending: Ending;
      /** The gate's own result, as it is published; absent where it has none. */
      own?: Explained;
      /** What a night has measured besides. */
      parts: readonly Publication[];
      /** What the artifact said and was not believed, in sentences. */
      corrections: readonly string[];
      /** The artifact could not be read for a reason that passes: a later try may find a verdict. */
      mayPass?: boolean;
    };

type Explained = { result: Result; profiles: readonly CellProfiles[] };

type Ended = Extract<Left, { kind: 'ended' }>;

const ended = (ending: Ending): Ended => ({
  kind: 'ended',
  ending,
  parts: [],
  corrections: [],
});

type Source = {
  request: AdmittedRequest;
  /** Id of the workflow run that measured. */
  runId: number;
  /** Whether what it learnt of the base is kept. */
  isTrusted: boolean;
};

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

type Task = {
  config: Config;
  wishes: readonly string[];
  context: JobContext;
  patience: Patience;
};

/** How each gate ended, one for each wish, as far as the artifact can be believed. */
async function endingsOf(
  { request, runId, isTrusted }: Source,
  { config, wishes, context, patience }: Task,
): Promise<Left[]> {
  const { octokit, repository, inputs } = context;
  const { job } = inputs;
  const of = wishes.length;
  const everywhere = (ending: Ending) => new Array<Left>(of).fill(ended(ending));
  const { patch } = request;
  if (!isTrusted) {
    const own = await changedOfGate(patch, repository, job);
    if (own !== undefined) return everywhere(endingOfFailure('usage', selfMade(patch, own)));
  }
  const place = { repository: job.repository, runId, name: artifactName };
  const artifact = await fetchPatiently(octokit, place, patience);
  if (artifact.kind === 'none') return everywhere(cancelled);
  if (artifact.kind !== 'fetched') {
    const mayPass = artifact.kind === 'failed' && artifact.mayPass;
    const failed = ended(endingOfFailure('infrastructure', artifact.why));
    return new Array<Left>(of).fill({ ...failed, mayPass });
  }
  const configured = applyOverrides(config, inputs.ask, calledAs.input);
  const asked = applyOverrides(configured, request.ask, calledAs.comment);
  const files = Array.from({ length: of }, (_, index) => ({
    result: fileOf('result', index, of),
    failure: fileOf('failure', index, of),
    parts: Array.from({ length: request.purpose === 'nightly' ? mostParts : 0 }, (_, part) =>
      fileOf(partName(part + 1), index, of),
    ),
  }));
  const wanted = files.flatMap(({ result, failure, parts }) => [result, failure, ...parts]);
  const entries = await readEntries(artifact.bytes, wanted);
  if (entries.kind === 'refused') {
    return everywhere(endingOfFailure('infrastructure', entries.why));
  }
  return Promise.all(
    files.map(async ({ result, failure, parts: names }, index) => {
      const measured = entries.texts.get(result);
      if (measured === undefined) return endingOfText(entries.texts.get(failure));
      const testbeds = testbedsFor(asked, wishes[index]);
      const isExtended = request.extend !== undefined;
      const question = { patch, config: asked, testbeds, isExtended };
      const folder = gateFolder(index, of);
      const read = believed(measured, question);
      if (read.kind === 'refused') return ended(endingOfFailure('infrastructure', read.why));
      if (read.result.outcome.kind === 'unchanged') {
        const why = await whyNotUnchanged(request, { config: asked, wish: wishes[index], context });
        if (why !== undefined) return ended(endingOfFailure('infrastructure', why));
      }
      for (const sentence of read.refused) log.warn(`The artifact is not believed: ${sentence}`);
      const profiles = await profilesIn(artifact.bytes, read.result, folder, log.warn);
      const explained = withReasons(read.result, profiles);
      const corrections = read.refused;
      const parts = await believedParts(
        names.flatMap((name) => entries.texts.get(name) ?? []),
        {
          ...{ own: explained, config: asked, context, bytes: artifact.bytes, folder },
          whyNotUnchanged: (patch, wish) =>
            whyNotUnchanged(
              { ...request, patch, purpose: 'patch' },
              { config: asked, wish, context },
            ),
        },
      );
      return {
        kind: 'ended',
        ending: endingOfResult(explained, { corrections }),
        own: { result: explained, profiles },
        parts,
        corrections,
      };
    }),
  );
}

/** Believes only the numbers of all that the artifact says: what follows from them is computed again. */
function believed(text: string, asked: Asked): Recomputed {
  const read = parseResult(text);
  if (read.kind === 'refused') return read;
  const why = agreesWith(read.result, asked.patch);
  if (why !== undefined) return { kind: 'refused', why };
  return recompute(withPatch(read.result, asked.patch), asked);
}

/**
 * Why it is not believed that a patch changes nothing which is laid: such a result passes branch rules without a number,
 * so what the gate has found is found here again, between the commits that there was leave for.
 */
async function whyNotUnchanged(
  request: AdmittedRequest,
  { config, wish, context }: { config: Config; wish: string | undefined; context: JobContext },
): Promise<string | undefined> {
  const { patch } = request;
  const { repository, inputs } = context;
  const claim = `The result says that ${patchName(patch)} changes nothing which the testbed lays`;
  if (isMeasuredAnyway(request, inputs.ask)) {
    return `${claim}, which was to be measured anyway: judge the patch again.`;
  }
  try {
    if (patch.kind === 'revision') {
      await restoreRevision(patch, revisionWorldOf(context, config));
    }
    const question = { patch, config, testbeds: testbedsFor(config, wish) };
    const variants = await variantsByMaking(question, repository);
    const differ = await testbedsThatDiffer({ ...question, variants }, repository);
    if (differ.length === 0) return undefined;
    return `${claim}, and on ${differ.join(' and ')} it does: judge the patch again.`;
  } catch (error) {
    return `${claim}, and nobody can prove it (${reasonOf(error)}): judge the patch again.`;
  }
}

/** A gate that was cut short has left neither a result nor a word. */
function endingOfText(text: string | undefined): Left {
  const failure = failureOfText(text);
  if (failure === undefined) return ended(cancelled);
  const { why, said, isRefused } = failure;
  return isRefused ? { kind: 'refused', why: said } : ended(endingOfFailure(why, said));
}

/**
 * What the patch changes of that which measures it, which could then write any result: the workflows, and where the
 * action lies in the repository all that runs with it.
 */
export async function changedOfGate(
  { baseCommit, headCommit }: Pick<Patch, 'baseCommit' | 'headCommit'>,
  repository: Repository,
  { isOwnAction, workspace }: Pick<GithubJob, 'isOwnAction' | 'workspace'>,
  code = import.meta.dirname,
): Promise<string | undefined> {
  const base = await repository.mergeBase(baseCommit, headCommit);
  for (const path of [
    '.github/',
    ...(isOwnAction ? pathsOfAction(relative(workspace, code)) : []),
  ]) {
    const [before, after] = await Promise.all(
      [base, headCommit].map((commit) => repository.idAt(commit, path.replace(/\/$/, ''))),
    );
    if (before !== after) return path;
  }
  return undefined;
}

/** Node looks for modules and for package.json beside what it runs, and in every folder above. */
function pathsOfAction(code: string): string[] {
  const isInside = code !== '' && !code.startsWith('..');
  const folders = isInside ? code.split('/').map((_, end, names) => names.slice(0, end)) : [[]];
  const beside = ['dist/', 'action.yml', 'action.yaml', 'package.json', 'node_modules/'];
  return [
    ...(isInside ? [`${code}/`] : []),
    ...folders.flatMap((names) => beside.map((name) => [...names, name].join('/'))),
  ];
}

const selfMade = (patch: Patch, path: string): string =>
  `${patchName(patch)} changes ${path}, and so could say anything of itself: a maintainer who has read it can write /ppsgate run ${shortId(patch.headCommit)}.`;

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
