// A patch that is a range of commits of a local repository: `main..my-branch`.
import type { Patch } from '../words/patch.ts';
import { type Repository, RepositoryError } from './repository.ts';

/** The last commit of the range names the patch. Throws a `RepositoryError` for what is no range. */
export async function patchOfRange(repository: Repository, text: string): Promise<Patch> {
  const [, base, head] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
  if (base === undefined || head === undefined) {
    throw new RepositoryError(
      `"${text}" is no range of commits: write BASE..HEAD, like main..my-branch.`,
    );
  }
  const [baseCommit, headCommit] = [await repository.resolve(base), await repository.resolve(head)];
  const { subject, author } = await repository.describe(headCommit);
  return { kind: 'range', title: subject, author, baseCommit, headCommit };
}
