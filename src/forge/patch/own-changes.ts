// Finds a developer's own changes: commits since the main branch, and uncommitted files.
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { plainLine } from '../../model/escape.ts';
import { commitTree } from './commit-diff.ts';
import { type Git, gitIn, plainly, RepositoryError } from './git.ts';
import { commitNamed, NoCommitError, resolveCommit } from './resolve-commit.ts';

export type OwnChanges = {
  /** Full ids: the newest commit shared with the main branch, and one with every tracked file as it is now. */
  readonly baseCommit: string;
  readonly headCommit: string;
  /** Name of the main branch, such as `origin/main`. */
  readonly since: string;
  /** Paths that differ from HEAD. They are measured as they are. */
  readonly uncommitted: readonly string[];
  /** Paths that git does not track. They are not measured. */
  readonly untracked: readonly string[];
};

/** Touches only objects, neither the index nor a branch. Throws a `RepositoryError` if nothing was changed. */
export async function ownChanges(directory: string): Promise<OwnChanges> {
  const git = gitIn(directory, {});
  const head = await resolveCommit(git, 'HEAD').catch((error) => {
    if (!(error instanceof NoCommitError)) throw error;
    throw new RepositoryError('the repository has no commits: commit the base, then your change.');
  });
  const [{ since, baseCommit }, [uncommitted, untracked]] = await Promise.all([mainBranch(git, head), statusOf(git)]);
  if (baseCommit === head && uncommitted.length === 0) {
    const more = untracked.length === 0 ? '' : `; git does not track ${named(untracked)}`;
    throw new RepositoryError(
      `there are no changes since ${since}${more}: commit some, or name a patch, like HEAD~1..HEAD.`,
    );
  }
  const headCommit = uncommitted.length === 0 ? head : await commitOfFiles(git, head);
  return { since, baseCommit, headCommit, uncommitted, untracked };
}

/** Prefers the remote's branch, as the local one may already have the changes. */
async function mainBranch(git: Git, head: string): Promise<Pick<OwnChanges, 'since' | 'baseCommit'>> {
  for (const since of ['origin/HEAD', 'origin/main', 'origin/master', '@{upstream}', 'main', 'master']) {
    const tip = await commitNamed(git, since).catch(() => undefined);
    if (tip === undefined) continue;
    const base = await git.run('merge-base', tip, head).catch(() => '');
    if (base !== '') return { since, baseCommit: base.trim() };
  }
  throw new RepositoryError(
    'these commits have no main branch (origin/HEAD, main or master) as their base: name the patch as BASE..HEAD.',
  );
}

async function statusOf(git: Git): Promise<[uncommitted: string[], untracked: string[]]> {
  // A program from another user's settings must not run, for example under sudo.
  const status = [
    '-c',
    'core.fsmonitor=false',
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--ignore-submodules=dirty',
  ];
  const listing = await git.runWith({ GIT_OPTIONAL_LOCKS: '0' }, ...status);
  const lines = listing.split('\0').filter(Boolean);
  const [untracked, uncommitted] = [
    lines.filter((line) => line.startsWith('??')),
    lines.filter((line) => !line.startsWith('??')),
  ].map((some) => some.map((line) => line.slice('XY '.length)));
  return [uncommitted ?? [], untracked ?? []];
}

/** Dated like its parent, so that equal files yield an equal commit. */
async function commitOfFiles(git: Git, head: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-index-'));
  try {
    const index = join(folder, 'index');
    const own = (await git.run('rev-parse', '--git-path', 'index')).trimEnd();
    // The copy has the files' times, so that git reads only changed files.
    await copyFile(resolve(git.directory, own), index);
    await git.share(folder, index);
    const indexed = (...args: string[]) => git.runWith({ GIT_INDEX_FILE: index }, ...plainly, ...args);
    const top = (await git.run('rev-parse', '--show-toplevel')).trimEnd();
    await indexed('-C', top, 'add', '--update', '.');
    const tree = (await indexed('write-tree')).trim();
    const seconds = Number(await git.run('show', '--no-patch', '--format=%ct', head));
    const subject = (await git.run('show', '--no-patch', '--format=%s', head)).trimEnd();
    const message = `${subject}, with uncommitted changes`;
    return await commitTree(git, tree, head, { message, date: new Date(seconds * 1000) });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const maxNamed = 3;

/** `a, b, c and 4 more`. */
export function named(paths: readonly string[]): string {
  const rest = paths.length - maxNamed;
  const first = paths
    .slice(0, maxNamed)
    .map((path) => plainLine(path))
    .join(', ');
  return rest > 0 ? `${first} and ${rest} more` : first;
}
