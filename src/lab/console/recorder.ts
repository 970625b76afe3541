// Records a console from before a boot on: what it printed is kept in bounds, and told where the machine is lost.
import { ConsoleError, type OnOutput, type OpenedConsole } from './console.ts';
import { describeScreen, type LastWords, lastWords } from './console-text.ts';

export type ConsoleRecorder = {
  /** Where it is not open; no console's fault is thrown, here and below. */
  open(): Promise<void>;
  /**
   * Before the order to boot: opened anew where it was silent in the boot before, as where somebody else has taken the
   * session.
   */
  beginBoot(): Promise<void>;
  /** Before the power is cycled: what comes from now on is of the next boot. */
  endBoot(): void;
  /** What the boot that was begun last has printed in the end. */
  lastWords(): LastWords;
  /** What there is to see now, since the boot or the last power cycle; completes "its console …". Absent: nobody sees. */
  describe(): string | undefined;
  /** What was printed since this was asked last, the newest where there is too much. */
  takeLog(): Buffer;
  /** Sentences on what is wrong with the console, each for once. */
  takeProblems(): string[];
  close(): Promise<void>;
};

/** A console at 115200 baud prints so much in half an hour. */
const mostBytes = 16 * 1024 ** 2;

/** `name` is what people call the machine. */
export function recordConsole(
  name: string,
  open: (onOutput: OnOutput) => Promise<OpenedConsole>,
): ConsoleRecorder {
  const tape = tapeOf(mostBytes);
  let console: OpenedConsole | undefined;
  let bootAt: number | undefined;
  let takenAt = 0;
  /** Where the power was cycled since the boot: the first time, and the last. */
  let [endAt, shownFrom]: [number | undefined, number] = [undefined, 0];
  const troubles = new Set<string>();
  const told = new Set<string>();
  const trouble = (sentence: string) => void (told.has(sentence) || troubles.add(sentence));

  const reopen = async () => {
    if (console !== undefined) return;
    try {
      const opened = await open(tape.write);
      console = opened;
      void opened.ended.then((sentence) => {
        if (console !== opened) return;
        console = undefined;
        trouble(sentence);
      });
    } catch (error) {
      if (!(error instanceof ConsoleError)) throw error;
      trouble(error.message);
    }
  };

  const close = async () => {
    const opened = console;
    console = undefined;
    await opened?.close();
  };

  return {
    open: reopen,
    async beginBoot() {
      if (console !== undefined && tape.length() === bootAt) {
        trouble(
          `The console of ${name} showed nothing of a whole boot; look at it with "ppsgate testbeds check".`,
        );
        await close();
      }
      await reopen();
      bootAt = tape.length();
      shownFrom = bootAt;
      endAt = undefined;
    },
    endBoot() {
      endAt ??= tape.length();
      shownFrom = tape.length();
    },
    lastWords: () => lastWords(tape.read(bootAt ?? 0, endAt).toString(), endAt === undefined),
    describe: () =>
      console === undefined ? undefined : describeScreen(tape.read(shownFrom).toString()),
    takeLog() {
      const log = tape.read(takenAt);
      takenAt = tape.length();
      return log;
    },
    takeProblems() {
      const sentences = [...troubles];
      for (const sentence of sentences) told.add(sentence);
      troubles.clear();
      return sentences;
    },
    close,
  };
}

/** The newest of what was written, by its place in all of it. */
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
