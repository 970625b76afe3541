// Reads a result from a workflow artifact that another job wrote while it ran hostile code: trusts nothing in it.

import { isUtf8 } from 'node:buffer';
import { crc32, inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { type CellProfiles, profiledCells, readProfiles } from '../../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type Patch, patchName } from '../../model/patch.ts';
import { type Result, resultSchema } from '../../model/result.ts';
import { sendRequest } from '../../system/http.ts';
import { type Octokit, placeOf } from './client.ts';
import { type GithubFailure, githubFailure, mayPassSoon, whyNotDone } from './failure.ts';

/** `runId` is that of the workflow run, `repository` is `owner/name`. */
type ArtifactName = { repository: string; runId: number; name: string };

type ArtifactLimits = {
  zipBytes: number;
  fileBytes: number;
  /** Includes entries that are not read. */
  files: number;
  seconds: number;
};

export const artifactLimits: ArtifactLimits = {
  zipBytes: 200 * 1024 ** 2,
  fileBytes: 16 * 1024 ** 2,
  files: 20_000,
  seconds: 300,
};

type Refused = { kind: 'refused'; why: string };

/** `why` is a sentence. `none`: there is no such artifact; `failed`: GitHub or the network failed. */
type FetchedArtifact =
  | { kind: 'fetched'; bytes: Buffer }
  | { kind: 'none'; why: string }
  | Refused
  | { kind: 'failed'; why: string; mayPass: boolean };

/**
 * Downloads a workflow run's newest artifact of this name; a re-run of its job adds another. Needs a token with
 * `actions: read`. GitHub gets the token; the host that it redirects to does not.
 */
export async function fetchArtifact(
  octokit: Octokit,
  wanted: ArtifactName,
  limits = artifactLimits,
): Promise<FetchedArtifact> {
  try {
    const artifact = await newestArtifact(octokit, wanted);
    if (artifact === undefined) {
      return none(`${called(wanted)} does not exist: check that the job that uploads it has run.`);
    }
    if (artifact.expired) return none(`${called(wanted)} has expired: judge the patch again.`);
    if (artifact.size_in_bytes > limits.zipBytes) return refused(tooLarge(wanted, limits));
    const place = await addressOf(octokit, wanted, artifact.id);
    return await download(place, wanted, limits);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    return failed(whyNot(failure, wanted), mayPassSoon(failure));
  }
}

const none = (why: string) => ({ kind: 'none', why }) as const;
const refused = (why: string) => ({ kind: 'refused', why }) as const;
const failed = (why: string, mayPass = true) => ({ kind: 'failed', why, mayPass }) as const;

const called = ({ repository, runId, name }: ArtifactName): string =>
  `The artifact ${name} of run ${runId} of ${repository}`;

const tooLarge = (wanted: ArtifactName, { zipBytes }: ArtifactLimits): string =>
  `${called(wanted)} has more than ${zipBytes} bytes and was not fetched: upload only the work directory.`;

async function newestArtifact(octokit: Octokit, wanted: ArtifactName) {
  const artifacts = await octokit.paginate('GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts', {
    ...placeOf(wanted.repository),
    run_id: wanted.runId,
    name: wanted.name,
    per_page: 100,
  });
  // Older GitHub Enterprise Servers ignore the parameter `name`. Ids ascend.
  return artifacts
    .filter(({ name }) => name === wanted.name)
    .toSorted((a, b) => b.id - a.id)
    .at(0);
}

/** Requests only the redirect: Octokit would follow it, and read a response of any size into memory. */
async function addressOf(octokit: Octokit, wanted: ArtifactName, id: number): Promise<URL | null> {
  const { headers } = await octokit.request(
    'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
    {
      ...placeOf(wanted.repository),
      artifact_id: id,
      archive_format: 'zip',
      request: { redirect: 'manual' },
    },
  );
  return URL.parse(headers.location ?? '');
}

/** The address is itself a secret for a minute, so it is not logged in full. */
async function download(place: URL | null, wanted: ArtifactName, limits: ArtifactLimits): Promise<FetchedArtifact> {
  if (place === null || !isTrusted(place)) {
    return refused(
      `${called(wanted)} was not fetched because GitHub returned no https address for it: check the address of the API.`,
    );
  }
  const again = 'run the job again';
  const answer = await sendRequest(place, {
    answerSeconds: limits.seconds,
    maxBytes: limits.zipBytes,
  });
  if (answer.kind === 'no-answer') {
    return failed(`${called(wanted)} was not fetched from ${place.host} (${answer.why}): ${again}.`);
  }
  const { status, body } = answer;
  if (status !== 200) {
    return failed(`${called(wanted)} was not fetched because ${place.host} answered ${status}: ${again}.`);
  }
  return body === undefined ? refused(tooLarge(wanted, limits)) : { kind: 'fetched', bytes: body };
}

/** Allows plain HTTP only from this machine, for tests. */
const isTrusted = ({ protocol, hostname, username, password }: URL): boolean =>
  (protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))) && username === '' && password === '';

