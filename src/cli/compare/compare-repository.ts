// Keeps both sides of a comparison as two commits of a repository, which a gate judges like any other patch.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OverlayPlace } from '../../config/overlay.ts';
import { commitTree, rootCommit } from '../../forge/patch/commit-diff.ts';
import { gitIn, plainly } from '../../forge/patch/git.ts';
import type { Patch } from '../../model/patch.ts';
import type { Compared } from './compared.ts';

/** Creates the repository in an empty folder, with the files at its top, and returns the patch. */
export async function makeCompareRepository(
  directory: string,
  compared: Compared,
  name: string,
): Promise<Extract<Patch, { kind: 'range' }>> {
  const git = gitIn(directory, {});
  await git.run('init', '--quiet', '--initial-branch=main');
  const date = new Date();
  const treeOf = async (files: ReadonlyMap<string, string>): Promise<string> => {
    for (const [file, text] of files) await writeFile(join(directory, file), text);
    await git.run(...plainly, 'add', '--all', '--force', '.');
    const tree = (await git.run('write-tree')).trim();
    for (const file of files.keys()) await rm(join(directory, file));
    return tree;
  };
  const none = new Map<string, string>();
  const [old, other] = compared.kind === 'files' ? [compared.old, compared.new] : [none, none];
  const baseCommit = await rootCommit(git, await treeOf(old), { message: 'old', date });
  const headCommit = await commitTree(git, await treeOf(other), baseCommit, {
    message: name,
    date,
  });
  await git.run('update-ref', 'refs/heads/main', headCommit);
  const title = compared.kind === 'files' ? compared.what : 'two kernels';
  return { kind: 'range', name, title, author: 'ppsgate compare', baseCommit, headCommit };
}

/** Takes the files from the repository, with the configured names of interfaces. */
export const overlayIn = (directory: string, { interfaces }: OverlayPlace): OverlayPlace => ({
  path: '.',
  beside: directory,
  ...(interfaces !== undefined && { interfaces }),
});
