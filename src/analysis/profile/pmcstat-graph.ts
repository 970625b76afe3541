// Parses the large call graphs of FreeBSD's pmcstat -G byte by byte: callers are indented below each function.
import { ByteTable } from './byte-table.ts';
import {
  checkDepth,
  checkLine,
  cutNote,
  eventsOf,
  frameTable,
  isBlank,
  isComment,
  kernelIn,
  lastLineCut,
  type ProfileBounds,
  type ProfileParser,
  type ReadProfile,
  SkippedLines,
  type StackSink,
  sampleCount,
  stackList,
} from './parser.ts';
import type { Frame } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/**
 * Makes a stack of each line without callers, with that line's samples. Like stackcollapse-pmc.pl, skips other lines,
 * but counts them. pmcstat names a module only if it differs from the previous line.
 * @throws ProfileError if no line is a sample, or a number is too large.
 */
export function pmcstatGraphParser(name: string, bounds: ProfileBounds, sink?: StackSink): ProfileParser {
  const reader = new CallGraphReader(name, bounds, sink);
  return {
    take(bytes) {
      reader.take(bytes);
    },
    end(unfinished) {
      return reader.end(unfinished);
    },
  };
}

class CallGraphReader {
  readonly #name: string;
  readonly #bounds: ProfileBounds;
  readonly #frameOf: ReturnType<typeof frameTable>;
  readonly #names = new ByteTable<Named>((name) => ({ name }));
  /** By the text after the name. */
  readonly #modules = new ByteTable((afterName) => / @ (.*\S)/.exec(afterName)?.[1]);
  readonly #stacks: ReturnType<typeof stackList>;
  readonly #sink: StackSink | undefined;
  readonly #events = new Set<string>();
  readonly #skipped = new SkippedLines();
  /** From the sampled function to the caller in the last line, by indent. */
  readonly #branch: Frame[] = [];
  #depth = -1;
  #samples = 0;
  #module: string | undefined;
  #kernel: string | undefined;
  #lines = 0;
  #announced = 0;
  #held = 0;
  #isCut = false;

  constructor(name: string, bounds: ProfileBounds, sink: StackSink | undefined) {
    this.#name = name;
    this.#bounds = bounds;
    this.#frameOf = frameTable(name, bounds);
    this.#stacks = stackList(name, bounds);
    this.#sink = sink;
  }

  take(bytes: Buffer): void {
    for (let start = 0; start < bytes.length; ) {
      this.#lines += 1;
      start = (bytes[start] === newline ? start : this.#takeLine(bytes, start)) + 1;
    }
  }

  /** Takes `INDENT SHARE%  [SAMPLES]   NAME @ MODULE`; shares and names are any text. Returns the end of the line. */
  #takeLine(bytes: Buffer, start: number): number {
    const indentEnd = skipSpaces(bytes, start);
    const shareEnd = skip(bytes, indentEnd, share);
    if (shareEnd === indentEnd || !startsCount(bytes, shareEnd)) return this.#takeOther(bytes, start);

    const countStart = shareEnd + '%  ['.length;
    const countEnd = skip(bytes, countStart, digit);
    const isCount = countEnd > countStart && bytes[countEnd] === closingBracket;
    if (!isCount) return this.#takeOther(bytes, start);

    const nameStart = skip(bytes, skipSpaces(bytes, countEnd + 1), blank);
    const nameEnd = skip(bytes, nameStart, inName);
    if (nameEnd === nameStart) return this.#takeOther(bytes, start);

    const lineEnd = this.#endOfLine(bytes, start, nameEnd);
    const depth = indentEnd - start;
    if (depth <= this.#depth) this.#endBranch();
    if (depth === 0) this.#module = undefined;
    if (nameEnd < lineEnd) {
      this.#module = this.#modules.get(bytes, nameEnd, lineEnd) ?? this.#module;
    }
    this.#startBranch(depth, this.#frameIn(this.#names.get(bytes, nameStart, nameEnd)));
    this.#samples = this.#countIn(bytes, countStart, countEnd);
    if (depth === 0) this.#held += this.#samples;
    return lineEnd;
  }

  #endOfLine(bytes: Buffer, start: number, from: number): number {
    const end = bytes[from] === newline ? from : bytes.indexOf(newline, from);
    checkLine(end - start, this.#name);
    return end;
  }

  #endBranch(): void {
    const depth = this.#depth + 1;
    const samples = this.#samples;
    this.#stacks.count(depth);
    if (this.#sink?.take(this.#branch, depth, samples) === true) return;
    this.#stacks.all.push({ frames: this.#branch.slice(0, depth).reverse(), samples });
  }

  #frameIn(named: Named): Frame {
    if (named.frame === undefined || named.frame.module !== this.#module) {
      named.frame = this.#frameOf(named.name, this.#module);
    }
    return named.frame;
  }

