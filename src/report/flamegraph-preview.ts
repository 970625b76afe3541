// A flamegraph at a glance: its shape and its colours, without names.
import { type Box, layout } from '../analysis/profile/flamegraph-layout.ts';
import { samplesOf } from '../analysis/profile/profile.ts';
import { type Html, html } from './markup.ts';
import type { Graph } from './report-flamegraphs.ts';

/** A small picture for a page, whose style has its size and colours; nothing where there are no samples. */
export function graphPreview({ profile, base }: Graph): Html | undefined {
  const stacks = { profile: profile.stacks, base: base?.stacks ?? [] };
  const totals = { profile: samplesOf(stacks.profile), base: samplesOf(stacks.base) };
  if (totals.profile === 0) return undefined;
  const pixelsPerSample = width / totals.profile;
  const { rows } = layout(stacks, 'profile', { pixelsPerSample, leastPixels: 0.7 });
  const boxes = rows.flatMap((row, depth) =>
    row.map((box) => ({
      look: base === undefined ? moduleLook(box) : changeLook(box, totals),
      path: `M${tenths(box.x)} ${rows.length - depth - 1}h${tenths(box.width)}v1h-${tenths(box.width)}z`,
    })),
  );
  const paths = [...Map.groupBy(boxes, ({ look }) => look)].map(
    ([look, own]) => html`<path class="${look}" d="${own.map(({ path }) => path).join('')}"/>`,
  );
  return html`<svg class="preview" viewBox="0 0 ${width} ${rows.length}" preserveAspectRatio="none" aria-hidden="true">${paths}</svg>`;
}

/** Width in pixels of the page, about. A row is of one unit, and as high as there is room. */
const width = 340;

const tenths = (pixels: number): number => Math.round(pixels * 10) / 10;

const moduleLook = ({ module }: Box): string =>
  module === undefined || /^kernel/.test(module) ? 'of-kernel' : 'of-module';

/** How a path looks, by the share of all samples that it has with all that it calls, before and now. */
function changeLook({ samples }: Box, totals: Box['samples']): string {
  const change = samples.profile / totals.profile - samples.base / totals.base;
  if (Math.abs(change) < 0.003) return 'same';
  return `${change > 0 ? 'more' : 'less'}${Math.abs(change) < 0.03 ? '' : ' much'}`;
}
