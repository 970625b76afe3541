// What ppsgate asks of a git repository on this machine; objects only, never a checkout.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve as resolvePath } from 'node:path';
import { didYouMean } from '../../config/fields.ts';
import type { OverlayPlace } from '../../config/schema.ts';
import { checkDiff, isAsSaid, rawChanges, whyGitRefuses } from './diff.ts';
import { gitIn, idOf, isId, plainly, plainPatch, RepositoryError, signature } from './git.ts';
import { type History, historyOf } from './linear-history.ts';
import { newestUpTo, type SvnCommit, svnLog } from './svn-commit.ts';

export type Repository = {
  /** The full commit id of a name, which anybody may have written; throws a `RepositoryError` when there is none. */
  resolve(name: string): Promise<string>;
  /** Where two commits parted: what the patch is measured against. */
  mergeBase(first: string, second: string): Promise<string>;
  /**
   * Where the overlay's folder lies in it: `some/where`, and nothing for its top. It is beside ppsgate.yml where that lies
   * in the repository, and below the top otherwise; throws a `RepositoryError` where that leads outside.
   */
  pathOf(overlay: OverlayPlace): Promise<string>;
  /** The files below a folder of it at a commit, by their paths in that; none where it does not exist. */
  list(commit: string, folder: string): Promise<TreeEntry[]>;
  /** The text of an object: its full id, or `COMMIT:PATH`. */
  read(object: string): Promise<string>;
  /** The id of what lies at a path of a commit, be it a file, a link, a submodule or a folder with all below it. */
  idAt(commit: string, path: string): Promise<string | undefined>;
  /** Paths of all files, links and submodules that differ between two commits, in content or in mode. */
  changedPaths(first: string, second: string): Promise<string[]>;
  /** All that the second commit changes of the first, as bytes: files need be no text. */
  diff(first: string, second: string): Promise<Buffer>;
  /** Subject line and author of a commit. */
  describe(commit: string): Promise<{ subject: string; author: string }>;
};

/** One in which diffs can be made commits. */
export type WritableRepository = Repository & {
  /** All that was written with a commit. */
  message(commit: string): Promise<string>;
  /** The last commit of a branch that was there at a time; throws a `RepositoryError` where there was none. */
  commitAt(branch: string, date: Date): Promise<string>;
  /** What a branch of Subversion was at a revision: the last commit of ours, of before a time, that is no later one. */
  commitOfSvn(branch: string, revision: number, date: Date): Promise<SvnCommit>;
  /** The branch that a path in Subversion, like `base/stable/14`, ends with; undefined where none is called so. */
  branchOfPath(path: string): Promise<string | undefined>;
  /** A commit of what a unified diff makes of another: always the same commit from the same, whoever makes it. */
  commitDiff(base: string, diff: Uint8Array, about: CommitAbout): Promise<CommittedDiff>;
  /** A commit on top of a parent that has all files of another commit: always the same from the same. */
  commitOnTop(commit: string, parent: string, about: CommitAbout): Promise<string>;
};

/** One of which the history can be walked, and in which commits can be put on top of others. */
export type LinearRepository = Repository & History;

type CommitAbout = { message: string; date: Date };

export type CommittedDiff =
  | { kind: 'committed'; commit: string }
  /** `why` is for the author of the diff. */
  | { kind: 'does-not-apply'; why: string };

type TreeEntry = { path: string; mode: string; object: string };

export { RepositoryError };

/** A folder that is none. */
export class NoRepositoryError extends RepositoryError {
  override readonly name = 'NoRepositoryError';
}

/** A name that is none of a commit, with which the sentence begins. */
export class NoCommitError extends RepositoryError {
  override readonly name = 'NoCommitError';
}

/** For the 280,000 commits of FreeBSD several times over. */
const svnLogMilliseconds = 60_000;

