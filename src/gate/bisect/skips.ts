// Reads the commits that the user excludes from measurement.
import type { LinearRepository } from '../../forge/patch/repository.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { commitNamed, type FirstParentLine } from './first-parents.ts';

export type SkippedCommits = { text: string; isNamed(place: number): boolean };

/** Reads `COMMIT`, or `A..B` as in git: in B but not in A. Throws a `UsageError` if empty. */
export async function readSkip(
  text: string,
  line: FirstParentLine,
  repository: LinearRepository,
): Promise<SkippedCommits> {
  const { first, last } = await boundsOf(text, line, repository);
  if (first > last) {
    throw new UsageError(
      `--skip ${excerpt(text)} names no commit on the first-parent line from --good to --bad: name one of those, or A..B.`,
    );
  }
  return { text, isNamed: (place) => first <= place && place <= last };
}

async function boundsOf(
  text: string,
  { bad, commits, places }: FirstParentLine,
  repository: LinearRepository,
): Promise<{ first: number; last: number }> {
  const [, after, upTo] = /^(.+?)(?<!\.)\.\.(?!\.)(.+)$/.exec(text) ?? [];
  if (after === undefined || upTo === undefined) {
    const place = places.get(await commitNamed('--skip', text, repository)) ?? Infinity;
    return { first: place, last: place === Infinity ? -1 : place };
  }
  /** Place of the last commit in its history; below 0 if before the good one. */
  const lastIn = async (name: string) => {
    const commit = await commitNamed('--skip', name, repository);
    return commits.length - 1 - (await repository.stepsSince(commit, bad));
  };
  return { first: Math.max(0, (await lastIn(after)) + 1), last: await lastIn(upTo) };
}

/** Places of the skipped revisions. Throws a `UsageError` for an end, as both must be measured. */
export function skippedOf(
  revisions: readonly { place: number; last: number }[],
  skips: readonly SkippedCommits[],
): Set<number> {
  const places = skips.flatMap(({ text, isNamed }) => {
    const named = revisions.filter(({ place }) => isNamed(place));
    // A commit that is merged with others is skipped only together with all of them.
    const chosen = named.length > 0 ? named : revisions.filter(isAnyNamed(isNamed));
    for (const [end, option] of [
      [revisions.at(0), '--good'],
      [revisions.at(-1), '--bad'],
    ] as const) {
      if (end === undefined || !chosen.includes(end)) continue;
      throw new UsageError(
        `--skip ${excerpt(text)} names ${option}, or a commit with the same content, but both ends must be measured: skip other commits.`,
      );
    }
    return chosen.map(({ place }) => place);
  });
  return new Set(places);
}

const isAnyNamed =
  (isNamed: SkippedCommits['isNamed']) =>
  ({ place, last }: { place: number; last: number }): boolean =>
    Array.from({ length: last - place + 1 }, (_, index) => place + index).some(isNamed);
