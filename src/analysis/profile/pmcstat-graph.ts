// Parses the large call graphs of FreeBSD's pmcstat -G byte by byte: callers are indented below each function.
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
  SkippedLines,
  sampleCount,
  stackList,
} from './parser.ts';
import type { Frame } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/**
 * Makes a stack of each line without callers, with that line's samples, and skips other lines, as stackcollapse-pmc.pl
 * does, but counts them. pmcstat names a module only if it differs from the previous line.
 *
 * @throws ProfileError if no line is a sample, or a number is too large.
 */
export function pmcstatGraphParser(name: string, bounds: ProfileBounds): ProfileParser {
  const frames = frameCache(name, bounds);
  const moduleIn = moduleCache();
  const nameless: Frame = { name: '' };
  const stacks = stackList(name, bounds);
  const events = new Set<string>();
  const skipped = new SkippedLines();
  /** From the sampled function to the caller in the last line, by indent. */
  const branch: Frame[] = [];
  let depth = -1;
  let samples = 0;
  let module: string | undefined;
  let kernel: string | undefined;
  let lines = 0;
  let announced = 0;
  let held = 0;
  let isCut = false;

  const place = () => `${name}, line ${lines}`;
  const endBranch = () => stacks.add({ frames: branch.slice(0, depth + 1).reverse(), samples });

  function countIn(bytes: Buffer, start: number, end: number): number {
    if (end - start > exactDigits)
      return sampleCount(bytes.toString('latin1', start, end), place());
    let count = 0;
    for (let at = start; at < end; at += 1) count = count * 10 + (bytes[at] ?? 0) - zero;
    return count;
  }

  function takeSample(bytes: Buffer, line: SampleLine, lineEnd: number): void {
    const { countStart, countEnd, nameStart, nameEnd } = line;
    if (line.depth <= depth) endBranch();
    depth = line.depth;
    if (depth === 0) module = undefined;
    if (nameEnd < lineEnd) module = moduleIn(bytes.toString('utf8', nameEnd, lineEnd)) ?? module;

    checkDepth(depth + 1, name, bounds);
    // An indent that skips levels leaves unnamed callees.
    while (branch.length < depth) branch.push(nameless);
    branch[depth] = frames(bytes, nameStart, nameEnd, module);
    samples = countIn(bytes, countStart, countEnd);
    if (depth === 0) held += samples;
  }

  function takeOther(text: string): void {
    const [, event, count] = /^@ (\S.*) \[(\d+) samples\]/.exec(text) ?? [];
    if (event !== undefined && count !== undefined) {
      events.add(event);
      announced += sampleCount(count, place());
    }
    if (depth === -1) kernel ??= kernelIn(text);
    const isKnown = event !== undefined || isBlank(text) || isComment(text);
    if (!isKnown && !isCut) skipped.add(lines, text);
  }

  function take(bytes: Buffer): void {
    for (let start = 0; start < bytes.length; ) {
      lines += 1;
      const line = sampleAt(bytes, start);
      const end = lineEndAfter(bytes, line?.nameEnd ?? start);
      checkLine(end - start, name);
      if (line !== undefined) takeSample(bytes, line, end);
      else takeOther(bytes.toString('utf8', start, end));
      start = end + 1;
    }
  }

  return {
    take,
    end(unfinished) {
      isCut = unfinished !== undefined;
      if (unfinished !== undefined) take(unfinished);
      if (depth === -1) {
        throw new ProfileError(
          `${name} is a call graph of pmcstat without a sample in it; profile again, for longer and while there is traffic.`,
        );
      }
      endBranch();
      const { about, notes } = eventsOf(events, name);
      const how =
        announced > held
          ? `with ${held} of the ${announced} samples that it announces`
          : unfinished && lastLineCut;
      return {
        profile: {
          format: 'pmcstat',
          ...about,
          ...(kernel !== undefined && { kernel }),
          stacks: stacks.all,
        },
        notes: [
          ...notes,
          ...skipped.notes(name),
          ...(how === undefined ? [] : [cutNote(name, how)]),
        ],
      };
    },
  };
}

/** Byte offsets; ends are exclusive. */
type SampleLine = {
  depth: number;
  countStart: number;
  countEnd: number;
  nameStart: number;
  nameEnd: number;
};

/** `INDENT SHARE%  [SAMPLES]   NAME`; shares and names are any text. */
function sampleAt(bytes: Buffer, start: number): SampleLine | undefined {
  const indentEnd = skipSpaces(bytes, start);
  const shareEnd = skip(bytes, indentEnd, share);
  if (shareEnd === indentEnd) return undefined;
  if (!startsCount(bytes, shareEnd)) return undefined;

  const countStart = shareEnd + '%  ['.length;
  const countEnd = skip(bytes, countStart, digit);
  if (countEnd === countStart || bytes[countEnd] !== closingBracket) return undefined;

  const nameStart = skip(bytes, skipSpaces(bytes, countEnd + 1), blank);
  const nameEnd = skip(bytes, nameStart, inName);
  if (nameEnd === nameStart) return undefined;
  return { depth: indentEnd - start, countStart, countEnd, nameStart, nameEnd };
}

const startsCount = (bytes: Buffer, at: number): boolean =>
  bytes[at] === percent &&
  bytes[at + 1] === space &&
  bytes[at + 2] === space &&
  bytes[at + 3] === openingBracket;

const percent = 0x25;
const space = 0x20;
const openingBracket = 0x5b;
const closingBracket = 0x5d;
const newline = 0x0a;
const zero = 0x30;
const exactDigits = 15;

const [digit, share, blank, inName] = [1, 2, 4, 8];

/** Line ends have no kind, so no scan leaves its line. */
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

const lineEndAfter = (bytes: Buffer, at: number): number =>
  bytes[at] === newline ? at : bytes.indexOf(newline, at);

/** Returns the identical string for the same module, for fast comparison. */
function moduleCache(): (afterName: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (afterName) => {
    if (known.has(afterName)) return known.get(afterName);
    const module = / @ (.*\S)/.exec(afterName)?.[1];
    known.set(afterName, module);
    return module;
  };
}

/**
 * Finds the frame of a name without decoding known names: each slot of the table keeps the last name with its byte sum.
 */
function frameCache(name: string, bounds: ProfileBounds) {
  const frameOf = frameTable(name, bounds);
  const slots = Array.from<Met | undefined>({ length: 0x1000 });

  return (bytes: Buffer, start: number, end: number, module: string | undefined): Frame => {
    const slot = hashOf(bytes, start, end) & (slots.length - 1);
    const met = slots[slot];
    if (met !== undefined && met.module === module && isSame(met.bytes, bytes, start, end)) {
      return met.frame;
    }
    const frame = frameOf(bytes.toString('utf8', start, end), module);
    slots[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), module, frame };
    return frame;
  };
}

type Met = { bytes: Uint8Array; module: string | undefined; frame: Frame };

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash ^ (hash >>> 12);
}

function isSame(known: Uint8Array, bytes: Buffer, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let at = 0; at < known.length; at += 1) if (known[at] !== bytes[start + at]) return false;
  return true;
}
