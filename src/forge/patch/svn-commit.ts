// Finds the commit of a revision of Subversion in the history of a repository that was converted from one.
import { fieldsOf } from './git.ts';

export type SvnCommit =
  /** The commit of that revision, or of the last one before it that changed the branch. */
  | { kind: 'found'; commit: string; revision: number }
  /** No commit names its revision. */
  | { kind: 'no-revisions' }
  | { kind: 'only-later' }
  | { kind: 'not-in-time' };

/** Options of git-log(1): three fields a commit, with the notes of this name alone. */
export const svnLog = [
  '-z',
  '--no-show-signature',
  '--notes=refs/notes/commits',
  '--format=%H%x00%N%x00%B',
];

/**
 * Reads the output of `svnLog`, the newest first, as far as needed: numbers count the changes of a whole Subversion
 * repository, most of them to other branches, so a working copy had the newest that is not later.
 */
export async function newestUpTo(
  revision: number,
  output: AsyncIterable<string>,
): Promise<SvnCommit> {
  let hasRevisions = false;
  let done: string[] = [];
  // Only the ends of messages, which name the revision.
  for await (const field of fieldsOf(output, endOf)) {
    done.push(field);
    const [commit, note, message] = done;
    if (commit === undefined || note === undefined || message === undefined) continue;
    done = [];
    const named = revisionIn(note, message);
    if (named === undefined) continue;
    if (named <= revision) return { kind: 'found', commit, revision: named };
    hasRevisions = true;
  }
  return { kind: hasRevisions ? 'only-later' : 'no-revisions' };
}

const endOf = (text: string): string => text.slice(-4096);

/**
 * Reads the last line of a message, as git-svn writes it, or a note of svn2git, as FreeBSD has them; later commits have
 * neither. A forged last line only makes its own commit, which is one of the branch, the base of a later diff.
 */
function revisionIn(note: string, message: string): number | undefined {
  const lines = [...message.trimEnd().split('\n').slice(-1), ...note.split('\n')];
  const revision = lines.map((line) => svnRevision.exec(line)?.[1]).findLast(Boolean);
  return revision === undefined ? undefined : Number(revision);
}

const svnRevision = /^(?:git-svn-id: \S+@|svn path=[^;]*; revision=)(\d{1,9})(?![^ ;])/;
