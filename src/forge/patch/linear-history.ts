// What a bisection asks of a git repository: its history along first parents, and commits put on top of others.
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

export type History = {
  /** Whether it was cloned without the beginning of its history. */
  isShallow(): Promise<boolean>;
  /** Whether the second commit is the first, or an ancestor of it. */
  contains(commit: string, other: string): Promise<boolean>;
  /** How many commits, from the tip back along first parents, do not contain the commit. */
  stepsSince(commit: string, tip: string): Promise<number>;
  /** The commits after one up to another along first parents, the oldest first. */
  firstParents(after: string, upTo: string): AsyncGenerator<FirstParent>;
  /** When a commit was made, by its committer's clock. */
  committedAt(commit: string): Promise<string>;
  /** The nearest tag on the line of first parents of a commit; undefined where there is none. */
  releaseBefore(commit: string): Promise<Release | undefined>;
  /** Ids of what lies at a path of each commit, in their order; the empty path is all of it. */
  idsAt(commits: readonly string[], path: string): Promise<(string | undefined)[]>;
  /**
   * Commits that make the same change as one, as far as git-patch-id(1) can tell, and those that take it back: of all that
   * `upTo` contains and `after` does not, the oldest first. Merges are none of them.
   */
  sameChanges(commit: string, range: { after?: string; upTo: string }): Promise<SameChange[]>;
  /**
   * Puts what a commit changes of its first parent on top of others, as git-cherry-pick(1) does, and always makes the same
   * commit of the same; takes git 2.38 or later. In reverse it takes that back, as git-revert(1) does.
   */
  picker(commit: string, isReverse?: boolean): Promise<(onto: Tip) => Promise<Picked>>;
};

/** A tag with its commit, and when that was made. */
export type Release = { name: string; commit: string; at: string };

export type Tip = { commit: string; tree: string };

export type FirstParent = Tip & {
  subject: string;
  author: string;
  /** What it changes of its first parent, be it a merge or not. */
  changes: { path: string; isSubmodule: boolean }[];
};

type SameChange = { commit: string; isReverse: boolean };

export type Picked =
  | { kind: 'picked'; tip: Tip }
  /** The change is in the commit already. */
  | { kind: 'nothing-to-do' }
  | { kind: 'conflict'; paths: string[] };

