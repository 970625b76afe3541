// Resolves a name that any user may have typed to a commit's full id.
import { didYouMean } from '../../config/did-you-mean.ts';
import { excerpt } from '../../model/units.ts';
import { type Git, isId, RepositoryError } from './git.ts';

export class NoRepositoryError extends RepositoryError {
  override readonly name = 'NoRepositoryError';
}

/** The message begins with the name. */
export class NoCommitError extends RepositoryError {
  override readonly name = 'NoCommitError';
}

/** Throws a `RepositoryError` if there is no such commit. */
export async function resolveCommit(git: Git, name: string): Promise<string> {
  if (!isCommitName(name)) {
    throw new NoCommitError(
      `"${name}" is not the name of a commit: write an ID, a branch or a tag, like main, v1.2 or HEAD~2.`,
    );
  }
  const parse = () => commitNamed(git, name);
  return parse()
    .catch((error) => {
      // Fetches an id that a shallow clone lacks; GitHub allows that. Fetching a name would write a ref.
      if (!isId(name)) throw error;
      return git.run('fetch', ...objectsAlone, '--end-of-options', 'origin', name).then(parse);
    })
    .catch(() => refuse(git, name));
}

/** Throws git's own error if there is no such commit. */
export async function commitNamed(git: Git, name: string): Promise<string> {
  const named = ['--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  return (await git.run('rev-parse', ...named)).trim();
}

/**
 * Resolves names in commands. Abbreviated ids count only for commits of branches and tags: another object may come from
 * a patch, whose author can choose its id.
 */
export function withoutShortIds<Reader extends ShortIdReader>(repository: Reader): Reader {
  return {
    ...repository,
    async resolve(name) {
      const resolved = await repository.resolve(name);
      const [word = ''] = name.split(/[~^]/, 1);
      const digits = shortIdIn(word);
      if (digits === undefined) return resolved;
      const id = word === name ? resolved : await repository.resolve(word);
      if (!id.startsWith(digits) || (await repository.isOnBranch(id))) return resolved;
      throw new NoCommitError(
        `"${excerpt(name)}" is not a commit of a branch or a tag; ${id} may abbreviate several commits, so write the full ID if you mean one.`,
      );
    },
  };
}

/** Abbreviated id that git reads in `1a2b3c4`, or in `v1.2-3-g1a2b3c4` of git-describe(1). */
function shortIdIn(word: string): string | undefined {
  const [, digits] = /(?:^|-g)([0-9a-f]{4,})$/i.exec(word) ?? [];
  return isId(word) ? undefined : digits?.toLowerCase();
}

type ShortIdReader = {
  resolve(name: string): Promise<string>;
  isOnBranch(commit: string): Promise<boolean>;
};

async function refuse(git: Git, name: string): Promise<never> {
  const { directory } = git;
  await git.run('rev-parse', '--git-dir').catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === 'spawn git') {
      throw new Error(
        `git cannot be started (${error.code}), and patches cannot be read without it: install it, on Debian and Ubuntu with 'apt-get install git'.`,
      );
    }
    throw new NoRepositoryError(`${directory} is not a git repository: name the repository with the commits.`);
  });
  const history = 'check it out with its history (fetch-depth: 0)';
  if (isId(name)) {
    throw new NoCommitError(`"${name}" is not a commit of ${directory}, and could not be fetched: ${history}.`);
  }
  const [, descendant, steps] = /^(.+)~(\d+)$/.exec(name) ?? [];
  const first =
    descendant &&
    (await git.run('rev-list', '--count', '--first-parent', '--end-of-options', descendant, '--').catch(() => ''));
  if (first && Number(steps) >= Number(first)) {
    throw new NoCommitError(
      `"${name}" would be older than ${descendant}~${Number(first) - 1}, the first commit: name that or a later one, or ${history}.`,
    );
  }
  const refs = ['refs/heads', 'refs/tags', 'refs/remotes'];
  const names = await git.run('for-each-ref', '--format=%(refname:short)', ...refs).catch(() => '');
  const hint = didYouMean(name, names.split('\n').filter(Boolean));
  throw new NoCommitError(
    `"${name}" is not a commit, branch or tag of ${directory}${hint || `: name an existing one, or ${history}.`}`,
  );
}

/**
 * Accepts names by the rules of git-check-ref-format(1), and their ancestors, such as `HEAD~2`, `v1^{commit}` or
 * `main@{upstream}`. Refuses everything else that git would read, such as a refspec or a path.
 */
export const isCommitName = (name: string): boolean =>
  name.length <= 250 &&
  /^(?![-/])[^\p{C}\s~^:?*[\\]+(?<![/.])(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/u.test(name) &&
  !/\.\.|\/\/|\/\.|^\.|\.lock(?:[/~^]|$)|@\{(?![\w-]{1,30}\})/.test(name);

/** Options of a fetch that writes no ref, overriding `remote.…` and `fetch` of git-config(1). */
export const objectsAlone = [
  '--quiet',
  '--refmap=',
  '--no-tags',
  '--no-prune',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
];
