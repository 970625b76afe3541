// Draws flamegraphs of a profile, alone or against a base, as an SVG with its own viewer.

import { escaped } from '../../model/xml.ts';
import { embeddedScript } from '../../system/embedded-assets.ts';
import { type Box, type Layout, layout, moduleName, vanishedStacks } from './flamegraph-layout.ts';
import {
  changeClassName,
  changeSteps,
  flamegraphStyle,
  moduleClassNames,
  nameClassName,
  type ShareChange,
} from './flamegraph-style.ts';
import { type Frame, type Profile, remembered, samplesOf } from './profile.ts';
import { ProfileError } from './profile-error.ts';

export { flamegraphStyle };

/** Include it once per page. */
export const flamegraphScript = (): string => embeddedScript(new URL('./flamegraph-viewer.js', import.meta.url));

export type FlamegraphOptions = {
  title: string;
  subtitle?: string | undefined;
  base?: Profile | undefined;
  /** Initial width; the script fits the picture into its place. */
  widthPixels?: number;
  /** `false`: an element for a page that includes `flamegraphStyle` and `flamegraphScript` once. */
  standalone?: boolean;
};

/**
 * Draws an SVG in the style of Brendan Gregg's: callers below, siblings by name, frames as wide as their share of all
 * samples.
 *
 * Against a base, colours show the change of a path's share. Paths that only base has are in a separate lane at the
 * same scale: above their callers, drawn at today's width, they might not fit. Frames are equal if names and callers
 * are, at any address.
 *
 * @throws ProfileError for one that is too large for a browser.
 */
