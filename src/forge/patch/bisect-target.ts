// Resolves the commits of a bisection, named or a patch's own, to full ids, as names may move.
import { createHash } from 'node:crypto';
import type { NamingStyle } from '../../config/parameters.ts';
import { type Patch, patchName } from '../../model/patch.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { BisectOverrides } from './bisect-command.ts';
import { type LinearRepository, type Repository, RepositoryError } from './repository.ts';

/** Resolves commits, and branches of the origin, to full ids. Throws a `UsageError` for a name that is no commit. */
export async function pinned(
  overrides: BisectOverrides,
  repository: Pick<Repository, 'resolve'>,
  calledAs: NamingStyle,
): Promise<BisectOverrides> {
  const idOf = async (name: string, called: string): Promise<string> => {
    const elsewhere = () => repository.resolve(`origin/${name}`);
    return repository.resolve(name).catch((error: unknown) =>
      elsewhere().catch(() => {
        if (!(error instanceof RepositoryError)) throw error;
        throw new UsageError(`${called}: ${error.message}`);
      }),
    );
  };
  const pinnedList = async (name: 'fixUp' | 'skip', between: string) => {
    const parts = overrides[name]?.split(',').map((part) => part.trim().split(between)) ?? [];
    const ids = parts.map((names) =>
      Promise.all(names.map((one) => idOf(one, calledAs(name)))).then((all) => all.join(between)),
    );
    return (await Promise.all(ids)).join(',');
  };
  const { good, bad } = overrides;
  return {
    ...overrides,
    ...(good && { good: await idOf(good, calledAs('good')) }),
    ...(bad && { bad: await idOf(bad, calledAs('bad')) }),
    ...(overrides.fixUp && { fixUp: await pinnedList('fixUp', ':') }),
    ...(overrides.skip && { skip: await pinnedList('skip', '..') }),
  };
}

/** Exceeding it would be too many to read, and for a comment. */
export const maxListedCommits = 100;

type BuiltCommits = { good: string; bad: string; fixUp?: string | undefined };

/**
 * Lists the commits, oldest first, that the bisection may build although perhaps no person with write permission has
 * read them. `line` selects among those after the good commit; of the others (fix-ups), those on no branch and no tag
 * count. Throws a `UsageError` for too many to approve.
 */
export async function unreadCommits(
  { good, bad, fixUp = '' }: BuiltCommits,
  line: 'all' | 'off-branches' | 'none',
  repository: Pick<LinearRepository, 'commitsBetween' | 'isOnBranch'>,
): Promise<string[]> {
  const scope = line === 'none' ? undefined : { of: line, most: maxListedCommits + 1 };
  const between = scope === undefined ? [] : await repository.commitsBetween(good, bad, scope);
  const fixUps = fixUp.split(',').flatMap((text) => text.split(':')[0] || []);
  const isUnread = async (commit: string) => !between.includes(commit) && !(await repository.isOnBranch(commit));
  const isGoodUnread = line === 'off-branches' && (await isUnread(good));
  const commits = [...(isGoodUnread ? [good] : []), ...between];
  for (const commit of new Set(fixUps)) {
    if (await isUnread(commit)) commits.push(commit);
  }
  if (commits.length <= maxListedCommits) return commits;
  throw new UsageError(
    `This bisection may build and run more than ${maxListedCommits} commits that are on no branch here, too many to read and approve: name a shorter range as GOOD BAD.`,
  );
}

/** Digest of an ordered list of full ids, by which a command approves exactly that list. */
export const digestOf = (commits: readonly string[]): string =>
  createHash('sha256').update(commits.join('\n')).digest('hex');

export async function ownEnds(
  patch: Exclude<Patch, { kind: 'revision' }>,
  repository: Pick<LinearRepository, 'mergeBase' | 'stepsSince'>,
): Promise<{ good: string; bad: string }> {
  const { baseCommit, headCommit: bad } = patch;
  const good = await repository.mergeBase(baseCommit, bad);
  const steps = await repository.stepsSince(good, bad);
  if (steps > 1) return { good, bad };
  const count = steps === 1 ? 'one commit' : 'no commit of its own';
  throw new UsageError(
    `${patchName(patch)} has ${count}, so there is nothing to bisect: write /ppsgate run, or /ppsgate bisect GOOD BAD to choose commits.`,
  );
}
