// Logs in on a guest's serial console as root, without a password, and runs commands there.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { lastLine } from '../../../model/one-line.ts';
import { type Command, commandText } from '../../../system/shell.ts';
import { describeScreen } from '../../console/console-text.ts';
import type { Guest } from './guest.ts';

/** The message is a clause on the console or on a command. */
export class ConsoleShellError extends Error {
  override readonly name = 'ConsoleShellError';
}

export type TypedOn = Pick<Guest, 'consoleInput' | 'console' | 'listen' | 'ended'>;

const loginPrompt = /(?:^|[\r\n])(?:[\w.-]+ )?login: /;
const afterName = /(?<password>password)(?: for [^\r\n]*)?:|[#%$>] $/i;
const secondsToPrompt = 30;
const usualSeconds = 120;
/** FreeBSD's terminals may drop the rest of a longer input line (MAX_INPUT). */
const maxCharacters = 1000;
const maxShown = 256 * 1024;

export class ConsoleShell implements Disposable {
  readonly #guest: TypedOn;
  readonly #leave: () => void;
  #shown: string;
  #more = Promise.withResolvers<void>();
  #commands = 0;

  private constructor(guest: TypedOn) {
    this.#guest = guest;
    this.#shown = guest.console();
    this.#leave = guest.listen((piece) => {
      this.#shown = (this.#shown + piece.toString('latin1')).slice(-maxShown);
      this.#more.resolve();
      this.#more = Promise.withResolvers();
    });
  }

  /** Waits for the login prompt. Throws a ConsoleShellError if none comes, or the console asks for a password. */
  static async logIn(guest: TypedOn, limitSeconds: number): Promise<ConsoleShell> {
    const shell = new ConsoleShell(guest);
    try {
      await shell.#logIn(limitSeconds);
      return shell;
    } catch (error) {
      shell[Symbol.dispose]();
      throw error;
    }
  }

  async #logIn(limitSeconds: number): Promise<void> {
    const prompt = await this.#shows(loginPrompt, limitSeconds);
    if (prompt === undefined) {
      throw new ConsoleShellError(
        `its serial console showed no login prompt within ${limitSeconds} s, and ${describeScreen(this.#guest.console())}`,
      );
    }
    this.#shown = '';
    await this.#type('root');
    // A kernel message may follow the prompt of root's shell.
    const next = await this.#shows(afterName, secondsToPrompt);
    if (next?.groups?.password !== undefined) {
      throw new ConsoleShellError('its serial console asks for the password of root');
    }
    // Starts a shell of known syntax: root's was csh up to FreeBSD 13.
    await this.#type('exec env -i PATH=/sbin:/bin:/usr/sbin:/usr/bin HOME=/root TERM=dumb /bin/sh');
    if ((await this.#execute('stty -echo; PS1= PS2=', secondsToPrompt)) === undefined) {
      throw new ConsoleShellError(
        `root got no shell on its serial console, which ${describeScreen(this.#guest.console())}`,
      );
    }
  }

  /** Returns output and errors. Throws a ConsoleShellError for a command that fails, or does not end in time. */
  async run(command: Command, seconds = usualSeconds): Promise<string> {
    const text = commandText(command);
    const ended = await this.#execute(`{ ${text}; } 2>&1`, seconds);
    if (ended === undefined) {
      throw new ConsoleShellError(
        `"${text}" did not finish within ${seconds} s on its serial console, which ${describeScreen(sinceMark(this.#shown))}`,
      );
    }
    const { code, output } = ended;
    if (code === 0) return output;
    const last = lastLine(output) ?? 'nothing';
    throw new ConsoleShellError(`"${text}" exited with ${code} and printed "${last}"`);
  }

  /** Types a command that ends the guest. */
  async runLast(command: Command): Promise<void> {
    await this.#type(commandText(command));
  }

  /** Returns undefined if it does not end in time. */
  async #execute(text: string, seconds: number): Promise<{ code: number; output: string } | undefined> {
    this.#commands += 1;
    this.#shown = '';
    const number = this.#commands;
    // The shell assembles both marks, as FreeBSD's sh echoes a line even with `stty -echo`.
    await this.#type(`echo "<<""begin ${number}>>"; ${text}; echo "<<""end ${number} $?>>"`);
    const end = await this.#shows(new RegExp(`<<end ${number} (\\d{1,3})>>`), seconds);
    if (end === undefined) return undefined;
    const output = sinceMark(end.input.slice(0, end.index)).replaceAll('\r', '');
    return { code: Number(end[1]), output };
  }

  async #type(line: string): Promise<void> {
    if (line.length > maxCharacters || /[^ -~]/.test(line)) {
      throw new TypeError(`This line cannot be typed: ${line}`);
    }
    // QEMU holds the other end open, so this neither waits nor fails.
    const { consoleInput = '' } = this.#guest;
    await using input = await open(consoleInput, constants.O_WRONLY | constants.O_NONBLOCK);
    await input.write(`${line}\n`);
  }

  /** Waits until the output matches the pattern; returns undefined if it does not in time. */
  async #shows(pattern: RegExp, seconds: number): Promise<RegExpExecArray | undefined> {
    const { promise: over, resolve } = Promise.withResolvers<'over'>();
    const timer = setTimeout(() => resolve('over'), seconds * 1000);
    // A value and no error: the output may match before anything waits for this promise.
    const ended = this.#guest.ended.then((why) => ({ why }));
    try {
      for (;;) {
        const found = pattern.exec(this.#shown);
        if (found !== null) return found;
        const woken = await Promise.race([this.#more.promise, over, ended]);
        if (woken === 'over') return undefined;
        if (woken !== undefined) {
          throw new ConsoleShellError(`its QEMU has ended (${woken.why})`);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}

/** Omits the echo of a command, up to the mark at the beginning of its output. */
const sinceMark = (shown: string): string => shown.replace(/^.*<<begin \d+>>\r*\n/s, '');
