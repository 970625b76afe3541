// What goes wrong is told to the people at a patch without the places where files lie here: those are for the log.

/**
 * The text with `[path]` in place of each absolute path, be it of this machine or of the lab: nobody can tell them
 * apart in what Node, git or ssh say. URLs, commands to ppsgate and paths within a tree stay.
 */
export const withoutPaths = (text: string): string =>
  text.replace(quotedPath, '[path]').replace(barePath, (found) => `[path]${endOf(found)}`);

/** A line's number and what ends a sentence; of a longer end nobody would want more. */
const endOf = (found: string): string =>
  /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? '';

const quotes = '\'"`‘’“”';
const start = '(?:file:/+|~[\\w.-]{0,64}/|/+)';
/** How ppsgate is called, and the length of a prefix as in ::/0. */
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
