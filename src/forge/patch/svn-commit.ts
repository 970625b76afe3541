// Finds the commit of a revision of Subversion in the history of a repository that was converted from one.
import { fieldsOf } from './git.ts';

export type SvnCommit =
  /** Of that revision, or of the last one before it that changed the branch. */
  | { kind: 'found'; commit: string; revision: number }
  /** No commit says what it was in Subversion. */
  | { kind: 'no-revisions' }
  /** All that say it are later. */
  | { kind: 'only-later' }
  | { kind: 'not-in-time' };

/**
 * For git-log(1): three fields a commit. Of all that configuration may add, only notes with a name of their own are
 * wanted.
 */
export const svnLog = [
  '-z',
  '--no-show-signature',
  '--notes=refs/notes/commits',
  '--format=%H%x00%N%x00%B',
];

/**
 * Reads what `svnLog` prints, the newest first, and no more of it than it takes: numbers count the changes of a whole
 * Subversion repository, most of them to other branches, so the newest that is not later is what a working copy had.
 */
export async function newestUpTo(
  revision: number,
  output: AsyncIterable<string>,
): Promise<SvnCommit> {
  let saysAny = false;
  let done: string[] = [];
  // Their ends, where the message says it.
  for await (const field of fieldsOf(output, endOf)) {
    done.push(field);
    const [commit, note, message] = done;
    if (commit === undefined || note === undefined || message === undefined) continue;
    done = [];
    const told = revisionTold(note, message);
    if (told === undefined) continue;
    if (told <= revision) return { kind: 'found', commit, revision: told };
    saysAny = true;
  }
  return { kind: saysAny ? 'only-later' : 'no-revisions' };
}

const endOf = (text: string): string => text.slice(-4096);

/**
 * What git-svn writes as the last line of a message, or svn2git into a note, as for FreeBSD; commits that were made after
 * the conversion have neither. Above its last line a message holds what somebody wrote, and a merged stranger's may lie
 * there, too; all that comes of it is that his own commit, which is one of the branch, is the base of a later diff.
 */
function revisionTold(note: string, message: string): number | undefined {
  const lines = [...message.trimEnd().split('\n').slice(-1), ...note.split('\n')];
  const told = lines.map((line) => isTold.exec(line)?.[1]).findLast(Boolean);
  return told === undefined ? undefined : Number(told);
}

const isTold = /^(?:git-svn-id: \S+@|svn path=[^;]*; revision=)(\d{1,9})(?![^ ;])/;
