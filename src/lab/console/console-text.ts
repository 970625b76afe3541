// Finds a panic, a prompt and the last lines in the untrusted console output of FreeBSD and Linux.
import { plainLine } from '../../model/escape.ts';
import { shortened } from '../../model/one-line.ts';

export type LastWords = {
  panic?: string;
  /** Up to 20 lines: from the panic to the next boot, or the last ones. */
  console?: string;
};

/** A boot after a panic prints some 100 KB. */
const mostCharacters = 1024 ** 2;
const mostLines = 20;
const mostOfLine = 200;

/** Returns the lines before the boot without a panic, where the machine came up without a power cycle (`isUp`). */
export function lastWords(text: string, isUp: boolean): LastWords {
  const lines = linesOf(text);
  const panic = panicIn(lines);
  if (panic !== undefined) {
    const after = lines.slice(panic.line, panic.line + mostLines);
    const boot = after.indexOf(bootLine);
    const shown = boot === -1 ? after : after.slice(0, boot);
    return { panic: panic.message, console: shown.join('\n') };
  }
  const boot = isUp ? lines.lastIndexOf(bootLine) : -1;
  const before = boot > 0 ? lines.slice(0, boot) : lines;
  return before.length === 0 ? {} : { console: before.slice(-mostLines).join('\n') };
}

const bootLine = '---<<BOOT>>---';

/** Completes "its console …": the prompt, and the last lines. */
export function describeScreen(text: string): string {
  const lines = linesOf(text);
  const last = lines.at(-1);
  if (last === undefined) return 'shows nothing';
  const ended = `ends with "${lines.slice(-3).map(shortened).join(' | ')}"`;
  const prompt = prompts.find(({ is }) => is.test(last));
  return prompt === undefined ? ended : `shows ${prompt.name}, and ${ended}`;
}

/** Prompts of the kernel's debugger, of its search for a root, of init(8), getty(8) and the loaders. */
const prompts = [
  { is: /^db(?:\{\d+\})?>/, name: "the prompt of the kernel's debugger" },
  { is: /^mountroot>/, name: 'that the kernel found no root file system' },
  {
    is: /^Enter (?:full pathname of shell|root password)/,
    name: 'single user mode, as after a file system check that failed',
  },
  { is: /^OK$/, name: "the loader's prompt, as where there is no kernel" },
  { is: /^boot:$/, name: 'the prompt of boot2, as where there is no loader' },
  { is: /\blogin:$/, name: 'a login prompt, so check its network' },
];

function panicIn(lines: readonly string[]): { line: number; message: string } | undefined {
  for (const pattern of panics) {
    for (const [line, text] of lines.entries()) {
      const message = pattern.exec(text)?.[1];
      if (message !== undefined) return { line, message };
    }
  }
  return undefined;
}

/**
 * A panic may begin in the middle of a line, after a prompt or output of rc(8). savecore(8)'s "reboot after panic: …" is
 * none. The later patterns serve where the message is lost.
 */
const panics = [
  /(?:^|[:.>#$%\]] ?)panic: (\S.*)$/,
  /^(Fatal (?:trap \d+: |double fault).*)$/,
  /^(KDB: enter: panic)$/,
  // Linux, which prints the cause before the panic.
  /^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?(BUG: (?!sleeping function|scheduling while)\S.*)$/,
  /^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?((?:Oops|general protection fault|kernel BUG at)\b.*)$/,
  /^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?Kernel panic - not syncing: (\S.*)$/,
];

export const showsPanic = (line: string): boolean => {
  const text = asShown(line);
  return panics.some((pattern) => pattern.test(text));
};

const linesOf = (text: string): string[] =>
  text
    .slice(-mostCharacters)
    .split(/[\r\n]+/)
    .map(asShown)
    .filter(Boolean);

const asShown = (line: string): string => plainLine(line.replace(/[^\b][\b]/g, ''), mostOfLine);
