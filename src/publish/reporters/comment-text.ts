// The text of ppsgate's comment on a pull request: what it is known by, what it shows now, and what it remembers of earlier verdicts.
import { z } from 'zod';
import { askSchema } from '../../forge/patch/command.ts';
import { codeSpan, plainLine } from '../../model/escape.ts';
import { shortId } from '../../model/patch.ts';

const mostEarlier = 10;
const longestTitle = 160;

const verdict = z.object({
  /** Id of the workflow run that has its journal. */
  run: z.int().nonnegative(),
  headCommit: z.string().max(64),
  at: z.iso.datetime(),
  /** `🔴 #7 loses 10.4 % (forwarding inet4)`. */
  title: z.string().max(longestTitle),
});

/** Kept in the comment itself, where readers do not see it. */
const memorySchema = z.object({
  /** Id of the workflow run that wrote last: a later one has a greater. */
  run: z.int().nonnegative(),
  headCommit: z.string().max(64),
  /** Since when the comment has named this head. */
  since: z.iso.datetime(),
  /** What was asked of the gate last. */
  ask: askSchema,
  last: verdict.optional(),
  /** Newest first. */
  earlier: z.array(verdict).max(mostEarlier),
});

export type Memory = z.infer<typeof memorySchema>;

export type Writing = {
  /** What tells one comment of ours from another: the check's name. */
  name: string;
  run: number;
  headCommit: string;
  /** Absent where nothing is measured: then it stays as it was. */
  ask?: Memory['ask'] | undefined;
  at: Date;
  /** Title of a gate that has ended with a verdict. */
  title?: string;
};

/** The first line of the comment, by which it is found again. */
export const markerOf = (name: string): string => `<!-- ${name.replace(/[^\w :.,-]/g, '')} -->`;

/**
 * The whole comment around `body`, which is Markdown; undefined where a later run has written meanwhile, and so must not
 * be overwritten.
 */
export function composeComment(
  before: string | undefined,
  body: string,
  writing: Writing,
): string | undefined {
  const known = before === undefined ? undefined : readMemory(before);
  if (known !== undefined && known.run > writing.run) return undefined;
  return fitted(writing.name, body.trimEnd(), nextMemory(known, writing));
}

/**
 * What a comment of ours remembers; undefined where somebody has taken that out, or put something else there. It stands
 * at the very end, where no text of others ever does.
 */
export function readMemory(comment: string): Memory | undefined {
  const start = comment.lastIndexOf(opening);
  if (start < 0) return undefined;
  const [, encoded] = /^([\w-]+) -->\s*$/.exec(comment.slice(start + opening.length)) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return memorySchema.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return undefined;
  }
}

const opening = '<!-- ppsgate remembers: ';

function nextMemory(known: Memory | undefined, writing: Writing): Memory {
  const { run, headCommit, ask, at, title } = writing;
  const { last, earlier = [] } = known ?? {};
  const now = at.toISOString();
  const since = known?.headCommit === headCommit ? known.since : now;
  const head = { run, headCommit, since, ask: ask ?? known?.ask ?? {} };
  if (title === undefined) return { ...head, ...(last && { last }), earlier };
  const before = last === undefined || last.run === run ? earlier : [last, ...earlier];
  return {
    ...head,
    last: { run, headCommit, at: now, title: plainLine(title, longestTitle) },
    earlier: before.slice(0, mostEarlier),
  };
}

/** GitHub's own limit for a comment. */
const mostCharacters = 65_536;

/** The oldest verdicts are forgotten where there is no room for all. */
function fitted(name: string, body: string, memory: Memory): string {
  const remembered = Buffer.from(JSON.stringify(memory)).toString('base64url');
  const parts = [markerOf(name), body, ...earlierVerdicts(memory), `${opening}${remembered} -->`];
  const comment = parts.join('\n\n');
  const { earlier } = memory;
  if (comment.length <= mostCharacters || earlier.length === 0) return comment;
  return fitted(name, body, { ...memory, earlier: earlier.slice(0, -1) });
}

/** All but the one that the comment shows: those of earlier pushes, and of this commit before a rerun. */
function earlierVerdicts({ run, last, earlier }: Memory): string[] {
  const all = last === undefined || last.run === run ? earlier : [last, ...earlier];
  if (all.length === 0) return [];
  const rows = all.map(({ headCommit, at, title }) => {
    const cells = [shortId(headCommit), at.slice(0, 'YYYY-MM-DD'.length), title];
    return `| ${cells.map((cell) => codeSpan(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const table = ['| commit | judged | |', '|---|---|---|', ...rows].join('\n');
  return [`<details><summary>earlier verdicts</summary>\n\n${table}\n\n</details>`];
}
