// Reads from the artifact of another job how its gates ended. That job is untrusted: only raw numbers are taken over.

import { type CellProfiles, withReasons } from '../analysis/profile/result-profiles.ts';
import { applyOverrides } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import {
  agreesWith,
  parseResult,
  profilesIn,
  readEntries,
  withPatch,
} from '../forge/github/artifact.ts';
import { type Asked, type Recomputed, recompute } from '../gate/experiment/recompute.ts';
import { type Patch, patchName, shortId } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import type { Publication } from '../publish/data-branch/layout.ts';
import {
  cancelled,
  type Ending,
  endingOfFailure,
  endingOfResult,
} from '../publish/reporters/outcome-text.ts';
import {
  type AdmittedRequest,
  failureOfText,
  fileOf,
  gateFolder,
  mostParts,
  partName,
} from './approved-request.ts';
import { artifactName } from './extend.ts';
import { changedOfGate } from './gate-code.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { fetchPatiently, type Patience } from './publish-retry.ts';
import { whyNotUnchanged } from './unchanged-claim.ts';
import { verifiedParts } from './verified-nightly.ts';

/** How a gate ended, or why it was not let begin. */
export type Left =
  | { kind: 'refused'; why: string }
  | {
      kind: 'ended';
      ending: Ending;
      /** The gate's own result, as it is published; absent where it has none. */
      own?: Explained;
      /** What a nightly run has measured besides. */
      parts: readonly Publication[];
      /** What the artifact said and was not verified, in sentences. */
      corrections: readonly string[];
      /** The artifact could not be read for a reason that passes: a later try may find a verdict. */
      mayPass?: boolean;
    };

type Explained = { result: Result; profiles: readonly CellProfiles[] };

export type Ended = Extract<Left, { kind: 'ended' }>;

export const ended = (ending: Ending): Ended => ({
  kind: 'ended',
  ending,
  parts: [],
  corrections: [],
});

export type Source = {
  request: AdmittedRequest;
  /** Id of the workflow run that measured. */
  runId: number;
  /** Whether what it learnt of the base is kept. */
  isTrusted: boolean;
};

type Task = {
  config: Config;
  selectors: readonly string[];
  context: JobContext;
  patience: Patience;
};

/** Returns how each gate ended, one for each selector. */
export async function endingsOf(source: Source, task: Task): Promise<Left[]> {
  const { selectors, context } = task;
  const { request } = source;
  const gates = selectors.map((_, index) => filesOf(request, index, selectors.length));
  const artifact = await readArtifact(source, gates, task);
  if (artifact.kind === 'ended') return selectors.map(() => artifact);
  const configured = applyOverrides(task.config, context.inputs.ask, calledAs.input);
  const config = applyOverrides(configured, request.ask, calledAs.comment);
  return Promise.all(
    gates.map((files, index) =>
      endingOf({ request, config, selector: selectors[index], context, files, artifact }),
    ),
  );
}

/** Paths in the artifact of what one gate leaves. */
type GateFiles = {
  result: string;
  failure: string;
  /** Results of what a nightly run measures besides. */
  parts: string[];
  /** Folder of the profiles: empty, or with a slash at its end. */
  folder: string;
};

const filesOf = ({ purpose }: AdmittedRequest, index: number, of: number): GateFiles => ({
  result: fileOf('result', index, of),
  failure: fileOf('failure', index, of),
  parts: Array.from({ length: purpose === 'nightly' ? mostParts : 0 }, (_, part) =>
    fileOf(partName(part + 1), index, of),
  ),
  folder: gateFolder(index, of),
});

type Artifact = { kind: 'read'; bytes: Buffer; texts: ReadonlyMap<string, string> };

/** Fetches the artifact and reads these files; without it, all gates have the same ending. */
async function readArtifact(
  { request: { patch }, runId, isTrusted }: Source,
  gates: readonly GateFiles[],
  { context, patience }: Task,
): Promise<Artifact | Ended> {
  const { octokit, repository, inputs } = context;
  const { job } = inputs;
  if (!isTrusted) {
    const changed = await changedOfGate(patch, repository, job);
    if (changed !== undefined) return ended(endingOfFailure('usage', selfMade(patch, changed)));
  }
  const place = { repository: job.repository, runId, name: artifactName };
  const fetched = await fetchPatiently(octokit, place, patience);
  if (fetched.kind === 'none') return ended(cancelled);
  if (fetched.kind !== 'fetched') {
    const mayPass = fetched.kind === 'failed' && fetched.mayPass;
    return { ...notVerified(fetched.why), mayPass };
  }
  const { bytes } = fetched;
  const wanted = gates.flatMap(({ result, failure, parts }) => [result, failure, ...parts]);
  const entries = await readEntries(bytes, wanted);
  if (entries.kind === 'refused') return notVerified(entries.why);
  return { kind: 'read', bytes, texts: entries.texts };
}

const notVerified = (why: string): Ended => ended(endingOfFailure('infrastructure', why));

const selfMade = (patch: Patch, path: string): string =>
  `${patchName(patch)} changes ${path}, and so could say anything of itself: a maintainer who has read it can write /ppsgate run ${shortId(patch.headCommit)}.`;

type OneGate = {
  request: AdmittedRequest;
  /** With what was asked of this gate. */
  config: Config;
  selector: string | undefined;
  context: JobContext;
  files: GateFiles;
  artifact: Artifact;
};

async function endingOf(gate: OneGate): Promise<Left> {
  const { request, config, files, artifact } = gate;
  const text = artifact.texts.get(files.result);
  if (text === undefined) return endingOfText(artifact.texts.get(files.failure));
  const testbeds = testbedsFor(config, gate.selector);
  const isExtended = request.extend !== undefined;
  const read = verified(text, { patch: request.patch, config, testbeds, isExtended });
  if (read.kind === 'refused') return notVerified(read.why);
  if (read.result.outcome.kind === 'unchanged') {
    const why = await whyNotUnchanged(request, gate);
    if (why !== undefined) return notVerified(why);
  }
  const { refused: corrections } = read;
  for (const sentence of corrections) log.warn(`The artifact is not verified: ${sentence}`);
  const profiles = await profilesIn(artifact.bytes, read.result, files.folder, log.warn);
  const result = withReasons(read.result, profiles);
  return {
    kind: 'ended',
    ending: endingOfResult(result, { corrections }),
    own: { result, profiles },
    parts: await partsOfNightly(result, gate),
    corrections,
  };
}

/** A gate that was cut short has left neither a result nor a word. */
function endingOfText(text: string | undefined): Left {
  const failure = failureOfText(text);
  if (failure === undefined) return ended(cancelled);
  const { why, said, isRefused } = failure;
  return isRefused ? { kind: 'refused', why: said } : ended(endingOfFailure(why, said));
}

/** Returns what a nightly run has measured besides; nothing for any other gate. */
const partsOfNightly = (own: Result, gate: OneGate): Promise<Publication[]> => {
  const { request, config, context, files, artifact } = gate;
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

/** Believes only the numbers of all that the artifact says: what follows from them is computed again. */
function verified(text: string, asked: Asked): Recomputed {
  const read = parseResult(text);
  if (read.kind === 'refused') return read;
  const why = agreesWith(read.result, asked.patch);
  if (why !== undefined) return { kind: 'refused', why };
  return recompute(withPatch(read.result, asked.patch), asked);
}
