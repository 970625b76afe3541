// Reads the outcomes of an untrusted job from its artifact, and verifies them: only raw numbers are trusted.

import { withReasons } from '../analysis/profile/result-profiles.ts';
import { applyOverrides } from '../config/overrides.ts';
import { namingStyles } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import { agreesWith, parseResult, profilesIn, readEntries, withPatch } from '../forge/github/artifact.ts';
import type { HistoryEntry } from '../gate/experiment/history.ts';
import { recompute } from '../gate/experiment/recompute.ts';
import { bisectResultSchema } from '../model/bisect-result.ts';
import { exitCodes } from '../model/conclusion.ts';
import { parseJson } from '../model/json.ts';
import { reasonOf } from '../model/one-line.ts';
import { type Patch, patchName } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Publication } from '../publish/data-branch/layout.ts';
import {
  cancelledOutcome,
  outcomeOfFailure,
  outcomeOfResult,
  type ReportedOutcome,
} from '../publish/reporters/outcome.ts';
import {
  type ApprovedRequest,
  type BisectRequest,
  type GateRequest,
  gateFolder,
  isBisection,
  maxNightlyParts,
  nightlyPart,
  outputFile,
  readFailure,
} from './approved-request.ts';
import { requestedOf } from './bisect-plan.ts';
import { artifactName } from './extend.ts';
import { changedOfGate } from './gate-code.ts';
import { type JobContext, selectorsFor } from './job.ts';
import { log } from './log.ts';
import { fetchArtifactWithRetries, type RetryBudget } from './publish-retry.ts';
import { readSharedHistory } from './shared-history.ts';
import { whyNotUnchanged } from './unchanged-claim.ts';
import { verifiedBisection } from './verified-bisection.ts';
import { verifiedParts } from './verified-nightly.ts';

type JobOutcome = { kind: 'refused'; why: string } | ConcludedJob;

export type ConcludedJob = {
  kind: 'concluded';
  reportedOutcome: ReportedOutcome;
  /** The result itself comes first. A nightly run has others. */
  publications: readonly Publication[];
  corrections: readonly string[];
  /** True for a temporary failure to read the artifact: a later try may find a verdict. */
  mayPass?: boolean;
};

export const concludedAs = (reportedOutcome: ReportedOutcome): ConcludedJob => ({
  kind: 'concluded',
  reportedOutcome: reportedOutcome,
  publications: [],
  corrections: [],
});

export type Source = {
  request: ApprovedRequest;
  runId: number;
  /** True if its measurements of base may enter the history. */
  isTrusted: boolean;
};

type PublishTask = {
  config: Config;
  context: JobContext;
  retry: RetryBudget;
  judge?: typeof recompute;
};

/** Returns one outcome per gate, in the order of their selectors, or that of the bisection. */
export async function readOutcomes(source: Source, task: PublishTask): Promise<JobOutcome[]> {
  const { config, context, judge = recompute } = task;
  const { request } = source;
  const selectors = isBisection(request) ? [undefined] : selectorsFor(config, request.overrides, context.inputs);
  const files = selectors.map((_, index) => filesOf(request, index, selectors.length));
  const artifact = await readArtifact(source, files, task);
  if (artifact.kind === 'concluded') return selectors.map(() => artifact);
  const history = isBisection(request) ? [] : await readSharedHistory(config, context);
  const settings = isBisection(request) ? config : overridden(config, request, context);
  return Promise.all(
    files.map((files, index) => {
      const text = artifact.texts.get(files.result);
      if (text === undefined) return concludedOrRefused(artifact.texts.get(files.failure));
      const claim = { ...source, text, context, files, artifact, config: settings, judge };
      const outcome = isBisection(request)
        ? bisectOutcome({ ...claim, request })
        : gateOutcome({ ...claim, request, history, selector: selectors[index] });
      return outcome.catch(outcomeOfError);
    }),
  );
}

/**
 * Other gates of the job have their own outcomes. A computation fails every time, but a read of git may succeed later.
 */
function outcomeOfError(error: unknown): ConcludedJob {
  if (error instanceof UsageError) throw error;
  const why = `The result cannot be verified (${reasonOf(error)}): judge the patch again.`;
  return { ...notVerified(why), mayPass: !(error instanceof RangeError) };
}

function overridden(config: Config, request: GateRequest, { inputs }: JobContext): Config {
  const configured = applyOverrides(config, inputs.overrides, namingStyles.input);
  return applyOverrides(configured, request.overrides, namingStyles.comment);
}

type ArtifactFiles = {
  result: string;
  failure: string;
  parts: string[];
  folder: string;
};

function filesOf(request: ApprovedRequest, index: number, count: number): ArtifactFiles {
  const isNightly = !isBisection(request) && request.purpose === 'nightly';
  return {
    result: outputFile('result', index, count),
    failure: outputFile('failure', index, count),
    parts: Array.from({ length: isNightly ? maxNightlyParts : 0 }, (_, part) =>
      outputFile(nightlyPart(part + 1), index, count),
    ),
    folder: gateFolder(index, count),
  };
}

type Artifact = { kind: 'read'; bytes: Buffer; texts: ReadonlyMap<string, string> };