const loopback = new Set(['127.0.0.1', 'localhost']);

const whyNot = (failure: GithubFailure, wanted: ArtifactName): string =>
  whyNotDone(`${called(wanted)} was not fetched`, failure, {
    again: 'run the job',
    permission: 'give the job `permissions: actions: read`',
    otherwise: ': check that the run and its artifact still exist',
  });

type ReadResult = { kind: 'read'; result: Result } | Refused;

export function parseResult(text: string): ReadResult {
  try {
    // Limits commas, as the schema reports several errors per element, and 16 MiB of `{},` have millions of elements.
    if (commas(text) > maxCommas) throw new RangeError(`more than ${maxCommas} values`);
    return { kind: 'read', result: resultSchema.parse(JSON.parse(text)) };
  } catch {
    return refused(
      'The result.json of the artifact is not a result of this version of ppsgate: judge the patch again.',
    );
  }
}

/** Exceeds any result of 16 MiB by ppsgate. */
const maxCommas = 500_000;

function commas(text: string): number {
  let count = 0;
  for (const character of text) if (character === ',') count += 1;
  return count;
}

/**
 * Reads the named files from a zip, as text; skips missing ones. They are at the top or in one folder; names with
 * folders are relative to that. Reads only the names of all other entries. Writes nothing.
 */
export async function readEntries(
  zip: Buffer,
  names: readonly string[],
  limits = artifactLimits,
): Promise<{ kind: 'read'; texts: Map<string, string> } | Refused> {
  try {
    const archive = await fromBufferPromise(zip, { decodeStrings: false });
    const entries = await entriesOf(archive, new Set(names), limits);
    const texts = new Map<string, string>();
    for (const [name, entry] of entries) {
      texts.set(name, await textOf({ archive, zip, name, entry }, limits.fileBytes));
    }
    return { kind: 'read', texts };
  } catch (error) {
    return refusalOf(error);
  }
}

class Refusal extends Error {}

function refusalOf(error: unknown): Refused {
  if (error instanceof Refusal) return refused(error.message);
  // The zip reader's message, without its guesses.
  const [reason] = reasonOf(error).split(/[.:]/);
  return refused(`The artifact is not a readable zip (${reason}): run its job again.`);
}

/** Size limit of all profiles of one result; the rest get no flamegraph. */
const maxProfileBytes = 64 * 1024 ** 2;
/** Profiles of each variant in each cell: about a hundred in the longest experiments. */
const maxProfiles = 500;

const tooManyBytes = `The profiles of the artifact have more than ${maxProfileBytes} bytes together: no flamegraphs are drawn for the rest.`;

/** Reads profiles below `folder`, in one pass over the zip. Reports each unreadable one to `leftOut`. */
export async function profilesIn(
  zip: Buffer,
  result: Result | BisectResult,
  folder: string,
  leftOut: (why: string) => void = () => {},
): Promise<CellProfiles[]> {
  const paths = profilePaths(result);
  if (paths.length > maxProfiles) {
    leftOut(
      `The result names ${paths.length} profiles, but at most ${maxProfiles} are read: no flamegraphs are drawn.`,
    );
    return [];
  }
  try {
    const archive = await fromBufferPromise(zip, { decodeStrings: false });
    const names = new Set(paths.map((path) => folder + path));
    const entries = await entriesOf(archive, names, artifactLimits);
    let left = maxProfileBytes;
    const textAt = async (path: string): Promise<string | undefined> => {
      const name = folder + path;
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      const bytes = Math.min(left, artifactLimits.fileBytes);
      // A failed read also consumes the budget.
      left -= bytes;
      try {
        if (bytes === 0) throw new Refusal(tooManyBytes);
        const text = await textOf({ archive, zip, name, entry }, bytes);
        left += bytes - Math.min(bytes, text.length);
        return text;
      } catch (error) {
        leftOut(refusalOf(error).why);
        return undefined;
      }
    };
    return await readProfiles(result, textAt, leftOut);
  } catch (error) {
    leftOut(refusalOf(error).why);
    return [];
  }
}

function profilePaths(result: Result | BisectResult): string[] {
  return profiledCells(result).flatMap(({ profiles }) =>
    profiles.flatMap((one) => (one.kind === 'profiled' ? one.file : [])),
  );
}

