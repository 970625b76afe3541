// Records a console from before a boot on. Stores the newest output, and describes it when the machine is lost.
import { ConsoleError, type OnOutput, type OpenedConsole } from './console.ts';
import { ConsoleTape } from './console-tape.ts';
import { describeScreen, type LastWords, lastWords } from './console-text.ts';

/** Output of a console at 115200 baud in half an hour. */
const maxBytes = 16 * 1024 ** 2;
/** Size limit of all logs together; later logs have only the newest 64 KiB. */
const maxLogBytes = 128 * 1024 ** 2;
const minLogBytes = 64 * 1024;

/** Never throws for a fault of the console, which `takeProblems` reports. */
export class ConsoleRecorder {
  readonly #name: string;
  readonly #open: (onOutput: OnOutput) => Promise<OpenedConsole>;
  readonly #tape = new ConsoleTape(maxBytes);
  readonly #problems = new Set<string>();
  readonly #reported = new Set<string>();
  #console: OpenedConsole | undefined;
  #takenAt = 0;
  #loggedBytes = 0;
  #bootAt: number | undefined;
  #endAt: number | undefined;
  /** Offset of the last power cycle since the boot, or of the boot. */
  #shownFrom = 0;
  /** The program that reads a virtual machine's console ends with the machine. */
  #mayEnd: 'no' | 'while cycled' | 'once' = 'no';

  constructor(name: string, open: (onOutput: OnOutput) => Promise<OpenedConsole>) {
    this.#name = name;
    this.#open = open;
  }

  async open(): Promise<void> {
    if (this.#console !== undefined) return;
    try {
      const opened = await this.#open((chunk) => this.#tape.write(chunk));
      this.#console = opened;
      void opened.ended.then((sentence) => {
        if (this.#console !== opened) return;
        this.#console = undefined;
        this.#ended(sentence);
      });
    } catch (error) {
      if (!(error instanceof ConsoleError)) throw error;
      this.#report(error.message);
    }
  }

  /**
   * Call it before a boot. Reopens a console that was silent in the last boot, as another client may have the session.
   */
  async beginBoot(): Promise<void> {
    if (this.#console !== undefined && this.#tape.length === this.#bootAt) {
      this.#report(
        `The console of ${this.#name} showed nothing during a whole boot; check it with "ppsgate testbeds check".`,
      );
      await this.close();
    }
    await this.open();
    this.#mayEnd = 'no';
    this.#tape.forgetPanic();
    this.#bootAt = this.#tape.length;
    this.#shownFrom = this.#bootAt;
    this.#endAt = undefined;
  }

  /** Cycles the power, and reopens a console that this ended. */
  async whileCycled(cycle: () => Promise<void>): Promise<void> {
    this.endBoot();
    this.#mayEnd = 'while cycled';
    try {
      await cycle();
    } finally {
      this.#mayEnd = 'once';
    }
    await this.open();
  }

  /** Call it before the power is cycled: later output belongs to the next boot. */
  endBoot(): void {
    this.#endAt ??= this.#tape.length;
    this.#shownFrom = this.#tape.length;
  }

  /** Reads the end of the output of the last boot that was begun. */
  lastWords(): LastWords {
    const text = this.#tape.text(this.#bootAt, this.#endAt);
    return lastWords(text, this.#endAt === undefined);
  }

  /**
   * Screen since the boot or the last power cycle; completes "its console …". Undefined while the console is closed.
   */
  describe(): string | undefined {
    if (this.#console === undefined) return undefined;
    return describeScreen(this.#tape.text(this.#shownFrom));
  }

  takeLog(): Buffer {
    const most = Math.max(minLogBytes, maxLogBytes - this.#loggedBytes);
    const log = this.#tape.read(Math.max(this.#takenAt, this.#tape.length - most));
    this.#takenAt = this.#tape.length;
    this.#loggedBytes += log.length;
    return log;
  }

  /** Returns new sentences on faults of the console, each once. */
  takeProblems(): string[] {
    const sentences = [...this.#problems];
    for (const sentence of sentences) this.#reported.add(sentence);
    this.#problems.clear();
    return sentences;
  }

  async close(): Promise<void> {
    const opened = this.#console;
    this.#console = undefined;
    await opened?.close();
  }

  #ended(sentence: string): void {
    if (this.#mayEnd === 'no') {
      this.#report(sentence);
    } else if (this.#mayEnd === 'once') {
      this.#mayEnd = 'no';
      // The next task on a lost testbed notices the loss.
      this.open().catch(() => {});
    }
  }

  #report(sentence: string): void {
    if (!this.#reported.has(sentence)) this.#problems.add(sentence);
  }
}