export function flamegraph(profile: Profile, options: FlamegraphOptions): string {
  const { base, widthPixels = 1200, standalone = true } = options;
  const title = shortened(options.title, longestLine);
  const subtitle = shortened(options.subtitle ?? '', longestLine);
  const { legend, parts } = drawing(profile, base, widthPixels - 2 * margin);
  const header = stacked([
    line('title', title, 28),
    ...(subtitle === '' ? [] : [line('faint', subtitle, 20)]),
    ...legend,
  ]);
  const body = stacked(parts);
  const bodyTop = header.height + margin;
  const height = bodyTop + body.height + margin;
  const label = subtitle === '' ? title : `${title}: ${subtitle}`;
  const className = base ? 'ppsgate-flamegraph difference' : 'ppsgate-flamegraph';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="${className}" width="${widthPixels}" height="${height}" viewBox="0 0 ${widthPixels} ${height}" role="group" aria-label="${escaped(label)}">`,
    ...(standalone ? [`<title>${escaped(title)}</title>\n<style><![CDATA[${flamegraphStyle()}]]></style>`] : []),
    `<g class="header" transform="translate(${margin} 0)">\n${header.markup}\n</g>`,
    `<g class="body" transform="translate(${margin} ${bodyTop})">\n${body.markup}\n</g>`,
    ...(standalone ? [`<script><![CDATA[${flamegraphScript()}]]></script>`] : []),
    '</svg>\n',
  ].join('\n');
}

// In pixels.
const margin = 10;
const rowHeight = 17;
const frameHeight = 16;
const minPixels = 0.1;
/** Monospaced, at 11 pixels. */
const characterWidth = 6.63;

// In characters.
const longestLine = 1000;
const longestName = 300;

type Part = { markup: string; height: number };

function stacked(parts: readonly Part[]): Part {
  let height = 0;
  const placed = parts.map((part) => {
    const top = height;
    height += part.height;
    return `<g transform="translate(0 ${top})">${part.markup}</g>`;
  });
  return { markup: placed.join('\n'), height };
}

const line = (className: string, text: string, height: number): Part => ({
  markup: `<text class="${className}" y="${height - 6}">${escaped(text)}</text>`,
  height,
});

type Drawing = { legend: readonly Part[]; parts: readonly Part[] };

function drawing(profile: Profile, base: Profile | undefined, width: number): Drawing {
  const nothing = (sentence: string) => ({ legend: [], parts: [line('faint', sentence, 20)] });
  if (samplesOf(profile.stacks) <= 0) return nothing('No samples.');
  if (base === undefined) return single(profile, width);
  if (samplesOf(base.stacks) <= 0) return nothing('No samples in base to compare with.');
  return difference(profile, base, width);
}

function single(profile: Profile, width: number): Drawing {
  const { stacks } = profile;
  const total = samplesOf(stacks);
  const classNameByModule = moduleClassNames(profile);
  const lookOf = remembered(
    (frame: Frame) => `${classNameByModule.get(moduleName(frame) ?? '') ?? 'plain'} ${nameClassName(frame.name)}`,
  );
  const placed = layout({ profile: stacks, base: [] }, 'profile', scaled(total, width));
  const aboutOf = remembered((samples: number) => `${counted(samples)}, ${percent(samples / total)}`);
  const drawn = flames(placed, {
    classNames: ({ frame }) => lookOf(frame),
    about: ({ samples }) => aboutOf(samples.profile),
  });
  return {
    legend: moduleLegend(profile, classNameByModule),
    parts: [drawn, ...hiddenNote(placed)],
  };
}

const scaled = (samples: number, width: number) => ({
  pixelsPerSample: width / samples,
  minPixels,
});

function difference(profile: Profile, base: Profile, width: number): Drawing {
  const stacks = { profile: profile.stacks, base: base.stacks };
  const totals = { profile: samplesOf(stacks.profile), base: samplesOf(stacks.base) };
  const changeOf = ({ samples }: Box): ShareChange => ({
    before: samples.base / totals.base,
    now: samples.profile / totals.profile,
  });
  const placed = layout(stacks, 'profile', scaled(totals.profile, width));
  const drawn = flames(placed, {
    classNames: (box) => changeClassName(changeOf(box)),
    about: (box) => `${changeText(changeOf(box))}, ${counted(box.samples.profile)}`,
  });
  const vanished = { ...stacks, base: vanishedStacks(profile, base) };
  const lane = vanishedLane(layout(vanished, 'base', scaled(totals.base, width)), changeOf);
  return { legend: [changeLegend()], parts: [drawn, ...lane, ...hiddenNote(placed)] };
}

/** Draws callers that the profile still has as empty boxes. */
function vanishedLane(placed: Layout, changeOf: (box: Box) => ShareChange): readonly Part[] {
  const root = placed.rows[0]?.[0];
  if (root === undefined) return [];
  const share = (box: Box) => percent(changeOf(box).before);
  const isGone = ({ samples }: Box) => samples.profile === 0;
  const drawn = flames(placed, {
    classNames: (box) => (isGone(box) ? `${changeClassName(changeOf(box))} gone` : 'caller'),
    about: (box) => (isGone(box) ? changeText(changeOf(box)) : `calls what is gone, ${share(box)} of base`),
  });
  const heading = `Only in base (dashed, to the same scale): ${share(root)}`;
  return [line('note', heading, 32), drawn];
}

type FrameDescription = { classNames: (box: Box) => string; about: (box: Box) => string };

/** Leaves frames below a pixel, most of a large drawing, to the script, which needs less than half of the bytes. */
function flames({ rows }: Layout, { classNames, about }: FrameDescription): Part {
  let characters = 0;
  const textsOf = remembered(frameTexts);
  const drawn = rows.map((row, depth) => {
    const wide: string[] = [];
    const narrow: string[] = [];
    for (const box of row) {
      const isWide = box.width >= minWidePixels;
      const text = (isWide ? wideFrame : narrowFrame)(box, textsOf(box.frame), classNames(box), about(box));
      characters += text.length;
      if (characters > maxCharacters) throw tooLarge;
      (isWide ? wide : narrow).push(text);
    }
    if (narrow.length > 0) wide.push(`<metadata>${narrow.join('\n')}</metadata>`);
    const top = (rows.length - 1 - depth) * rowHeight;
    return `<g transform="translate(0 ${top})">\n${wide.join('\n')}\n</g>`;
  });
  return {
    markup: `<g class="flames">\n${drawn.join('\n')}\n</g>`,
    height: rows.length * rowHeight,
  };
}

const minWidePixels = 1;

/** `title` and `module` are text for XML. */
type FrameTexts = { name: string; title: string; module: string };

function frameTexts(frame: Frame): FrameTexts {
  const name = frame.name || '(no name)';
  const module = moduleName(frame);
  return {
    name,
    title: escaped(shortened(name)),
    module: module === undefined ? '' : `${escaped(shortened(module))} · `,
  };
}

/** `about` is text for XML. */
function wideFrame(box: Box, { name, title, module }: FrameTexts, classNames: string, about: string): string {
  const label = fitted(name, box.width);
  const text = label && `<text x="${round(box.x + 3)}" y="12">${escaped(label)}</text>`;
  return `<g class="${classNames}"><title>${title}\n${module}${about}</title><rect x="${round(box.x)}" width="${round(box.width)}" height="${frameHeight}"/>${text}</g>`;
}

/** A line that flamegraph-viewer.js reads: escaped text has no tabs and line ends. */
const narrowFrame = (box: Box, { title, module }: FrameTexts, classNames: string, about: string): string =>
  `${classNames}\t${round(box.x)}\t${round(box.width)}\t${title}\t${module}${about}`;

/** A frame has about 200 characters, with a maliciously long name 2,000. */
const maxCharacters = 30_000_000;

const tooLarge = new ProfileError(
  `A flamegraph of more than ${maxCharacters} characters is not drawn; fold the profile, and draw a part of it.`,
);

const shortened = (text: string, maxCharacters = longestName): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1)}…`;

function fitted(name: string, width: number): string {
  const maxCharacters = Math.floor((width - 6) / characterWidth);
  return maxCharacters < 3 ? '' : shortened(name, maxCharacters);
}

const round = (pixels: number): number => Math.round(pixels * 100) / 100;

/** Intl takes longer to start than a whole drawing. */
const counted = (samples: number): string =>
  samples === 1 ? '1 sample' : `${String(samples).replace(thousands, ',')} samples`;

const thousands = /\B(?=(?:\d{3})+$)/g;

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;

function hiddenNote({ samples, hiddenSamples }: Layout): readonly Part[] {
  if (hiddenSamples === 0) return [];
  const share = percent(hiddenSamples / samples);
  return [line('note', `Too narrow to be drawn: frames with ${share} of samples`, 24)];
}

function changeText({ before, now }: ShareChange): string {
  const points = Math.abs(100 * (now - before)).toFixed(2);
  const sign = Number(points) === 0 ? '±' : now < before ? '−' : '+';
  const [from, to] = [before > 0 ? percent(before) : 'not in base', now > 0 ? percent(now) : 'gone'];
  return `${from} → ${to} (${sign}${points} points)`;
}

function changeLegend(): Part {
  const steps = changeSteps.map((least, index) => ({ least, step: index + 1 }));
  const swatches = [
    ...steps.toReversed().map(({ least, step }) => ({ classNames: `less${step}`, text: `−${least}` })),
    { classNames: 'even', text: '0' },
    ...steps.map(({ least, step }) => ({ classNames: `more${step}`, text: `+${least}` })),
  ];
  const width = 33;
  const drawn = swatches.map(({ classNames, text }, index) => {
    const x = index * width;
    return `<g class="${classNames}"><rect x="${x}" width="${width}" height="14"/><text x="${x + width / 2}" y="11" text-anchor="middle">${text}</text></g>`;
  });
  return legend([
    legendText('width: share of samples', 0),
    legendText('colour: its change in percentage points from', 0),
    { markup: drawn.join(''), width: swatches.length * width },
  ]);
}

type LegendItem = { markup: string; width: number };

const legendText = (legendLabel: string, x: number): LegendItem => ({
  markup: `<text x="${x}" y="11">${escaped(legendLabel)}</text>`,
  width: x + legendLabel.length * characterWidth,
});

/** Arranges items side by side; the script breaks the line as needed. */
function legend(items: readonly LegendItem[]): Part {
  let x = 0;
  const placed = items.map(({ markup, width }) => {
    const left = x;
    x += width + 14;
    return `<g transform="translate(${round(left)} 0)">${markup}</g>`;
  });
  return { markup: `<g class="legend">${placed.join('')}</g>`, height: 22 };
}

const maxInLegend = 8;
const minInLegend = 0.001;

/** Lists modules by samples that ended in them; empty if the profile has no modules. */
function moduleLegend({ stacks }: Profile, classNameByModule: ReadonlyMap<string, string>): readonly Part[] {
  if (classNameByModule.size === 0) return [];
  const samplesIn = new Map<string, number>();
  const nameOf = remembered(moduleName);
  for (const { frames, samples } of stacks) {
    const sampled = frames.at(-1);
    const name = (sampled && nameOf(sampled)) ?? 'of no module';
    samplesIn.set(name, (samplesIn.get(name) ?? 0) + samples);
  }
  const total = samplesOf(stacks);
  const modules = [...samplesIn]
    .filter(([, samples]) => samples / total >= minInLegend)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, maxInLegend);
  const items = modules.map(([name, samples]) => {
    const share = percent(samples / total);
    const { markup, width } = legendText(`${shortened(name, 40)} ${share}`, 15);
    const classNames = classNameByModule.get(name) ?? 'plain';
    return {
      markup: `<g class="${classNames} s1"><rect y="2" width="10" height="10"/></g>${markup}`,
      width,
    };
  });
  return [legend(items)];
}
