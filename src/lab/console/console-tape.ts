// Stores the newest output of a console, and the first panic even after later output has replaced it.
import { showsPanic } from './console-text.ts';

/** Size limit of a stored panic, from its first line on. */
const maxPanicBytes = 16 * 1024;
/** Longest beginning of a line that is searched. */
const maxLineBytes = 4096;
/** Limits the work per write on lines that only contain words of a panic. */
const maxSearchedLines = 64;
/** A boot after a panic prints about 100 KB. */
const maxTextBytes = 1024 ** 2;

/** A ring buffer, addressed by offsets in the whole output so far. */
export class ConsoleTape {
  readonly #size: number;
  #ring = Buffer.alloc(0);
  #length = 0;
  /** Beginning of the unfinished line, one character per byte. */
  #line = { at: 0, text: '' };
  #panic: { at: number; text: string } | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  get length(): number {
    return this.#length;
  }

  write(chunk: Buffer): void {
    this.#watch(chunk.toString('latin1'));
    if (this.#ring.length === 0) this.#ring = Buffer.alloc(this.#size);
    const kept = chunk.subarray(-this.#size);
    this.#length += chunk.length;
    const start = (this.#length - kept.length) % this.#size;
    const written = kept.copy(this.#ring, start);
    kept.copy(this.#ring, 0, written);
  }

  read(from: number, to = this.#length): Buffer {
    const first = Math.max(from, this.#length - this.#size);
    if (first >= to) return Buffer.alloc(0);
    const start = first % this.#size;
    const end = start + (to - first);
    return Buffer.concat([this.#ring.subarray(start, end), this.#ring.subarray(0, Math.max(0, end - this.#size))]);
  }

  /**
   * Returns at most a mebibyte: the newest output, preceded by the beginning of the first panic if that came earlier.
   */
  text(from = 0, to = this.#length): string {
    const panic = this.#panic;
    const newest = Math.max(from, to - maxTextBytes, this.#length - this.#size);
    if (panic === undefined || panic.at < from || panic.at >= newest) {
      return this.read(newest, to).toString();
    }
    const rest = Math.max(newest + maxPanicBytes + 1, panic.at + panic.text.length);
    return `${Buffer.from(panic.text, 'latin1')}\n${this.read(rest, to)}`;
  }

  /** Watches for the next panic, for example when another boot begins. */
  forgetPanic(): void {
    this.#panic = undefined;
    this.#line = { at: this.#length, text: '' };
  }

  #watch(piece: string): void {
    if (this.#panic !== undefined) {
      const { at, text } = this.#panic;
      if (text.length < maxPanicBytes) {
        this.#panic = { at, text: (text + piece).slice(0, maxPanicBytes) };
      }
      return;
    }
    const { at, text: begun } = this.#line;
    const text = begun + piece;
    const offsetOf = (index: number) => (index === 0 ? at : this.#length + index - begun.length);
    const found = panicAt(text);
    if (found !== undefined) {
      this.#panic = { at: offsetOf(found), text: text.slice(found, found + maxPanicBytes) };
    }
    const last = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    this.#line = { at: offsetOf(last), text: text.slice(last, last + maxLineBytes) };
  }
}

/** Index of the first line that shows a panic. */
function panicAt(text: string): number | undefined {
  if (!panicWords.test(text)) return undefined;
  let searched = 0;
  for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g)) {
    const start = line.slice(0, maxLineBytes);
    if (!panicWords.test(start)) continue;
    if (showsPanic(start)) return index;
    searched += 1;
    if (searched === maxSearchedLines) return undefined;
  }
  return undefined;
}

/** Each panic has one of these words, which are cheap to find in a flood. */
const panicWords = /panic|Fatal |BUG: |Oops|general protection fault|kernel BUG at/;
