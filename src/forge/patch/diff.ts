// Checks a diff before git applies it: it must be a text diff of plain files. Lists its paths.

import { oneLine } from '../../model/one-line.ts';

type CheckedDiff =
  | {
      readonly kind: 'accepted';
      /** Changed paths, sorted and unique; both paths of a rename. */
      readonly paths: readonly string[];
      readonly remarks: readonly string[];
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** Reads the output of git-diff(1) or diff(1) -u with prefixes `a/` and `b/`, as bytes: sources may be in Latin-1. */
export function checkDiff(diff: Uint8Array): CheckedDiff {
  try {
    return accept(diff);
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', reason: error.message };
    throw error;
  }
}

/** Arguments of git, followed by a tree; `isAsSaid` reads the output. */
export const rawChanges = ['diff-index', '--cached', '--no-renames', '-z'];

/** Checks that git, in applying the diff, changed exactly the files that the diff names, and that all are plain. */
export function changesAsListed(
  paths: readonly string[],
  raw: string,
): { kind: 'as-said' } | { kind: 'refused'; reason: string } {
  // `:OLDMODE NEWMODE OLDID NEWID STATUS`, then the path; see git-diff-index(1).
  const words = raw.split('\0');
  const changes = words.flatMap((word, at) =>
    at % 2 === 0 && word !== '' ? { modes: word.slice(1).split(' ', 2), path: words[at + 1] ?? '' } : [],
  );
  for (const { modes, path } of changes) {
    const mode = modes.find((mode) => mode !== noFile && !plainModes.includes(mode));
    if (mode !== undefined) return { kind: 'refused', reason: notPlain(path, mode) };
  }
  const changed = changes.map(({ path }) => path);
  const others = [
    ...paths.filter((path) => !changed.includes(path)),
    ...changed.filter((path) => !paths.includes(path)),
  ];
  if (others.length === 0) return { kind: 'as-said' };
  const some = others.slice(0, 5).join(', ');
  const reason = `The effect of the diff on ${some} differs from its own header; send it as one diff of the whole change.`;
  return { kind: 'refused', reason };
}

/** Explains the output of git-apply(1). Its first lines are the cause: `error: patch failed: sys/net/if.c:12`. */
export function whyGitRefuses(stderr: string, remarks: readonly string[]): string {
  const errors = stderr.split('\n').flatMap((line) => /^(?:error|fatal): (.*)$/.exec(line)?.[1] ?? []);
  const message = errors.slice(0, 3).join('; ') || 'it said nothing';
  return [`git cannot apply the diff: ${message}.`, ...remarks].join(' ');
}

const maxBytes = 5_000_000;
const maxFiles = 2_000;

/** Thrown and caught in this file only. */
class Refusal extends Error {}

function refuse(reason: string): never {
  throw new Refusal(reason);
}

function accept(diff: Uint8Array): CheckedDiff {
  if (diff.length > maxBytes) {
    refuse(`The diff has ${diff.length} bytes, but at most ${maxBytes} are accepted; split it.`);
  }
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  // latin1 keeps every byte as one letter.
  const lines = bytes.toString('latin1').split('\n');
  const sections = readSections(lines);
  if (sections.length === 0) refuse('The diff changes no file; send the output of git diff.');
  if (sections.length > maxFiles) {
    refuse(`The diff changes ${sections.length} files, but at most ${maxFiles} are accepted; split it.`);
  }
  const paths = sections.flatMap(pathsOf).toSorted();
  // git apply deletes before it creates, in any order of the diff.
  const twice = paths.find((path, index) => path === paths[index - 1]);
  if (twice !== undefined) {
    refuse(`The diff changes ${twice} twice; send one diff of the whole change, as git diff makes it.`);
  }
  return { kind: 'accepted', paths, remarks: remarksOn(bytes, lines) };
}

type DiffSection = {
  readonly line: number;
  readonly header: string[];
  hunks: number;
};

function readSections(lines: readonly string[]): DiffSection[] {
  const sections: DiffSection[] = [];
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? '';
    const current = sections.at(-1);
    if (opensSection(lines, index, current)) {
      sections.push({ line: index + 1, header: [line], hunks: 0 });
      index += 1;
    } else if (line.startsWith('@@ -')) {
      index = afterHunk(lines, index, current);
    } else {
      // Lines after the hunks belong to the next file, or to a mail's signature.
      if (current?.hunks === 0) current.header.push(line);
      index += 1;
    }
  }
  return sections;
}

