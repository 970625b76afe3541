// Draws a small chart of a series, without axes: nightly runs, levels and open changes. The page's style sets the
// colours.

import { isOpen } from '../../analysis/trend/change-history.ts';
import { isLoss } from '../../model/result.ts';
import { type Html, html } from '../../report/markup.ts';
import { type Extent, linearScale } from '../../report/scale.ts';
import { round } from '../../report/svg.ts';
import type { CellSeries } from './series.ts';

// In units of the picture, which is stretched to the available width.
const [width, height, margin] = [300, 64, 5];

/** Draws the newest `most` nightly runs, or those around the index `around`. */
export function picture(series: CellSeries, most = 250, around = series.points.length): Html {
  const end = Math.min(around + Math.floor(most / 2), series.points.length);
  const skipped = Math.max(end - most, 0);
  const points = series.points.slice(skipped, end);
  const levels = series.levels.filter(({ from, to }) => to > skipped && from < end);
  const axis = axisOf(
    points.map(({ value }) => value),
    levels.map(({ typical }) => typical),
  );
  const began = points[0]?.time ?? 0;
  const span = Math.max((points.at(-1)?.time ?? 0) - began, 1);
  const along = linearScale({ low: began, high: began + span }, margin, width - margin);
  const up = linearScale(axis, height - margin, margin);
  const x = (time: number) => round(along(time));
  const y = (value: number) => round(up(value));
  const dots = points.map(({ time, value }) => `M${x(time)} ${y(value)}h0`).join('');
  const steps = levels.flatMap(({ from, to, typical }) => {
    const [first, last] = [points[Math.max(from - skipped, 0)], points[Math.min(to, end) - 1 - skipped]];
    return first && last ? `M${x(first.time)} ${y(typical)}H${x(last.time)}` : [];
  });
  const marks = series.changes.flatMap(({ change, level }) => {
    const point = points.find(({ nightlyRun }) => nightlyRun.at === level.firstAt);
    if (point === undefined) return [];
    const look = isLoss(change, level.changeRatio) ? 'loss' : 'gain';
    const open = isOpen(change) ? ' open' : '';
    return html`<path class="${look}${open}" d="M${x(point.time)} 0v${height}"/>`;
  });
  return html`<svg class="picture" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">${marks}<path class="dots" d="${dots}"/><path class="steps" d="${steps.join('')}"/></svg>`;
}

/** Clips a far outlier to the edge, unless it begins a level, and keeps noise of a thousandth small. */
function axisOf(values: readonly number[], levels: readonly number[]): Extent {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 1;
  const reach = Math.max(3 * (at(0.9) - at(0.1)), at(0.5) * 0.01);
  const low = Math.min(Math.max(at(0), at(0.1) - reach), ...levels);
  const high = Math.max(Math.min(at(1), at(0.9) + reach), ...levels);
  const spare = Math.max(0, at(0.5) * 0.02 - (high - low)) / 2;
  return { low: low - spare, high: high + spare };
}
