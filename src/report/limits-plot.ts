// Draws a bar for each CPU and each queue of base and of patched.
import { plainLine } from '../model/escape.ts';
import { formatPercent } from '../model/format.ts';
import type { CellLimits, VariantLimits } from '../model/limits.ts';
import { type Html, html, type Piece } from './markup.ts';

/** Uses the colours of the page's style; undefined without CPUs and queues. */
export function limitStrips({ base, patched }: CellLimits): Html | undefined {
  const groups = { base: groupsOf(base), patched: groupsOf(patched) };
  const both = Map.groupBy([...groups.base, ...groups.patched], ({ title }) => title);
  const greaterOf = (title: string) =>
    title === busyTitle ? 1 : largest((both.get(title) ?? []).flatMap(({ bars }) => bars));
  const strips = (['base', 'patched'] as const).flatMap((variant) =>
    groups[variant].length === 0 ? [] : strip(variant, groups[variant], greaterOf),
  );
  return strips.length === 0 ? undefined : html`<div class="strips">${strips}</div>\n`;
}

type Bars = { title: string; bars: { name: string; ratio: number }[] };

const busyTitle = 'busy CPUs';

const largest = (bars: Bars['bars']): number => bars.reduce((most, { ratio }) => Math.max(most, ratio), 0);

function groupsOf({ cpuBusyRatios, queues }: VariantLimits): Bars[] {
  const cpus = cpuBusyRatios.map((ratio, number) => ({ name: `CPU ${number}`, ratio }));
  const devices = Map.groupBy(queues, ({ device, direction }) =>
    device === 'softnet' ? 'packets by CPU' : `${plainLine(device, 30)}, ${direction} queues`,
  );
  return [
    ...(cpus.length > 0 ? [{ title: busyTitle, bars: cpus }] : []),
    ...[...devices].slice(0, maxGroups).map(([title, own]) => ({
      title,
      bars: own.map(({ number, ratio }) => ({ name: String(number), ratio })),
    })),
  ];
}

const maxGroups = 9;
const maxBars = 128;

// In pixels, from the upper left corner.
const [width, rowHeight, top, barHeight] = [440, 62, 24, 34];

const strip = (variant: 'base' | 'patched', groups: readonly Bars[], greaterOf: (title: string) => number): Html =>
  html`<svg class="strip" viewBox="0 0 ${width} ${top + groups.length * rowHeight}" role="img" aria-label="${described(variant, groups)}">
<text class="${variant}" x="0" y="14">${variant}</text>
${groups.map((group, index) => bars(variant, group, { y: top + index * rowHeight, most: greaterOf(group.title) }))}
</svg>\n`;

/** `most` is the share that fills a bar: all for a busy CPU, otherwise the share of both variants' largest queue. */
function bars(variant: string, { title, bars: all }: Bars, { y, most }: { y: number; most: number }): Piece {
  const shown = all.slice(0, maxBars);
  const step = Math.min(48, width / shown.length);
  const foot = y + 14 + barHeight;
  const path = shown
    .map(({ ratio }, index) => {
      const part = most > 0 ? Math.min(1, Math.max(0, ratio / most)) : 0;
      const height = Math.max(0.5, part * barHeight);
      const x = round(index * step + step * 0.1);
      return `M${x} ${foot}h${round(step * 0.8)}v${round(-height)}h${round(-step * 0.8)}Z`;
    })
    .join('');
  const more = all.length > shown.length ? `, the first ${shown.length} of ${all.length}` : '';
  return html`<text x="0" y="${y + 8}">${title}${more}</text>
<path class="edge" d="M0 ${foot}H${round(step * shown.length)}"/><path class="${variant}" d="${path}"/>\n`;
}

const round = (pixels: number): number => Math.round(pixels * 10) / 10;

const described = (variant: string, groups: readonly Bars[]): string =>
  `${variant}: ${groups
    .map(({ title, bars }) => {
      const parts = bars.slice(0, 16).map(({ name, ratio }) => `${name} ${formatPercent(ratio)}`);
      return `${title} ${parts.join(', ')}`;
    })
    .join('; ')}`;
