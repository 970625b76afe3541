// Holds the state of a series chart: the range drawn, the unit, and the chosen nightly runs.
import { metricText } from './chart.js';

/** @typedef {import('./chart-data.ts').Metric | 'percent'} Unit */

export class SeriesView {
  /** @type {import('./chart-data.ts').SeriesData} */
  data;
  /** Indices of at most two nightly runs, the last choice at the end. @type {number[]} */
  chosen = [];
  /** @type {Unit} */
  unit;
  /** First and last time drawn, in seconds. @type {[number, number]} */
  range;
  place;

  constructor(/** @type {import('./chart-data.ts').SeriesData} */ data) {
    this.data = data;
    this.unit = data.metric;
    this.range = this.whole;
    this.place = this.end;
  }

  get end() {
    return this.data.times.length - 1;
  }

  /** From the first to the last nightly run, with a margin. @returns {[number, number]} */
  get whole() {
    const [first, last] = [this.timeOf(0), this.timeOf(this.end)];
    const margin = Math.max((last - first) * 0.01, 43_200);
    return [first - margin, last + margin];
  }

  /** Oldest first. */
  get pair() {
    return this.chosen.toSorted((a, b) => a - b);
  }

  /** Units with data. @returns {Unit[]} */
  get units() {
    const metrics = /** @type {const} */ (['pps', 'nsPerPacket', 'instructionsPerPacket']);
    return [...metrics.filter((one) => this.data[one]), 'percent'];
  }

  get numbers() {
    const { data, unit } = this;
    return data[unit === 'percent' ? data.metric : unit] ?? data.pps;
  }

  /** The nightly run at 100 %: the first chosen, the last release, or the oldest. */
  get reference() {
    const release = this.data.releases.at(-1);
    const released = release ? this.data.times.findLastIndex((time) => time <= release.time) : -1;
    return this.pair[0] ?? Math.max(released, 0);
  }

  /** Levels exist only for the judged metric. */
  get isOfMetric() {
    return this.unit === this.data.metric || this.unit === 'percent';
  }

  timeOf(/** @type {number} */ index) {
    return this.data.times[index] ?? 0;
  }

  isDrawn(/** @type {number} */ index) {
    return this.timeOf(index) >= this.range[0] && this.timeOf(index) <= this.range[1];
  }

  /** Converts a number of the metric to the unit. @returns {(value: number) => number} */
  get inUnit() {
    if (this.unit !== 'percent') return (value) => value;
    const whole = this.numbers.typical[this.reference] || 1;
    return (value) => (value / whole) * 100;
  }

  textOf(/** @type {number} */ value, digits = 4) {
    if (this.unit === 'percent') return `${value.toFixed(digits > 3 ? 2 : 1)} %`;
    return metricText(value, this.unit, digits);
  }

  get column() {
    const { inUnit } = this;
    return this.numbers.typical.map((value) => (value === null ? null : inUnit(value)));
  }

  get valuesDrawn() {
    return this.column.flatMap((value, index) => (value !== null && this.isDrawn(index) ? [value] : []));
  }

  get levelsDrawn() {
    if (!this.isOfMetric) return [];
    const { inUnit, range } = this;
    return this.data.levels
      .filter(({ from, to }) => this.timeOf(from) <= range[1] && this.timeOf(to - 1) >= range[0])
      .map(({ typical }) => inUnit(typical));
  }
}
