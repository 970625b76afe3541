// Finds a panic, a prompt and the last lines in the untrusted console output of FreeBSD and Linux.
import { plainLine } from '../../model/escape.ts';
import { shortened } from '../../model/one-line.ts';

export type LastWords = {
  panic?: string;
  /** Up to 20 lines: from the panic to the next boot, or the last ones. */
  console?: string;
  /** Number of non-empty lines read; present if `console` omits some. */
  consoleLines?: number;
};

/** A boot after a panic prints about 100 KB. */
const maxCharacters = 1024 ** 2;
const maxLines = 20;
const maxLineCharacters = 200;

/** Without a panic, returns the lines before the next boot if the machine came up without a power cycle (`isUp`). */
export function lastWords(text: string, isUp: boolean): LastWords {
  const { lines, unread } = readLines(text);
  const panic = panicIn(lines);
  if (panic !== undefined) {
    const after = lines.slice(panic.line, panic.line + maxLines);
    const boot = after.indexOf(bootLine);
    const shown = boot === -1 ? after : after.slice(0, boot);
    return { panic: panic.message, ...shownOf(shown, lines.length + unread) };
  }
  const boot = isUp ? lines.lastIndexOf(bootLine) : -1;
  const before = boot > 0 ? lines.slice(0, boot) : lines;
  return before.length === 0 ? {} : shownOf(before.slice(-maxLines), lines.length + unread);
}

const shownOf = (shown: readonly string[], all: number): LastWords => ({
  console: shown.join('\n'),
  ...(shown.length < all && { consoleLines: all }),
});

const bootLine = '---<<BOOT>>---';

/** Completes "its console …": the prompt, and the last lines. */
export function describeScreen(text: string): string {
  const { lines } = readLines(text);
  const last = lines.at(-1);
  if (last === undefined) return 'shows no output';
  const ended = `ends with "${lines.slice(-3).map(shortened).join(' | ')}"`;
  const prompt = prompts.find(({ is }) => is.test(last));
  return prompt === undefined ? ended : `shows ${prompt.name}, and ${ended}`;
}

/** Prompts of the kernel's debugger, its search for a root, init(8), getty(8) and the loaders. */
const prompts = [
  { is: /^db(?:\{\d+\})?>/, name: "the prompt of the kernel's debugger" },
  { is: /^mountroot>/, name: 'that the kernel found no root file system' },
  {
    is: /^Enter (?:full pathname of shell|root password)/,
    name: 'single user mode, as after a file system check that failed',
  },
  { is: /^OK$/, name: "the loader's prompt, as without a kernel" },
  { is: /^boot:$/, name: 'the prompt of boot2, as without a loader' },
  { is: /\blogin:$/, name: 'a login prompt, so check its network' },
];

type FoundPanic = { line: number; message: string };

function panicIn(lines: readonly string[]): FoundPanic | undefined {
  for (const group of panics) {
    const found = firstOf(group, lines);
    if (found !== undefined) return warningBehind(found, lines) ?? found;
  }
  return undefined;
}

function firstOf(patterns: readonly RegExp[], lines: readonly string[]): FoundPanic | undefined {
  for (const [line, text] of lines.entries()) {
    const message = messageIn(patterns, text);
    if (message !== undefined) return { line, message };
  }
  return undefined;
}

function messageIn(patterns: readonly RegExp[], line: string): string | undefined {
  const text = line.replace(stamp, '');
  for (const pattern of patterns) {
    const message = pattern.exec(text)?.[1];
    if (message !== undefined) return message;
  }
  return undefined;
}

/** `[383490] ` on FreeBSD, `<4>[   12.345678][  T31] ` on Linux. */
const stamp = /^(?:<\d{1,3}>)?(?:\[ *\d+(?:\.\d+)?\](?:\[ *[TC]\d+\])? ?)?/;

/** A warning alone stops nothing. If the kernel is set to panic after one, the warning is the cause. */
function warningBehind(found: FoundPanic, lines: readonly string[]): FoundPanic | undefined {
  const warning = warnings.find(({ panic }) => panic.test(found.message));
  return warning && firstOf([warning.is], lines.slice(0, found.line));
}

const warnings = [
  { panic: /^(?:kernel: )?panic_on_warn set/, is: /^(WARNING: \S.*)$/ },
  { panic: /^hung_task: blocked tasks/, is: /^(INFO: task \S+ blocked for .*)$/ },
];

/**
 * Takes the first matching line of the first matching group. A panic may begin within a line, after a prompt or output
 * of rc(8). savecore(8)'s "reboot after panic: …" and the sysctl `debug.kdb.panic: 0` are no panics. Later groups match
 * if the message itself is lost.
 */
const panics: readonly (readonly RegExp[])[] = [
  [/(?:^|(?<!\b\w+\.\w+)[:.>#$%\]] ?)panic: (?!\d+$)(\S.*)$/],
  [/^(Fatal (?:trap \d+: |double fault|data abort).*)$/],
  [/^(KDB: enter: panic)$/],
  // Linux prints the cause before the panic: lib/bug.c, arch/*/kernel/traps.c and fault.c, kernel/watchdog.c, kernel/rcu.
  [
    /^(?:(?:NMI )?watchdog: )?(BUG: (?!sleeping function|scheduling while|workqueue lockup)\S.*)$/,
    /^(?:(?:NMI )?watchdog: )?(Watchdog detected hard LOCKUP.*)$/,
    /^(?:rcu: )?(INFO: rcu_\w+ (?:self-)?detected (?:expedited )?stalls? on .*)$/,
    /^(?:traps: )?(PANIC: .*)$/,
    /^((?:Internal error: )?Oops\b.*)$/,
    /^(Internal error: .*)$/,
    /^(?:CPU \d+ )?(Unable to handle kernel .*)$/,
    /^((?:divide error|invalid opcode|double fault|stack segment|segment not present|alignment check|int3|bounds|overflow|coprocessor segment overrun|invalid TSS|control protection fault|machine check|general protection fault)\b.*)$/,
    /^(kernel BUG at\b.*)$/,
    /^((?:Bad mode in|SError Interrupt on CPU\d*|Unhandled (?:fault|exception|prefetch abort)|Insufficient stack space|Kernel stack overflow|kernel stack overflow|Kernel mode fault)\b.*)$/,
    /^Kernel panic - not syncing: (\S.*)$/,
  ],
];

export const showsPanic = (line: string): boolean => {
  const text = asShown(line);
  return panics.some((group) => messageIn(group, text) !== undefined);
};

/** `unread` counts the lines before the newest megabyte. */
function readLines(text: string): { lines: string[]; unread: number } {
  const cut = text.length - maxCharacters;
  const start = cut > 0 ? text.indexOf('\n', cut) + 1 || cut : 0;
  const unread = text.slice(0, start).match(/[^\r\n]+/g)?.length ?? 0;
  const lines = text
    .slice(start)
    .split(/[\r\n]+/)
    .map(asShown)
    .filter(Boolean);
  return { lines, unread };
}

const asShown = (line: string): string => plainLine(line.replace(/[^\b][\b]/g, ''), maxLineCharacters);
