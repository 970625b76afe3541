// Finds the cause of a failed build in its log.
import { withoutSequences } from '../model/escape.ts';

type BuildFailure =
  | { readonly kind: 'out-of-disk' }
  /** At most ten, in the order of the log. Paths are relative to the tree. */
  | { readonly kind: 'errors'; readonly errors: readonly string[] };

/**
 * Recognizes errors of compilers, linkers, configuration and make on both systems; otherwise returns the last lines.
 */
export function readBuildFailure(log: string, source: string): BuildFailure {
  const lines = log.split('\n').map((line) => fromTop(plain(line), source));
  // A patch could print this in an #error. It would then count as a full disk, and still not pass.
  if (lines.some((line) => line.includes('No space left on device'))) {
    return { kind: 'out-of-disk' };
  }
  const found = [ofTools, ofMake]
    .map((patterns) => lines.filter((line) => patterns.some((pattern) => pattern.test(line))))
    .find((errors) => errors.length > 0);
  const errors = found ?? lines.filter((line) => line !== '').slice(-3);
  return { kind: 'errors', errors: [...new Set(errors)].slice(0, maxErrors) };
}

/** An object folder contains the tree's path, as in `/b/obj/b/src/amd64.amd64`. */
const fromTop = (line: string, source: string): string =>
  line.replaceAll(`${source}/`, (found, at: number) => (at > 0 && /[\w.+-]/.test(line.charAt(at - 1)) ? found : ''));

const maxErrors = 10;
const maxLetters = 300;

function plain(line: string): string {
  if (line === '') return line;
  const text = withoutSequences(line)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return text.length > maxLetters ? `${text.slice(0, maxLetters - 1)}…` : text;
}

const ofTools: readonly RegExp[] = [
  // Compilers.
  /^\S+:\d+:\d+: (?:fatal )?error: /,
  /^(?:\S*\/)?(?:[\w.]*ld(?:\.\w+)?|cc1?|gcc|clang|\S+-ld): (?:fatal )?error: /,
  // GNU's as(1) and ld(1).
  /^\S+:\d+: Error: /,
  /: (?:undefined reference to|multiple definition of) /,
  // Errors of config(8) of FreeBSD, and of Linux's.
  /^config: /,
  /^(?:\S*\/)?Kconfig[\w.-]*:\d+: /,
];

const ofMake: readonly RegExp[] = [
  /^\S*make(?:\[\d+\])?: (?:"[^"]*" line \d+: |don't know how to make )/i,
  /^\*\*\* /,
  /^(?:\*\*\* )?ERROR: /i,
  // Errors of GNU make; Linux's modpost prints `ERROR: …`.
  /^(?:\S*make(?:\[\d+\])?|\S+:\d+): \*\*\* (?!Waiting for )/,
];
