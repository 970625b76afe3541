// Parses folded stacks: frames from the outermost caller to the sampled function, then the samples: `a;b;c 12`.
import { shortened } from '../../model/one-line.ts';
import {
  cutNote,
  frameTable,
  isBlank,
  isComment,
  kernelIn,
  lastLineCut,
  linesOf,
  type ProfileBounds,
  type ProfileParser,
  sampleCount,
  stackList,
} from './parser.ts';
import type { Frame } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** The last space separates the count, so that names may have spaces; `# ` begins a comment. */
export const isFoldedLine = (line: string): boolean => (partsOf(line)?.frames ?? '').trim() !== '';

/** Searches from the end: a pattern that may begin anywhere is retried at every letter. */
function partsOf(line: string): { frames: string; count: string } | undefined {
  const text = line.trimEnd();
  let start = text.length;
  while (isDigit(text.charCodeAt(start - 1))) start -= 1;
  const isCounted = start < text.length && /[ \t]/.test(text.charAt(start - 1));
  return isCounted ? { frames: text.slice(0, start - 1), count: text.slice(start) } : undefined;
}

/** Matches `main;read 1.5`: shares or seconds instead of samples. */
export const isFractionLine = (line: string): boolean => fractionIn(line) !== undefined;

const fractionIn = (line: string): string | undefined =>
  /\S[ \t](\d*\.\d+)$/.exec(line.trimEnd().slice(-maxTracked))?.[1];

/** Longer than any number, so that a long line is not searched from every position. */
const maxTracked = 64;

/**
 * Detects a difference, which has the samples of two profiles. A function's name may end in a number, but hardly in
 * every line.
 */
const hasTwoCounts = (frames: string): boolean => /\S[ \t]\d*\.?\d+$/.test(frames.slice(-maxTracked));

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/**
 * Reads every line as a stack, except blank ones and comments. A frame may have a module as in DTrace,
 * if_cxgbe.ko`t4_eth_rx; names keep annotations like `_[k]`.
 * @throws ProfileError for any other line, for a count that is fractional or too large, and for two counts in every
 * line.
 */
export function foldedParser(name: string, bounds: ProfileBounds): ProfileParser {
  const frameOf = frameTable(name, bounds);
  const stacks = stackList(name, bounds);
  let kernel: string | undefined;
  let lines = 0;
  let pairs = 0;
  let firstPair: { place: string; line: string } | undefined;

  function framed(label: string): Frame {
    const [, module, own] = /^([^`\s]+)`(.+)$/s.exec(label) ?? [];
    return own === undefined ? frameOf(label) : frameOf(own, module);
  }

  function takeLine(line: string): void {
    lines += 1;
    if (isBlank(line)) return;
    if (isComment(line)) {
      if (stacks.all.length === 0) kernel ??= kernelIn(line);
      return;
    }
    const place = `${name}, line ${lines}`;
    const { frames, count } = partsOf(line) ?? refuse(line, place);
    if (hasTwoCounts(frames)) {
      pairs += 1;
      firstPair ??= { place, line };
    }
    stacks.add({
      frames: frames.split(';').map(framed),
      samples: sampleCount(count, place),
    });
  }

  return {
    take(bytes) {
      for (const line of linesOf(bytes, name)) takeLine(line);
    },
    end(unfinished) {
      const rest = unfinished?.toString() ?? '';
      // A stack without its count is useless.
      if (isFoldedLine(rest)) takeLine(rest);
      if (firstPair !== undefined && pairs === stacks.all.length) refuseDifference(firstPair);
      return {
        profile: { format: 'folded', ...(kernel !== undefined && { kernel }), stacks: stacks.all },
        notes: unfinished === undefined ? [] : [cutNote(name, lastLineCut)],
      };
    },
  };
}

function refuse(line: string, place: string): never {
  const fraction = fractionIn(line);
  throw new ProfileError(
    fraction === undefined
      ? `${place}: "${shortened(line)}" is no folded stack like "main;read 12"; remove it, or fold the profile again.`
      : `${place}: ${fraction} is no whole number of samples; fold with samples rather than with shares or seconds.`,
  );
}

function refuseDifference({ place, line }: { place: string; line: string }): never {
  throw new ProfileError(
    `${place}: "${shortened(line)}" ends in two counts, like every stack of this file: it is the difference of two profiles; give one profile, as perf or pmcstat printed it.`,
  );
}