async function entriesOf(
  archive: ZipFile,
  names: ReadonlySet<string>,
  { files }: ArtifactLimits,
): Promise<Map<string, Entry>> {
  if (archive.entryCount > files) {
    throw new Refusal(
      `The artifact has ${archive.entryCount} files, but at most ${files} are read: upload only the work directory.`,
    );
  }
  const found = new Map<string, Entry>();
  for await (const entry of archive.eachEntry()) {
    const path = entry.fileNameRaw.toString();
    const name = names.has(path) ? path : nameOf(path);
    if (name === undefined || !names.has(name)) continue;
    if (found.has(name)) {
      throw new Refusal(
        `The artifact has several files ${name}, and it is unclear which one counts: upload one work directory.`,
      );
    }
    found.set(name, entry);
  }
  return found;
}

/** Drops the folder; undefined for a path that is deeper, or outside. */
function nameOf(path: string): string | undefined {
  const parts = path.split('/');
  const [folder, name] = parts.length === 1 ? ['top', ...parts] : parts;
  return parts.length > 2 || ['', '.', '..'].includes(folder ?? '') ? undefined : name;
}

type ZipMember = { archive: ZipFile; zip: Buffer; name: string; entry: Entry };

async function textOf(member: ZipMember, maxBytes: number): Promise<string> {
  const { name, entry } = member;
  if (!isRegularFile(entry)) {
    throw new Refusal(`The artifact's ${name} is not a regular file: upload the work directory unchanged.`);
  }
  if (!entry.canDecodeFileData()) {
    throw new Refusal(
      `The artifact's ${name} is encrypted, or not compressed with deflate: upload it with actions/upload-artifact.`,
    );
  }
  const content = await contentOf(member, maxBytes);
  if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) {
    throw new Refusal(`The artifact's ${name} is damaged: run the job that uploads it again.`);
  }
  if (!isUtf8(content)) {
    throw new Refusal(`The artifact's ${name} is not UTF-8 text: judge the patch again.`);
  }
  return content.toString();
}

/** Reads the type in st_mode(2), which zips made on Unix keep in the upper half; others keep nothing there. */
function isRegularFile({ externalFileAttributes }: Entry): boolean {
  const type = (externalFileAttributes >>> 16) & 0o170000;
  return type === 0 || type === 0o100000;
}

/** The entry claims its size, so inflating stops at the limit. */
async function contentOf({ archive, zip, name, entry }: ZipMember, maxBytes: number): Promise<Buffer> {
  const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
  const packed = zip.subarray(fileDataStart, fileDataStart + entry.compressedSize);
  const tooMuch = `The artifact's ${name} has more than ${maxBytes} bytes, more than any result: it was not read.`;
  if (entry.compressionMethod === 0) {
    if (packed.length > maxBytes) throw new Refusal(tooMuch);
    return packed;
  }
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooMuch = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new Refusal(isTooMuch ? tooMuch : `The artifact's ${name} is damaged: run the job that uploads it again.`);
  }
}

export function agreesWith({ patch }: Result, meant: Patch): string | undefined {
  const place = meant.kind === 'pull-request' ? ` of ${meant.repository}` : '';
  const called = meant.kind === 'revision' ? `D${meant.number}:${meant.diff}` : `${patchName(meant)}${place}`;
  const isOf = (other: string) => `The result is of ${other}, not of ${called}: judge the patch again.`;
  if (patch.kind !== meant.kind) {
    return isOf(kindNames[patch.kind]);
  }
  if (patch.kind === 'pull-request' && meant.kind === 'pull-request') {
    // Repository names are case-insensitive on GitHub; the artifact's is untrusted text.
    if (patch.repository.toLowerCase() !== meant.repository.toLowerCase()) {
      return isOf('another repository');
    }
    if (patch.number !== meant.number) return isOf(patchName(patch));
  }
  if (patch.kind === 'revision' && meant.kind === 'revision') {
    const isSame = patch.number === meant.number && patch.diff === meant.diff;
    if (!isSame) return isOf(`D${patch.number}:${patch.diff}`);
  }
  for (const side of ['base', 'head'] as const) {
    const [judged, current] = [patch[`${side}Commit`], meant[`${side}Commit`]];
    if (judged === current) continue;
    return `The result of ${called} has ${judged} as its ${side} instead of ${current}: judge it again.`;
  }
  return undefined;
}

const kindNames: Record<Patch['kind'], string> = {
  'pull-request': 'a pull request',
  revision: 'a revision',
  range: 'a range of commits',
};

export const withPatch = (result: Result, patch: Patch): Result => ({ ...result, patch });
