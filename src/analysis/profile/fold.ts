// Prints a profile as folded stacks, the common format of flamegraph tools: `main;read 12`.
import type { Frame, Profile, Stack } from './profile.ts';

/**
 * Prints a line per stack, in file order and without line ends; equal ones of perf are merged. With `modules` a frame
 * is written as in DTrace: if_cxgbe.ko`t4_eth_rx. Replaces characters that would split a line or control a terminal:
 * `;` by `:`, control characters by `?`, and a first `#`, which would make a comment.
 */
export function* foldedLines(
  { format, stacks }: Pick<Profile, 'format' | 'stacks'>,
  { modules = false }: { modules?: boolean } = {},
): Iterable<string> {
  const texts = textsOf(stacks, labels(modules));
  for (const { text, samples } of format === 'perf' ? merged(texts) : texts) {
    yield `${text} ${samples}`;
  }
}

type Text = { text: string; samples: number };

function* textsOf(stacks: readonly Stack[], labelOf: (frame: Frame) => string): Iterable<Text> {
  for (const { frames, samples } of stacks) {
    const text = frames.map(labelOf).join(';');
    yield { text: /^#\s/.test(text) ? `?${text.slice(1)}` : text, samples };
  }
}

export function labels(modules: boolean): (frame: Frame) => string {
  const known = new Map<Frame, string>();
  return (frame) => {
    const label = known.get(frame);
    if (label !== undefined) return label;
    const made = labelOf(frame, modules);
    known.set(frame, made);
    return made;
  };
}

function labelOf({ name, module }: Frame, modules: boolean): string {
  const file = module?.slice(module.lastIndexOf('/') + 1);
  const label = modules && file !== undefined ? `${file}\`${name}` : name;
  return label.replaceAll(';', ':').replace(/[\p{Cc}\u2028\u2029]/gu, '?');
}

function merged(texts: Iterable<Text>): Iterable<Text> {
  const byText = new Map<string, number>();
  for (const { text, samples } of texts) byText.set(text, (byText.get(text) ?? 0) + samples);
  return byText.entries().map(([text, samples]) => ({ text, samples }));
}
