// Removes paths of the lab from errors that are posted on a patch; the log keeps them.

/**
 * Replaces absolute paths, of this machine or the lab, by `[path]`: messages of Node, git and ssh do not distinguish
 * them. Keeps URLs, commands to ppsgate, and paths within a tree.
 */
export const withoutPaths = (text: string): string =>
  text.replace(quotedPath, '[path]').replace(barePath, (found) => `[path]${endOf(found)}`);

/** Line number and punctuation after a path, up to 40 characters. */
const endOf = (found: string): string => /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? '';

const quotes = '\'"`‘’“”';
const start = '(?:file:/+|~[\\w.-]{0,64}/|/+)';
/** Excludes ppsgate's commands, and prefix lengths as in ::/0. */
const noPath = `(?!/(?:ppsgate|\\d{1,3})(?:[\\s${quotes}.,;:)]|$))`;
const letter = `[^\\s${quotes}]`;

/** May contain blanks, as in Node's `open '/home/alice/my lab/key'`. */
const quotedPath = new RegExp(`(?<=[${quotes}])${noPath}${start}[^${quotes}\\n]{1,4096}(?=[${quotes}])`, 'gu');

/** A word with a slash after a blank continues the path. */
const barePath = new RegExp(
  `(?<![\\p{L}\\p{N}_./<~+-])(?!(?<=:)//)${noPath}${start}(?!/)${letter}+` +
    `(?:(?<![.,;:!?)]) (?!/|~|${letter}*://)${letter}*/${letter}*)*`,
  'gu',
);
