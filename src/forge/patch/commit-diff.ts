// Creates commits from diffs in a repository, without a checkout.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changesAsListed, checkDiff, rawChanges, whyGitRefuses } from './diff.ts';
import { type Git, plainly, signature } from './git.ts';
import { resolveCommit } from './resolve-commit.ts';

export type CommitAbout = { message: string; date: Date };

export type CommittedDiff =
  | { kind: 'committed'; commit: string }
  /**
   * `why` is for the diff's author. `isRefused`: git was not given the diff, or changed other files than the diff
   * names.
   */
  | { kind: 'does-not-apply'; why: string; isRefused?: true };

export async function commitTree(git: Git, tree: string, parent: string, about: CommitAbout): Promise<string> {
  return committed(git, tree, ['-p', parent], about);
}

export const rootCommit = (git: Git, tree: string, about: CommitAbout): Promise<string> =>
  committed(git, tree, [], about);

async function committed(
  git: Git,
  tree: string,
  parents: readonly string[],
  { message, date }: CommitAbout,
): Promise<string> {
  const made = [...plainly, 'commit-tree', ...parents, '-m', message, tree];
  return (await git.runWith(signature(date), ...made)).trim();
}

export async function commitDiff(git: Git, base: string, diff: Uint8Array, about: CommitAbout): Promise<CommittedDiff> {
  const checked = checkDiff(diff);
  if (checked.kind === 'refused') {
    return { kind: 'does-not-apply', why: checked.reason, isRefused: true };
  }
  const parent = await resolveCommit(git, base);
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-diff-'));
  try {
    const patch = join(folder, 'patch.diff');
    await writeFile(patch, diff);
    await git.share(folder, patch);
    const environment = {
      // With it, git takes any folder for the top. Without it, git omits files outside the current folder.
      GIT_DIR: (await git.run('rev-parse', '--absolute-git-dir')).trimEnd(),
      GIT_INDEX_FILE: join(folder, 'index'),
      LC_ALL: 'C',
    };
    const indexed = (...args: string[]) => git.runWith(environment, ...plainly, ...args);
    await indexed('read-tree', parent);
    const refused = await indexed('apply', '--cached', '--whitespace=nowarn', patch).then(
      () => undefined,
      (error: { stderr?: string }) => whyGitRefuses(error.stderr ?? '', checked.remarks),
    );
    if (refused !== undefined) return { kind: 'does-not-apply', why: refused };
    const isAsListed = changesAsListed(checked.paths, await indexed(...rawChanges, parent));
    if (isAsListed.kind === 'refused') {
      return { kind: 'does-not-apply', why: isAsListed.reason, isRefused: true };
    }
    const tree = (await indexed('write-tree')).trim();
    return { kind: 'committed', commit: await commitTree(git, tree, parent, about) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
