// Fetches a diff as Phabricator gives it back, which is not always what its author sent.
import { z } from 'zod';
import { shortened } from '../words/one-line.ts';
import { type Conduit, ConduitError } from './conduit.ts';
import { type FoundDiff, RevisionError } from './revision.ts';

type FetchedDiff =
  | {
      kind: 'usable';
      bytes: Uint8Array;
      /** Sentences about what it may not apply for. */
      remarks: string[];
    }
  /** git might apply it and do something else than the author meant; `why` is a sentence for the author. */
  | { kind: 'misleading'; why: string };

/** Throws a `RevisionError` where there is no such diff, or not for the bot to see. */
export async function fetchDiff(
  conduit: Conduit,
  { id }: Pick<FoundDiff, 'id'>,
): Promise<FetchedDiff> {
  const text = await rawDiff(conduit, id);
  const why = whyMisleading(text);
  if (why !== undefined) return { kind: 'misleading', why };
  return { kind: 'usable', bytes: Buffer.from(text), remarks: remarksOn(text) };
}

async function rawDiff(conduit: Conduit, diffID: number): Promise<string> {
  try {
    return await conduit.call('differential.getrawdiff', { diffID }, z.string());
  } catch (error) {
    if (!(error instanceof ConduitError) || error.code !== 'ERR_NOT_FOUND') throw error;
    throw new RevisionError(
      `Diff ${diffID} is not on ${conduit.url}, or not for the bot to see, which Phabricator does not tell apart: look at its id, and at who may see it.`,
    );
  }
}

/** Undefined where Phabricator has kept the meaning, as far as a diff tells. */
export function whyMisleading(diff: string): string | undefined {
  const sections = diff.split(/(?<=^|\n)(?=diff --git )/);
  for (const section of sections.filter((each) => each.startsWith(gitLine))) {
    const [first = '', ...lines] = section.split('\n');
    const why = whySectionMisleads(first.slice(gitLine.length), lines);
    if (why !== undefined) return why;
  }
  return undefined;
}

const gitLine = 'diff --git ';

/** @param names as `diff --git` has them: `a/PATH b/PATH`. */
function whySectionMisleads(names: string, lines: readonly string[]): string | undefined {
  const file = shortened(names.slice(names.lastIndexOf(' b/') + ' b/'.length));
  if (lines.some((line) => isBinary.test(line))) {
    return `Phabricator gives back the binary file ${file} as an empty one: send the diff without it.`;
  }
  if (names.includes('\t')) {
    return `Phabricator does not quote the tab in the name of ${file}, so git cannot read it: rename the file.`;
  }
  const isRename = lines.some((line) => /^(?:rename|copy) from /.test(line));
  if (isRename || !names.startsWith('a/') || namesOne(names)) return undefined;
  return `Phabricator gives back one file by two names, "${shortened(names)}", as it does where the prefixes a/ and b/ were not sent: send the diff with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`;
}

/** Lines of a file's text begin with a sign in a diff, so these are never one. */
const isBinary = /^(?:GIT binary patch|Binary files .* differ)$/;

/** Whether it is `a/PATH b/PATH`; any other way to tell takes long where PATH is made for that. */
function namesOne(names: string): boolean {
  const path = names.slice('a/'.length, (names.length - 1) / 2);
  return names === `a/${path} b/${path}`;
}

function remarksOn(diff: string): string[] {
  // What is added need not be found in the file.
  if (!/^(?!--- )[ -].*[^\p{ASCII}]/mu.test(diff)) return [];
  return [
    'Phabricator gives diffs in UTF-8, and this one has other letters than ASCII in lines that are there already: files in Latin-1 it cannot change.',
  ];
}
