// Detects patches that change the code that measures them, and so could write any result.
import { relative } from 'node:path';
import type { Repository } from '../forge/patch/repository.ts';
import type { Patch } from '../model/patch.ts';
import type { GithubJob } from './inputs.ts';

/** Returns a changed path of the workflows, or of an action's code within the repository. */
export async function changedOfGate(
  { baseCommit, headCommit }: Pick<Patch, 'baseCommit' | 'headCommit'>,
  repository: Repository,
  { isOwnAction, workspace }: Pick<GithubJob, 'isOwnAction' | 'workspace'>,
  code = import.meta.dirname,
): Promise<string | undefined> {
  const base = await repository.mergeBase(baseCommit, headCommit);
  for (const path of ['.github/', ...(isOwnAction ? pathsOfAction(relative(workspace, code)) : [])]) {
    const [before, after] = await Promise.all(
      [base, headCommit].map((commit) => repository.idAt(commit, path.replace(/\/$/, ''))),
    );
    if (before !== after) return path;
  }
  return undefined;
}

/** Node searches modules and package.json next to the code, and in all parent folders. */
function pathsOfAction(code: string): string[] {
  const isInside = code !== '' && !code.startsWith('..');
  const folders = isInside ? code.split('/').map((_, end, names) => names.slice(0, end)) : [[]];
  const beside = ['dist/', 'action.yml', 'action.yaml', 'package.json', 'node_modules/'];
  return [
    ...(isInside ? [`${code}/`] : []),
    ...folders.flatMap((names) => beside.map((name) => [...names, name].join('/'))),
  ];
}