export function historyOf({ directory, git, gitWith, start }: Git): History {
  const committedAt = async (commit: string): Promise<string> => {
    const shown = await git('show', '--no-patch', '--format=%ct', '--end-of-options', idOf(commit));
    return new Date(Number(shown) * 1000).toISOString();
  };

  const failed = (what: string) =>
    new RepositoryError(`git cannot ${what} in ${directory}: look at it with git fsck.`);

  /** Ids of each change that a command of git shows as a patch, and of its commit. */
  const patchIds = async (command: string[]): Promise<[id: string, commit: string][]> => {
    const [from, to] = [start(command), start(['patch-id', '--stable'])];
    const ended = [
      endsWell(from),
      endsWell(to),
      pipeline(from.stdout, to.stdin).then(isDone, isNot),
    ];
    const text = await textOf(to);
    if ((await Promise.all(ended)).includes(false)) throw failed('compare changes');
    const lines = text.split('\n').filter(Boolean);
    return lines.map((line) => {
      const [id = '', commit = ''] = line.split(' ');
      return [id, commit];
    });
  };

  return {
    async isShallow() {
      return (await git('rev-parse', '--is-shallow-repository')).trim() === 'true';
    },

    async contains(commit, other) {
      const ids = [idOf(other), idOf(commit)];
      return git('merge-base', '--is-ancestor', ...ids).then(
        () => true,
        (error: { code?: unknown }) => {
          if (error.code === 1) return false;
          throw failed(`tell whether ${other} came before ${commit}`);
        },
      );
    },

    async stepsSince(commit, tip) {
      const range = [idOf(tip), `^${idOf(commit)}`];
      return Number(await git('rev-list', '--count', '--first-parent', ...range));
    },

    committedAt,

    async releaseBefore(commit) {
      const describe = ['describe', '--tags', '--first-parent', '--abbrev=0', idOf(commit)];
      const name = (await git(...describe).catch(() => '')).trim();
      if (name === '') return undefined;
      const tagged = (await git('rev-parse', '--verify', `refs/tags/${name}^{commit}`)).trim();
      return { name, commit: tagged, at: await committedAt(tagged) };
    },

    async *firstParents(after, upTo) {
      const form = ['-z', '--encoding=UTF-8', '--format=tformat:%H%x00%T%x00%s%x00%an'];
      const own = ['--no-show-signature', '--no-notes', '--no-mailmap', '--no-relative'];
      const line = ['--reverse', '--first-parent', '--diff-merges=first-parent'];
      const changes = ['--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none'];
      const range = [idOf(upTo), `^${idOf(after)}`, '--'];
      const child = start(['log', ...form, ...own, ...line, ...changes, ...range]);
      const isWell = endsWell(child);
      let isRead = false;
      try {
        yield* commitsOf(child.stdout.setEncoding('utf8'));
        isRead = true;
      } finally {
        if (!isRead) child.kill();
      }
      if (!(await isWell)) throw failed(`read the commits after ${after} up to ${upTo}`);
    },

    async idsAt(commits, path) {
      const child = start(['cat-file', '--batch-check=%(objectname)']);
      const isWell = endsWell(child);
      const asked = commits.map((commit) => `${idOf(commit)}:${path}\n`).join('');
      // One that ends early says so by its code.
      child.stdin.on('error', () => undefined).end(asked);
      const ids = (await textOf(child)).split('\n').slice(0, -1);
      if ((await isWell) && ids.length === commits.length) {
        return ids.map((id) => (isId(id) ? id : undefined));
      }
      throw failed(`look for ${path || 'the files'} of ${commits.length} commits`);
    },

    async sameChanges(commit, { after, upTo }) {
      const id = idOf(commit);
      const parent = `${id}^1`;
      const compare = ['diff-tree', '-p', ...plainPatch];
      const [[same] = []] = await patchIds([...compare, parent, id]);
      const [[reverse] = []] = await patchIds([...compare, id, parent]);
      const names = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', parent, id];
      // Whatever makes the same change touches each of its paths, so one of them is enough to look for.
      const [path = ''] = (await git(...names)).split('\0');
      const range = [idOf(upTo), ...(after === undefined ? [] : [`^${idOf(after)}`])];
      const all = ['--full-history', '--full-diff', '--no-merges', '--topo-order', '--reverse'];
      const form = ['--format=tformat:commit %H', '--no-show-signature', '--no-notes'];
      const log = ['--literal-pathspecs', 'log', '-p', ...plainPatch, ...form, ...all];
      const found = await patchIds([...log, ...range, '--', path]);
      return found.flatMap(([change, twin]) =>
        change === same || change === reverse
          ? [{ commit: twin, isReverse: change === reverse }]
          : [],
      );
    },

    async picker(commit, isReverse = false) {
      const id = idOf(commit);
      const commitOf = async (tree: string, message: string, parents: string[]) => {
        const made = ['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), '-m', message];
        const commit = gitWith(signature(new Date(0)), ...plainly, ...made, tree).catch(() => {
          throw new RepositoryError(
            `git cannot put ${id} on top of others in ${directory}: whoever runs this must be able to write there.`,
          );
        });
        return (await commit).trim();
      };
      // What git takes for the point where both parted is a commit that has the trees of neither.
      const trees = [`${id}^1^{tree}`, `${id}^{tree}`];
      const [from = '', to = ''] = isReverse ? trees.toReversed() : trees;
      const before = await commitOf(from, 'Before', []);
      const theirs = await commitOf(to, 'Theirs', [before]);
      return async (onto) => {
        const ours = await commitOf(`${idOf(onto.commit)}^{tree}`, 'Ours', [before]);
        const merge = [...asUsual, 'merge-tree', '--write-tree', '--name-only', '-z'];
        const { isClean, text } = await git(...merge, '--no-messages', ours, theirs).then(
          (text) => ({ isClean: true, text }),
          (error: { code?: unknown; stdout?: string }) => {
            if (error.code === 1) return { isClean: false, text: error.stdout ?? '' };
            throw new RepositoryError(
              `git cannot put ${id} on top of ${onto.commit} in ${directory}: that takes git 2.38 or later.`,
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
    },
  };
}

const endsWell = (child: Started): Promise<boolean> =>
  once(child, 'close').then(([code]) => code === 0, isNot);

const isDone = () => true;
const isNot = () => false;

async function textOf({ stdout }: Started): Promise<string> {
  let text = '';
  for await (const chunk of stdout.setEncoding('utf8')) text += chunk;
  return text;
}

/** Merges by the rules that git has where nobody set others. */
const asUsual = [
  'merge.renames=true',
  'merge.directoryRenames=conflict',
  'merge.renormalize=false',
].flatMap((setting) => ['-c', setting]);

/** Four fields a commit, and then two a change: `:MODE MODE ID ID STATUS`, see git-diff-tree(1), and its path. */
async function* commitsOf(output: AsyncIterable<string>): AsyncGenerator<FirstParent> {
  let head: string[] = [];
  let changes: FirstParent['changes'] = [];
  let change: string | undefined;
  const told = (): FirstParent => {
    const [commit = '', tree = '', subject = '', author = ''] = head;
    return { commit, tree, subject, author, changes };
  };
  // Longer than any path that a file system takes.
  for await (const field of fieldsOf(output, (text) => text.slice(0, 8192))) {
    if (change !== undefined) {
      changes.push({ path: field, isSubmodule: change.includes('160000 ') });
      change = undefined;
    } else if (head.length < 4) {
      head.push(field);
    } else if (/^\n?:/.test(field)) {
      change = field;
    } else {
      yield told();
      [head, changes] = [[field], []];
    }
  }
  if (head.length === 4) yield told();
}
