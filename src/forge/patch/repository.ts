// Reads a local git repository and creates commits in it. Touches only objects, never a checkout.
import { relative, resolve as resolvePath } from 'node:path';
import type { RepositoryPlace } from '../../config/overlay.ts';
import { type CommitAbout, type CommittedDiff, commitDiff, commitTree } from './commit-diff.ts';
import { branchOfPath, commitAt, commitOfSvn } from './dated-commits.ts';
import { type Git, gitIn, idOf, isId, plainPatch, RepositoryError } from './git.ts';
import { type LinearHistory, linearHistoryOf } from './linear-history.ts';
import { NoCommitError, NoRepositoryError, resolveCommit, withoutShortIds } from './resolve-commit.ts';
import type { SvnCommit } from './svn-commit.ts';

export type Repository = {
  /** Resolves a name as typed by any user. Throws a `RepositoryError` for an unknown one. */
  resolve(name: string): Promise<string>;
  mergeBase(first: string, second: string): Promise<string>;
  /**
   * Path in the repository of an overlay's folder or file: `some/where`, empty for the top. Relative to ppsgate.yml if
   * the repository contains that, otherwise to the top. Throws a `RepositoryError` for a path outside.
   */
  pathOf(overlay: RepositoryPlace): Promise<string>;
  /** Files below a folder at a commit, with paths relative to it; none if the folder does not exist. */
  list(commit: string, folder: string): Promise<TreeEntry[]>;
  /** Files, links and submodules at these paths. Follows no link, and skips folders. */
  entriesAt(commit: string, paths: readonly string[]): Promise<TreeEntry[]>;
  /** Text of an object, named by its full id or `COMMIT:PATH`. */
  read(object: string): Promise<string>;
  idAt(commit: string, path: string): Promise<string | undefined>;
  /** Paths of all files, links and submodules that differ between two commits, in content or mode. */
  changedPaths(first: string, second: string): Promise<string[]>;
  /** Returns bytes, as files need not be text. */
  diff(first: string, second: string): Promise<Buffer>;
  describe(commit: string): Promise<{ subject: string; author: string }>;
};

export type WritableRepository = Repository & {
  message(commit: string): Promise<string>;
  commitAt(branch: string, date: Date): Promise<string>;
  /** Newest commit of a branch before a time that is not later than a Subversion revision. */
  commitOfSvn(branch: string, revision: number, date: Date): Promise<SvnCommit>;
  /** Branch whose name ends a Subversion path, such as `base/stable/14`. */
  branchOfPath(path: string): Promise<string | undefined>;
  /** Equal input yields an equal commit. */
  commitDiff(base: string, diff: Uint8Array, about: CommitAbout): Promise<CommittedDiff>;
  /** Equal input yields an equal commit. */
  commitOnTop(commit: string, parent: string, about: CommitAbout): Promise<string>;
};

export type LinearRepository = Repository & LinearHistory;

export type TreeEntry = { path: string; mode: string; object: string };

export { NoCommitError, NoRepositoryError, RepositoryError, withoutShortIds };

/** @param environment for git, if fetching missing objects needs more than the checkout has. */
export function openRepository(
  directory: string,
  environment: NodeJS.ProcessEnv = {},
): WritableRepository & LinearRepository {
  const git = gitIn(directory, environment);
  return {
    ...readerOf(git),
    ...linearHistoryOf(git),
    commitAt: (branch, date) => commitAt(git, branch, date),
    commitOfSvn: (branch, revision, date) => commitOfSvn(git, branch, revision, date),
    branchOfPath: (path) => branchOfPath(git, path),
    commitDiff: (base, diff, about) => commitDiff(git, base, diff, about),
    commitOnTop: (commit, parent, about) => commitTree(git, `${idOf(commit)}^{tree}`, idOf(parent), about),
  };
}

