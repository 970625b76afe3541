// Parses the output of perf script: a head line per sample, then the stack from the sampled function outwards.
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

/** Only sample heads, frames with addresses, and perf's own comments look like this. */
export const isPerfScriptLine = (line: string): boolean =>
  isComment(line)
    ? /^# (?:perf version|captured on)\b/.test(line)
    : headIn(line)?.isSure === true || isFrameOfModule(line) || /^\t[ \da-f]{16} \S/.test(line);

const isFrameOfModule = (line: string): boolean =>
  line.endsWith(')') && /^\s+[\da-f]+ \S.* \(./.test(line.slice(0, -1));

/**
 * Merges equal stacks, with the command, if known, as the outermost frame; a sample counts as one, with any period.
 * Drops offsets into functions, and skips unknown lines (sources, branches).
 *
 * @throws ProfileError without any sample.
 */
export function perfScriptParser(name: string, bounds: ProfileBounds): ProfileParser {
  const frameOf = frameTable(name, bounds);
  const stacks = stackTable(name, bounds);
  const events = new Set<string>();
  let kernel: string | undefined;
  /** In perf's order. */
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
      // A truncated head line may name the wrong command.
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
  /** Text after the event: without call chains the single frame, for a tracepoint its fields. */
  rest: string;
  /** Has a CPU, a time, or a process and an event, so it cannot be mere words. */
  isSure: boolean;
};

/** `COMMAND PID[/TID] [CPU] TIME: PERIOD EVENT:`; -F may omit fields; commands may have spaces and numbers. */
function headIn(line: string): Head | undefined {
  const text = line.trimEnd();
  const withPid = numbered.exec(text);
  const found = withPid ?? unnumbered.exec(text);
  if (found === null || / PERF_RECORD_/.test(line)) return undefined;
  const [, command = '', cpu, time, event, rest = ''] = found;
  const isSure = (cpu ?? time) !== undefined || (withPid !== null && event !== undefined);
  return { command, rest, isSure, ...(event !== undefined && { event }) };
}

// The end of the command is tried at 64 places, so the following blanks are bounded: perf pads to 16 columns at most.
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

/** `ADDRESS NAME+0xOFFSET (MODULE)`; empty for any other line. */
function frameIn(line: string, frameOf: (name: string, module?: string) => Frame): Frame[] {
  const text = /^\s+[0-9a-f]+\s+(\S.*)$/.exec(line.trimEnd())?.[1];
  if (text === undefined) return [];
  const [symbol, module] = modulePart(text);
  return [frameOf(symbol.replace(offset, ''), module?.replace(offset, ''))];
}

const offset = /\+0x[0-9a-f]+$/;

/** C++ names contain parentheses too, but none that follow a space and end the line. */
function modulePart(text: string): [symbol: string, module?: string] {
  if (!text.endsWith(')')) return [text];
  const end = text.endsWith(' (deleted))') ? text.length - ' (deleted))'.length : text.length;
  const start = text.lastIndexOf(' (', end - 1);
  if (start < 1) return [text];
  const module = text.slice(start + ' ('.length, -1);
  return module === 'inlined' ? [text.slice(0, start)] : [text.slice(0, start), module];
}

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