/** Fetches the artifact and reads these files. Without it, all gates have the returned outcome. */
async function readArtifact(
  { request: { patch }, runId, isTrusted }: Source,
  files: readonly ArtifactFiles[],
  { context, retry }: PublishTask,
): Promise<Artifact | ConcludedJob> {
  const { octokit, repository, inputs } = context;
  const { job } = inputs;
  if (!isTrusted) {
    const changed = await changedOfGate(patch, repository, job);
    if (changed !== undefined) {
      return concludedAs(outcomeOfFailure('usage', selfMade(patch, changed)));
    }
  }
  const place = { repository: job.repository, runId, name: artifactName };
  const fetched = await fetchArtifactWithRetries(octokit, place, retry);
  if (fetched.kind === 'none') return concludedAs(cancelledOutcome);
  if (fetched.kind !== 'fetched') {
    const mayPass = fetched.kind === 'failed' && fetched.mayPass;
    return { ...notVerified(fetched.why), mayPass };
  }
  const { bytes } = fetched;
  const paths = files.flatMap(({ result, failure, parts }) => [result, failure, ...parts]);
  const entries = await readEntries(bytes, paths);
  if (entries.kind === 'refused') return notVerified(entries.why);
  return { kind: 'read', bytes, texts: entries.texts };
}

const notVerified = (why: string): ConcludedJob => concludedAs(outcomeOfFailure('infrastructure', why));

const selfMade = (patch: Patch, path: string): string =>
  `${patchName(patch)} changes ${path}, so its result cannot be trusted: a maintainer who has read it can write /ppsgate run ${patch.headCommit}.`;

/** An interrupted job left neither a result nor a failure. */
function concludedOrRefused(text: string | undefined): JobOutcome {
  const failure = readFailure(text);
  if (failure === undefined) return concludedAs(cancelledOutcome);
  const { exitCode, said, isRefused } = failure;
  if (isRefused) return { kind: 'refused', why: said };
  const why = exitCode === exitCodes.usage ? 'usage' : 'infrastructure';
  return concludedAs(outcomeOfFailure(why, said));
}

type Claim = {
  text: string;
  isTrusted: boolean;
  context: JobContext;
  files: ArtifactFiles;
  artifact: Artifact;
  config: Config;
  judge: typeof recompute;
};

type GateClaim = Claim & {
  request: GateRequest;
  selector: string | undefined;
  history: readonly HistoryEntry[];
};

async function gateOutcome(claim: GateClaim): Promise<JobOutcome> {
  const { request, files, artifact, isTrusted } = claim;
  const read = await recomputed(claim);
  if (read.kind === 'refused') return notVerified(read.why);
  if (read.result.outcome.kind === 'unchanged') {
    const why = await whyNotUnchanged(request, claim);
    if (why !== undefined) return notVerified(why);
  }
  const { refused: corrections } = read;
  for (const sentence of corrections) log.warn(`The artifact is not verified: ${sentence}`);
  const profiles = await profilesIn(artifact.bytes, read.result, files.folder, log.warn);
  const result = withReasons(read.result, profiles);
  const own = { result, profiles, isDefaultBranch: request.purpose !== 'patch', isTrusted };
  return {
    kind: 'concluded',
    reportedOutcome: outcomeOfResult(result, { corrections }),
    publications: [own, ...(await partsOfNightly(result, claim))],
    corrections,
  };
}

/** Recomputes everything that follows from the raw numbers. */
async function recomputed({ text, request, config, selector, history, context, judge }: GateClaim) {
  const { patch } = request;
  const read = parseResult(text);
  if (read.kind === 'refused') return read;
  const why = agreesWith(read.result, patch);
  if (why !== undefined) return { kind: 'refused' as const, why };
  const testbeds = testbedsFor(config, selector);
  const isExtended = request.extend !== undefined;
  // The commits of a patch may be missing here.
  const mergeBase = await context.repository.mergeBase(patch.baseCommit, patch.headCommit).catch(() => undefined);
  const settings = { patch, config, testbeds, isExtended, history, mergeBase };
  return judge(withPatch(read.result, patch), settings);
}

/** Returns a nightly run's results other than the A/A run; none for other gates. */
const partsOfNightly = (own: Result, claim: GateClaim): Promise<Publication[]> => {
  const { request, config, context, files, artifact } = claim;
  return verifiedParts(
    files.parts.flatMap((name) => artifact.texts.get(name) ?? []),
    {
      own,
      config,
      context,
      bytes: artifact.bytes,
      folder: files.folder,
      whyNotUnchanged: (patch, selector) =>
        whyNotUnchanged({ ...request, patch, purpose: 'patch' }, { config, selector, context }),
    },
  );
};

async function bisectOutcome({
  text,
  request,
  config,
  context,
  artifact,
}: Claim & { request: BisectRequest }): Promise<JobOutcome> {
  const { data } = bisectResultSchema.safeParse(parseJson(text));
  if (data === undefined) {
    return notVerified('The result is not of a bisection, or from another version.');
  }
  const verified = await verifiedBisection(data, request, config, context);
  if (verified.kind === 'refused') return notVerified(verified.why);
  const profiles = await profilesIn(artifact.bytes, verified.result, '', log.warn);
  const result = withReasons(verified.result, profiles);
  const links = { rawData: `the [job](${context.inputs.job.runUrl})` };
  return {
    kind: 'concluded',
    reportedOutcome: { kind: 'bisected', result, request: requestedOf(request), links },
    // Its numbers are not recomputed, and it does not describe the default branch.
    publications: [{ result, profiles, isDefaultBranch: false, isTrusted: false }],
    corrections: [],
  };
}