function readerOf(git: Git): Repository & Pick<WritableRepository, 'message'> {
  const { directory, run } = git;
  const resolve = (name: string) => resolveCommit(git, name);
  const failed = (sentence: string) => () => {
    throw new RepositoryError(sentence);
  };
  return {
    resolve,
    pathOf: (overlay) => pathOf(git, overlay),
    list: (commit, folder) => list(git, commit, folder),
    entriesAt: (commit, paths) => entriesAt(git, commit, paths),

    async mergeBase(first, second) {
      // Ids that the checkout has need no resolving, which takes longer than the rest.
      const areIds = isId(first) && isId(second);
      const known = areIds ? await run('merge-base', first, second).catch(() => '') : '';
      if (known !== '') return known.trim();
      const ids = [await resolve(first), await resolve(second)];
      const why = `${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`;
      return (await run('merge-base', ...ids).catch(failed(why))).trim();
    },

    async read(object) {
      const [id = '', ...path] = object.split(':');
      const why = `git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`;
      return run('cat-file', 'blob', [idOf(id), ...path].join(':')).catch(failed(why));
    },

    async idAt(commit, path) {
      const named = `${idOf(commit)}:${path}`;
      const find = run('rev-parse', '--verify', '--quiet', '--end-of-options', named);
      const id = await find.catch((error: { code?: unknown }) => {
        // With --quiet, only a missing path yields this code.
        if (error.code === 1) return '';
        throw new RepositoryError(`git cannot look for ${path} at ${commit} in ${directory}.`);
      });
      return id.trim() || undefined;
    },

    async changedPaths(first, second) {
      // A patch could hide its submodules through its own .gitmodules.
      const all = ['-r', '-z', '--no-renames', '--ignore-submodules=none'];
      const compare = ['diff-tree', '--name-only', ...all, '--end-of-options'];
      const why = `git cannot list the differences between ${first} and ${second} in ${directory}: check it out with both commits; the list may have at most 4 MiB.`;
      const listing = await run(...compare, idOf(first), idOf(second)).catch(failed(why));
      return listing.split('\0').filter(Boolean);
    },

    async diff(first, second) {
      const range = ['--end-of-options', idOf(first), idOf(second)];
      const why = `git cannot compare ${first} with ${second} in ${directory}: their difference may have at most 4 MiB.`;
      return git.bytes('diff', ...plainPatch, ...range).catch(failed(why));
    },

    message: (commit) => run('show', '--no-patch', '--format=%B', '--end-of-options', idOf(commit)),

    async describe(commit) {
      const shown = ['--no-patch', '--format=%s%n%an', '--end-of-options', idOf(commit)];
      const [subject = '', author = ''] = (await run('show', ...shown)).split('\n');
      return { subject, author };
    },
  };
}

async function pathOf({ directory, run }: Git, { path, beside }: RepositoryPlace): Promise<string> {
  // --show-toplevel would resolve symbolic links, and so differ from our names.
  const up = await run('rev-parse', '--show-cdup').catch(() => '');
  const top = resolvePath(directory, up.trim());
  const origin = resolvePath(top, beside);
  const folder = resolvePath(isOutside(relative(top, origin)) ? top : origin, path);
  const inside = relative(top, folder);
  if (!isOutside(inside)) return inside;
  throw new RepositoryError(
    `The overlay ${path} of ppsgate.yml is ${folder}, outside the repository ${top}: name a folder in it.`,
  );
}

const isOutside = (path: string): boolean => /^\.\.(?:\/|$)/.test(path);

async function list({ directory, run }: Git, commit: string, folder: string): Promise<TreeEntry[]> {
  const below = relative(directory, resolvePath(directory, folder));
  const prefix = below === '' ? '' : `${below}/`;
  const tree = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', idOf(commit)];
  const paths = prefix === '' ? [] : [prefix];
  const listing = await run('--literal-pathspecs', ...tree, ...paths).catch(() => {
    throw new RepositoryError(
      `git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`,
    );
  });
  const lines = listing.split('\0').filter(Boolean);
  return lines.map((line) => treeEntry(line, prefix));
}

async function entriesAt({ directory, run }: Git, commit: string, paths: readonly string[]): Promise<TreeEntry[]> {
  const tree = ['ls-tree', '-z', '--full-tree', '--end-of-options', idOf(commit)];
  const listing = await run('--literal-pathspecs', ...tree, ...paths).catch(() => {
    throw new RepositoryError(
      `git cannot find ${paths.join(', ')} at ${commit} in ${directory}: name files of the repository.`,
    );
  });
  const entries = listing
    .split('\0')
    .filter(Boolean)
    .map((line) => treeEntry(line, ''));
  return entries.filter(({ mode }) => mode !== folderMode);
}

const folderMode = '040000';

/** Reads `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
function treeEntry(line: string, prefix: string): TreeEntry {
  // The path itself may contain tabs.
  const tab = line.indexOf('\t');
  const [mode = '', , object = ''] = line.slice(0, tab).split(' ');
  return { mode, object, path: line.slice(tab + 1 + prefix.length) };
}
