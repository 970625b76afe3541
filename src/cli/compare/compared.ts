// Reads two rule files, two overlays or two kernels that a user wants compared.
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileReasonOf } from '../../model/one-line.ts';
import { overlayFiles } from '../../model/overlay-files.ts';
import { comparisonName } from '../../model/patch.ts';
import type { OperatingSystem } from '../../model/scenario.ts';
import { whyNotText } from '../../model/text-file.ts';
import { UsageError } from '../../model/usage-error.ts';
import { headOf } from '../../system/decompress.ts';

/** Texts by the files' names in an overlay. */
type Files = ReadonlyMap<string, string>;

export type Compared =
  | { kind: 'files'; what: string; old: Files; new: Files }
  | { kind: 'kernels'; old: string; new: string };

type Side = { kind: 'rules' | 'overlay'; files: Files } | { kind: 'kernel' };

const allNames: readonly string[] = Object.values(overlayFiles).flat();

const maxBytes = 1024 ** 2;

/** Throws a UsageError that names both if they are not of one kind, or of none. */
export async function readCompared(oldPath: string, newPath: string): Promise<Compared> {
  const [one, other] = [await sideOf(oldPath), await sideOf(newPath)];
  if (one.kind === 'kernel' && other.kind === 'kernel') {
    return { kind: 'kernels', old: oldPath, new: newPath };
  }
  if (one.kind !== other.kind || one.kind === 'kernel' || other.kind === 'kernel') {
    throw differ(oldPath, wordsFor(one), newPath, wordsFor(other));
  }
  if (one.kind === 'overlay') {
    return { kind: 'files', what: 'two overlays', old: one.files, new: other.files };
  }
  const [[name] = [''], [otherName] = ['']] = [[...one.files.keys()], [...other.files.keys()]];
  if (name !== otherName) throw differ(oldPath, wordsFor(one), newPath, wordsFor(other));
  return { kind: 'files', what: `two files like ${name}`, old: one.files, new: other.files };
}

const differ = (oldPath: string, one: string, newPath: string, other: string): UsageError =>
  new UsageError(
    `${oldPath} is ${one}, and ${newPath} is ${other}: name two rule files of one firewall, two overlay folders or two kernels.`,
  );

/** True if a DUT of the system loads one of the files. */
export const isLoadedBy = (system: OperatingSystem, { old, new: other }: CompareFiles): boolean =>
  overlayFiles[system].some((name) => old.has(name) || other.has(name));

export type CompareFiles = Extract<Compared, { kind: 'files' }>;

/** `old.conf → new.conf`, by their paths if the names are equal; see `name` of a range in model/patch.ts. */
export function labelOf(oldPath: string, newPath: string): string {
  const names = [oldPath, newPath].map((path) => basename(path));
  const [one = '', other = ''] = names[0] === names[1] ? [oldPath, newPath] : names;
  const plain = (text: string) => text.replace(/[^\w./ +-]/g, '_').slice(-90);
  return comparisonName(plain(one), plain(other));
}

function wordsFor(side: Side): string {
  if (side.kind === 'kernel') return 'a kernel or another binary file';
  const names = [...side.files.keys()].join(' and ');
  return side.kind === 'overlay' ? `an overlay with ${names}` : `a file like ${names}`;
}

async function sideOf(path: string): Promise<Side> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read (${fileReasonOf(error)}): name a file or a folder.`);
  });
  if (stats.isDirectory()) return { kind: 'overlay', files: await filesIn(path) };
  if (!stats.isFile()) {
    throw new UsageError(`${path} is neither a regular file nor a folder: name one of these.`);
  }
  const head = await headOf(path, 0, 4096);
  // Reports UTF-16 marks, which no kernel begins with.
  const why = whyNotText(head.subarray(0, 2));
  if (why !== undefined) throw new UsageError(`${path} ${why}.`);
  if (head.includes(0) || head.toString('latin1', 0, 7) === '!<arch>') return { kind: 'kernel' };
  const text = await textOf(path, stats.size);
  const name = nameOfRules(path, text);
  if (name === undefined) {
    const most = 'rules of nftables, pf or ipfw, or settings of sysctl.conf';
    throw new UsageError(
      `${path} is a text file other than ${most}: give it a DUT's file name, like ${allNames.join(' or ')}.`,
    );
  }
  return { kind: 'rules', files: new Map([[name, text]]) };
}

async function filesIn(folder: string): Promise<Files> {
  const names = (await readdir(folder)).filter((name) => allNames.includes(name));
  if (names.length === 0) {
    throw new UsageError(
      `The folder ${folder} is no overlay, because it has none of ${allNames.join(', ')}: name a folder that has one.`,
    );
  }
  const read = names.map(async (name) => {
    const path = join(folder, name);
    const stats = await stat(path);
    if (!stats.isFile()) throw new UsageError(`${path} is not a file: put rules or settings there.`);
    return [name, await textOf(path, stats.size)] as const;
  });
  return new Map(await Promise.all(read));
}

async function textOf(path: string, bytes: number): Promise<string> {
  if (bytes > maxBytes) {
    throw new UsageError(`${path} has ${bytes} bytes, but rules have at most ${maxBytes}: shorten it.`);
  }
  return readFile(path, 'utf8');
}

/** Finds the name by the file's name, otherwise by words that only one of the syntaxes has. */
function nameOfRules(path: string, text: string): string | undefined {
  const file = basename(path);
  const named = allNames.find((name) => file === name) ?? byExtension(file);
  return named ?? syntaxes.find(({ pattern }) => pattern.test(text))?.name;
}

const byExtension = (file: string): string | undefined =>
  extensions.find(([extension]) => file.endsWith(extension))?.[1];

const extensions = [
  ['.nft', 'nftables.conf'],
  ['.pf', 'pf.conf'],
  ['.ipfw', 'ipfw.rules'],
] as const;

const syntaxes = [
  {
    name: 'nftables.conf',
    pattern: /^\s*(?:flush ruleset\b|(?:add |create )?table (?:(?:ip6?|inet|arp|bridge|netdev) )?[\w-]+ *\{)/m,
  },
  { name: 'pf.conf', pattern: /^\s*(?:(?:pass|block|match)\b|set (?:skip|limit|timeout)\b)/m },
  {
    name: 'ipfw.rules',
    pattern: /^\s*(?:ipfw )?(?:-\w+ )*add (?:\d+ )?(?:allow|pass|deny|count)\b/m,
  },
  { name: 'sysctl.conf', pattern: /^\s*[a-z]\w*(?:[./][\w-]+)+ *= *\S/m },
];
