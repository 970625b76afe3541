// Parses the output of perf script: a head line per sample, then the stack from the sampled function outwards.
import { grouped } from '../../model/format.ts';
import { shortened } from '../../model/one-line.ts';
import {
  checkDepth,
  cutNote,
  eventsOf,
  frameTable,
  isBlank,
  isComment,
  kernelIn,
  lastLineCut,
  linesOf,
  type ProfileBounds,
  type ProfileParser,
  SkippedLines,
  stackList,
} from './parser.ts';
import { frameAfterHead, frameIn } from './perf-frame.ts';
import { type Head, headBeforeAddress, headIn } from './perf-head.ts';
import type { Frame, Stack } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** True for sample heads, frames with addresses, records, and perf's own comments. */
export function isPerfScriptLine(line: string): boolean {
  if (isComment(line)) return /^# (?:perf version|captured on)\b/.test(line);
  if (isFrameOfModule(line) || isAddressLine(line) || isRecord(line)) return true;
  const head = headIn(line);
  return head?.isSure === true && head.command !== undefined;
}

const isFrameOfModule = (line: string): boolean =>
  line.endsWith(')') && /^\s+[\da-f]+ \S.* \(./.test(line.slice(0, -1));

/**
 * Accepts a frame's address, 16 columns after a tab, or the address of a sample without a call chain, after a blank.
 */
const isAddressLine = (line: string): boolean =>
  /^\t[ \da-f]{15}[\da-f](?: \S|\s*$)/.test(line) ||
  isLoneAddress(line) ||
  / [ \da-f]{15}[\da-f] \S/.test(headBeforeAddress(line)?.rest ?? '');

const isLoneAddress = (line: string): boolean => /^ [ \da-f]{15}[\da-f](?: \S|\s*$)/.test(line);

/** True for a mapping, a fork, a switch, a lost record, and those of later releases. */
const isRecord = (line: string): boolean => /^(?:[^\t].*\s)?PERF_RECORD_[A-Z]/.test(line);

type Sample = {
  head?: Head;
  /** Number and text of its first line. */
  line: number;
  text: string;
  /** Number of the last line of its head. */
  headEnd: number;
  /** In perf's order. */
  frames: Frame[];
};

/**
 * Merges equal stacks, with the command, if known, as the outermost frame; a sample counts as one, with any period.
 * Drops offsets into functions; counts the lines that it skips: records, sources, branches, registers.
 * @throws ProfileError without any sample, and for a stack whose head cannot be recognized.
 */
export function perfScriptParser(name: string, bounds: ProfileBounds): ProfileParser {
  const reader = new PerfScriptReader(name, bounds);
  return {
    take(bytes) {
      for (const line of linesOf(bytes, name)) reader.takeLine(line);
    },
    end(unfinished) {
      const rest = unfinished?.toString().trimEnd() ?? '';
      // A truncated head line may name the wrong command.
      if (/^\s/.test(rest)) reader.takeLine(rest);
      const { about, kernel, stacks, notes } = reader.end();
      return {
        profile: {
          format: 'perf',
          ...about,
          ...(kernel !== undefined && { kernel }),
          stacks,
        },
        notes: unfinished === undefined ? notes : [...notes, cutNote(name, lastLineCut)],
      };
    },
  };
}

class PerfScriptReader {
  readonly #name: string;
  readonly #bounds: ProfileBounds;
  readonly #frameOf: ReturnType<typeof frameTable>;
  readonly #stacks: ReturnType<typeof stackTable>;
  readonly #events = new Set<string>();
  readonly #skipped = new SkippedLines();
  #kernel: string | undefined;
  #line = 0;
  #sample: Sample | undefined;
  /** First samples with a certain head, with another head, and without any: a file has one kind. */
  readonly #firsts: { sure?: Sample; unsure?: Sample; headless?: Sample } = {};
  /** A first stack without a head is complete only if the other stacks have no heads either. */
  #beginning: Sample | undefined;
  /** Lines with an indent continue a record. */
  #isInRecord = false;
  #samples = 0;
  #withoutStack = 0;

  constructor(name: string, bounds: ProfileBounds) {
    this.#name = name;
    this.#bounds = bounds;
    this.#frameOf = frameTable(name, bounds);
    this.#stacks = stackTable(name, bounds);
  }

  takeLine(line: string): void {
    this.#line += 1;
    if (isBlank(line)) this.#takeBlank();
    else if (isComment(line)) this.#takeComment(line);
    else if (isRecord(line)) this.#takeRecord(line);
    else if (line.startsWith('\t')) this.#takeFrame(line);
    else this.#takeWords(line);
  }

  /** Continues a stack with a head after a blank line, as the text of some tracepoints ends in one. */
  #takeBlank(): void {
    if (this.#sample?.head === undefined) this.#endSample();
    this.#isInRecord = false;
  }

  #takeComment(line: string): void {
    if (this.#samples === 0) this.#kernel ??= kernelIn(line);
  }

  #takeRecord(line: string): void {
    this.#endSample();
    this.#isInRecord = true;
    this.#skip(line);
  }

  #takeWords(line: string): void {
    const head = headIn(line);
    const isIndented = line.startsWith(' ');
    if (head?.isSure === true) this.#takeHead(line, head);
    else if (isLoneAddress(line)) this.#takeLoneFrame(line);
    else if (isIndented && isNumbers(line)) this.#takeHead(line, { rest: '', isSure: false });
    else this.#takeOther(line, headBeforeAddress(line));
  }

  #takeOther(line: string, head: Head | undefined): void {
    if (head !== undefined) this.#takeHead(line, head);
    else if (line.startsWith(' ')) this.#takeFrame(line);
    else if (this.#continuesHead()) this.#skip(line);
    else this.#takeHead(line, headIn(line) ?? { rest: '', isSure: false, isUnclear: true });
  }

  /** The text of a tracepoint may have several lines. */
  #continuesHead(): boolean {
    const { head, frames = [], headEnd = 0 } = this.#sample ?? {};
    const isOpen = head?.isSure === true && frames.length === 0 && head.rest !== '';
    if (this.#sample === undefined || !isOpen || headEnd !== this.#line - 1) return false;
    this.#sample.headEnd = this.#line;
    return true;
  }

  #takeHead(text: string, head: Head): void {
    this.#endSample();
    this.#isInRecord = false;
    this.#sample = { head, line: this.#line, headEnd: this.#line, text, frames: [] };
    const found = frameAfterHead(head.rest);
    if (found !== undefined) this.#addFrame(this.#sample, found);
  }

  #takeLoneFrame(line: string): void {
    const isAlone = this.#sample?.head === undefined;
    if (isAlone) this.#endSample();
    this.#takeFrame(line);
    if (isAlone) this.#endSample();
  }

  #takeFrame(line: string): void {
    const found = this.#isInRecord ? undefined : frameIn(line);
    if (found === undefined || this.#lacksHead()) {
      this.#skip(line);
      return;
    }
    this.#sample ??= { line: this.#line, headEnd: 0, text: line, frames: [] };
    this.#addFrame(this.#sample, found);
  }

  /** If the file has heads, frames without one belong to something else. */
  #lacksHead(): boolean {
    return this.#sample === undefined && (this.#firsts.sure ?? this.#firsts.unsure) !== undefined;
  }

  #addFrame(sample: Sample, { name, module }: { name: string; module?: string }): void {
    sample.frames.push(this.#frameOf(name, module));
    checkDepth(sample.frames.length, this.#name, this.#bounds);
  }

  #skip(text: string): void {
    this.#skipped.add(this.#line, text);
  }

  #endSample(): void {
    const sample = this.#sample;
    this.#sample = undefined;
    if (sample === undefined) return;
    const { head, frames, line, text } = sample;
    const isStack = frames.length > 0 || (head?.isSure === true && head.command !== undefined);
    if (!isStack) {
      this.#skipped.add(line, text);
      return;
    }
    this.#checkKind(sample);
    if (sample !== this.#beginning) this.#count(sample);
  }

  #checkKind(sample: Sample): void {
    if (sample.head?.isUnclear === true) this.#refuse(sample);
    const kind = sample.head === undefined ? 'headless' : sample.head.isSure ? 'sure' : 'unsure';
    if (Object.keys(this.#firsts).length === 0 && kind === 'headless') this.#beginning = sample;
    else this.#endBeginning(kind);
    this.#firsts[kind] ??= sample;
    const { sure, unsure, headless } = this.#firsts;
    const unclear = headless === undefined ? sure && unsure : (sure ?? unsure);
    if (unclear !== undefined) this.#refuse(unclear);
  }

  #endBeginning(kind: 'sure' | 'unsure' | 'headless'): void {
    const beginning = this.#beginning;
    if (beginning === undefined) return;
    this.#beginning = undefined;
    if (kind === 'headless') {
      this.#count(beginning);
      return;
    }
    // The file was truncated before the head of its first stack.
    delete this.#firsts.headless;
    for (let at = 0; at < beginning.frames.length; at += 1) {
      this.#skipped.add(beginning.line, beginning.text);
    }
  }

  #refuse({ line, text }: Sample): never {
    throw new ProfileError(
      `${this.#name}, line ${line}: "${shortened(text)}" is no head of a sample like the others; remove the line with its stack, or print all with perf script and one -F.`,
    );
  }

  #count({ head, frames }: Sample): void {
    this.#samples += 1;
    if (frames.length === 0) this.#withoutStack += 1;
    if (head?.event !== undefined) this.#events.add(head.event);
    const command = head?.command;
    this.#stacks.add(command === undefined ? frames : [...frames, this.#frameOf(command)]);
  }

  end() {
    this.#endSample();
    this.#endBeginning('headless');
    const notes = this.#skipped.notes(this.#name);
    if (this.#samples === 0) {
      const problem = `${this.#name} is of perf but holds no sample; record again, for longer, and print it with perf script.`;
      throw new ProfileError([problem, ...notes].join(' '));
    }
    const { about, notes: eventNotes } = eventsOf(this.#events, this.#name);
    return {
      about,
      kernel: this.#kernel,
      stacks: this.#stacks.all,
      notes: [...eventNotes, ...this.#stackNotes(), ...notes],
    };
  }

  #stackNotes(): string[] {
    if (this.#withoutStack === 0) return [];
    const share = `${grouped(this.#withoutStack)} of ${grouped(this.#samples)} samples`;
    return [`${share} in ${this.#name} have no stack, and count for their command alone.`];
  }
}

/** True for a head with only a process, its CPU or a period; the address of a frame begins further right. */
const isNumbers = (line: string): boolean => /^ {1,9}-?\d{1,10}(?:\/-?\d{1,10})?(?: {1,10}\d{1,10})?\s*$/.test(line);

/** Merges stacks with equal frames, in order of first appearance. */
function stackTable(name: string, bounds: ProfileBounds) {
  const numbers = new Map<Frame, number>();
  const known = new Map<string, Stack & { samples: number }>();
  const stacks = stackList(name, bounds);

  function numberOf(frame: Frame): number {
    const number = numbers.get(frame) ?? numbers.size;
    if (number === numbers.size) numbers.set(frame, number);
    return number;
  }

  return {
    all: stacks.all,
    add(innermostFirst: readonly Frame[]): void {
      const key = innermostFirst.map(numberOf).join(' ');
      const stack = known.get(key) ?? { frames: innermostFirst.toReversed(), samples: 0 };
      if (stack.samples === 0) {
        known.set(key, stack);
        stacks.add(stack);
      }
      stack.samples += 1;
    },
  };
}
