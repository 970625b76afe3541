// Defines the range of a bisection: commits along first parents, groups of the same kernel, and possible fix-ups.
import { z } from 'zod';
import type { AnyBuilder } from '../../config/linux-builder.ts';
import type { OverlayPlace } from '../../config/overlay.ts';
import { type LinearRepository, RepositoryError } from '../../forge/patch/repository.ts';
import { readOverlay, sourceOf } from '../../kernel/overlay.ts';
import type { Variant } from '../../kernel/variant.ts';
import { maxCommits, namedCommitSchema } from '../../model/bisect-result.ts';
import * as bounded from '../../model/bounds.ts';
import { commitId, shortId } from '../../model/patch.ts';
import type { OperatingSystem } from '../../model/scenario.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { endsOf, type FirstParentLine } from './first-parents.ts';
import { makeForms, type RangeKernel, readFixUps } from './fix-ups.ts';
import { type Installed, installedOf } from './installed-kernels.ts';
import { mergeAlike, withKeys, withNames } from './same-kernel.ts';
import { readSkip, type SkippedCommits, skippedOf } from './skips.ts';

const formSchema = z.object({
  /** Names the variant; equal kernels have equal names. */
  variant: bounded.variant,
  /** The revision's own commit, or one made from it with the fix-ups, only in this repository. */
  commit: commitId,
  fixUps: bounded.list(commitId, 100),
});

const revisionSchema = z.object({
  place: bounded.count,
  commit: commitId,
  /** Id of the diff from which it was made. */
  diff: bounded.id.exactOptional(),
  subject: bounded.line,
  author: bounded.line,
  alike: bounded.count,
  isSkipped: z.boolean(),
  forms: bounded.list(formSchema, 1000).min(1),
});

export const rangeSchema = z.object({
  /** Number of commits after the good one, through the bad one. */
  commits: bounded.ordinal,
  /** Absent: the last revision. */
  badCommit: namedCommitSchema.exactOptional(),
  /** Good first, bad last. A commit with an unchanged kernel is merged with the one before. */
  revisions: bounded.list(revisionSchema, maxCommits + 1).min(2),
  /** Notes on fix-ups that do not apply everywhere. */
  notes: bounded.list(bounded.prose(), 1000),
});

export type RevisionForm = z.infer<typeof formSchema>;
export type RangeRevision = z.infer<typeof revisionSchema>;
export type CommitRange = z.infer<typeof rangeSchema>;

export type RangeRequest = {
  good: string;
  bad: string;
  /** Ids of the diffs from which commits between them were made. */
  diffs?: ReadonlyMap<string, number> | undefined;
  /** `COMMIT`, or `A..B`: after A, up to B. */
  skips: readonly string[];
  /** `FIX`, or `FIX:FIRST` if FIX is needed from FIRST on. */
  fixUps: readonly string[];
  system: OperatingSystem;
  overlay: OverlayPlace;
  /** Absent: any change makes a different kernel. */
  builder: AnyBuilder | undefined;
};

/**
 * Reads the range to bisect. Throws a `UsageError` or a `RepositoryError` that names the option if the range is empty.
 *
 * @param onProgress receives short progress texts.
 */
export async function readRange(
  request: RangeRequest,
  repository: LinearRepository,
  onProgress: (text: string) => void,
): Promise<CommitRange> {
  const { good, bad, steps } = await endsOf(request, repository);
  const installed = await installedOf({ ...request, good }, repository);
  onProgress(steps === 1 ? 'Reading one commit' : `reading ${steps} commits`);
  const { line, kernels } = await readLine({ good, bad }, installed, repository);
  if (kernels.length < 2) {
    throw new UsageError(
      `0 commits of ${steps} after --good ${excerpt(request.good)} up to --bad ${excerpt(request.bad)} change ${installed.what}: name a range in which some do.`,
    );
  }
  const skips: SkippedCommits[] = [];
  for (const text of request.skips) skips.push(await readSkip(text, line, repository));
  const fixUps = await readFixUps(request.fixUps, line, installed, repository);
  const { forms, notes } = await makeForms(kernels, fixUps, installed, onProgress);
  const built = kernels.map((kernel, index) => ({ ...kernel, forms: forms[index] ?? [] }));
  const distinct = mergeAlike(await withKeys(built, installed, repository));
  const skipped = skippedOf(distinct, skips);
  const diffOf = (commit: string) => {
    const diff = request.diffs?.get(commit);
    return diff === undefined ? {} : { diff };
  };
  const revisions = withNames(distinct).map(({ last, tree, ...revision }) => {
    return {
      ...revision,
      ...diffOf(revision.commit),
      alike: last - revision.place,
      isSkipped: skipped.has(revision.place),
    };
  });
  const badCommit = { commit: bad, ...diffOf(bad), ...(await repository.describe(bad)) };
  return { commits: steps, badCommit, revisions, notes };
}

/** Returns the variant of a form on the testbed. Recreates missing commits. */
export async function variantOf(
  { commit: baseCommit }: Pick<RangeRevision, 'commit'>,
  { variant, commit, fixUps }: RevisionForm,
  { system, overlay }: Pick<RangeRequest, 'system' | 'overlay'>,
  repository: LinearRepository,
): Promise<Variant> {
  await makeAgain({ baseCommit, commit, fixUps }, repository);
  if (system === 'linux') {
    return readOverlay(repository, { variant, commit }, await sourceOf(overlay, repository));
  }
  const kernel = { kind: 'tree' as const, baseCommit };
  if (commit === baseCommit) return { variant, commit, files: [], kernel };
  const diff = (await repository.diff(baseCommit, commit)).toString('base64');
  return { variant, commit, files: [], kernel: { ...kernel, diff } };
}

async function makeAgain(
  { baseCommit, commit, fixUps }: { baseCommit: string; commit: string; fixUps: string[] },
  repository: LinearRepository,
): Promise<void> {
  if (fixUps.length === 0) return;
  let made = { commit: baseCommit, tree: (await repository.idAt(baseCommit, '')) ?? '' };
  for (const fixUp of fixUps) {
    const picked = await (await repository.picker(fixUp))(made);
    if (picked.kind === 'picked') made = picked.tip;
  }
  if (made.commit === commit) return;
  throw new RepositoryError(
    `${shortId(baseCommit)} with ${fixUps.map(shortId).join(' and ')} on top has a different content than at the start of the bisection: this git merges differently, so start a new bisection.`,
  );
}

/** Merges commits of an unchanged kernel with the one before. */
async function readLine(
  { good, bad }: { good: string; bad: string },
  installed: Installed,
  repository: LinearRepository,
): Promise<{ line: FirstParentLine; kernels: RangeKernel[] }> {
  const tree = (await repository.idAt(good, '')) ?? '';
  let current = { place: 0, last: 0, commit: good, tree, ...(await repository.describe(good)) };
  const kernels: RangeKernel[] = [current];
  const commits = [good];
  for await (const next of repository.firstParents(good, bad)) {
    const place = commits.push(next.commit) - 1;
    current.last = place;
    if (!(await installed.changesWith(next))) continue;
    current.last = place - 1;
    const { changes, ...about } = next;
    current = { place, last: place, ...about };
    kernels.push(current);
  }
  const places = new Map(commits.map((commit, place) => [commit, place]));
  return { line: { good, bad, commits, places }, kernels };
}
