// Walks a repository's history along first parents, and applies commits on top of others, for bisections.
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import {
  fieldsOf,
  type Git,
  idOf,
  isId,
  plainly,
  plainPatch,
  RepositoryError,
  type Started,
  signature,
} from './git.ts';

export type LinearHistory = {
  isShallow(): Promise<boolean>;
  /** True if `other` is the commit, or an ancestor of it. */
  contains(commit: string, other: string): Promise<boolean>;
  /** True if a branch or a tag contains the commit. Excludes refs of pull requests: anyone can push a commit there. */
  isOnBranch(commit: string): Promise<boolean>;
  /** Counts the commits that do not contain the commit, from the tip back along first parents. */
  stepsSince(commit: string, tip: string): Promise<number>;
  /**
   * Follows first parents: the newest `most` at most, oldest first. `off-branches` selects those on no branch and no
   * tag.
   */
  commitsBetween(after: string, upTo: string, scope: { of: 'all' | 'off-branches'; most: number }): Promise<string[]>;
  firstParents(after: string, upTo: string): AsyncGenerator<FirstParent>;
  /** Time by the committer's clock. */
  committedAt(commit: string): Promise<string>;
  releaseBefore(commit: string): Promise<Release | undefined>;
  /** Returns the object's id at a path in each commit, in the given order. The empty path is the whole tree. */
  idsAt(commits: readonly string[], path: string): Promise<(string | undefined)[]>;
  /**
   * Uses git-patch-id(1), and includes reverts. Searches commits in `upTo` but not in `after`, oldest first, no merges.
   */
  sameChanges(commit: string, range: CommitRange): Promise<SameChange[]>;
  /** Like git-cherry-pick(1), or git-revert(1). Equal input yields an equal commit. Needs git 2.38. */
  picker(commit: string, isReverse?: boolean): Promise<CommitPicker>;
};

type Release = { name: string; commit: string; at: string };

export type Tip = { commit: string; tree: string };

export type FirstParent = Tip & {
  subject: string;
  author: string;
  /** Changes against its first parent, also for merges. */
  changes: { path: string; isSubmodule: boolean }[];
};

type CommitRange = { after?: string; upTo: string };

type SameChange = { commit: string; isReverse: boolean };

type CommitPicker = (onto: Tip) => Promise<Picked>;

export type Picked = { kind: 'picked'; tip: Tip } | { kind: 'nothing-to-do' } | { kind: 'conflict'; paths: string[] };

export function linearHistoryOf(git: Git): LinearHistory {
  return {
    isShallow: async () => (await git.run('rev-parse', '--is-shallow-repository')).trim() === 'true',
    contains: (commit, other) => contains(git, commit, other),
    isOnBranch: (commit) => isOnBranch(git, commit),
    async stepsSince(commit, tip) {
      const range = [idOf(tip), `^${idOf(commit)}`];
      return Number(await git.run('rev-list', '--count', '--first-parent', ...range));
    },
    async commitsBetween(after, upTo, { of, most }) {
      const line = ['--first-parent', `--max-count=${most}`, idOf(upTo), `^${idOf(after)}`];
      const read = ['rev-list', ...line, ...(of === 'all' ? [] : notOnBranches)];
      const listing = await git.run(...read).catch(() => {
        throw failed(`list the commits after ${after} up to ${upTo}`, git);
      });
      return listing.split('\n').filter(Boolean).toReversed();
    },
    firstParents: (after, upTo) => firstParents(git, after, upTo),
    committedAt: (commit) => committedAt(git, commit),
    releaseBefore: (commit) => releaseBefore(git, commit),
    idsAt: (commits, path) => idsAt(git, commits, path),
    sameChanges: (commit, range) => sameChanges(git, commit, range),
    picker: (commit, isReverse = false) => pickerOf(git, commit, isReverse),
  };
}

const failed = (what: string, { directory }: Git) =>
  new RepositoryError(`git cannot ${what} in ${directory}: check it with git fsck.`);

async function contains(git: Git, commit: string, other: string): Promise<boolean> {
  const ids = [idOf(other), idOf(commit)];
  return git.run('merge-base', '--is-ancestor', ...ids).then(
    () => true,
    (error: { code?: unknown }) => {
      if (error.code === 1) return false;
      throw failed(`check whether ${other} is an ancestor of ${commit}`, git);
    },
  );
}

