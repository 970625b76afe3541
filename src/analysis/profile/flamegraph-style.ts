// Styles flamegraphs, in light and dark: one hue per module, red and blue for more and less than in base.
import { embedded } from '../../system/embedded-assets.ts';
import { lastName } from './flamegraph-layout.ts';
import type { Profile } from './profile.ts';

/**
 * Maps module names to classes. The kernel has the warm hue of classic flamegraphs, programs share one, and a loadable
 * module gets one by its name, or the next free one.
 */
export function moduleClassNames({ stacks }: Profile): ReadonlyMap<string, string> {
  const modules = new Set<string>();
  let last: string | undefined;
  for (const { frames } of stacks) {
    for (const { module } of frames) {
      if (module === undefined || module === last) continue;
      modules.add(module);
      last = module;
    }
  }
  const classNameByModule = new Map<string, string>();
  for (const module of [...modules].toSorted()) {
    const name = lastName(module);
    if (!classNameByModule.has(name))
      classNameByModule.set(name, kindOf(module) ?? freeHue(name, [...classNameByModule.values()]));
  }
  return classNameByModule;
}

function kindOf(module: string): 'kernel' | 'program' | undefined {
  if (/(^|\/)(\[?kernel\b|vmlinu[xz])[^/]*$/.test(module)) return 'kernel';
  return module.includes('/') && !/\.ko\b[^/]*$/.test(module) ? 'program' : undefined;
}

function freeHue(name: string, taken: readonly string[]): string {
  const first = hash(name) % hues.length;
  const inTurn = hues.map((_, index) => `m${(first + index) % hues.length}`);
  return inTurn.find((hue) => !taken.includes(hue)) ?? `m${first}`;
}

export const nameClassName = (name: string): string => `s${hash(name) % shades}`;

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193);
  }
  return sum >>> 0;
}

export type ShareChange = { before: number; now: number };

export function changeClassName({ before, now }: ShareChange): string {
  const points = 100 * (now - before);
  const step = changeSteps.filter((least) => Math.abs(points) >= least).length;
  if (step === 0) return 'even';
  return points < 0 ? `less${step}` : `more${step}`;
}

/** Thresholds of the stronger colours, in percentage points. */
export const changeSteps = [0.1, 0.3, 1, 3, 10] as const;

const hues = [115, 223, 169, 277, 133, 241, 187, 295, 151, 259, 205, 313];
const shades = 4;

const classes = [
  ...hues.map((hue, index) => `.m${index}{--hue:${hue}}`),
  ...Array.from({ length: shades }, (_, index) => `.s${index}{--step:${index}}`),
  ...changeSteps.map((_, index) => `.more${index + 1},.less${index + 1}{--step:${index + 1}}`),
].join('\n');

/** Include it once per page. Colours combine a lightness, a chroma and a hue of OKLCH. */
export const flamegraphStyle = (): string => `
.ppsgate-flamegraph{
${classes}}
${embedded(new URL('./flamegraph-style.css', import.meta.url))}`;
