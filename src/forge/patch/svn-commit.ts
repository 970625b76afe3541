// Finds the commit of a Subversion revision in a converted repository.
import { fieldsOf } from './git.ts';

export type SvnCommit =
  /** Commit of that revision, or of the last earlier one that changed the branch. */
  | { kind: 'found'; commit: string; revision: number }
  /** No commit names its revision. */
  | { kind: 'no-revisions' }
  | { kind: 'only-later' }
  | { kind: 'not-in-time' };

/** Options of git-log(1): three fields per commit, with notes of this name only. */
export const svnLog = ['-z', '--no-show-signature', '--notes=refs/notes/commits', '--format=%H%x00%N%x00%B'];

/**
 * Reads the output of `svnLog`, newest first, as far as needed. Numbers count the changes of a whole Subversion
 * repository, most of them on other branches. So a working copy had the newest revision that is not later.
 */
export async function newestUpTo(revision: number, output: AsyncIterable<string>): Promise<SvnCommit> {
  let hasRevisions = false;
  let done: string[] = [];
  // Reads only the ends of messages, which name the revision.
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
 * Reads the last line of a message, as git-svn writes it, or a note of svn2git, as in FreeBSD. Later commits have
 * neither. A forged last line only makes its own commit, already on the branch, the base of a later diff.
 */
function revisionIn(note: string, message: string): number | undefined {
  const lines = [...message.trimEnd().split('\n').slice(-1), ...note.split('\n')];
  const revision = lines.map((line) => svnRevision.exec(line)?.[1]).findLast(Boolean);
  return revision === undefined ? undefined : Number(revision);
}

const svnRevision = /^(?:git-svn-id: \S+@|svn path=[^;]*; revision=)(\d{1,9})(?![^ ;])/;
