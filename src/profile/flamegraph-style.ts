// How flamegraphs look, in light and in dark: a hue for each module, red and blue for more and less than in base.
import { moduleName } from './flamegraph-layout.ts';
import type { Frame, Profile } from './profile.ts';

/**
 * Classes by the names of modules. The kernel has the warm hue of classic flamegraphs, programs have one together, and
 * a loadable module has its own by its name, or the next where another of the profile has it.
 */
export function moduleLooks({ stacks }: Profile): ReadonlyMap<string, string> {
  const frames = new Set(stacks.flatMap((stack) => stack.frames));
  const looks = new Map<string, string>();
  for (const frame of [...frames].toSorted(byModule)) {
    const name = moduleName(frame);
    if (name === undefined || looks.has(name)) continue;
    looks.set(name, kindOf(frame) ?? freeHue(name, [...looks.values()]));
  }
  return looks;
}

const byModule = (a: Frame, b: Frame): number => ((a.module ?? '') < (b.module ?? '') ? -1 : 1);

function kindOf({ module = '' }: Frame): 'kernel' | 'program' | undefined {
  if (/(^|\/)(\[?kernel\b|vmlinu[xz])[^/]*$/.test(module)) return 'kernel';
  return module.includes('/') && !/\.ko\b[^/]*$/.test(module) ? 'program' : undefined;
}

function freeHue(name: string, taken: readonly string[]): string {
  const first = hash(name) % hues.length;
  const inTurn = hues.map((_, index) => `m${(first + index) % hues.length}`);
  return inTurn.find((hue) => !taken.includes(hue)) ?? `m${first}`;
}

/** A shade's class by a function's name. */
export const nameLook = (name: string): string => `s${hash(name) % shades}`;

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193);
  }
  return sum >>> 0;
}

/** Shares of all samples. */
export type ShareChange = { before: number; now: number };

/** A colour's class by how much a share changed. */
export function changeLook({ before, now }: ShareChange): string {
  const points = 100 * (now - before);
  const step = changeSteps.filter((least) => Math.abs(points) >= least).length;
  if (step === 0) return 'even';
  return points < 0 ? `less${step}` : `more${step}`;
}

/** Where the next stronger colour of a change begins, in percentage points. */
export const changeSteps = [0.1, 0.3, 1, 3, 10] as const;

/** From green to violet; those that follow each other are far apart. */
const hues = [115, 223, 169, 277, 133, 241, 187, 295, 151, 259, 205, 313];
const shades = 4;

const classes = [
  ...hues.map((hue, index) => `.m${index}{--hue:${hue}}`),
  ...Array.from({ length: shades }, (_, index) => `.s${index}{--step:${index}}`),
  ...changeSteps.map((_, index) => `.more${index + 1},.less${index + 1}{--step:${index + 1}}`),
].join('\n');

/** A page brings it once for all. Colours are made of a lightness, a chroma and a hue of OKLCH. */
export const flamegraphStyle = `
.ppsgate-flamegraph{
--paper:#fff;--ink:#1f2328;--faint:#59636e;--line:#8c959f;--found:#f39cec;
--light:.875;--lighter:-.028;--strong:.085;--stronger:.006;--hue:90;--step:0;
--sans:system-ui,'Segoe UI','Helvetica Neue',Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,'DejaVu Sans Mono',Menlo,Consolas,monospace;
&.difference{--light:.945;--lighter:-.055;--strong:.002;--stronger:.032}
@media (prefers-color-scheme:dark){
--paper:#0d1117;--ink:#f0f3f6;--faint:#9198a1;--line:#6e7681;--found:#8d2f88;
--light:.37;--lighter:.03;--strong:.07;
&.difference{--light:.29;--lighter:.045}}
color-scheme:light dark;display:block;max-width:100%;height:auto;background:var(--paper);font:11px var(--mono);
${classes}
.kernel{--hue:65}
.program{--hue:20}
[class^=more]{--hue:27}
[class^=less]{--hue:255}
text{fill:var(--ink);white-space:pre;pointer-events:none}
.title{font:600 16px var(--sans)}
.faint,.note{font:12px var(--sans);fill:var(--faint)}
g>rect{fill:oklch(calc(var(--light) + var(--step)*var(--lighter)) calc(var(--strong) + var(--step)*var(--stronger)) var(--hue))}
.flames rect{cursor:pointer;rx:1.5px}
.caller>rect{fill:none;stroke:var(--line);stroke-width:.6;pointer-events:all}
.gone>rect{stroke:var(--ink);stroke-width:.8;stroke-dasharray:3 2}
.below{opacity:.55}
.out{display:none}
&.searching .flames g>g:not(.found)>rect{opacity:.45}
.found>rect{fill:var(--found)}
.found>text{font-weight:700}
.flames g:hover>rect{stroke:var(--ink);stroke-width:1;stroke-dasharray:none}
&:focus,.flames g:focus{outline:none}
.flames g:focus-visible>rect{stroke:var(--ink);stroke-width:2.5;stroke-dasharray:none}
.bar{box-sizing:border-box;display:flex;flex-wrap:wrap-reverse;align-items:center;gap:4px 12px;height:100%;padding:2px 10px;background:var(--paper);color:var(--ink);font:12px/16px var(--sans)}
.told{flex:1 1 320px;min-width:0}
.told div{overflow:hidden;text-overflow:ellipsis;white-space:pre}
.told .name{font-family:var(--mono);font-weight:700}
.told .about,output{color:var(--faint)}
.tools{display:flex;align-items:center;gap:8px}
input,button{box-sizing:border-box;height:26px;margin:0;padding:0 8px;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:5px}
input{width:150px}
:is(input,button):focus-visible{outline:2px solid #0969da;outline-offset:1px}
output{white-space:nowrap}}
`;
