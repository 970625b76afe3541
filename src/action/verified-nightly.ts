// What a job has measured of a nightly run besides the commit against itself, which is taken for hostile: it decides what is
// said to have changed, and what is booted in the nightly runs to come.

import { withReasons } from '../analysis/profile/result-profiles.ts';
import type { Config } from '../config/schema.ts';
import { agreesWith, parseResult, profilesIn, withPatch } from '../forge/github/artifact.ts';
import { expectOnLine, patchOfRange } from '../forge/patch/commit-range.ts';
import { cellsAmong } from '../gate/experiment/plan.ts';
import { recompute } from '../gate/experiment/recompute.ts';
import { type BisectResult, bisectResultSchema } from '../model/bisect-result.ts';
import { parseJson } from '../model/json.ts';
import { reasonOf } from '../model/one-line.ts';
import { commitId, type Patch } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import type { Publication } from '../publish/data-branch/layout.ts';
import { folderOf, toldOf } from '../publish/nightly.ts';
import type { BisectRequest } from './approved-request.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { verifiedBisection } from './publish-bisect.ts';

type Asked = {
  /** The result of the commit against itself, as it is verified. */
  own: Result;
  config: Config;
  context: JobContext;
  bytes: Buffer;
  /** Folder of the nightly run in the artifact: empty, or with a slash at its end. */
  folder: string;
  /** Why a patch is not verified to change nothing that is installed; undefined where it is. */
  whyNotUnchanged(patch: Patch, testbed: string): Promise<string | undefined>;
};

/** The parts that can be verified, of these texts; of the others the log says why not. */
export async function verifiedParts(
  texts: readonly string[],
  asked: Asked,
): Promise<Publication[]> {
  const publications: Publication[] = [];
  for (const [index, text] of texts.entries()) {
    try {
      const told = toldOf(await verified(text, asked));
      const folder = `${asked.folder}${folderOf(told)}/`;
      const profiles = await profilesIn(asked.bytes, told.result, folder, log.warn);
      publications.push({ ...told, result: withReasons(told.result, profiles), profiles });
    } catch (error) {
      log.warn(`Part ${index + 1} of the nightly run is not verified: ${reasonOf(error)}`);
    }
  }
  return publications;
}

async function verified(text: string, asked: Asked): Promise<Result | BisectResult> {
  const read = parseResult(text);
  return read.kind === 'read' ? verifiedGate(read.result, asked) : verifiedSearch(text, asked);
}

async function verifiedGate(claimed: Result, asked: Asked): Promise<Result> {
  const { own, config } = asked;
  const { baseCommit, headCommit } = claimed.patch;
  const patch = await patchBetween(baseCommit, headCommit, asked);
  const why = agreesWith(claimed, patch);
  if (why !== undefined) throw new Error(why);
  const { outcome } = claimed;
  const measured = outcome.kind === 'judged' ? outcome.cells.map(({ cell }) => cell) : [];
  const cells = cellsAmong(config, measured);
  if (outcome.kind === 'judged' && cells.length === 0) throw new Error('It has none of the cells.');
  const request = { patch, config, cells, testbeds: [own.testbed.name], isExtended: false };
  const computed = recompute(withPatch(claimed, patch), request);
  if (computed.kind === 'refused') throw new Error(computed.why);
  if (outcome.kind === 'unchanged') {
    const changed = await asked.whyNotUnchanged(patch, own.testbed.name);
    if (changed !== undefined) throw new Error(changed);
  }
  for (const sentence of computed.refused) log.warn(`The artifact is not verified: ${sentence}`);
  return computed.result;
}

/** The commits are of the branch that the nightly run is of, and all else is as git has it. */
async function patchBetween(good: string, bad: string, { own, context }: Asked): Promise<Patch> {
  const { repository } = context;
  await expectOnLine([good, bad], own.patch.headCommit, repository);
  if (good === bad && bad !== own.patch.headCommit) throw new Error('It is of another commit.');
  return patchOfRange(repository, `${good}..${bad}`);
}

async function verifiedSearch(text: string, asked: Asked): Promise<BisectResult> {
  const { data } = bisectResultSchema.safeParse(parseJson(text));
  if (data === undefined) throw new Error('It is no result of this version of ppsgate.');
  const [good, bad] = [commitId.parse(data.good), commitId.parse(data.bad)];
  const patch = await patchBetween(good, bad, asked);
  const { own, config, context } = asked;
  if (data.testbed.name !== own.testbed.name) throw new Error('It is of another testbed.');
  const request: BisectRequest = {
    command: 'bisect',
    ...{ patch, good, bad, isOwn: false, cell: data.cell },
    ask: { testbed: own.testbed.name },
    priority: 'rerun',
  };
  const found = await verifiedBisection(data, request, config, context);
  if (found.kind === 'refused') throw new Error(found.why);
  return found.result;
}
