// Lays out a flamegraph: stacks with a common beginning share boxes, row by row from the outermost callers.
import type { Frame, Profile, Stack } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** A path from the outermost caller to a function; lengths are in pixels. */
export type Box = {
  readonly name: string;
  /** Without its folder. */
  readonly module: string | undefined;
  readonly samples: Record<Source, number>;
  readonly stacks: Record<Source, Stack[]>;
  x: number;
  width: number;
};

/** `base` is the profile for comparison. */
type Source = 'profile' | 'base';

export type Layout = {
  rows: readonly (readonly Box[])[];
  samples: number;
  hiddenSamples: number;
};

/**
 * Sorts siblings by name and sizes them by samples of one source. The same path in both, by names alone, is one box.
 * Boxes that are too narrow are not descended into: they hold most paths of large profiles.
 *
 * @throws ProfileError for more boxes than a page can show.
 */
export function layout(
  stacks: Record<Source, readonly Stack[]>,
  by: Source,
  { pixelsPerSample, leastPixels }: { pixelsPerSample: number; leastPixels: number },
): Layout {
  const root = boxOf({ name: 'all' });
  for (const stack of stacks.profile) add(root, 'profile', stack);
  for (const stack of stacks.base) add(root, 'base', stack);
  root.width = root.samples[by] * pixelsPerSample;

  const isDrawn = ({ width }: Box) => width >= leastPixels;
  const rows: Box[][] = [];
  let hiddenSamples = isDrawn(root) ? 0 : root.samples[by];
  let boxes = 0;
  for (let row = [root].filter(isDrawn); row.length > 0; ) {
    rows.push(row);
    boxes += row.length;
    if (boxes > mostBoxes) throw tooMany;
    const above = row.flatMap((box) => callees(box, rows.length - 1, { by, pixelsPerSample }));
    row = above.filter(isDrawn);
    for (const box of above) hiddenSamples += isDrawn(box) ? 0 : box.samples[by];
  }
  return { rows, samples: root.samples[by], hiddenSamples };
}

/** A row has 12,000 at most, and published kernel profiles about 300 in all; browsers get slow beyond this. */
const mostBoxes = 100_000;

const tooMany = new ProfileError(
  `A flamegraph of more than ${mostBoxes} frames is not drawn; fold the profile, and draw a part of it.`,
);

const boxOf = (frame: Frame): Box => ({
  name: frame.name,
  module: moduleName(frame),
  samples: { profile: 0, base: 0 },
  stacks: { profile: [], base: [] },
  x: 0,
  width: 0,
});

/** `ipfw.ko` of `/boot/kernel/ipfw.ko`. */
export const moduleName = (frame: Frame | undefined): string | undefined =>
  frame?.module?.slice(frame.module.lastIndexOf('/') + 1);

function add({ samples, stacks }: Box, source: Source, stack: Stack): void {
  samples[source] += stack.samples;
  stacks[source].push(stack);
}

function callees(
  caller: Box,
  depth: number,
  { by, pixelsPerSample }: { by: Source; pixelsPerSample: number },
): Box[] {
  const boxes = new Map<string, Box>();
  for (const stack of caller.stacks.profile) addTo(boxes, 'profile', stack, depth);
  for (const stack of caller.stacks.base) addTo(boxes, 'base', stack, depth);
  const sorted = [...boxes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  let x = caller.x;
  for (const box of sorted) {
    box.x = x;
    box.width = box.samples[by] * pixelsPerSample;
    x += box.width;
  }
  return sorted;
}

function addTo(boxes: Map<string, Box>, source: Source, stack: Stack, depth: number): void {
  const frame = stack.frames[depth];
  if (frame === undefined) return;
  const box = boxes.get(frame.name) ?? boxOf(frame);
  boxes.set(frame.name, box);
  add(box, source, stack);
}

export function vanishedStacks(profile: Profile, base: Profile): Stack[] {
  const paths: Paths = new Map();
  for (const { frames, samples } of profile.stacks) if (samples > 0) addPath(paths, frames);
  return base.stacks.filter(({ frames }) => !hasPath(paths, frames));
}

type Paths = Map<string, Paths>;

function addPath(paths: Paths, frames: readonly Frame[]): void {
  let at = paths;
  for (const { name } of frames) {
    const callees: Paths = at.get(name) ?? new Map();
    at.set(name, callees);
    at = callees;
  }
}

function hasPath(paths: Paths, frames: readonly Frame[]): boolean {
  let at: Paths | undefined = paths;
  for (const { name } of frames) at = at?.get(name);
  return at !== undefined;
}
