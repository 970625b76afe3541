// Prints a profile as folded stacks, the format that all flamegraph tools read: `main;read 12`.
import type { Frame, Profile, Stack } from './profile.ts';

/**
 * A line for each stack, in the order of the file and without line ends; those of perf that read alike are added up.
 * With `modules` a frame is written as DTrace writes it: if_cxgbe.ko`t4_eth_rx. What would break a line apart or steer a
 * terminal is replaced: `;` by `:`, control characters by `?`, and a first `#`, which would make a comment of it.
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

/** Frames as folded stacks name them. */
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
