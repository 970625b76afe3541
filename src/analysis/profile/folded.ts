// Parses folded stacks: frames from the outermost caller to the sampled function, then the samples: `a;b;c 12`.
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

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/**
 * Every line is a stack, except blank ones and comments. A frame may have a module as in DTrace, if_cxgbe.ko`t4_eth_rx;
 * names keep annotations like `_[k]`.
 *
 * @throws ProfileError for any other line, and for a count that is fractional or too large.
 */
export function foldedParser(name: string, bounds: ProfileBounds): ProfileParser {
  const frameOf = frameTable(name, bounds);
  const stacks = stackList(name, bounds);
  let kernel: string | undefined;
  let lines = 0;

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
      return {
        profile: { format: 'folded', ...(kernel !== undefined && { kernel }), stacks: stacks.all },
        notes: unfinished === undefined ? [] : [cutNote(name, lastLineCut)],
      };
    },
  };
}

function refuse(line: string, place: string): never {
  const fraction = /[ \t](\d*\.\d+)$/.exec(line.trimEnd())?.[1];
  throw new ProfileError(
    fraction === undefined
      ? `${place}: this is no folded stack like "main;read 12", unlike what is above it; remove it, or fold the profile again.`
      : `${place}: ${fraction} is no whole number of samples; fold with samples rather than with shares or seconds.`,
  );
}
