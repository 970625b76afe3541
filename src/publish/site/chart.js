// Parts that all charts of a site share: page colours, number formats, axes, and a robust value range.

/** @typedef {import('uplot')} Chart */

/** @type {any} */
const page = globalThis;

/** @type {new (options: import('uplot').Options, data: import('uplot').AlignedData, target: HTMLElement) => Chart} */
export const Chart = page.uPlot;

/** @type {import('./chart-data.ts').SeriesData | undefined} */
export const seriesData = page.ppsgateSeries;

/** @type {import('./chart-data.ts').SmallData[] | undefined} */
export const smallData = page.ppsgateCells;

export const colour = (/** @type {string} */ name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const thin = (/** @type {string} */ name, /** @type {string} */ alpha) => `${colour(name)}${alpha}`;

export const daySeconds = 86_400;

/** `2026-11-20`. */
export const dayOf = (/** @type {number} */ seconds) =>
  new Date(seconds * 1000).toISOString().slice(0, 'YYYY-MM-DD'.length);

/** `4.982 Mpps`, `1057 ns`, `8314 instructions`; an axis has fewer `digits` and no word. */
export function metricText(
  /** @type {number} */ value,
  /** @type {import('./chart-data.ts').Metric} */ metric,
  digits = 4,
) {
  if (metric === 'instructionsPerPacket') {
    return `${Number(value.toPrecision(Math.max(digits, 4)))}${digits < 4 ? '' : ' instructions'}`;
  }
  if (metric === 'nsPerPacket') return `${Number(value.toPrecision(digits))} ns`;
  if (value >= 1e6) return `${(value / 1e6).toPrecision(digits)} Mpps`;
  return value >= 1e3 ? `${(value / 1e3).toPrecision(digits)} kpps` : `${value.toPrecision(digits)} pps`;
}

/** `−4.10 %`. */
export function changeText(/** @type {number} */ ratio) {
  const percent = Math.abs(ratio * 100);
  const text = percent.toFixed(percent < 10 ? 2 : 1);
  if (Number(text) === 0) return `±${text} %`;
  return `${ratio < 0 ? '−' : '+'}${text} %`;
}

export const isWorse = (/** @type {import('./chart-data.ts').Metric} */ metric, /** @type {number} */ ratio) =>
  metric === 'pps' ? ratio < 0 : ratio > 0;

/**
 * A range in which an outlier does not compress all others, and noise of a thousandth looks small; it includes all levels.
 * @param {number[]} values
 * @param {number[]} levels
 * @returns {[number, number]}
 */
export function rangeOf(values, levels) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ part) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const reach = Math.max(at(0.9) - at(0.1), Math.abs(at(0.5)) * 0.01);
  const low = Math.min(Math.max(at(0), at(0.1) - reach), ...levels);
  const high = Math.max(Math.min(at(1), at(0.9) + reach), ...levels);
  const spare = Math.max((high - low) * 0.08, (Math.abs(at(0.5)) * 0.02 - (high - low)) / 2, 1e-9);
  return [low - spare, high + spare];
}

/** Draws a vertical line, and returns its x in canvas pixels. */
export function verticalAt(
  /** @type {Chart} */ chart,
  /** @type {number} */ time,
  /** @type {string} */ style,
  /** @type {number[]} */ dashes = [],
) {
  const x = Math.round(chart.valToPos(time, 'x', true));
  const { left, top, width, height } = chart.bbox;
  if (x < left || x > left + width) return undefined;
  const { ctx } = chart;
  ctx.strokeStyle = style;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dashes.map((one) => one * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.setLineDash([]);
  return x;
}

/**
 * Draws levels as steps, or the bands in which nightly runs are expected.
 * @param {Chart} chart
 * @param {{ from: number, to: number, typical: number, sigmaRatio?: number }[]} levels
 * @param {number[]} times
 * @param {(value: number) => number} inUnit
 * @param {'steps' | 'bands'} form
 */
export function drawLevels(chart, levels, times, inUnit, form) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const y = (/** @type {number} */ value) => chart.valToPos(inUnit(value), 'y', true);
  for (const { from, to, typical, sigmaRatio } of levels) {
    const start = chart.valToPos(times[from] ?? 0, 'x', true);
    const end = chart.valToPos(times[Math.min(to, times.length - 1)] ?? 0, 'x', true);
    if (form === 'bands' && sigmaRatio !== undefined) {
      const [high, low] = [y(typical * (1 + 4 * sigmaRatio)), y(typical * (1 - 4 * sigmaRatio))];
      ctx.fillStyle = thin('blue', '1f');
      ctx.fillRect(start, high, end - start, low - high);
    }
    if (form === 'bands') continue;
    ctx.strokeStyle = colour('blue');
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(start, y(typical));
    ctx.lineTo(end, y(typical));
    ctx.stroke();
  }
  ctx.restore();
}

export const axisStyle = () => ({
  stroke: () => colour('faint'),
  font: '12px system-ui, sans-serif',
  grid: { stroke: () => colour('pale'), width: 1 },
  ticks: { show: false },
});

/** Days are in UTC, as in tables. */
export const inUtc = (/** @type {number} */ seconds) => page.uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC');

/** A time axis, labelled by years, months or days. */
export const timeAxis = () => ({
  ...axisStyle(),
  size: 30,
  space: 80,
  values: (
    /** @type {Chart} */ _chart,
    /** @type {number[]} */ splits,
    /** @type {number} */ _axis,
    /** @type {number} */ _space,
    /** @type {number} */ step,
  ) => splits.map((one) => dayOf(one).slice(0, step >= 360 * 86_400 ? 4 : step >= 28 * 86_400 ? 7 : 10)),
});

export const whenColoursChange = (/** @type {() => void} */ redraw) =>
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);

/**
 * An element with its text or its children.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} attributes
 * @param {(string | Node)[]} inside
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, attributes, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}
