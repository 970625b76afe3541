// A git repository in memory: real objects with git's own ids, and refs to some of them.
import { createHash } from 'node:crypto';

export type GitObject =
  | { type: 'blob'; bytes: Buffer }
  | { type: 'tree'; entries: readonly TreeEntry[] }
  | ({ type: 'commit' } & Commit);

export type TreeEntry = { name: string; mode: Mode; id: string };

/** Modes of git: a file, a folder. */
type Mode = '100644' | '40000';

export type Commit = {
  tree: string;
  parents: readonly string[];
  message: string;
  author: Person;
  committer: Person;
};

export type Person = { name: string; email: string; at: Date };

/** A change to a tree at the path of a file or folder, at any depth; a null id removes it. */
export type TreeChange = { path: string; mode: Mode; id: string | null };

export type Git = {
  /** Ids by full name, such as `refs/heads/main`. */
  refs: Map<string, string>;
  /** An object and its bytes as stored by git, without the header. */
  read: (id: string) => { object: GitObject; bytes: Buffer } | undefined;
  /** The id of the object, which is kept if it is new. */
  write: (object: GitObject) => string;
  /** A unique time: each use advances the fake's clock by a second. */
  now: () => Date;
};

export function emptyRepository(): Git {
  const kept = new Map<string, { object: GitObject; bytes: Buffer }>();
  let seconds = Date.UTC(2026, 0, 1) / 1000;
  return {
    refs: new Map(),
    read: (id) => kept.get(id),
    write(object) {
      const bytes = bytesOf(object);
      const header = `${object.type} ${bytes.length}\0`;
      const id = createHash('sha1').update(header).update(bytes).digest('hex');
      if (!kept.has(id)) kept.set(id, { object, bytes });
      return id;
    },
    now() {
      seconds += 1;
      return new Date(seconds * 1000);
    },
  };
}

/**
 * Adds one commit to a branch, or starts the branch with it, and returns its id: tests describe a repository with this.
 *
 * @param files content of each path from now on; null removes one.
 */
export function commitFiles(
  git: Git,
  branch: string,
  files: Readonly<Record<string, string | Buffer | null>>,
  message = 'A commit',
): string {
  const ref = `refs/heads/${branch}`;
  const parent = git.refs.get(ref);
  const changes = Object.entries(files).map(([path, content]): TreeChange => {
    const id = content === null ? null : git.write({ type: 'blob', bytes: Buffer.from(content) });
    return { path, mode: '100644', id };
  });
  const base = parent && commitAt(git, parent)?.tree;
  const author = { name: 'Alice', email: 'alice@example.org', at: git.now() };
  const id = git.write({
    type: 'commit',
    tree: changedTree(git, base, changes),
    parents: parent === undefined ? [] : [parent],
    message,
    author,
    committer: author,
  });
  git.refs.set(ref, id);
  return id;
}

export function commitAt(git: Git, id: string): Commit | undefined {
  const object = git.read(id)?.object;
  return object?.type === 'commit' ? object : undefined;
}

export function entriesOf(git: Git, tree: string): readonly TreeEntry[] | undefined {
  const object = git.read(tree)?.object;
  return object?.type === 'tree' ? object.entries : undefined;
}

/** Id of the tree `base` with these changes; empty folders are removed. */
export function changedTree(git: Git, base: string | undefined, changes: readonly TreeChange[]): string {
  const before = base === undefined ? [] : (entriesOf(git, base) ?? []);
  const entries = new Map(before.map((entry) => [entry.name, entry]));
  for (const [name, inside] of Map.groupBy(changes, ({ path }) => path.split('/')[0] ?? '')) {
    const entry = changedEntry(git, entries.get(name), name, inside);
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }
  return git.write({ type: 'tree', entries: [...entries.values()].sort(inOrderOfGit) });
}

function changedEntry(
  git: Git,
  before: TreeEntry | undefined,
  name: string,
  changes: readonly TreeChange[],
): TreeEntry | undefined {
  const own = changes.findLast(({ path }) => path === name);
  const start = own === undefined ? before : entryOf(own, name);
  const inside = changes
    .filter(({ path }) => path !== name)
    .map((change) => ({ ...change, path: change.path.slice(name.length + 1) }));
  if (inside.length === 0) return start;
  const folder = changedTree(git, start?.mode === '40000' ? start.id : undefined, inside);
  return entriesOf(git, folder)?.length === 0 ? undefined : { name, mode: '40000', id: folder };
}

function entryOf({ id, mode }: TreeChange, name: string): TreeEntry | undefined {
  return id === null ? undefined : { name, mode, id };
}

/** Compares bytes, with a slash appended to a folder's name. */
function inOrderOfGit(one: TreeEntry, other: TreeEntry): number {
  return Buffer.compare(sortKey(one), sortKey(other));
}

function sortKey({ name, mode }: TreeEntry): Buffer {
  return Buffer.from(mode === '40000' ? `${name}/` : name);
}

/** Finds the entry at a path of a commit's tree. */
export function entryAt(git: Git, tree: string, path: string): TreeEntry | undefined {
  const [name = '', ...rest] = path.split('/');
  const entry = entriesOf(git, tree)?.find((one) => one.name === name);
  if (entry === undefined || rest.length === 0) return entry;
  return entry.mode === '40000' ? entryAt(git, entry.id, rest.join('/')) : undefined;
}

function bytesOf(object: GitObject): Buffer {
  if (object.type === 'blob') return object.bytes;
  if (object.type === 'tree') return Buffer.concat(object.entries.flatMap(entryBytes));
  const lines = [
    `tree ${object.tree}`,
    ...object.parents.map((parent) => `parent ${parent}`),
    `author ${personLine(object.author)}`,
    `committer ${personLine(object.committer)}`,
  ];
  return Buffer.from(`${lines.join('\n')}\n\n${object.message}`);
}

function entryBytes({ mode, name, id }: TreeEntry): Buffer[] {
  return [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')];
}

function personLine({ name, email, at }: Person): string {
  return `${name} <${email}> ${Math.floor(at.getTime() / 1000)} +0000`;
}
