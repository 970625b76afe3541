// Git objects and refs, read and written one by one.
import { z } from 'zod';
import {
  type Commit,
  changedTree,
  commitAt,
  entriesOf,
  entryAt,
  type Git,
  type Person,
  type TreeChange,
} from '../git-objects.ts';
import { type Answer, inRepository, notFound, type Operation, type State } from '../state.ts';

export const gitDataOperations = {
  'git/get-ref': onObjects((state, { params }) => {
    const name = `refs/${params.ref}`;
    const id = state.git.refs.get(name);
    return id === undefined ? notFound : { status: 200, body: refDocument(state, name, id) };
  }),

  'git/get-commit': onObjects((state, { params }) => {
    const id = params.commit_sha ?? '';
    const commit = commitAt(state.git, id);
    return commit === undefined ? notFound : { status: 200, body: commitDocument(state, id, commit) };
  }),

  'git/create-commit': onObjects((state, { body, caller }) => {
    const asked = newCommit.parse(body);
    if (entriesOf(state.git, asked.tree) === undefined) return refused('Tree SHA does not exist');
    if (asked.parents.some((parent) => commitAt(state.git, parent) === undefined))
      return refused('Parent SHA does not exist or is not a commit object');
    const email = `${caller.login}@users.noreply.github.com`;
    const author = { name: caller.login, email, at: state.git.now() };
    const commit: Commit = { ...asked, author, committer: author };
    const id = state.git.write({ type: 'commit', ...commit });
    return { status: 201, body: commitDocument(state, id, commit) };
  }),

  'git/get-tree': onObjects((state, { params, url }) => {
    const id = params.tree_sha ?? '';
    if (entriesOf(state.git, id) === undefined) return notFound;
    return { status: 200, body: treeDocument(state, id, url.searchParams.has('recursive')) };
  }),

  'git/create-tree': onObjects((state, { body }) => {
    const { base_tree, tree } = newTree.parse(body);
    if (base_tree !== undefined && entriesOf(state.git, base_tree) === undefined)
      return refused('base_tree is not a valid tree oid');
    if (tree.length === 0) return refused('Invalid tree info');
    const refusal = tree.map((entry) => refusedEntry(state.git, base_tree, entry));
    const [first] = refusal.filter((answer) => answer !== undefined);
    if (first !== undefined) return first;
    const changes = tree.map((entry) => changeOf(state.git, entry));
    const id = changedTree(state.git, base_tree, changes);
    return { status: 201, body: treeDocument(state, id, false) };
  }),

  'git/get-blob': onObjects((state, { params }) => {
    const id = params.file_sha ?? '';
    const object = state.git.read(id)?.object;
    if (object?.type !== 'blob') return notFound;
    const { bytes } = object;
    const body = { node_id: `B_${id}`, size: bytes.length, content: bytes.toString('base64'), encoding: 'base64' };
    return { status: 200, body: { ...linksOf(state, 'blobs', id), ...body } };
  }),

  'git/create-blob': onObjects((state, { body }) => {
    const { content } = newBlob.parse(body);
    const id = state.git.write({ type: 'blob', bytes: Buffer.from(content) });
    return { status: 201, body: linksOf(state, 'blobs', id) };
  }),
} satisfies Record<string, Operation>;

const newBlob = z.object({ content: z.string(), encoding: z.literal('utf-8') });

const newCommit = z.object({ message: z.string(), tree: z.string(), parents: z.array(z.string()) });

const newEntry = z.object({
  path: z.string(),
  mode: z.literal('100644'),
  type: z.literal('blob'),
  sha: z.string().nullish(),
  content: z.string().optional(),
});
type NewEntry = z.infer<typeof newEntry>;

const newTree = z.object({ base_tree: z.string().optional(), tree: z.array(newEntry) });

/** Without a single commit, GitHub neither reads nor writes objects. */
function onObjects(operation: Operation): Operation {
  return inRepository((state, call) =>
    state.git.refs.size === 0
      ? { status: 409, body: { message: 'Git Repository is empty.', status: '409' } }
      : operation(state, call),
  );
}

function refused(message: string): Answer {
  const documentation_url = 'https://docs.github.com/rest/git';
  return { status: 422, body: { message, documentation_url, status: '422' } };
}

function refusedEntry(git: Git, base: string | undefined, { path, sha, content }: NewEntry): Answer | undefined {
  if (path.split('/').some((name) => ['', '.', '..', '.git'].includes(name)))
    return refused('tree.path contains a malformed path component');
  if ((sha === undefined) === (content === undefined)) return refused('Must supply either tree.sha or tree.content');
  if (sha === null && (base === undefined || entryAt(git, base, path) === undefined))
    return refused('GitRPC::BadObjectState');
  return !sha || git.read(sha)?.object.type === 'blob' ? undefined : refused(`tree.sha ${sha} is not a valid blob`);
}

function changeOf(git: Git, { path, sha, content }: NewEntry): TreeChange {
  const id = content === undefined ? (sha ?? null) : git.write({ type: 'blob', bytes: Buffer.from(content) });
  return { path, mode: '100644', id };
}

function linksOf(state: State, kind: string, id: string): { sha: string; url: string } {
  return { sha: id, url: `https://api.github.com/repos/${state.repository}/git/${kind}/${id}` };
}

function refDocument(state: State, name: string, id: string): object {
  return {
    ref: name,
    node_id: `REF_${name}`,
    url: `https://api.github.com/repos/${state.repository}/git/${name}`,
    object: { type: 'commit', ...linksOf(state, 'commits', id) },
  };
}

function commitDocument(state: State, id: string, commit: Commit): object {
  const page = `https://github.com/${state.repository}/commit`;
  return {
    ...linksOf(state, 'commits', id),
    node_id: `C_${id}`,
    html_url: `${page}/${id}`,
    author: personDocument(commit.author),
    committer: personDocument(commit.committer),
    tree: linksOf(state, 'trees', commit.tree),
    message: commit.message,
    parents: commit.parents.map((parent) => ({
      ...linksOf(state, 'commits', parent),
      html_url: `${page}/${parent}`,
    })),
    verification: {
      verified: false,
      reason: 'unsigned',
      signature: null,
      payload: null,
      verified_at: null,
    },
  };
}

function personDocument({ name, email, at }: Person): object {
  return { name, email, date: at.toISOString().replace(/\.\d+Z$/, 'Z') };
}

function treeDocument(state: State, id: string, recursive: boolean): object {
  return {
    ...linksOf(state, 'trees', id),
    tree: treeLines(state, id, recursive, ''),
    truncated: false,
  };
}

function treeLines(state: State, id: string, recursive: boolean, folder: string): object[] {
  return (entriesOf(state.git, id) ?? []).flatMap(({ name, mode, id }) => {
    const path = `${folder}${name}`;
    const size = state.git.read(id)?.bytes.length;
    if (mode === '100644') return [{ path, mode, type: 'blob', size, ...linksOf(state, 'blobs', id) }];
    const inside = recursive ? treeLines(state, id, true, `${path}/`) : [];
    return [{ path, mode: '040000', type: 'tree', ...linksOf(state, 'trees', id) }, ...inside];
  });
}
