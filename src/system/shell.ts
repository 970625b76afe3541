// Builds command lines for a POSIX shell; the only place that quotes.

// Not exported, so that only `shell` can create a Command, at compile time and at run time.
const line = Symbol('command line');

export type Command = { readonly [line]: string };

export type ShellWord = string | number;
type ShellValue = ShellWord | readonly ShellWord[] | Command;

/**
 * Builds a command line in which each value is data: a string or number becomes one quoted word, an array one word per
 * element; a `Command` is inserted as is.
 *
 *     shell`ip netns exec ${name} nft -f ${path}`
 *     shell`${prepare} && ip netns exec ${name} sh -c ${commandText(measure)}`
 *
 * Throws a TypeError for a value that no program can receive: a NUL, half a surrogate pair, NaN. Also throws for a
 * template in which quoting is no protection: a value inside quotes, a comment, a here-document, backquotes or
 * arithmetic.
 */
export function shell(template: TemplateStringsArray, ...values: readonly ShellValue[]): Command {
  for (const text of template) refuseUnsafe(text);
  const words = values.map(quoted);
  return { [line]: template.map((text, index) => text + (words[index] ?? '')).join('') };
}

export const commandText = (command: Command): string => command[line];

/**
 * Does the same for any login shell. csh, root's login shell up to FreeBSD 13, fails at a line break, and at `!` even
 * inside single quotes; it also lacks `2>&1` and `$(…)`. So it gets one simple command: an sh that reassembles the
 * text.
 */
export function lineForAnyShell(command: Command): string {
  const text = commandText(command);
  const bare = text.replace(/'[^'\n\r!]*'|\\'/g, '_');
  if (/^[\w@%+:,./-][\w@%+:,./ -]*$/.test(bare.replaceAll('=', '_')) && !/^\s*\w+=/.test(bare)) {
    return text;
  }
  const encoded = text.replace(/[\\\n\r!]/g, (letter) => escapes[letter] ?? letter);
  return commandText(shell`sh -c ${putTogether} sh ${encoded}`);
}

/** Escapes for `%b` of printf(1). */
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '!': '\\0041',
};

const putTogether = 'text=$(printf %b "$1"); shift; eval "$text"';

/** Each piece of a template must leave the shell in the state that the next value's quotes need. */
function refuseUnsafe(text: string): void {
  const bare = text.replace(closed, '_');
  const hazard = hazards.find(([pattern]) => pattern.test(bare));
  if (hazard === undefined) return;
  const [, name, instead] = hazard;
  throw new TypeError(
    `The command template "${text.trim()}" contains ${name}, after which a value cannot be quoted; ${instead}.`,
  );
}

/** An escaped character, '…', or "…" with only simple substitutions; each is complete in itself. */
const closed = /\\.|(?<!\$)'[^']*'|(?<!\$)"(?:\\.|\$\([^()"'`\\]*\)|\$\{[^{}"'`\\]*\}|\$(?![({])|[^"\\`$])*"/gs;

const hazards: readonly [pattern: RegExp, name: string, instead: string][] = [
  [
    /['"]/,
    'an open quote (or a substitution too deep inside quotes)',
    'write values without quotes; they are quoted automatically',
  ],
  [/\\/, 'a backslash at its end', 'leave it out'],
  [/\$$/, 'a dollar sign at its end', 'leave it out'],
  [/`/, 'backquotes', 'use $(…)'],
  [/<</, 'a here-document', 'send that text on standard input'],
  [/\(\(|\$\[/, 'arithmetic', 'calculate before building the command'],
  [/(?<![^\s;&|()])#/, 'a comment', 'write it beside the template'],
];

function quoted(value: ShellValue): string {
  if (typeof value === 'object' && line in value) return value[line];
  return [value].flat().map(quotedWord).join(' ');
}

/** Quotes every word: a bare `if`, `a=b`, or `2` before `>` would have a meaning to the shell. */
function quotedWord(word: ShellWord): string {
  const text = String(word);
  const wrong = whyUnfit(word, text);
  if (wrong !== undefined) {
    throw new TypeError(
      `The shell word ${JSON.stringify(text.slice(0, 60))} ${wrong}, which no program can receive; correct the value.`,
    );
  }
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function whyUnfit(word: ShellWord, text: string): string | undefined {
  if (typeof word !== 'string' && !Number.isFinite(word)) return 'is neither text nor a finite number';
  if (text.includes('\0')) return 'holds a NUL byte';
  if (!text.isWellFormed()) return 'holds half a surrogate pair';
  return undefined;
}
