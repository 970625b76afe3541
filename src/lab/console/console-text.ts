// What the console of a FreeBSD machine, or of a guest with Linux, shows: a panic, a prompt that it waits at, its last lines. All of it is the word of a
// kernel that nobody has to trust.
import { plainLine } from '../../model/escape.ts';
import { shortened } from '../../model/one-line.ts';

/** What was on the console when the machine was lost. */
export type LastWords = {
  /** What the kernel died of. */
  panic?: string;
  /** Up to 20 lines: from the panic up to the next boot, or the last that there were. */
  console?: string;
};

/** A boot after a panic prints some 100 KB. */
const mostCharacters = 1024 ** 2;
const mostLines = 20;
const mostOfLine = 200;

/**
 * Where the machine has come up since by itself (`isUp`), and no panic is there, the lines before that boot are told:
 * those of the loader say why.
 */
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

/** The kernel's first line of every boot. */
const bootLine = '---<<BOOT>>---';

/** Completes "its console …": what it waits at, and how it ends. */
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
  { is: /\blogin:$/, name: 'a login prompt, so its network is to be looked at' },
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
 * The kernel knows nothing of the line it begins on: before it may stand a prompt or what rc(8) was about to say. What
 * savecore(8) says of a panic before, "reboot after panic: …", is none. The others stand in where the message is lost.
 */
const panics = [
  /(?:^|[:.>#$%\]] ?)panic: (\S.*)$/,
  /^(Fatal (?:trap \d+: |double fault).*)$/,
  /^(KDB: enter: panic)$/,
  // Linux, where what happened is told before the panic that it comes to.
  /^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?(BUG: (?!sleeping function|scheduling while)\S.*)$/,
  /^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?((?:Oops|general protection fault|kernel BUG at)\b.*)$/,
  /^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?Kernel panic - not syncing: (\S.*)$/,
];

/** Those that are not empty, each as it may be told. */
function linesOf(text: string): string[] {
  return text
    .slice(-mostCharacters)
    .split(/[\r\n]+/)
    .map((line) => plainLine(line.replace(/[^\b][\b]/g, ''), mostOfLine))
    .filter(Boolean);
}
