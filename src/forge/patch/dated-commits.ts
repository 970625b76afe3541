// Finds the commit of a branch at a date, or at a revision of the Subversion repository it was converted from.
import { once } from 'node:events';
import { type Git, RepositoryError } from './git.ts';
import { isCommitName, resolveCommit } from './resolve-commit.ts';
import { newestUpTo, type SvnCommit, svnLog } from './svn-commit.ts';

/** Several times the need of FreeBSD's 280,000 commits. */
const svnLogMilliseconds = 60_000;

/** Arguments for git-rev-list(1): a branch, without the commits merged into it. */
async function branchBefore(git: Git, branch: string, date: Date): Promise<string[]> {
  const tip = await resolveCommit(git, `origin/${branch}`).catch(() => resolveCommit(git, branch));
  return ['--first-parent', `--before=${Math.floor(date.getTime() / 1000)}`, tip];
}

export async function commitAt(git: Git, branch: string, date: Date): Promise<string> {
  const range = await branchBefore(git, branch, date);
  const last = await git.run('rev-list', '--max-count=1', ...range);
  if (last !== '') return last.trim();
  throw new RepositoryError(
    `${branch} has no commit in ${git.directory} before ${date.toISOString()}: check it out with its history (fetch-depth: 0).`,
  );
}

export async function commitOfSvn(git: Git, branch: string, revision: number, date: Date): Promise<SvnCommit> {
  const log = ['log', ...svnLog, ...(await branchBefore(git, branch, date))];
  const child = git.start(log, { timeout: svnLogMilliseconds });
  const ended = once(child, 'close');
  const found = await newestUpTo(revision, child.stdout.setEncoding('latin1'));
  if (found.kind === 'found') child.kill();
  const [code, signal] = await ended;
  if (found.kind === 'found' || code === 0) return found;
  if (signal !== null) return { kind: 'not-in-time' };
  throw new RepositoryError(`git cannot read the history of ${branch} in ${git.directory}: check it with git fsck.`);
}

export async function branchOfPath(git: Git, path: string): Promise<string | undefined> {
  const parts = path.split('/').filter(Boolean);
  const ends = parts.map((_, index) => parts.slice(index).join('/'));
  const folders = ['refs/remotes/origin', 'refs/heads'];
  const named = ends.flatMap((end) => folders.map((folder) => `${folder}/${end}`));
  if (!named.every(isCommitName)) return undefined;
  const existing = (await git.run('for-each-ref', '--format=%(refname)', ...named)).split('\n');
  return ends.find((end) => folders.some((folder) => existing.includes(`${folder}/${end}`)));
}