/** Excludes all that `isOnBranch` finds. */
const notOnBranches = [
  '--not',
  ...['--branches', '--tags', '--remotes'].flatMap((refs) => ['--exclude=pull/*', '--exclude=*/pull/*', refs]),
];

async function isOnBranch(git: Git, commit: string): Promise<boolean> {
  const refs = ['refs/heads', 'refs/tags', 'refs/remotes'];
  const found = ['for-each-ref', '--format=%(refname)', '--contains', idOf(commit), ...refs];
  const names = await git.run(...found).catch(() => {
    throw failed(`list the branches with ${commit}`, git);
  });
  return names.split('\n').some((name) => name !== '' && !name.includes('/pull/'));
}

async function committedAt(git: Git, commit: string): Promise<string> {
  const seconds = ['--no-patch', '--format=%ct', '--end-of-options', idOf(commit)];
  return new Date(Number(await git.run('show', ...seconds)) * 1000).toISOString();
}

async function releaseBefore(git: Git, commit: string): Promise<Release | undefined> {
  const describe = ['describe', '--tags', '--first-parent', '--abbrev=0', idOf(commit)];
  const name = (await git.run(...describe).catch(() => '')).trim();
  if (name === '') return undefined;
  const tagged = (await git.run('rev-parse', '--verify', `refs/tags/${name}^{commit}`)).trim();
  return { name, commit: tagged, at: await committedAt(git, tagged) };
}

async function* firstParents(git: Git, after: string, upTo: string): AsyncGenerator<FirstParent> {
  const form = ['-z', '--encoding=UTF-8', '--format=tformat:%H%x00%T%x00%s%x00%an'];
  const own = ['--no-show-signature', '--no-notes', '--no-mailmap', '--no-relative'];
  const line = ['--reverse', '--first-parent', '--diff-merges=first-parent'];
  const changes = ['--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none'];
  const range = [idOf(upTo), `^${idOf(after)}`, '--'];
  const child = git.start(['log', ...form, ...own, ...line, ...changes, ...range]);
  const isWell = endsWell(child);
  let isRead = false;
  try {
    yield* commitsOf(child.stdout.setEncoding('utf8'));
    isRead = true;
  } finally {
    if (!isRead) child.kill();
  }
  if (!(await isWell)) throw failed(`read the commits after ${after} up to ${upTo}`, git);
}

/**
 * Parses four fields per commit, then two per change: `:MODE MODE ID ID STATUS`, see git-diff-tree(1), and its path.
 */
async function* commitsOf(output: AsyncIterable<string>): AsyncGenerator<FirstParent> {
  let head: string[] = [];
  let changes: FirstParent['changes'] = [];
  let change: string | undefined;
  const parsed = (): FirstParent => {
    const [commit = '', tree = '', subject = '', author = ''] = head;
    return { commit, tree, subject, author, changes };
  };
  // Exceeds every file system's limit for a path.
  for await (const field of fieldsOf(output, (text) => text.slice(0, 8192))) {
    if (change !== undefined) {
      changes.push({ path: field, isSubmodule: change.includes('160000 ') });
      change = undefined;
    } else if (head.length < 4) {
      head.push(field);
    } else if (/^\n?:/.test(field)) {
      change = field;
    } else {
      yield parsed();
      [head, changes] = [[field], []];
    }
  }
  if (head.length === 4) yield parsed();
}

async function idsAt(git: Git, commits: readonly string[], path: string): Promise<(string | undefined)[]> {
  const child = git.start(['cat-file', '--batch-check=%(objectname)']);
  const isWell = endsWell(child);
  const names = commits.map((commit) => `${idOf(commit)}:${path}\n`).join('');
  // A process that ends early reports it by its exit code.
  child.stdin.on('error', () => undefined).end(names);
  const ids = (await textOf(child)).split('\n').slice(0, -1);
  if ((await isWell) && ids.length === commits.length) {
    return ids.map((id) => (isId(id) ? id : undefined));
  }
  throw failed(`find ${path || 'the files'} of ${commits.length} commits`, git);
}

