// Lays out a flamegraph: stacks with a common beginning share boxes, row by row from the outermost callers.
import type { Frame, Profile, Stack } from './profile.ts';
import { ProfileError } from './profile-error.ts';

/** A path from the outermost caller to a function; lengths are in pixels. */
export type Box = {
  /** The first of its name: other modules may have functions of the same name. */
  readonly frame: Frame;
  readonly samples: Readonly<Record<Source, number>>;
  readonly x: number;
  readonly width: number;
};

/** With its stacks; siblings are placed when all are known. */
type Node = {
  frame: Frame;
  samples: Record<Source, number>;
  first: Path | undefined;
  last: Path | undefined;
  x: number;
  width: number;
};

/** A stack of either source, with the next one of the same box: lists of them need no memory in each row. */
type Path = {
  readonly frames: readonly Frame[];
  readonly profile: number;
  readonly base: number;
  next: Path | undefined;
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
  { pixelsPerSample, minPixels }: { pixelsPerSample: number; minPixels: number },
): Layout {
  const root = newNode({ name: 'all' });
  for (const { frames, samples } of stacks.profile) {
    add(root, { frames, profile: samples, base: 0, next: undefined });
  }
  for (const { frames, samples } of stacks.base) {
    add(root, { frames, profile: 0, base: samples, next: undefined });
  }
  root.width = root.samples[by] * pixelsPerSample;

  const isDrawn = ({ width }: Box) => width >= minPixels;
  const rows: Node[][] = [];
  let hiddenSamples = isDrawn(root) ? 0 : root.samples[by];
  let boxes = 0;
  for (let row = [root].filter(isDrawn); row.length > 0; ) {
    rows.push(row);
    boxes += row.length;
    if (boxes > maxBoxes) throw tooMany;
    const above: Node[] = [];
    for (const box of row) {
      for (const callee of callees(box, rows.length - 1, { by, pixelsPerSample })) {
        if (isDrawn(callee)) above.push(callee);
        else hiddenSamples += callee.samples[by];
      }
    }
    row = above;
  }
  return { rows, samples: root.samples[by], hiddenSamples };
}

/** A row has 12,000 at most, and published kernel profiles about 300 in all; browsers get slow beyond this. */
const maxBoxes = 100_000;

const tooMany = new ProfileError(
  `A flamegraph of more than ${maxBoxes} frames is not drawn; fold the profile, and draw a part of it.`,
);

/** `ipfw.ko` of `/boot/kernel/ipfw.ko`. */
export const moduleName = ({ module }: Frame): string | undefined => module && lastName(module);

export const lastName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const newNode = (frame: Frame): Node => ({
  frame,
  samples: { profile: 0, base: 0 },
  first: undefined,
  last: undefined,
  x: 0,
  width: 0,
});

function add(node: Node, path: Path): void {
  node.samples.profile += path.profile;
  node.samples.base += path.base;
  if (node.last === undefined) node.first = path;
  else node.last.next = path;
  node.last = path;
}

/** Takes the paths from the caller. */
function callees(
  caller: Node,
  depth: number,
  { by, pixelsPerSample }: { by: Source; pixelsPerSample: number },
): Node[] {
  const { first } = caller;
  if (first !== undefined && first.next === undefined) {
    const frame = first.frames[depth];
    return frame === undefined ? [] : [{ ...caller, frame }];
  }
  const nodes = new Map<string, Node>();
  for (let path = first; path !== undefined; ) {
    const { next } = path;
    path.next = undefined;
    const frame = path.frames[depth];
    if (frame !== undefined) {
      const node = nodes.get(frame.name) ?? newNode(frame);
      if (node.first === undefined) nodes.set(frame.name, node);
      add(node, path);
    }
    path = next;
  }
  const sorted = [...nodes.values()].sort((a, b) => (a.frame.name < b.frame.name ? -1 : 1));
  let { x } = caller;
  for (const node of sorted) {
    node.x = x;
    node.width = node.samples[by] * pixelsPerSample;
    x += node.width;
  }
  return sorted;
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
