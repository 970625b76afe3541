// Prints a profile as folded stacks, the common format of flamegraph tools: `main;read 12`.
import { isComment, type StackSink } from './parser.ts';
import { type Frame, type Profile, remembered, type Stack } from './profile.ts';

type FoldedProfile = Pick<Profile, 'format' | 'stacks'>;
type FoldOptions = { modules?: boolean };

/**
 * Prints a line per stack, in file order, and merges equal ones of perf. With `modules` a frame is written as in
 * DTrace: if_cxgbe.ko`t4_eth_rx. Replaces characters that would split a line or control a terminal: `;` by `:`, control
 * characters by `?`, and a first `#`, which would make a comment.
 *
 * Copies the bytes of names: strings take four times as long. A piece holds whole lines.
 */
export function* foldedPieces(
  { format, stacks }: FoldedProfile,
  { modules = false }: FoldOptions = {},
): Iterable<Buffer> {
  const labelOf = labels(modules);
  const lines = lineWriter(labelOf);
  for (const stack of format === 'perf' ? merged(stacks, labelOf) : stacks) {
    lines.add(stack.frames.toReversed(), stack.frames.length, stack.samples);
    if (lines.bytes >= pieceBytes) yield lines.end();
  }
  yield lines.end();
}

const pieceBytes = 256 * 1024;

/** Folds the stacks of a call graph during reading, up to a few hundred megabytes. */
export class FoldedText implements StackSink {
  stacks = 0;
  samples = 0;
  readonly #options: FoldOptions;
  readonly #lines: LineWriter;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(options: FoldOptions = {}) {
    this.#options = options;
    this.#lines = lineWriter(labels(options.modules ?? false));
  }

  take(frames: readonly Frame[], count: number, samples: number): boolean {
    if (this.#bytes > maxTextBytes) return false;
    this.stacks += 1;
    this.samples += samples;
    this.#lines.add(frames, count, samples);
    if (this.#lines.bytes >= pieceBytes) {
      this.#bytes += this.#lines.bytes;
      this.#pieces.push(this.#lines.end());
    }
    return true;
  }

  /** Yields the lines of `foldedPieces` for all stacks; `kept` has the rest. */
  *pieces(kept: FoldedProfile): Iterable<Buffer> {
    yield* this.#pieces;
    yield this.#lines.end();
    yield* foldedPieces(kept, this.#options);
  }
}

const maxTextBytes = 256 * 1024 ** 2;

const lineWriter = (labelOf: (frame: Frame) => string): LineWriter =>
  new LineWriter(remembered((frame) => Buffer.from(`${labelOf(frame)};`)));

/** Space for 17 digits, a sign and a line end, with some to spare. */
const maxCountBytes = 32;

/** Copies the common end of a line from the line before: in a call graph, most stacks differ in their callers alone. */
class LineWriter {
  /** Labels with the semicolon after them. */
  readonly #labelOf: (frame: Frame) => Uint8Array;
  #piece = Buffer.allocUnsafe(2 * pieceBytes);
  bytes = 0;
  /** The last line, from the sampled function; zero `#count` if there is nothing to copy. */
  readonly #frames: Frame[] = [];
  #count = 0;
  #labelsEnd = 0;
  /** By number of frames, from the sampled function: the bytes of their labels. */
  readonly #labelBytes = [0];
  readonly #newLabels: Uint8Array[] = [];

  constructor(labelOf: (frame: Frame) => Uint8Array) {
    this.#labelOf = labelOf;
  }

  /** Adds the line of a stack, with the parameters of `StackSink`. */
  add(frames: readonly Frame[], count: number, samples: number): void {
    let shared = 0;
    while (shared < count && shared < this.#count && frames[shared] === this.#frames[shared]) {
      shared += 1;
    }
    const sharedBytes = this.#labelBytes[shared] ?? 0;
    let bytes = sharedBytes;
    for (let index = shared; index < count; index += 1) {
      const frame = frames[index] as Frame;
      const label = this.#labelOf(frame);
      this.#frames[index] = frame;
      this.#newLabels[index] = label;
      bytes += label.length;
      this.#labelBytes[index + 1] = bytes;
    }
    const start = this.bytes;
    if (start + bytes + maxCountBytes > this.#piece.length) this.#grow(bytes);

    const piece = this.#piece;
    let end = start;
    for (let index = count - 1; index >= shared; index -= 1) {
      const label = this.#newLabels[index] as Uint8Array;
      piece.set(label, end);
      end += label.length;
    }
    piece.copyWithin(end, this.#labelsEnd - sharedBytes, this.#labelsEnd);
    end += sharedBytes;
    this.#count = count;
    this.#labelsEnd = end;

    piece[end - 1] = space;
    this.bytes = writeText(`${samples}\n`, piece, end);
    const isRead = piece[start] !== numberSign || !isComment(piece.toString('utf8', start, end));
    if (isRead) return;
    piece[start] = questionMark;
    this.#count = 0;
  }

  #grow(more: number): void {
    const larger = Buffer.allocUnsafe(2 * (this.bytes + more + maxCountBytes));
    this.#piece.copy(larger, 0, 0, this.bytes);
    this.#piece = larger;
  }

  /** Returns the lines since the last call. */
  end(): Buffer {
    const lines = this.#piece.subarray(0, this.bytes);
    this.#piece = Buffer.allocUnsafe(2 * pieceBytes);
    this.bytes = 0;
    this.#count = 0;
    return lines;
  }
}

/** Returns the end; a call of `write` takes longer. */
function writeText(ascii: string, to: Uint8Array, start: number): number {
  for (let index = 0; index < ascii.length; index += 1) to[start + index] = ascii.charCodeAt(index);
  return start + ascii.length;
}

const space = 0x20;
const numberSign = 0x23;
const questionMark = 0x3f;

/** Yields the lines of `foldedPieces`, without their ends. */
export function* foldedLines(profile: FoldedProfile, options?: FoldOptions): Iterable<string> {
  for (const piece of foldedPieces(profile, options)) {
    if (piece.length > 0) yield* piece.toString('utf8', 0, piece.length - 1).split('\n');
  }
}

/** Names frames in their printed form. */
export const labels = (modules: boolean): ((frame: Frame) => string) => remembered((frame) => labelOf(frame, modules));

function labelOf({ name, module }: Frame, modules: boolean): string {
  const file = module?.slice(module.lastIndexOf('/') + 1);
  const label = modules && file !== undefined ? `${file}\`${name}` : name;
  return label.replaceAll(';', ':').replace(/[\p{Cc}\u2028\u2029]/gu, '?');
}

/** Merges stacks with equal text. */
function merged(stacks: readonly Stack[], labelOf: (frame: Frame) => string): Iterable<Stack> {
  const byText = new Map<string, { frames: readonly Frame[]; samples: number }>();
  for (const { frames, samples } of stacks) {
    const text = frames.map(labelOf).join(';');
    const known = byText.get(text);
    if (known === undefined) byText.set(text, { frames, samples });
    else known.samples += samples;
  }
  return byText.values();
}
