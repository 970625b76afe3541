// Draws a series on its canvas: bands and releases below the nightly runs, levels and changes above.
import { colour, drawLevels, isWorse, thin, verticalAt } from './chart.js';

/** @typedef {import('uplot')} Chart */
/** @typedef {import('./series-view.js').SeriesView} SeriesView */

export function drawBelow(/** @type {Chart} */ chart, /** @type {SeriesView} */ view) {
  const { fingerprints, levels, releases, times } = view.data;
  const { ctx, bbox } = chart;
  const [a, b] = view.pair;
  if (a !== undefined && b !== undefined) {
    const [left, right] = [a, b].map((one) =>
      Math.min(Math.max(chart.valToPos(view.timeOf(one), 'x', true), bbox.left), bbox.left + bbox.width),
    );
    ctx.fillStyle = thin('amber', '1f');
    ctx.fillRect(left ?? 0, bbox.top, (right ?? 0) - (left ?? 0), bbox.height);
  }
  for (const { time } of fingerprints) verticalAt(chart, time, colour('amber'), [2, 3]);
  for (const { time, text } of releases) nameAt(chart, verticalAt(chart, time, colour('grey'), [6, 4]), text);
  if (view.isOfMetric) drawLevels(chart, levels, times, view.inUnit, 'bands');
  drawSpans(chart, view);
}

/** The least and the most trial of each nightly run, unless there are too many. */
function drawSpans(/** @type {Chart} */ chart, /** @type {SeriesView} */ view) {
  const { times } = view.data;
  const first = times.findIndex((time) => time >= view.range[0]);
  const last = times.findLastIndex((time) => time <= view.range[1]);
  if (last - first > 150) return;
  const { ctx, bbox } = chart;
  const { least, most } = view.numbers;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = thin('faint', '66');
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let one = Math.max(first, 0); one <= last; one += 1) {
    const [low, high] = [least[one], most[one]];
    if (low === null || low === undefined || high === null || high === undefined) continue;
    const x = chart.valToPos(view.timeOf(one), 'x', true);
    ctx.moveTo(x, chart.valToPos(view.inUnit(low), 'y', true));
    ctx.lineTo(x, chart.valToPos(view.inUnit(high), 'y', true));
  }
  ctx.stroke();
  ctx.restore();
}

export function drawAbove(/** @type {Chart} */ chart, /** @type {SeriesView} */ view) {
  const { changes, levels, metric, times } = view.data;
  const { ctx, bbox } = chart;
  if (view.isOfMetric) drawLevels(chart, levels, times, view.inUnit, 'steps');
  for (const { place: index, ratio, state } of changes) {
    const x = verticalAt(chart, view.timeOf(index), thin(changeColour(metric, ratio, state), '99'));
    if (x === undefined) continue;
    triangle(ctx, x, bbox.top, isWorse(metric, ratio));
    ctx.fillStyle =
      state === 'candidate' || state === 'confirming' ? colour('paper') : colour(changeColour(metric, ratio, state));
    ctx.strokeStyle = colour(changeColour(metric, ratio, state));
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.fill();
    ctx.stroke();
  }
  drawOutside(chart, view);
  for (const one of view.chosen) {
    const value = view.column[one];
    const x = chart.valToPos(view.timeOf(one), 'x', true);
    if (value === null || value === undefined || x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.arc(x, chart.valToPos(value, 'y', true), 6 * devicePixelRatio, 0, 7);
    ctx.strokeStyle = colour('amber');
    ctx.lineWidth = 2.5 * devicePixelRatio;
    ctx.stroke();
  }
  performance.mark('ppsgate-drawn');
}

/** Outliers, as small triangles at the edge that they exceed. */
function drawOutside(/** @type {Chart} */ chart, /** @type {SeriesView} */ view) {
  const { ctx, bbox, scales } = chart;
  const [low, high] = [scales.y?.min ?? 0, scales.y?.max ?? 0];
  ctx.fillStyle = colour('faint');
  view.column.forEach((value, index) => {
    if (value === null || (value >= low && value <= high)) return;
    const x = chart.valToPos(view.timeOf(index), 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    const isBelow = value < low;
    triangle(ctx, x, isBelow ? bbox.top + bbox.height - 7 * devicePixelRatio : bbox.top, isBelow);
    ctx.fill();
  });
}

const changeColour = (
  /** @type {import('./chart-data.ts').Metric} */ metric,
  /** @type {number} */ ratio,
  /** @type {string} */ state,
) =>
  state === 'testbed' || state === 'accepted' || state === 'recovered'
    ? 'grey'
    : isWorse(metric, ratio)
      ? 'red'
      : 'green';

function triangle(
  /** @type {CanvasRenderingContext2D} */ ctx,
  /** @type {number} */ x,
  /** @type {number} */ top,
  /** @type {boolean} */ isDown,
) {
  const [half, height] = [4.5 * devicePixelRatio, 7 * devicePixelRatio];
  const [base, tip] = isDown ? [top, top + height] : [top + height, top];
  ctx.beginPath();
  ctx.moveTo(x - half, base);
  ctx.lineTo(x + half, base);
  ctx.lineTo(x, tip);
  ctx.closePath();
}

function nameAt(/** @type {Chart} */ chart, /** @type {number | undefined} */ x, /** @type {string} */ text) {
  if (x === undefined) return;
  const { ctx, bbox } = chart;
  ctx.fillStyle = colour('faint');
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.fillText(text.slice(0, 24), x + 4 * devicePixelRatio, bbox.top + bbox.height - 6 * devicePixelRatio);
}
