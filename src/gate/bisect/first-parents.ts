// Follows first parents from the good commit to the bad one, and finds where other commits were merged.

import { type LinearRepository, NoCommitError, RepositoryError } from '../../forge/patch/repository.ts';
import { maxCommits } from '../../model/bisect-result.ts';
import { shortId } from '../../model/patch.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';

export type FirstParentLine = {
  good: string;
  bad: string;
  /** Commit ids, from good (0) to bad. */
  commits: readonly string[];
  places: ReadonlyMap<string, number>;
};

/** Resolves both ends and their distance. Throws if they form no range. */
export async function endsOf(
  typed: { good: string; bad: string },
  repository: LinearRepository,
): Promise<{ good: string; bad: string; steps: number }> {
  const good = await commitNamed('--good', typed.good, repository);
  const bad = await commitNamed('--bad', typed.bad, repository);
  const [goodName, badName] = [excerpt(typed.good), excerpt(typed.bad)];
  if (await repository.isShallow()) {
    throw new RepositoryError(
      'The repository is a shallow clone, which lacks older history: check it out with its full history (fetch-depth: 0).',
    );
  }
  if (good === bad) {
    throw new UsageError(
      `--good ${goodName} and --bad ${badName} are the same commit, ${shortId(good)}: name one from before the loss, and one from after it.`,
    );
  }
  if (await repository.contains(good, bad)) {
    throw new UsageError(
      `--bad ${badName} is older than --good ${goodName}: swap them, --good ${badName} --bad ${goodName}.`,
    );
  }
  const steps = await repository.stepsSince(good, bad);
  const start = await repository.resolve(`${bad}~${steps}`).catch((error) => {
    if (error instanceof NoCommitError) return undefined;
    throw error;
  });
  if (start === undefined) {
    throw new UsageError(
      `--good ${goodName} and --bad ${badName} have no common ancestor on the first-parent line of --bad: name two commits of one branch.`,
    );
  }
  if (start !== good) {
    const why = (await repository.contains(bad, good))
      ? `was merged, and is not on the first-parent line of --bad ${badName}`
      : `is not an ancestor of --bad ${badName}`;
    throw new UsageError(
      `--good ${goodName} ${why}: the last commit of that line that it contains is ${shortId(start)}, so use --good ${shortId(start)}.`,
    );
  }
  if (steps > maxCommits) {
    throw new UsageError(
      `There are ${steps} commits after --good ${goodName} up to --bad ${badName}, but at most ${maxCommits} can be bisected: name a later one, like --good ${badName}~${maxCommits}.`,
    );
  }
  return { good, bad, steps };
}

/** Resolves an option's commit to a full id. Throws a `RepositoryError` that names the option. */
export function commitNamed(option: string, name: string, repository: LinearRepository): Promise<string> {
  return repository.resolve(name).catch((error) => {
    throw error instanceof NoCommitError ? new RepositoryError(`${option}: ${error.message}`) : error;
  });
}

/** First place on the line that contains a commit; undefined if the bad end does not contain it. */
export async function placeOf(
  commit: string,
  { bad, commits, places }: FirstParentLine,
  repository: LinearRepository,
): Promise<number | undefined> {
  const own = places.get(commit);
  if (own !== undefined) return own;
  if (!(await repository.contains(bad, commit))) return undefined;
  let [from, to] = [0, commits.length - 1];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (await repository.contains(commits[middle] ?? bad, commit)) to = middle;
    else from = middle + 1;
  }
  return to;
}
