// Prints a profile as folded stacks, the common format of flamegraph tools: `main;read 12`.
import { isComment } from './parser.ts';
import type { Frame, Profile, Stack } from './profile.ts';

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
  const lines = new LineWriter(remembered((frame) => Buffer.from(labelOf(frame))));
  for (const stack of format === 'perf' ? merged(stacks, labelOf) : stacks) {
    const full = lines.add(stack);
    if (full !== undefined) yield full;
  }
  yield lines.end();
}

const pieceBytes = 256 * 1024;

/** 17 digits, a sign and a line end, with some to spare. */
const mostCountBytes = 32;

class LineWriter {
  readonly #bytesOf: (frame: Frame) => Uint8Array;
  #piece = Buffer.allocUnsafe(pieceBytes);
  #end = 0;

  constructor(bytesOf: (frame: Frame) => Uint8Array) {
    this.#bytesOf = bytesOf;
  }

  /** Returns the lines before this one if it fills their piece. */
  add({ frames, samples }: Stack): Buffer | undefined {
    const names = frames.map(this.#bytesOf);
    let mostBytes = mostCountBytes;
    for (const { length } of names) mostBytes += length + 1;
    const full = this.#end + mostBytes > this.#piece.length ? this.end() : undefined;
    if (full !== undefined) {
      this.#piece = Buffer.allocUnsafe(Math.max(pieceBytes, mostBytes));
      this.#end = 0;
    }
    this.#write(names, samples);
    return full;
  }

  #write(names: readonly Uint8Array[], samples: number): void {
    const piece = this.#piece;
    const start = this.#end;
    let end = start;
    for (const name of names) {
      piece.set(name, end);
      end += name.length;
      piece[end] = semicolon;
      end += 1;
    }
    piece[end - 1] = space;
    end += piece.write(`${samples}\n`, end, 'latin1');
    const isRead = piece[start] !== numberSign || !isComment(piece.toString('utf8', start, end));
    if (!isRead) piece[start] = questionMark;
    this.#end = end;
  }

  end(): Buffer {
    return this.#piece.subarray(0, this.#end);
  }
}

const semicolon = 0x3b;
const space = 0x20;
const numberSign = 0x23;
const questionMark = 0x3f;

/** The lines of `foldedPieces`, without their ends. */
export function* foldedLines(profile: FoldedProfile, options?: FoldOptions): Iterable<string> {
  for (const piece of foldedPieces(profile, options)) {
    if (piece.length > 0) yield* piece.toString('utf8', 0, piece.length - 1).split('\n');
  }
}

/** Names the frames as they are printed. */
export const labels = (modules: boolean): ((frame: Frame) => string) =>
  remembered((frame) => labelOf(frame, modules));

function remembered<Made>(make: (frame: Frame) => Made): (frame: Frame) => Made {
  const known = new Map<Frame, Made>();
  return (frame) => {
    const found = known.get(frame);
    if (found !== undefined) return found;
    const made = make(frame);
    known.set(frame, made);
    return made;
  };
}

function labelOf({ name, module }: Frame, modules: boolean): string {
  const file = module?.slice(module.lastIndexOf('/') + 1);
  const label = modules && file !== undefined ? `${file}\`${name}` : name;
  return label.replaceAll(';', ':').replace(/[\p{Cc}\u2028\u2029]/gu, '?');
}

/** Adds up stacks that read alike. */
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