function opensSection(lines: readonly string[], index: number, current: DiffSection | undefined): boolean {
  const line = lines[index] ?? '';
  if (line.startsWith('diff --git ')) return true;
  const follows = (offset: number, start: string) => lines[index + offset]?.startsWith(start);
  if (!line.startsWith('--- ') || !follows(1, '+++ ') || !follows(2, '@@ -')) return false;
  // diff(1) writes only these lines. Below `diff --git` they belong to the diff.
  return current === undefined || current.hunks > 0 || current.header.some(isNewName);
}

const isNewName = (line: string): boolean => line.startsWith('+++ ');

/** Returns the index of the first line after the hunk, by its line counts (POSIX, diff -u). */
function afterHunk(lines: readonly string[], start: number, section: DiffSection | undefined): number {
  const head = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? '');
  // Searched only once: a section may have as many hunks as lines before them.
  if (head === null || !(section?.hunks || section?.header.some(isNewName))) {
    refuse(`Line ${start + 1} of the diff starts a hunk without a file; send the output of git diff.`);
  }
  section.hunks += 1;
  let before = Number(head[1] ?? 1);
  let after = Number(head[2] ?? 1);
  let index = start + 1;
  for (; before > 0 || after > 0; index += 1) {
    const sign = lines[index]?.[0] ?? (index < lines.length - 1 ? ' ' : undefined);
    // `\ No newline at end of file` counts for neither side.
    if (sign === undefined || !' \r+-\\'.includes(sign)) {
      refuse(`The hunk at line ${start + 1} of the diff is cut off at line ${index + 1}.`);
    }
    if (sign === ' ' || sign === '\r' || sign === '-') before -= 1;
    if (sign === ' ' || sign === '\r' || sign === '+') after -= 1;
  }
  return index;
}

function pathsOf(section: DiffSection): string[] {
  if (section.header[0]?.endsWith('\r')) {
    refuse('The lines of the diff end in CR LF; send it with the line endings that git wrote.');
  }
  const copied = plainName(section, /^copy from (.*)$/);
  const from = plainName(section, /^rename from (.*)$/) ?? copied;
  const named = [
    prefixedName(section, valueIn(section, /^--- (.*)$/), 'a/'),
    prefixedName(section, valueIn(section, /^\+\+\+ (.*)$/), 'b/'),
    from,
    plainName(section, /^(?:rename|copy) to (.*)$/),
    nameInGitLine(section, from !== undefined),
  ];
  const paths = [...new Set(named)].filter((name) => name !== undefined).map(decoded);
  const [path] = paths;
  if (path === undefined) refuse(`Line ${section.line} of the diff names no file.`);
  refuseKind(section, path);
  for (const each of paths) refusePath(each);
  if (paths.length > (from === undefined ? 1 : 2)) {
    refuse(`The diff uses several names for one file, ${paths.join(' and ')}; send the output of git diff.`);
  }
  // A copy leaves its source unchanged.
  return copied === undefined ? paths : paths.filter((each) => each !== decoded(copied));
}

function plainName(section: DiffSection, pattern: RegExp): string | undefined {
  const value = valueIn(section, pattern);
  return value === undefined ? undefined : unquoted(value);
}

const valueIn = ({ header }: DiffSection, pattern: RegExp): string | undefined =>
  header.map((line) => pattern.exec(line)?.[1]).find((value) => value !== undefined);

