// Parses what perf script prints: a head line for each sample, and below it the stack from the function sampled outwards.
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
  stackList,
} from './parser.ts';
import type { Frame, Stack } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** Nothing else looks like a sample's head line, a frame with its address, or perf's own comments. */
export const isPerfScriptLine = (line: string): boolean =>
  isComment(line)
    ? /^# (?:perf version|captured on)\b/.test(line)
    : headIn(line)?.isSure === true || isFrameOfModule(line) || /^\t[ \da-f]{16} \S/.test(line);

const isFrameOfModule = (line: string): boolean =>
  line.endsWith(')') && /^\s+[\da-f]+ \S.* \(./.test(line.slice(0, -1));

/**
 * One stack for each set of equal ones, each with the command's name as its outermost frame, where perf tells it; a
 * sample counts as one, with any period. Offsets into functions are dropped; lines of no known shape (sources,
 * branches) are passed over.
 *
 * @throws ProfileError where there is no sample.
 */
export function perfScriptParser(name: string, bounds: ProfileBounds): ProfileParser {
  const frameOf = frameTable(name, bounds);
  const stacks = stackTable(name, bounds);
  const events = new Set<string>();
  let kernel: string | undefined;
  /** Its frames in perf's order. */
  let sample: { head?: Head; frames: Frame[] } | undefined;

  function takeLine(line: string): void {
    if (isBlank(line)) endSample();
    else if (isComment(line)) takeComment(line);
    else takeWords(line);
  }

  function takeWords(line: string): void {
    const head = line.startsWith('\t') ? undefined : headIn(line);
    if (head?.isSure === true) takeHead(head);
    else if (/^\s/.test(line)) takeFrame(line);
    else if (head !== undefined && sample === undefined) takeHead(head);
  }

  function takeComment(line: string): void {
    if (stacks.all.length === 0) kernel ??= kernelIn(line);
  }

  function takeHead(head: Head): void {
    endSample();
    sample = { head, frames: frameIn(head.rest, frameOf) };
  }

  function takeFrame(line: string): void {
    sample ??= { frames: [] };
    sample.frames.push(...frameIn(line, frameOf));
    checkDepth(sample.frames.length, name, bounds);
  }

  function endSample(): void {
    const { head, frames = [] } = sample ?? {};
    sample = undefined;
    if (frames.length === 0 && head?.isSure !== true) return;
    if (head?.event !== undefined) events.add(head.event);
    stacks.add(head === undefined ? frames : [...frames, frameOf(head.command)]);
  }

  return {
    take(bytes) {
      for (const line of linesOf(bytes, name)) takeLine(line);
    },
    end(unfinished) {
      const rest = unfinished?.toString().trimEnd() ?? '';
      // Half a head line may name the wrong command.
      if (/^\s/.test(rest)) takeLine(rest);
      endSample();
      if (stacks.all.length === 0) {
        throw new ProfileError(
          `${name} is of perf but holds no sample; record again, for longer, and print it with perf script.`,
        );
      }
      const { about, notes } = eventsOf(events, name);
      return {
        profile: {
          format: 'perf',
          ...about,
          ...(kernel !== undefined && { kernel }),
          stacks: stacks.all,
        },
        notes: unfinished === undefined ? notes : [...notes, cutNote(name, lastLineCut)],
      };
    },
  };
}

type Head = {
  command: string;
  event?: string;
  /** Text behind the event: without call chains the one frame, of a tracepoint its fields. */
  rest: string;
  /** Not just words, but with a CPU, a time, or a process and an event. */
  isSure: boolean;
};

/**
 * `COMMAND PID[/TID] [CPU] TIME: PERIOD EVENT:`, of which perf's -F leaves out what it is told to, but never the order.
 * Commands may have spaces and numbers of their own.
 */
function headIn(line: string): Head | undefined {
  const text = line.trimEnd();
  const withPid = numbered.exec(text);
  const found = withPid ?? unnumbered.exec(text);
  if (found === null || / PERF_RECORD_/.test(line)) return undefined;
  const [, command = '', cpu, time, event, rest = ''] = found;
  const isSure = (cpu ?? time) !== undefined || (withPid !== null && event !== undefined);
  return { command, rest, isSure, ...(event !== undefined && { event }) };
}

// The end of the command is tried at 64 places, so what may follow there is bounded: perf pads to 16 columns at most.
const blanks = String.raw`\s{1,64}`;
const number = String.raw`\d{1,20}`;
const command = String.raw`^\s*(\S.{0,63}?)`;
const [pid, cpu, time, period] = [
  `${blanks}-?${number}(?:/-?${number})?`,
  String.raw`(?:${blanks}\[(${number})\])?`,
  String.raw`(?:${blanks}(${number}\.${number}):)?`,
  `(?:${blanks}${number})?`,
];
const event = String.raw`(?:${blanks}(\S{1,512}):(\s.*)?)?$`;
const numbered = new RegExp(`${command}${pid}${cpu}${time}${period}${event}`);
const unnumbered = new RegExp(`${command}${cpu}${time}${period}${event}`);

/** `ADDRESS NAME+0xOFFSET (MODULE)`; none where a line is something else. */
function frameIn(line: string, frameOf: (name: string, module?: string) => Frame): Frame[] {
  const text = /^\s+[0-9a-f]+\s+(\S.*)$/.exec(line.trimEnd())?.[1];
  if (text === undefined) return [];
  const [symbol, module] = modulePart(text);
  return [frameOf(symbol.replace(offset, ''), module?.replace(offset, ''))];
}

const offset = /\+0x[0-9a-f]+$/;

/** Names of C++ have parentheses too, but none before which there is a space and which ends the line. */
function modulePart(text: string): [symbol: string, module?: string] {
  if (!text.endsWith(')')) return [text];
  const end = text.endsWith(' (deleted))') ? text.length - ' (deleted))'.length : text.length;
  const start = text.lastIndexOf(' (', end - 1);
  if (start < 1) return [text];
  const module = text.slice(start + ' ('.length, -1);
  return module === 'inlined' ? [text.slice(0, start)] : [text.slice(0, start), module];
}

/** Adds up the samples of stacks with the same frames, in the order of the first of them. */
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
