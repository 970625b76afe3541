// Parses folded stacks, a line each: from the outermost caller to the function sampled, then how many samples: `a;b;c 12`.
import {
  cutNote,
  frameTable,
  isBlank,
  isComment,
  kernelIn,
  lastLineCut,
  linesOf,
  type ProfileParser,
  sampleCount,
} from './parser.ts';
import type { Frame, Stack } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** The last space parts a stack from its count, so that names may have spaces; `# ` begins a comment. */
export const isFoldedLine = (line: string): boolean => /\S.*[ \t]\d+\s*$/.test(line);

/**
 * Every line is a stack, blank ones and comments aside. A frame may have its module before it as DTrace writes it,
 * if_cxgbe.ko`t4_eth_rx; names stay as they are, annotations like `_[k]` with them.
 *
 * @throws ProfileError for another line, for a count that is not whole, or too large.
 */
export function foldedParser(name: string): ProfileParser {
  const frameOf = frameTable();
  const stacks: Stack[] = [];
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
      if (stacks.length === 0) kernel ??= kernelIn(line);
      return;
    }
    const place = `${name}, line ${lines}`;
    const [, frames = '', count = ''] = /^(.*)[ \t](\d+)\s*$/s.exec(line) ?? refuse(line, place);
    stacks.push({
      frames: frames.split(';').map(framed),
      samples: sampleCount(count, place),
    });
  }

  return {
    take(bytes) {
      for (const line of linesOf(bytes)) takeLine(line);
    },
    end(unfinished) {
      const rest = unfinished?.toString() ?? '';
      // Without its count nothing can be said of a stack.
      if (isFoldedLine(rest)) takeLine(rest);
      return {
        profile: { format: 'folded', ...(kernel !== undefined && { kernel }), stacks },
        notes: unfinished === undefined ? [] : [cutNote(name, lastLineCut)],
      };
    },
  };
}

function refuse(line: string, place: string): never {
  const fraction = /[ \t](\d*\.\d+)\s*$/.exec(line)?.[1];
  throw new ProfileError(
    fraction === undefined
      ? `${place}: this is no folded stack like "main;read 12", unlike what is above it; remove it, or fold the profile again.`
      : `${place}: ${fraction} is no whole number of samples; fold with samples rather than with shares or seconds.`,
  );
}
