// What ppsgate asks of a git repository on this machine; objects only, never a checkout.
import { execFile } from 'node:child_process';
import { relative, resolve as resolvePath } from 'node:path';
import { promisify } from 'node:util';

export type Repository = {
  /** The full commit id of a name; throws a `RepositoryError` when there is none. */
  resolve(name: string): Promise<string>;
  /** Where two commits parted: what the patch is measured against. */
  mergeBase(first: string, second: string): Promise<string>;
  /** The files below a folder (absolute, or relative to the repository's) at a commit, by their paths in it; none where it does not exist. */
  list(commit: string, folder: string): Promise<TreeEntry[]>;
  /** The text of an object: its id, or `COMMIT:PATH`. */
  read(object: string): Promise<string>;
  /** All that the second commit changes of the first, as bytes: files need be no text. */
  diff(first: string, second: string): Promise<Buffer>;
  /** Subject line and author of a commit. */
  describe(commit: string): Promise<{ subject: string; author: string }>;
};

export type TreeEntry = { path: string; mode: string; object: string };

/** What git could not do, in one sentence. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
}

const run = promisify(execFile);
/** Of one file, and of one listing. */
const maxBytes = 4 * 1024 * 1024;

/** @param environment for git, where fetching what is missing needs more than the checkout has. */
export function openRepository(directory: string, environment: NodeJS.ProcessEnv = {}): Repository {
  const git = async (...args: string[]): Promise<string> => {
    // Through sudo, and in containers, the checkout often belongs to somebody else; only objects are read.
    const options = ['-C', directory, '-c', 'safe.directory=*'];
    const env = { ...process.env, ...environment };
    const { stdout } = await run('git', [...options, ...args], { env, maxBuffer: maxBytes });
    return stdout;
  };

  // A commit that a shallow clone lacks is fetched once by its id, as GitHub allows.
  const resolve = async (name: string): Promise<string> => {
    const parse = () =>
      git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
    const id = await parse()
      .catch(() => git('fetch', '--quiet', 'origin', '--', name).then(parse))
      .catch(() => {
        throw new RepositoryError(
          `The repository ${directory} has no commit ${name} and could not fetch it: check it out with its history (fetch-depth: 0).`,
        );
      });
    return id.trim();
  };

  return {
    resolve,

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
      const list = ['ls-tree', '-r', '-z', '--end-of-options', commit, ...prefixes];
      const listing = await git(...list).catch(() => {
        throw new RepositoryError(
          `git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`,
        );
      });
      const [prefix = ''] = prefixes;
      return listing.split('\0').filter(Boolean).map(parseTreeEntry(prefix));
    },

    read: (object) =>
      git('cat-file', 'blob', object).catch(() => {
        throw new RepositoryError(
          `git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`,
        );
      }),

    async diff(first, second) {
      const plain = [
        '--no-color',
        '--no-ext-diff',
        '--no-textconv',
        '--no-renames',
        '--full-index',
      ];
      const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
      const range = ['--end-of-options', first, second];
      const options = ['-C', directory, '-c', 'safe.directory=*'];
      const diff = [...options, 'diff', ...plain, ...prefixes, ...range];
      const { stdout } = await run('git', diff, { maxBuffer: maxBytes, encoding: 'buffer' }).catch(
        () => {
          throw new RepositoryError(
            `git cannot compare ${first} with ${second} in ${directory}: their difference must be of at most 4 MiB.`,
          );
        },
      );
      return stdout;
    },

    async describe(commit) {
      const [subject = '', author = ''] = (
        await git('show', '--no-patch', '--format=%s%n%an', '--end-of-options', commit)
      ).split('\n');
      return { subject, author };
    },
  };
}

/** `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
const parseTreeEntry =
  (prefix: string) =>
  (line: string): TreeEntry => {
    // The path may itself hold tabs.
    const tab = line.indexOf('\t');
    const [mode = '', , object = ''] = line.slice(0, tab).split(' ');
    return { mode, object, path: line.slice(tab + 1 + prefix.length) };
  };