/** @param environment for git, where fetching what is missing needs more than the checkout has. */
export function openRepository(
  directory: string,
  environment: NodeJS.ProcessEnv = {},
): WritableRepository & LinearRepository {
  const opened = gitIn(directory, environment);
  const { git, gitWith, bytes, start } = opened;

  const resolve = async (name: string): Promise<string> => {
    if (!isCommitName(name)) {
      throw new NoCommitError(
        `"${name}" is no name of a commit: write its id, a branch or a tag, like main, v1.2 or HEAD~2.`,
      );
    }
    const parse = () =>
      git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
    const id = await parse()
      .catch((error) => {
        // One that a shallow clone lacks is fetched once, as GitHub allows; to fetch a name would be to write a ref.
        if (!isId(name)) throw error;
        return git('fetch', ...objectsAlone, '--end-of-options', 'origin', name).then(parse);
      })
      .catch(() => refuse(name));
    return id.trim();
  };

  /** For git-rev-list(1): what was merged into the branch is none of it. */
  const branchBefore = async (branch: string, date: Date): Promise<string[]> => {
    const tip = await resolve(`origin/${branch}`).catch(() => resolve(branch));
    return ['--first-parent', `--before=${Math.floor(date.getTime() / 1000)}`, tip];
  };

  const refuse = async (name: string): Promise<never> => {
    await git('rev-parse', '--git-dir').catch((error: NodeJS.ErrnoException) => {
      if (error.syscall === 'spawn git') {
        throw new Error(
          `git cannot be started (${error.code}), and without it no patch can be read: install it, on Debian and Ubuntu by 'apt-get install git'.`,
        );
      }
      throw new NoRepositoryError(
        `${directory} is no git repository: name the one that has the commits.`,
      );
    });
    const history = 'check it out with its history (fetch-depth: 0)';
    if (isId(name)) {
      throw new NoCommitError(
        `"${name}" is no commit of ${directory}, and could not be fetched: ${history}.`,
      );
    }
    const refs = ['refs/heads', 'refs/tags', 'refs/remotes'];
    const known = await git('for-each-ref', '--format=%(refname:short)', ...refs).catch(() => '');
    const hint = didYouMean(name, known.split('\n').filter(Boolean));
    throw new NoCommitError(
      `"${name}" is no commit, branch or tag of ${directory}${hint || `: name one that is there, or ${history}.`}`,
    );
  };

  const commitTree = async (tree: string, parent: string, { message, date }: CommitAbout) => {
    const made = [...plainly, 'commit-tree', '-p', parent, '-m', message, tree];
    return (await gitWith(signature(date), ...made)).trim();
  };

  return {
    ...historyOf(opened),
    resolve,

    async pathOf({ path, beside }) {
      // Not --show-toplevel, which has other names than ours where there are symbolic links.
      const up = await git('rev-parse', '--show-cdup').catch(() => '');
      const top = resolvePath(directory, up.trim());
      const place = resolvePath(top, beside);
      const folder = resolvePath(isOutside(relative(top, place)) ? top : place, path);
      const found = relative(top, folder);
      if (!isOutside(found)) return found;
      throw new RepositoryError(
        `The overlay ${path} of ppsgate.yml was looked for at ${folder}, which is outside of the repository ${top}: name a folder in it.`,
      );
    },

    async mergeBase(first, second) {
      const ids = [await resolve(first), await resolve(second)];
      const base = await git('merge-base', ...ids).catch(() => {
        throw new RepositoryError(
          `${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`,
        );
      });
      return base.trim();
    },

    async list(commit, folder) {
      const below = relative(directory, resolvePath(directory, folder));
      const prefixes = below === '' ? [] : [`${below}/`];
      const list = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', idOf(commit)];
      const listing = await git('--literal-pathspecs', ...list, ...prefixes).catch(() => {
        throw new RepositoryError(
          `git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`,
        );
      });
      const [prefix = ''] = prefixes;
      return listing.split('\0').filter(Boolean).map(parseTreeEntry(prefix));
    },

    async read(object) {
      const [id = '', ...path] = object.split(':');
      const named = [idOf(id), ...path].join(':');
      return git('cat-file', 'blob', named).catch(() => {
        throw new RepositoryError(
          `git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`,
        );
      });
    },

    async idAt(commit, path) {
      const named = `${idOf(commit)}:${path}`;
      const find = git('rev-parse', '--verify', '--quiet', '--end-of-options', named);
      const id = await find.catch((error: { code?: unknown }) => {
        // With --quiet a path that is not there is no more than that.
        if (error.code === 1) return '';
        throw new RepositoryError(`git cannot look for ${path} at ${commit} in ${directory}.`);
      });
      return id.trim() || undefined;
    },

    async changedPaths(first, second) {
      // A patch could have its submodules ignored by a .gitmodules of its own.
      const all = ['-r', '-z', '--no-renames', '--ignore-submodules=none'];
      const compare = ['diff-tree', '--name-only', ...all, '--end-of-options'];
      const listing = await git(...compare, idOf(first), idOf(second)).catch(() => {
        throw new RepositoryError(
          `git cannot tell what differs between ${first} and ${second} in ${directory}: check it out with both commits, which may differ in paths of at most 4 MiB.`,
        );
      });
      return listing.split('\0').filter(Boolean);
    },

    async diff(first, second) {
      const range = ['--end-of-options', idOf(first), idOf(second)];
      return bytes('diff', ...plainPatch, ...range).catch(() => {
        throw new RepositoryError(
          `git cannot compare ${first} with ${second} in ${directory}: their difference must be of at most 4 MiB.`,
        );
      });
    },

    message: (commit) => git('show', '--no-patch', '--format=%B', '--end-of-options', idOf(commit)),

    async describe(commit) {
      const [subject = '', author = ''] = (
        await git('show', '--no-patch', '--format=%s%n%an', '--end-of-options', idOf(commit))
      ).split('\n');
      return { subject, author };
    },

    async commitAt(branch, date) {
      const range = await branchBefore(branch, date);
      const last = await git('rev-list', '--max-count=1', ...range);
      if (last !== '') return last.trim();
      throw new RepositoryError(
        `${branch} has no commit in ${directory} from before ${date.toISOString()}: check it out with its history (fetch-depth: 0).`,
      );
    },

    async commitOfSvn(branch, revision, date) {
      const log = ['log', ...svnLog, ...(await branchBefore(branch, date))];
      const child = start(log, { timeout: svnLogMilliseconds });
      const ended = once(child, 'close');
      const found = await newestUpTo(revision, child.stdout.setEncoding('latin1'));
      if (found.kind === 'found') child.kill();
      const [code, signal] = await ended;
      if (found.kind === 'found' || code === 0) return found;
      if (signal !== null) return { kind: 'not-in-time' };
      throw new RepositoryError(
        `git cannot read the history of ${branch} in ${directory}: look at it with git fsck.`,
      );
    },

    async branchOfPath(path) {
      const parts = path.split('/').filter(Boolean);
      const ends = parts.map((_, index) => parts.slice(index).join('/'));
      const folders = ['refs/remotes/origin', 'refs/heads'];
      const named = ends.flatMap((end) => folders.map((folder) => `${folder}/${end}`));
      if (!named.every(isCommitName)) return undefined;
      const known = (await git('for-each-ref', '--format=%(refname)', ...named)).split('\n');
      return ends.find((end) => folders.some((folder) => known.includes(`${folder}/${end}`)));
    },

    async commitDiff(base, diff, { message, date }) {
      const checked = checkDiff(diff);
      if (checked.kind === 'refused') return { kind: 'does-not-apply', why: checked.reason };
      const parent = await resolve(base);
      const folder = await mkdtemp(join(tmpdir(), 'ppsgate-diff-'));
      try {
        const patch = join(folder, 'patch.diff');
        await writeFile(patch, diff);
        const environment = {
          // Named, it makes git take any folder for the top; elsewhere it leaves out what is not below.
          GIT_DIR: (await git('rev-parse', '--absolute-git-dir')).trimEnd(),
          GIT_INDEX_FILE: join(folder, 'index'),
          LC_ALL: 'C',
        };
        const indexed = (...args: string[]) => gitWith(environment, ...plainly, ...args);
        await indexed('read-tree', parent);
        const refused = await indexed('apply', '--cached', '--whitespace=nowarn', patch).then(
          () => undefined,
          (error: { stderr?: string }) => whyGitRefuses(error.stderr ?? '', checked.remarks),
        );
        if (refused !== undefined) return { kind: 'does-not-apply', why: refused };
        const asSaid = isAsSaid(checked.paths, await indexed(...rawChanges, parent));
        if (asSaid.kind === 'refused') return { kind: 'does-not-apply', why: asSaid.reason };
        const tree = (await indexed('write-tree')).trim();
        return { kind: 'committed', commit: await commitTree(tree, parent, { message, date }) };
      } finally {
        await rm(folder, { recursive: true });
      }
    },

    commitOnTop: (commit, parent, about) =>
      commitTree(`${idOf(commit)}^{tree}`, idOf(parent), about),
  };
}

/**
 * A name by the rules of git-check-ref-format(1) with what steps back from it, as in `HEAD~2`, `v1^{commit}` or
 * `main@{upstream}`. What else git would read, like a refspec or a path, is nothing that people call a commit.
 */
const isCommitName = (name: string): boolean =>
  name.length <= 250 &&
  /^(?![-/])[^\p{C}\s~^:?*[\\]+(?<![/.])(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/u.test(name) &&
  !/\.\.|\/\/|\/\.|^\.|\.lock(?:[/~^]|$)|@\{(?![\w-]{1,30}\})/.test(name);

const isOutside = (path: string): boolean => /^\.\.(?:\/|$)/.test(path);

/** For a fetch that writes no ref, whatever `remote.…` and `fetch` of git-config(1) say. */
export const objectsAlone = [
  '--quiet',
  '--refmap=',
  '--no-tags',
  '--no-prune',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
];

/** `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
const parseTreeEntry =
  (prefix: string) =>
  (line: string): TreeEntry => {
    // The path may itself hold tabs.
    const tab = line.indexOf('\t');
    const [mode = '', , object = ''] = line.slice(0, tab).split(' ');
    return { mode, object, path: line.slice(tab + 1 + prefix.length) };
  };
