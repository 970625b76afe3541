// A diff as Phabricator stores it: parsed from the output of `git diff` or `svn diff`, and written again in its own
// format. That is not the same text: no `index` lines, files in reverse, binary files emptied, an empty line at the
// end.
import { ConduitError } from './conduit.ts';

export type Changeset = {
  oldPath: string;
  path: string;
  kind: 'change' | 'add' | 'delete' | 'rename' | 'copy';
  oldMode: string | null;
  newMode: string | null;
  isBinary: boolean;
  hunks: Hunk[];
};

export type Hunk = {
  oldOffset: number;
  oldLength: number;
  newOffset: number;
  newLength: number;
  /** Lines with their first character, each ending in a newline. */
  corpus: string;
};

/** @throws ConduitError with the message of the real parser */
export function parseRawDiff(text: string): Changeset[] {
  if (text === '') throw new ConduitError('ERR-CONDUIT-CORE', "Can't parse an empty diff!");
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const changes: Changeset[] = [];
  for (let at = 0; at < lines.length; ) {
    const read = readChange(lines, at);
    if (read === undefined) throw notADiff(lines, at);
    if (read.change !== undefined) changes.push(read.change);
    at = read.next;
  }
  return changes;
}

/** Result of `differential.getrawdiff`. */
export function renderRawDiff(changes: readonly Changeset[]): string {
  return `${changes.toReversed().map(rendered).join('')}\n`;
}

/** Treats bytes that are not UTF-8 as Latin-1, like the server. */
export function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes).toString('latin1');
  }
}

function readChange(lines: readonly string[], start: number): { change?: Changeset; next: number } | undefined {
  const first = bare(lines[start]);
  if (first === '' && start > 0) return { next: start + 1 };
  const git = /^diff --git (.+)$/.exec(first);
  if (git?.[1] !== undefined) return readGit(lines, start + 1, gitPaths(git[1]));
  const svn = /^Index: (.+)$/.exec(first);
  if (svn?.[1] === undefined) return undefined;
  const next = /^=+$/.test(bare(lines[start + 1])) ? start + 2 : start + 1;
  return readGit(lines, next, { oldPath: svn[1], path: svn[1] });
}

function readGit(
  lines: readonly string[],
  start: number,
  paths: Pick<Changeset, 'oldPath' | 'path'>,
): { change: Changeset; next: number } {
  const change: Changeset = {
    ...paths,
    kind: 'change',
    oldMode: null,
    newMode: null,
    isBinary: false,
    hunks: [],
  };
  let at = start;
  for (; at < lines.length; at += 1) {
    const line = bare(lines[at]);
    if (line.startsWith('GIT binary patch')) {
      change.isBinary = true;
      return { change, next: endOfBinary(lines, at + 1) };
    }
    if (!readHeader(change, line)) break;
  }
  // The old path is that of `---`; without such a line, it is the new one.
  const isMoved = change.kind === 'rename' || change.kind === 'copy';
  if (!isMoved && !bare(lines[at - 1]).startsWith('+++ ')) change.oldPath = change.path;
  for (;;) {
    const hunk = readHunk(lines, at);
    if (hunk === undefined) return { change, next: at };
    change.hunks.push(hunk.hunk);
    at = hunk.next;
  }
}

function readHeader(change: Changeset, line: string): boolean {
  const [, word, value = ''] =
    /^(new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|copy to|index|similarity index|dissimilarity index|---|\+\+\+) (.*)$/.exec(
      line,
    ) ?? [];
  if (word === undefined) return false;
  if (word === 'new file mode') Object.assign(change, { kind: 'add', newMode: value });
  if (word === 'deleted file mode') Object.assign(change, { kind: 'delete', oldMode: value });
  if (word === 'old mode') change.oldMode = value;
  if (word === 'new mode') change.newMode = value;
  const moved = /^(rename|copy) (from|to)$/.exec(word);
  if (moved !== null) {
    change.kind = moved[1] === 'rename' ? 'rename' : 'copy';
    if (moved[2] === 'from') change.oldPath = unquoted(value);
    else change.path = unquoted(value);
  }
  return true;
}

/**
 * Paths of `a/x b/x`. The real server takes the first folder of each for a prefix, under any name. It reads the old
 * path again from `---`, where only `a/` and `b/` are prefixes: so only the new path loses its folder.
 */