async function sameChanges(git: Git, commit: string, { after, upTo }: CommitRange): Promise<SameChange[]> {
  const id = idOf(commit);
  const parent = `${id}^1`;
  const compare = ['diff-tree', '-p', ...plainPatch];
  const [[same] = []] = await patchIds(git, [...compare, parent, id]);
  const [[reverse] = []] = await patchIds(git, [...compare, id, parent]);
  const names = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', parent, id];
  // The same change touches each of its paths, so searching for one of them is enough.
  const [path = ''] = (await git.run(...names)).split('\0');
  const range = [idOf(upTo), ...(after === undefined ? [] : [`^${idOf(after)}`])];
  const all = ['--full-history', '--full-diff', '--no-merges', '--topo-order', '--reverse'];
  const form = ['--format=tformat:commit %H', '--no-show-signature', '--no-notes'];
  const log = ['--literal-pathspecs', 'log', '-p', ...plainPatch, ...form, ...all];
  const twins = await patchIds(git, [...log, ...range, '--', path]);
  return twins
    .filter(([change]) => change === same || change === reverse)
    .map(([change, twin]) => ({ commit: twin, isReverse: change === reverse }));
}

/** Returns the id of each change in git's patch output, with its commit. */
async function patchIds(git: Git, command: string[]): Promise<[id: string, commit: string][]> {
  const [from, to] = [git.start(command), git.start(['patch-id', '--stable'])];
  const piped = pipeline(from.stdout, to.stdin).then(isDone, isNot);
  const ended = [endsWell(from), endsWell(to), piped];
  const text = await textOf(to);
  if ((await Promise.all(ended)).includes(false)) throw failed('compare changes', git);
  const lines = text.split('\n').filter(Boolean);
  return lines.map((line) => {
    const [id = '', commit = ''] = line.split(' ');
    return [id, commit];
  });
}

async function pickerOf(git: Git, commit: string, isReverse: boolean): Promise<CommitPicker> {
  const { directory } = git;
  const id = idOf(commit);
  const commitOf = async (tree: string, message: string, parents: string[]) => {
    const made = ['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), '-m', message];
    const commit = git.runWith(signature(new Date(0)), ...plainly, ...made, tree).catch(() => {
      throw new RepositoryError(
        `git cannot apply ${id} to other commits in ${directory}: this user needs write access there.`,
      );
    });
    return (await commit).trim();
  };
  // The merge base that git finds has neither of these trees.
  const trees = [`${id}^1^{tree}`, `${id}^{tree}`];
  const [from = '', to = ''] = isReverse ? trees.toReversed() : trees;
  const before = await commitOf(from, 'Before', []);
  const theirs = await commitOf(to, 'Theirs', [before]);
  return async (onto) => {
    const ours = await commitOf(`${idOf(onto.commit)}^{tree}`, 'Ours', [before]);
    const merge = [...asUsual, 'merge-tree', '--write-tree', '--name-only', '-z'];
    const { isClean, text } = await git.run(...merge, '--no-messages', ours, theirs).then(
      (text) => ({ isClean: true, text }),
      (error: { code?: unknown; stdout?: string }) => {
        if (error.code === 1) return { isClean: false, text: error.stdout ?? '' };
        throw new RepositoryError(
          `git cannot apply ${id} to ${onto.commit} in ${directory}: this needs git 2.38 or later.`,
        );
      },
    );
    const [tree = '', ...paths] = text.split('\0').filter(Boolean);
    if (!isClean) return { kind: 'conflict', paths };
    if (tree === onto.tree) return { kind: 'nothing-to-do' };
    const how = isReverse ? 'without' : 'with';
    const made = await commitOf(tree, `${onto.commit} ${how} ${id}`, [onto.commit]);
    return { kind: 'picked', tip: { commit: made, tree } };
  };
}

const asUsual = ['merge.renames=true', 'merge.directoryRenames=conflict', 'merge.renormalize=false'].flatMap(
  (setting) => ['-c', setting],
);

const endsWell = (child: Started): Promise<boolean> => once(child, 'close').then(([code]) => code === 0, isNot);

const isDone = () => true;
const isNot = () => false;

async function textOf({ stdout }: Started): Promise<string> {
  let text = '';
  for await (const chunk of stdout.setEncoding('utf8')) text += chunk;
  return text;
}
