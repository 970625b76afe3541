// Renders the comment on a pull request: its marker, its body, and a hidden record of earlier verdicts.
import { z } from 'zod';
import { gateOverridesSchema } from '../../forge/patch/command.ts';
import * as bounded from '../../model/bounds.ts';
import { codeSpan, plainLine } from '../../model/escape.ts';
import { shortId } from '../../model/patch.ts';

const maxEarlier = 10;
const longestTitle = 160;
/** Exceeds the number of pushes while a person writes a command. */
const maxHeads = 20;

const verdict = z.object({
  /** Id of the workflow run that has the journal. */
  run: bounded.total,
  headCommit: bounded.text(64),
  at: bounded.time,
  /** `🔴 #7 loses 10.4 % (forwarding inet4)`. */
  title: bounded.text(longestTitle),
});

/** Stored in the comment itself, hidden. */
const memorySchema = z.object({
  /** Id of the workflow run that wrote last; ids of later runs are greater. */
  run: bounded.total,
  headCommit: bounded.text(64),
  /** Time from which the comment shows this head. */
  since: bounded.time,
  /** Heads shown before, newest first. */
  heads: bounded.list(bounded.text(64), maxHeads).optional(),
  overrides: gateOverridesSchema,
  last: verdict.optional(),
  earlier: bounded.list(verdict, maxEarlier),
});

export type CommentMemory = z.infer<typeof memorySchema>;

export type CommentUpdate = {
  name: string;
  run: number;
  headCommit: string;
  /** Absent if nothing is measured; earlier overrides are then kept. */
  overrides?: CommentMemory['overrides'] | undefined;
  at: Date;
  title?: string;
};

/** First line of the comment, by which it is found again. */
export const markerOf = (name: string): string => `<!-- ${name.replace(/[^\w :.,-]/g, '')} -->`;

/** Wraps the Markdown `body`. Undefined if a later run has written meanwhile and must not be overwritten. */
export function composeComment(before: string | undefined, body: string, update: CommentUpdate): string | undefined {
  const memory = before === undefined ? undefined : readMemory(before);
  if (memory !== undefined && memory.run > update.run) return undefined;
  return fitted(update.name, body.trimEnd(), nextMemory(memory, update));
}

/** Reads the record at the very end, where foreign text never is. Undefined if an edit removed or changed it. */
export function readMemory(comment: string): CommentMemory | undefined {
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

function nextMemory(memory: CommentMemory | undefined, update: CommentUpdate): CommentMemory {
  const { run, headCommit, overrides, at, title } = update;
  const { last, earlier = [] } = memory ?? {};
  const now = at.toISOString();
  const since = memory?.headCommit === headCommit ? memory.since : now;
  const shown = memory === undefined ? [] : [memory.headCommit, ...(memory.heads ?? [])];
  const heads = [...new Set(shown)].filter((one) => one !== headCommit).slice(0, maxHeads);
  const head = {
    run,
    headCommit,
    since,
    ...(heads.length > 0 && { heads }),
    overrides: overrides ?? memory?.overrides ?? {},
  };
  if (title === undefined) return { ...head, ...(last && { last }), earlier };
  const before = last === undefined || last.run === run ? earlier : [last, ...earlier];
  return {
    ...head,
    last: { run, headCommit, at: now, title: plainLine(title, longestTitle) },
    earlier: before.slice(0, maxEarlier),
  };
}

const maxCharacters = 65_536;

function fitted(name: string, body: string, memory: CommentMemory): string {
  const remembered = Buffer.from(JSON.stringify(memory)).toString('base64url');
  const isNamed = body.includes(memory.headCommit);
  const parts = [
    markerOf(name),
    body,
    ...(isNamed ? [] : [`<sub>commit ${codeSpan(memory.headCommit)}</sub>`]),
    ...earlierVerdicts(memory),
    `${opening}${remembered} -->`,
  ];
  const comment = parts.join('\n\n');
  const { earlier, heads = [] } = memory;
  if (comment.length <= maxCharacters) return comment;
  if (earlier.length > 0) return fitted(name, body, { ...memory, earlier: earlier.slice(0, -1) });
  if (heads.length === 0) return comment;
  return fitted(name, body, { ...memory, heads: heads.slice(0, -1) });
}

function earlierVerdicts({ run, last, earlier }: CommentMemory): string[] {
  const all = last === undefined || last.run === run ? earlier : [last, ...earlier];
  if (all.length === 0) return [];
  const rows = all.map(({ headCommit, at, title }) => {
    const cells = [shortId(headCommit), at.slice(0, 'YYYY-MM-DD'.length), title];
    return `| ${cells.map((cell) => codeSpan(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const table = ['| commit | judged | |', '|---|---|---|', ...rows].join('\n');
  return [`<details><summary>earlier verdicts</summary>\n\n${table}\n\n</details>`];
}
