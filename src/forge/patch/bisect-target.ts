// Resolves the commits of a bisection, named ones or a patch's own, to full ids, as names may move.
import type { NamingStyle } from '../../config/parameters.ts';
import { type Patch, patchName } from '../../model/patch.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { BisectOverrides } from './bisect-command.ts';
import { type LinearRepository, type Repository, RepositoryError } from './repository.ts';

/** Resolves commits to full ids, and branches of the origin. Throws a `UsageError` for a name that is no commit. */
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
    `${patchName(patch)} has ${count}, so there is nothing to choose from: write /ppsgate run, or /ppsgate bisect GOOD BAD for commits of your own.`,
  );
}
