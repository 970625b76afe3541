// What the parsers of all formats share: whole lines go in, frames are told apart, one profile comes out.
import type { Frame, Profile } from './profile.ts';
import { ProfileError } from './profile-error.ts';

export type ReadProfile = {
  profile: Profile;
  /** What a reader should know of it, a sentence each: that the file was cut short, that it counts several events. */
  notes: string[];
};

export type ProfileParser = {
  /** Bytes that end where a line ends. */
  take(lines: Buffer): void;
  /** The last line where the file stops in the middle of it, with the end that it lacks. */
  end(unfinished?: Buffer): ReadProfile;
};

export type FrameTable = (name: string, module?: string) => Frame;

/** Answers one and the same object for the same name and module. */
export function frameTable(): FrameTable {
  const byModule = new Map<string | undefined, Map<string, Frame>>();
  return (name, module) => {
    const byName = byModule.get(module) ?? new Map<string, Frame>();
    const known = byName.get(name);
    if (known !== undefined) return known;
    const frame = module === undefined ? { name } : { name, module };
    byModule.set(module, byName.set(name, frame));
    return frame;
  };
}

/** Each of its own memory: a slice of a larger text would keep all of it. */
export function* linesOf(bytes: Buffer): Iterable<string> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n', start);
    yield bytes.toString('utf8', start, end);
    start = end + 1;
  }
}

export const isBlank = (line: string): boolean => /^\s*$/.test(line);

export const isComment = (line: string): boolean => /^#(?:\s|$)/.test(line);

/** Of a line `# kernel: TEXT`, as ppsgate writes it at the head of the profiles that it keeps, or perf's `# os release`. */
export function kernelIn(comment: string): string | undefined {
  const text = /^# (?:kernel|os release)\s*:\s*(\S.*)/s.exec(comment)?.[1];
  return text && oneLine(text);
}

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** Whole and exact, or refused. */
export function sampleCount(digits: string, place: string): number {
  const count = Number(digits);
  if (Number.isSafeInteger(count)) return count;
  throw new ProfileError(
    `${place}: ${digits.slice(0, 40)} samples are more than can be counted exactly; profile for a shorter time.`,
  );
}

export const cutNote = (name: string, how: string): string =>
  `${name} looks cut short, ${how}: what there is of it is read.`;

export const lastLineCut = 'its last line has no end';

/** The events of a file as one text, and a note where there are several. */
export function eventsOf(events: ReadonlySet<string>, name: string) {
  const event = oneLine([...events].join(', '));
  return {
    about: event === '' ? {} : { event },
    notes: events.size > 1 ? [`${name} counts several events (${event}), here added up.`] : [],
  };
}
