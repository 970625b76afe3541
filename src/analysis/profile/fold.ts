// Prints a profile as folded stacks, the common format of flamegraph tools: `main;read 12`.
import { isComment } from './parser.ts';
import { type Frame, type Profile, perFrame, type Stack } from './profile.ts';

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
  const lines = new LineWriter(perFrame((frame) => Buffer.from(`${labelOf(frame)};`)));
  for (const stack of format === 'perf' ? merged(stacks, labelOf) : stacks) {
    lines.add(stack);
    if (lines.bytes >= pieceBytes) yield lines.end();
  }
  yield lines.end();
}

const pieceBytes = 256 * 1024;

/** Space for 17 digits, a sign and a line end, with some to spare. */
const maxCountBytes = 32;

class LineWriter {
  /** Labels with the semicolon after them. */
  readonly #labelOf: (frame: Frame) => Uint8Array;
  #piece = Buffer.allocUnsafe(2 * pieceBytes);
  bytes = 0;

  constructor(labelOf: (frame: Frame) => Uint8Array) {
    this.#labelOf = labelOf;
  }

  add({ frames, samples }: Stack): void {
    const start = this.bytes;
    let end = start;
    for (const frame of frames) {
      const label = this.#labelOf(frame);
      if (end + label.length + maxCountBytes > this.#piece.length) this.#grow(end, label.length);
      this.#piece.set(label, end);
      end += label.length;
    }
    const piece = this.#piece;
    piece[end - 1] = space;
    end += piece.write(`${samples}\n`, end, 'latin1');
    const isRead = piece[start] !== numberSign || !isComment(piece.toString('utf8', start, end));
    if (!isRead) piece[start] = questionMark;
    this.bytes = end;
  }

  #grow(end: number, more: number): void {
    const larger = Buffer.allocUnsafe(2 * (end + more + maxCountBytes));
    this.#piece.copy(larger, 0, 0, end);
    this.#piece = larger;
  }

  /** Returns the lines since the last call. */
  end(): Buffer {
    const lines = this.#piece.subarray(0, this.bytes);
    this.#piece = Buffer.allocUnsafe(2 * pieceBytes);
    this.bytes = 0;
    return lines;
  }
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
export const labels = (modules: boolean): ((frame: Frame) => string) =>
  perFrame((frame) => labelOf(frame, modules));

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
