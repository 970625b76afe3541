// Builds a profile from whole lines, for the parsers of all formats.
import { grouped } from '../../model/format.ts';
import { shortened } from '../../model/one-line.ts';
import type { Frame, Profile, Stack } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** Limits the size, as a few megabytes can expand into far more. */
export type ProfileBounds = {
  depth: number;
  functions: number;
  /** A short stack needs about 150 bytes of memory, but 4 in a file. */
  stacks: number;
  frames: number;
  /** Characters in the names of all stacks, as folded text; absent if the text is streamed to a file. */
  characters?: number;
};

/** Limits of a process of 4 GB: 100 MB of a kernel's call graph have thousands of functions, and ten million frames. */
export const ownBounds: ProfileBounds = {
  depth: 16_384,
  functions: 2_000_000,
  stacks: 5_000_000,
  frames: 60_000_000,
};

/**
 * Limits of profiles from an untrusted kernel or artifact, all of which can be drawn in a few seconds. hwpmc(4) is set
 * to keep 100 frames of a stack, and Linux keeps 127; published forwarding profiles have less than 2,000 functions,
 * 100,000 frames and 2 MB as folded text.
 */
export const foreignBounds: ProfileBounds = {
  depth: 1024,
  functions: 100_000,
  stacks: 500_000,
  frames: 2_000_000,
  characters: 64 * 1024 ** 2,
};

export type ReadProfile = {
  profile: Profile;
  /** Warnings, one sentence each: a truncated file, several events. */
  notes: string[];
};

export type ProfileParser = {
  take(lines: Buffer): void;
  /** The last line of a truncated file, with a line end added. */
  end(unfinished?: Buffer): ReadProfile;
};

type FrameTable = (name: string, module?: string) => Frame;

/** Returns the identical object for the same name and module; throws a ProfileError for too many. */
export function frameTable(file: string, bounds: ProfileBounds): FrameTable {
  const byModule = new Map<string | undefined, Map<string, Frame>>();
  let functions = 0;
  return (name, module) => {
    const byName = byModule.get(module) ?? new Map<string, Frame>();
    const known = byName.get(name);
    if (known !== undefined) return known;
    functions += 1;
    if (functions > bounds.functions) throw tooMuch(file, bounds.functions, 'different functions');
    const frame = module === undefined ? { name } : { name, module };
    byModule.set(module, byName.set(name, frame));
    return frame;
  };
}

/** Processes stacks during reading: a large profile spends half of its time on the memory of its stacks. */
export type StackSink = {
  /**
   * Takes the first `count` frames, from the sampled function to the outermost caller; the array changes afterwards.
   * Returns false without space, to keep the stack in the profile.
   */
  take(frames: readonly Frame[], count: number, samples: number): boolean;
  readonly stacks: number;
  readonly samples: number;
};

export function stackList(file: string, bounds: ProfileBounds) {
  const all: Stack[] = [];
  let stacks = 0;
  let frames = 0;

  function count(depth: number): void {
    checkDepth(depth, file, bounds);
    stacks += 1;
    if (stacks > bounds.stacks) throw tooMuch(file, bounds.stacks, 'stacks');
    frames += depth;
    if (frames > bounds.frames) throw tooMuch(file, bounds.frames, 'frames in all its stacks');
  }

  return {
    all,
    count,
    add(stack: Stack): void {
      count(stack.frames.length);
      all.push(stack);
    },
  };
}

/** Counts names for each stack, as a pmcstat call graph names a function once for any number of stacks. */
export function checkCharacters(stacks: readonly Stack[], file: string, bounds: ProfileBounds): void {
  const { characters: most } = bounds;
  if (most === undefined) return;
  let characters = 0;
  for (const { frames } of stacks) {
    for (const { name, module = '' } of frames) characters += name.length + module.length + 2;
  }
  if (characters > most) throw tooMuch(file, most, 'characters in the names of all its stacks');
}

export function checkDepth(depth: number, file: string, bounds: ProfileBounds): void {
  if (depth > bounds.depth) throw tooMuch(file, bounds.depth, 'frames in one stack');
}

const tooMuch = (file: string, most: number, what: string): ProfileError =>
  new ProfileError(
    `${file} has more than ${most.toLocaleString('en-US')} ${what}, and at most so many are read; profile for a shorter time.`,
  );

/** The deepest stack with long names has a few hundred thousand bytes. */
const longestLineBytes = 1024 ** 2;

export function checkLine(bytes: number, file: string): void {
  if (bytes <= longestLineBytes) return;
  throw new ProfileError(
    `${file} has a line of more than ${longestLineBytes.toLocaleString('en-US')} bytes, which no profile has; give what pmcstat -G or perf script printed.`,
  );
}

/** Copies each line: a slice would keep the whole text in memory. */
export function* linesOf(bytes: Buffer, file: string): Iterable<string> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n', start);
    checkLine(end - start, file);
    yield bytes.toString('utf8', start, end);
    start = end + 1;
  }
}

export const isBlank = (line: string): boolean => line.trim() === '';

export const isComment = (line: string): boolean => /^#(?:\s|$)/.test(line);

/** Reads `# kernel: TEXT`, which ppsgate writes at the head of its profiles, or perf's `# os release`. */
export function kernelIn(comment: string): string | undefined {
  const text = /^# (?:kernel|os release)\s*:\s*(\S.*)/s.exec(comment)?.[1];
  return text && oneLine(text);
}

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

export function sampleCount(digits: string, place: string): number {
  const count = Number(digits);
  if (Number.isSafeInteger(count)) return count;
  throw new ProfileError(
    `${place}: ${digits.slice(0, 40)} samples are more than can be counted exactly; profile for a shorter time.`,
  );
}

/** Counts the lines that a parser skips, and keeps the first. */
export class SkippedLines {
  #count = 0;
  #first = { line: 0, text: '' };

  add(line: number, text: string): void {
    if (this.#count === 0 || line < this.#first.line) this.#first = { line, text };
    this.#count += 1;
  }

  /** Names the skipped lines in a sentence; empty without any. */
  notes(name: string): string[] {
    if (this.#count === 0) return [];
    const { line, text } = this.#first;
    const lines = this.#count === 1 ? '1 line is' : `${grouped(this.#count)} lines are`;
    return [`${lines} skipped in ${name} as no part of a stack; the first is line ${line}, "${shortened(text)}".`];
  }
}

export const cutNote = (name: string, how: string): string =>
  `${name} looks cut short, ${how}: what there is of it is read.`;

export const lastLineCut = 'its last line has no end';

/** Returns the events of a file as one text, with a note if there are several. */
export function eventsOf(events: ReadonlySet<string>, name: string) {
  const event = oneLine([...events].join(', '));
  return {
    about: event === '' ? {} : { event },
    notes: events.size > 1 ? [`${name} counts several events (${event}), here added up.`] : [],
  };
}
