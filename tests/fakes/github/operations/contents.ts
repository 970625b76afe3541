// Files of the repository by path.
import { commitAt, entryAt } from '../git-objects.ts';
import { commitOf, inRepository, notFound, type Operation } from '../state.ts';

/** GitHub's JSON contains no more of a file; a larger one must be requested raw. */
const largestBytes = 1_000_000;

export const contentOperations = {
  'repos/get-content': inRepository((state, { params, url, accept }) => {
    const { path = '' } = params;
    const ref = url.searchParams.get('ref') ?? state.defaultBranch;
    const tree = commitAt(state.git, commitOf(state, ref) ?? '')?.tree;
    const entry = tree === undefined ? undefined : entryAt(state.git, tree, path);
    const object = state.git.read(entry?.id ?? '')?.object;
    if (object === undefined) return notFound;
    if (object.type !== 'blob') return folder;
    const { bytes } = object;
    if (accept.includes('raw')) return { status: 200, bytes };
    const isLarge = bytes.length > largestBytes;
    const links = {
      self: `https://api.github.com/repos/${state.repository}/contents/${path}?ref=${ref}`,
      git: `https://api.github.com/repos/${state.repository}/git/blobs/${entry?.id}`,
      html: `https://github.com/${state.repository}/blob/${ref}/${path}`,
    };
    return {
      status: 200,
      body: {
        type: 'file',
        encoding: isLarge ? 'none' : 'base64',
        content: isLarge ? '' : bytes.toString('base64'),
        size: bytes.length,
        name: entry?.name,
        path,
        sha: entry?.id,
        url: links.self,
        git_url: links.git,
        html_url: links.html,
        download_url: `https://raw.githubusercontent.com/${state.repository}/${ref}/${path}`,
        _links: links,
      },
    };
  }),
} satisfies Record<string, Operation>;

const folder = { status: 501, body: { message: 'The fake lists folders by git/get-tree only.' } };