function gitPaths(both: string): Pick<Changeset, 'oldPath' | 'path'> {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(both);
  const half = both.slice(0, (both.length - 1) / 2);
  const [first, second] = quoted?.[1]
    ? [unquoted(quoted[1]), unquoted(quoted[2] ?? '')]
    : [half, both.slice(half.length + 1)];
  if (/^a\//.test(first) && /^b\//.test(second)) {
    return { oldPath: first.slice(2), path: second.slice(2) };
  }
  return { oldPath: first, path: second.replace(/^[^/]*\//, '') };
}

function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const plain = name.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, escaped: string) => {
    if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped, 8));
    return { t: '\t', n: '\n', r: '\r' }[escaped] ?? escaped;
  });
  return decoded(Buffer.from(plain, 'latin1'));
}

function readHunk(lines: readonly string[], at: number): { hunk: Hunk; next: number } | undefined {
  const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(bare(lines[at]));
  if (header === null) return undefined;
  const [oldOffset, oldLength, newOffset, newLength] = header.slice(1).map((n) => Number(n ?? 1));
  const hunk = {
    oldOffset: oldOffset ?? 0,
    oldLength: oldLength ?? 0,
    newOffset: newOffset ?? 0,
    newLength: newLength ?? 0,
  };
  let { oldLength: olds, newLength: news } = hunk;
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const mark = lines[next]?.[0];
    if (mark !== '\\' && olds === 0 && news === 0) break;
    if (mark === ' ' || mark === '-') olds -= 1;
    if (mark === ' ' || mark === '+') news -= 1;
  }
  return { hunk: { ...hunk, corpus: lines.slice(at + 1, next).join('') }, next };
}

function endOfBinary(lines: readonly string[], start: number): number {
  let at = start;
  while (at < lines.length && !bare(lines[at]).startsWith('diff --git ')) at += 1;
  return at;
}

function rendered(change: Changeset): string {
  const { kind, oldMode, newMode } = change;
  // On a side without a file, the other side's name is used.
  const oldPath = kind === 'add' ? change.path : change.oldPath;
  const path = kind === 'delete' ? change.oldPath : change.path;
  const head = [`diff --git a/${oldPath} b/${path}`];
  if (kind === 'add') head.push(`new file mode ${newMode}`);
  else if (kind === 'delete') head.push(`deleted file mode ${oldMode}`);
  else if (oldMode !== newMode) head.push(`old mode ${oldMode}`, `new mode ${newMode}`);
  if (kind === 'rename' || kind === 'copy') head.push(`${kind} from ${oldPath}`, `${kind} to ${path}`);
  if (change.isBinary) return `${head.join('\n')}\n${emptiedBinary}`;
  if (change.hunks.length > 0) {
    head.push(kind === 'add' ? '--- /dev/null' : `--- a/${oldPath}${tabAfter(oldPath)}`);
    head.push(kind === 'delete' ? '+++ /dev/null' : `+++ b/${path}${tabAfter(path)}`);
  }
  return `${head.join('\n')}\n${change.hunks.map(renderedHunk).join('')}`;
}

/** Represents every change of a binary file, with any content. */
const emptiedBinary = `index ${'0'.repeat(40)}..${'0'.repeat(40)}
GIT binary patch
literal 0
Hc$@<O00001

literal 0
Hc$@<O00001

`;

function tabAfter(path: string): string {
  return path.includes(' ') ? '\t' : '';
}

function renderedHunk({ oldOffset, oldLength, newOffset, newLength, corpus }: Hunk): string {
  const range = (offset: number, length: number) => (length === 1 ? offset : `${offset},${length}`);
  return `@@ -${range(oldOffset, oldLength)} +${range(newOffset, newLength)} @@\n${corpus}`;
}

function notADiff(lines: readonly string[], at: number): ConduitError {
  // A plain unified diff without `diff --git` is read to its end first, and rejected there.
  const end = /^--- /.test(lines[at] ?? '') ? lines.length : at + 1;
  const shown = lines
    .map((line, index) => `${String(index + 1).padStart(15)}   ${line}`)
    .slice(Math.max(0, end - 5), end);
  return new ConduitError(
    'ERR-CONDUIT-CORE',
    "Diff Parse Exception: Expected a hunk header, like 'Index: /path/to/file.ext' (svn), 'Property changes on: /path/to/file.ext' (svn properties), 'commit 59bcc3ad6775562f845953cf01624225' (git show), 'diff --git' (git diff), '--- filename' (unified diff), or 'diff -r' (hg diff or patch).\n\n" +
      shown.join(''),
  );
}

function bare(line: string | undefined): string {
  return (line ?? '').replace(/\r?\n$/, '');
}
