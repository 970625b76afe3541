// Removes paths of the lab from errors that are posted on a patch; the log keeps them.

/**
 * The text with `[path]` in place of each absolute path, be it of this machine or of the lab: messages of Node,
 * git and ssh do not tell them apart. URLs, commands to ppsgate and paths within a tree stay.
 */
export const withoutPaths = (text: string): string =>
  text.replace(quotedPath, '[path]').replace(barePath, (found) => `[path]${endOf(found)}`);

/** Line number and punctuation after a path, as far as 40 characters. */
const endOf = (found: string): string =>
  /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? '';

const quotes = '\'"`‘’“”';
const start = '(?:file:/+|~[\\w.-]{0,64}/|/+)';
/** Names of ppsgate's commands, and the length of a prefix as in ::/0. */
const noPath = `(?!/(?:ppsgate|\\d{1,3})(?:[\\s${quotes}.,;:)]|$))`;
const letter = `[^\\s${quotes}]`;

/** There may be blanks in it, as where Node writes `open '/home/alice/my lab/key'`. */
const quotedPath = new RegExp(
  `(?<=[${quotes}])${noPath}${start}[^${quotes}\\n]{1,4096}(?=[${quotes}])`,
  'gu',
);

/** After a blank, a word that has a slash in it goes on with the path. */
const barePath = new RegExp(
  `(?<![\\p{L}\\p{N}_./<~+-])(?!(?<=:)//)${noPath}${start}(?!/)${letter}+` +
    `(?:(?<![.,;:!?)]) (?!/|~|${letter}*://)${letter}*/${letter}*)*`,
  'gu',
);