  #startBranch(depth: number, frame: Frame): void {
    checkDepth(depth + 1, this.#name, this.#bounds);
    // An indent that skips levels leaves unnamed callees.
    while (this.#branch.length < depth) this.#branch.push(nameless);
    this.#branch[depth] = frame;
    this.#depth = depth;
  }

  #countIn(bytes: Buffer, start: number, end: number): number {
    if (end - start > exactDigits) return sampleCount(bytes.toString('latin1', start, end), this.#place());
    let count = 0;
    for (let at = start; at < end; at += 1) count = count * 10 + (bytes[at] ?? 0) - zero;
    return count;
  }

  #takeOther(bytes: Buffer, start: number): number {
    const end = this.#endOfLine(bytes, start, start);
    const text = bytes.toString('utf8', start, end);
    const [, event, count] = /^@ (\S.*) \[(\d+) samples\]/.exec(text) ?? [];
    if (event !== undefined && count !== undefined) {
      this.#events.add(event);
      this.#announced += sampleCount(count, this.#place());
    }
    if (this.#depth === -1) this.#kernel ??= kernelIn(text);
    const isKnown = event !== undefined || isBlank(text) || isComment(text);
    if (!isKnown && !this.#isCut) this.#skipped.add(this.#lines, text);
    return end;
  }

  #place(): string {
    return `${this.#name}, line ${this.#lines}`;
  }

  end(unfinished: Buffer | undefined): ReadProfile {
    const name = this.#name;
    this.#isCut = unfinished !== undefined;
    if (unfinished !== undefined) this.take(unfinished);
    if (this.#depth === -1) {
      throw new ProfileError(
        `${name} is a call graph of pmcstat without a sample in it; profile again, for longer and while there is traffic.`,
      );
    }
    this.#endBranch();
    const { about, notes } = eventsOf(this.#events, name);
    const how =
      this.#announced > this.#held
        ? `with ${this.#held} of the ${this.#announced} samples that it announces`
        : unfinished && lastLineCut;
    return {
      profile: {
        format: 'pmcstat',
        ...about,
        ...(this.#kernel !== undefined && { kernel: this.#kernel }),
        stacks: this.#stacks.all,
      },
      notes: [...notes, ...this.#skipped.notes(name), ...(how === undefined ? [] : [cutNote(name, how)])],
    };
  }
}

/** A function, with its last frame, as most functions are in one module. */
type Named = { readonly name: string; frame?: Frame };

const nameless: Frame = { name: '' };

const startsCount = (bytes: Buffer, at: number): boolean =>
  bytes[at] === percent && bytes[at + 1] === space && bytes[at + 2] === space && bytes[at + 3] === openingBracket;

const percent = 0x25;
const space = 0x20;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const newline = 0x0a;
const zero = 0x30;
const exactDigits = 15;

const [digit, share, blank, inName] = [1, 2, 4, 8];

/** Line ends have no kind, so that no scan leaves its line. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  const isSpacing = /[ \t\n\v\f\r]/.test(character);
  return (
    (/\d/.test(character) ? digit : 0) |
    (/[\d.]/.test(character) ? share : 0) |
    (isSpacing && byte !== newline ? blank : 0) |
    (isSpacing ? 0 : inName)
  );
});

function skipSpaces(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === space) at += 1;
  return at;
}

function skip(bytes: Buffer, from: number, kind: number): number {
  let at = from;
  while (((kinds[bytes[at] ?? newline] ?? 0) & kind) !== 0) at += 1;
  return at;
}
