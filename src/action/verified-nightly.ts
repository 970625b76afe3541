// Verifies an untrusted job's parts of a nightly run: they decide reported changes and the boots of later runs.

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
import { nightlyFolder, trendUpdateOf } from '../publish/nightly.ts';
import type { BisectRequest } from './approved-request.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { verifiedBisection } from './verified-bisection.ts';

type NightlyClaim = {
  own: Result;
  config: Config;
  context: JobContext;
  bytes: Buffer;
  folder: string;
  /** Returns the reason if a patch's claim to change nothing installed is not verified. */
  whyNotUnchanged(patch: Patch, testbed: string): Promise<string | undefined>;
};

/** Logs the reason for each part that it omits. */
export async function verifiedParts(texts: readonly string[], claim: NightlyClaim): Promise<Publication[]> {
  const publications: Publication[] = [];
  for (const [index, text] of texts.entries()) {
    try {
      const part = trendUpdateOf(await verified(text, claim));
      const folder = `${claim.folder}${nightlyFolder(part)}/`;
      const profiles = await profilesIn(claim.bytes, part.result, folder, log.warn);
      publications.push({ ...part, result: withReasons(part.result, profiles), profiles });
    } catch (error) {
      log.warn(`Part ${index + 1} of the nightly run is not verified: ${reasonOf(error)}`);
    }
  }
  return publications;
}

async function verified(text: string, claim: NightlyClaim): Promise<Result | BisectResult> {
  const read = parseResult(text);
  return read.kind === 'read' ? verifiedGate(read.result, claim) : verifiedSearch(text, claim);
}

async function verifiedGate(claimed: Result, claim: NightlyClaim): Promise<Result> {
  const { own, config } = claim;
  const { baseCommit, headCommit } = claimed.patch;
  const patch = await patchBetween(baseCommit, headCommit, claim);
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
    const changed = await claim.whyNotUnchanged(patch, own.testbed.name);
    if (changed !== undefined) throw new Error(changed);
  }
  for (const sentence of computed.refused) log.warn(`The artifact is not verified: ${sentence}`);
  return computed.result;
}

/** Accepts only commits of the nightly run's branch, described by git. */
async function patchBetween(good: string, bad: string, { own, context }: NightlyClaim): Promise<Patch> {
  const { repository } = context;
  await expectOnLine([good, bad], own.patch.headCommit, repository);
  if (good === bad && bad !== own.patch.headCommit) throw new Error('It is of another commit.');
  return patchOfRange(repository, `${good}..${bad}`);
}

async function verifiedSearch(text: string, claim: NightlyClaim): Promise<BisectResult> {
  const { data } = bisectResultSchema.safeParse(parseJson(text));
  if (data === undefined) throw new Error('It is not a result of this version of ppsgate.');
  const [good, bad] = [commitId.parse(data.good), commitId.parse(data.bad)];
  const patch = await patchBetween(good, bad, claim);
  const { own, config, context } = claim;
  if (data.testbed.name !== own.testbed.name) throw new Error('It is of another testbed.');
  const request: BisectRequest = {
    command: 'bisect',
    patch,
    good,
    bad,
    isOwn: false,
    cell: data.cell,
    overrides: { testbed: own.testbed.name },
    priority: 'rerun',
  };
  const verified = await verifiedBisection(data, request, config, context);
  if (verified.kind === 'refused') throw new Error(verified.why);
  return verified.result;
}
