// Records a console from before a boot on: keeps the newest output, and describes it when the machine is lost.
import { ConsoleError, type OnOutput, type OpenedConsole } from './console.ts';
import { describeScreen, type LastWords, lastWords } from './console-text.ts';

/** A console at 115200 baud prints that much in half an hour. */
const mostBytes = 16 * 1024 ** 2;

/** Throws no fault of the console: `takeProblems` reports it. */
export class ConsoleRecorder {
  readonly #name: string;
  readonly #open: (onOutput: OnOutput) => Promise<OpenedConsole>;
  readonly #tape = tapeOf(mostBytes);
  readonly #problems = new Set<string>();
  readonly #reported = new Set<string>();
  #console: OpenedConsole | undefined;
  #takenAt = 0;
  #bootAt: number | undefined;
  #endAt: number | undefined;
  /** The last power cycle since the boot, or the boot. */
  #shownFrom = 0;

  constructor(name: string, open: (onOutput: OnOutput) => Promise<OpenedConsole>) {
    this.#name = name;
    this.#open = open;
  }

  async open(): Promise<void> {
    if (this.#console !== undefined) return;
    try {
      const opened = await this.#open(this.#tape.write);
      this.#console = opened;
      void opened.ended.then((sentence) => {
        if (this.#console !== opened) return;
        this.#console = undefined;
        this.#report(sentence);
      });
    } catch (error) {
      if (!(error instanceof ConsoleError)) throw error;
      this.#report(error.message);
    }
  }

  /** Called before a boot. Reopens a console that was silent in the last boot: another client may have the session. */
  async beginBoot(): Promise<void> {
    if (this.#console !== undefined && this.#tape.length() === this.#bootAt) {
      this.#report(
        `The console of ${this.#name} showed nothing of a whole boot; look at it with "ppsgate testbeds check".`,
      );
      await this.close();
    }
    await this.open();
    this.#bootAt = this.#tape.length();
    this.#shownFrom = this.#bootAt;
    this.#endAt = undefined;
  }

  /** Before the power is cycled: later output is of the next boot. */
  endBoot(): void {
    this.#endAt ??= this.#tape.length();
    this.#shownFrom = this.#tape.length();
  }

  /** The end of the output of the last boot that was begun. */
  lastWords(): LastWords {
    const text = this.#tape.read(this.#bootAt ?? 0, this.#endAt).toString();
    return lastWords(text, this.#endAt === undefined);
  }

  /** The screen now, since the boot or the last power cycle; completes "its console …". Undefined while it is closed. */
  describe(): string | undefined {
    if (this.#console === undefined) return undefined;
    return describeScreen(this.#tape.read(this.#shownFrom).toString());
  }

  takeLog(): Buffer {
    const log = this.#tape.read(this.#takenAt);
    this.#takenAt = this.#tape.length();
    return log;
  }

  /** Sentences on faults of the console, each returned once. */
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

  #report(sentence: string): void {
    if (!this.#reported.has(sentence)) this.#problems.add(sentence);
  }
}

/** A ring buffer, read by the offsets of all that was ever written. */
function tapeOf(size: number) {
  let ring = Buffer.alloc(0);
  let length = 0;
  return {
    length: () => length,
    write(chunk: Buffer): void {
      if (ring.length === 0) ring = Buffer.alloc(size);
      const kept = chunk.subarray(-size);
      length += chunk.length;
      const start = (length - kept.length) % size;
      const written = kept.copy(ring, start);
      kept.copy(ring, 0, written);
    },
    read(from: number, to = length): Buffer {
      const first = Math.max(from, length - size);
      if (first >= to) return Buffer.alloc(0);
      const [start, end] = [first % size, (first % size) + (to - first)];
      return Buffer.concat([ring.subarray(start, end), ring.subarray(0, Math.max(0, end - size))]);
    },
  };
}
