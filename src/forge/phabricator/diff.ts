// Fetches a diff from Phabricator, and detects changes since its author sent it.
import * as bounded from '../../model/bounds.ts';
import { shortened } from '../../model/one-line.ts';
import type { Conduit } from './conduit.ts';
import { ConduitError } from './failure.ts';
import { type FoundDiff, RevisionError } from './revision.ts';

type FetchedDiff =
  | {
      kind: 'usable';
      bytes: Uint8Array;
      remarks: string[];
      /** New files, which may have lost their first folder without a trace. */
      added: string[];
    }
  /** git may apply it differently. `why` is a sentence for the author; `paths` lists the changed files, if readable. */
  | ({ kind: 'misleading'; paths: string[] } & Misleading);

type Misleading = { fault: DiffFault; why: string };

/** Reason why git does not get, or does not apply, a diff. */
export type DiffFault = 'does-not-apply' | 'binary-file' | 'without-prefixes' | 'unusable-diff';

/** Throws a `RevisionError` if the diff is missing, or hidden from the bot. */
export async function fetchDiff(conduit: Conduit, { id }: Pick<FoundDiff, 'id'>): Promise<FetchedDiff> {
  const text = await rawDiff(conduit, id);
  const misleading = whyMisleading(text);
  if (misleading !== undefined) {
    return { kind: 'misleading', ...misleading, paths: pathsMeant(text) };
  }
  const added = sectionsOf(text).filter(isNew).map(newNameOf);
  return { kind: 'usable', bytes: Buffer.from(text), remarks: remarksOn(text), added };
}

async function rawDiff(conduit: Conduit, diffID: number): Promise<string> {
  try {
    return await conduit.call('differential.getrawdiff', { diffID }, bounded.document);
  } catch (error) {
    if (!(error instanceof ConduitError) || error.code !== 'ERR_NOT_FOUND') throw error;
    throw new RevisionError(
      `Diff ${diffID} is not on ${conduit.url}, or hidden from the bot (Phabricator does not distinguish the two): check its ID and its visibility.`,
    );
  }
}

/** Undefined if Phabricator kept the meaning, as far as the diff shows. */
export function whyMisleading(diff: string): Misleading | undefined {
  for (const section of sectionsOf(diff)) {
    const why = whySectionMisleads(section);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** `names` as in `diff --git`: `a/PATH b/PATH`. */
type FileSection = { names: string; lines: readonly string[] };

const gitLine = 'diff --git ';

const sectionsOf = (diff: string): FileSection[] =>
  diff
    .split(/(?<=^|\n)(?=diff --git )/)
    .filter((each) => each.startsWith(gitLine))
    .map((each) => {
      const [first = '', ...lines] = each.split('\n');
      return { names: first.slice(gitLine.length), lines };
    });

const newNameOf = ({ names }: FileSection): string => names.slice(names.lastIndexOf(' b/') + ' b/'.length);

const oldNameOf = ({ names }: FileSection): string => names.slice('a/'.length, names.lastIndexOf(' b/'));

const isNew = ({ lines }: FileSection): boolean => lines[0]?.startsWith('new file mode ') ?? false;

function whySectionMisleads(section: FileSection): Misleading | undefined {
  const { names, lines } = section;
  const file = shortened(newNameOf(section));
  if (lines.some((line) => isBinary.test(line))) {
    const why = `Phabricator returns the binary file ${file} empty: send the diff without it.`;
    return { fault: 'binary-file', why };
  }
  if (names.includes('\t')) {
    const why = `Phabricator does not quote the tab in the name of ${file}, so git cannot read it: rename the file.`;
    return { fault: 'unusable-diff', why };
  }
  const isRename = lines.some((line) => /^(?:rename|copy) from /.test(line));
  if (isRename || !names.startsWith('a/') || namesOne(names)) return undefined;
  const why = `Phabricator returns one file with two names, "${shortened(names)}", as for a diff without the prefixes a/ and b/: send the diff with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`;
  return { fault: 'without-prefixes', why };
}

/** In a diff, lines of a file's text begin with a sign, so they never match. */
const isBinary = /^(?:GIT binary patch|Binary files .* differ)$/;

/** True for `a/PATH b/PATH`. A regular expression would be slow for a hostile PATH. */
function namesOne(names: string): boolean {
  const path = names.slice('a/'.length, (names.length - 1) / 2);
  return names === `a/${path} b/${path}`;
}

/**
 * Returns both names of each file, or one if the other lacks only its first folder. Phabricator strips any folder of
 * the new name as a prefix, but only `a/` and `b/` of the old one. A new file loses its folder in both names, and gets
 * that of another file.
 */
function pathsMeant(diff: string): string[] {
  const sections = sectionsOf(diff);
  const lost = new Set(sections.map(folderLost).filter((folder) => folder !== undefined));
  const folders = [...lost].slice(0, maxFolders);
  const meant = sections.flatMap((section) => {
    const [before, after] = [oldNameOf(section), newNameOf(section)];
    if (isNew(section)) return [after, ...folders.map((folder) => folder + after)];
    const folder = folderLost(section);
    if (folder === undefined) return [before, after];
    return prefixesOfGit.test(folder) ? [after] : [before];
  });
  return [...new Set(meant)];
}

/** Bounds the time for a hostile diff with many top-level folders. */
const maxFolders = 20;

/** Prefixes of diff.mnemonicPrefix, see git-config(1). */
const prefixesOfGit = /^[ciow12]\/$/;

/** Returns `sys/` for `a/sys/net/if.c b/net/if.c`. */
function folderLost(section: FileSection): string | undefined {
  const [before, after] = [oldNameOf(section), newNameOf(section)];
  const folder = before.slice(0, before.length - after.length);
  return /^[^/]+\/$/.test(folder) && before === folder + after ? folder : undefined;
}

function remarksOn(diff: string): string[] {
  // Added lines need not match the file.
  if (!/^(?!--- )[ -].*[^\p{ASCII}]/mu.test(diff)) return [];
  return [
    'Phabricator returns diffs in UTF-8, and existing lines in this one have non-ASCII characters: a diff of files in Latin-1 cannot be applied.',
  ];
}
