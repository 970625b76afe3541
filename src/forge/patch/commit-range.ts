// Creates a patch from a range of commits in a local repository: `main..my-branch`.
import { type Patch, shortId } from '../../model/patch.ts';
import { excerpt } from '../../model/units.ts';
import { type LinearRepository, NoCommitError, type Repository, RepositoryError } from './repository.ts';

type RangePatch = Extract<Patch, { kind: 'range' }>;

/** Names the patch after the range's last commit. Throws a `RepositoryError` for a text that is no range. */
export async function patchOfRange(repository: Repository, text: string): Promise<RangePatch> {
  const { base, head } = await endsIn(text, repository);
  const [baseCommit, headCommit] = [
    await repository.resolve(base).catch(isWrong('base')),
    await repository.resolve(head).catch(isWrong('head')),
  ];
  return patchOfCommits(repository, baseCommit, headCommit);
}

/** The commits are full ids. */
export async function patchOfCommits(
  repository: Repository,
  baseCommit: string,
  headCommit: string,
): Promise<RangePatch> {
  const { subject, author } = await repository.describe(headCommit);
  return { kind: 'range', title: subject, author, baseCommit, headCommit };
}

/**
 * Creates the patch of a range that a person typed. Throws a `RepositoryError` for a reversed range, and for one commit
 * named twice unless `isOneAllowed`: both would be judged as unchanged. The title counts several commits, as any of
 * them may be at fault.
 */
export async function patchOfTypedRange(
  repository: LinearRepository,
  text: string,
  isOneAllowed = false,
): Promise<RangePatch> {
  const patch = await patchOfRange(repository, text);
  const { baseCommit, headCommit } = patch;
  const { base, head } = await endsIn(text, repository);
  if (baseCommit === headCommit) {
    if (isOneAllowed) return patch;
    throw new RepositoryError(
      `${base} and ${head} are one commit, ${shortId(headCommit)}: write BASE..HEAD with a HEAD that has the patch.`,
    );
  }
  if (await repository.contains(baseCommit, headCommit)) {
    throw new RepositoryError(
      `${base}..${head} is reversed, because ${head} is older than ${base}: write ${head}..${base}.`,
    );
  }
  const commits = await repository.stepsSince(baseCommit, headCommit);
  return commits > 1 ? { ...patch, title: `${patch.title} (last of ${commits} commits)` } : patch;
}

async function endsIn(text: string, repository: Repository): Promise<{ base: string; head: string }> {
  const [, base, head] = /^(.+?)(?<!\.)\.\.(?!\.)(.+)$/.exec(text) ?? [];
  if (base !== undefined && head !== undefined) return { base, head };
  throw new RepositoryError(
    `"${excerpt(text)}" is not a range of commits: write BASE..HEAD, like ${await rangeLike(repository, text)}.`,
  );
}

/**
 * Throws a `RepositoryError` unless the commits are on the line of first parents of `tip`. Other commits of a
 * repository, or those that can be fetched by id, may never have been merged.
 */
export async function expectOnLine(
  commits: readonly string[],
  tip: string,
  repository: LinearRepository,
): Promise<void> {
  for (const commit of commits) {
    const start = await repository
      .stepsSince(commit, tip)
      .then((steps) => repository.resolve(`${tip}~${steps}`))
      .catch(() => undefined);
    if (start === commit) continue;
    throw new RepositoryError(
      `${shortId(commit)} is not on the first-parent line of ${shortId(tip)}: if it should be, check it out with its full history (fetch-depth: 0).`,
    );
  }
}

const isWrong =
  (end: 'base' | 'head') =>
  (error: unknown): never => {
    throw error instanceof NoCommitError ? new RepositoryError(`the ${end} ${error.message}`) : error;
  };

/** Suggests a range for a mistyped one like `my-branch` or `main.my-branch`. */
export async function rangeLike(repository: Repository, text: string): Promise<string> {
  const isThere = (name: string) =>
    repository.resolve(name).then(
      () => true,
      () => false,
    );
  const [first = '', second = '', ...more] = text.split(/\.+/);
  if (more.length === 0 && (await isThere(second)) && (await isThere(first))) {
    return `${first}..${second}`;
  }
  const base = (await isThere('main')) || !(await isThere('master')) ? 'main' : 'master';
  return `${base}..${text !== base && (await isThere(text)) ? text : 'HEAD'}`;
}