/** The name in `--- a/PATH` or `+++ b/PATH`; undefined if the line is missing or that side has no file. */
function prefixedName(section: DiffSection, value: string | undefined, prefix: string): string | undefined {
  // A time may follow after a tab. A tab within a name is quoted.
  const [written = ''] = value?.split('\t') ?? [];
  if (value === undefined || written === '/dev/null') return undefined;
  const name = unquoted(written);
  if (!name.startsWith(prefix)) refusePrefix(section);
  return name.slice(2);
}

/** Both names are equal unless the name changes. */
function nameInGitLine(section: DiffSection, renamed: boolean): string | undefined {
  const [, rest] = /^diff --git (.*)$/.exec(section.header[0] ?? '') ?? [];
  if (rest === undefined) return undefined;
  if (!/^"?a\//.test(rest)) refusePrefix(section);
  if (renamed) return undefined;
  const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(rest);
  const middle = (rest.length - 1) / 2;
  const [a, b] = (quoted?.slice(1) ?? [rest.slice(0, middle), rest.slice(middle + 1)]).map(unquoted);
  const same = a?.startsWith('a/') && b?.startsWith('b/') && a.slice(2) === b.slice(2);
  if (!same) refuse(`Line ${section.line} of the diff names two files without a rename.`);
  return a?.slice(2);
}

const refusePrefix = ({ line }: DiffSection): never =>
  refuse(`The diff at line ${line} has no prefixes a/ and b/; make it with git diff --src-prefix=a/ --dst-prefix=b/.`);

/** Git quotes a name like a string in C, with bytes in octal; see core.quotePath in git-config(1). */
function unquoted(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  return name.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, code: string) => {
    if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
    return escapes[code] ?? code;
  });
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function decoded(name: string): string {
  const path = Buffer.from(name, 'latin1').toString();
  if (path.includes('\uFFFD')) refuse(`The name of the file ${path} is not UTF-8; rename it.`);
  return path;
}

function refuseKind({ header }: DiffSection, path: string): void {
  if (header.some((line) => /^(?:GIT binary patch|Binary files .* differ)\r?$/.test(line))) {
    refuse(`The diff changes the binary file ${path}; only text files are accepted.`);
  }
  const mode = header
    .map((line) => /^(?:(?:old|new|new file|deleted file) mode|index \S+) (.+)$/s.exec(line)?.[1])
    .map((text) => text && modeAsGitReads(text))
    .find((mode) => mode !== undefined && !plainModes.includes(mode));
  if (mode !== undefined) refuse(notPlain(path, mode));
}

/** Parses octal like strtoul(3), ignoring everything after a blank. */
const modeAsGitReads = (text: string): string => /^\s*\+?0*([0-7]+)(?:\s|$)/.exec(text)?.[1] ?? oneLine(text);

function notPlain(path: string, mode: string): string {
  const what = { 120000: 'a symbolic link', 160000: 'a submodule' }[mode] ?? `of mode ${mode}`;
  return `The diff changes ${path}, which is ${what}; only regular files are accepted.`;
}

const plainModes: readonly string[] = ['100644', '100755'];

const noFile = '000000';

function refusePath(path: string): void {
  const segments = path.split('/');
  const isOutside = segments.some((segment) => ['', '.', '..'].includes(segment));
  const isGits = segments.some((segment) => segment.toLowerCase() === '.git');
  if (!isOutside && !isGits && !/\p{Cc}/u.test(path)) return;
  const shown = path.replace(/\p{Cc}/gu, '?');
  refuse(`The diff changes "${shown}", which is not a file of the tree; name files below its root.`);
}

function remarksOn(bytes: Buffer, lines: readonly string[]): string[] {
  const remarks: string[] = [];
  const text = bytes.toString();
  if (lines.some((line) => /^[ +-]/.test(line) && line.endsWith('\r'))) {
    remarks.push('Some lines of the diff end in CR LF.');
  }
  if (bytes.includes('\uFFFD')) {
    remarks.push('The diff contains U+FFFD, which replaced an unreadable character.');
  } else if (text.includes('\uFFFD')) {
    remarks.push('The diff is not UTF-8.');
  }
  return remarks;
}
