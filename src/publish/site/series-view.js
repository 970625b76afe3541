// What a person sees of a series: which nightly runs, in which unit, and which of them are chosen.
import { metricText } from './chart.js';

/** @typedef {import('./chart-data.ts').Metric | 'percent'} Unit */

export class View {
  /** @type {import('./chart-data.ts').SeriesData} */
  data;
  /** Places of at most two nightly runs, the one that was chosen last at the end. @type {number[]} */
  chosen = [];
  /** @type {Unit} */
  unit;
  /** First and last moment that are drawn. @type {[number, number]} */
  range;
  /** Where the cursor is. */
  place;

  constructor(/** @type {import('./chart-data.ts').SeriesData} */ data) {
    this.data = data;
    this.unit = data.metric;
    this.range = this.whole;
    this.place = this.end;
  }

  /** Place of the last night. */
  get end() {
    return this.data.times.length - 1;
  }

  /** From the first nightly run to the last one, with some room, so that these are whole. @returns {[number, number]} */
  get whole() {
    const [first, last] = [this.timeOf(0), this.timeOf(this.end)];
    const room = Math.max((last - first) * 0.01, 43_200);
    return [first - room, last + room];
  }

  /** The chosen nightly runs in their order. */
  get pair() {
    return this.chosen.toSorted((a, b) => a - b);
  }

  /** Those that there is anything to draw in. @returns {Unit[]} */
  get units() {
    const metrics = /** @type {const} */ (['pps', 'nsPerPacket', 'instructionsPerPacket']);
    return [...metrics.filter((one) => this.data[one]), 'percent'];
  }

  get numbers() {
    const { data, unit } = this;
    return data[unit === 'percent' ? data.metric : unit] ?? data.pps;
  }

  /** The nightly run that others are held against: the first that was chosen, the last release, or the oldest. */
  get reference() {
    const release = this.data.releases.at(-1);
    const released = release ? this.data.times.findLastIndex((time) => time <= release.time) : -1;
    return this.pair[0] ?? Math.max(released, 0);
  }

  /** Levels are of the metric that is judged. */
  get isOfMetric() {
    return this.unit === this.data.metric || this.unit === 'percent';
  }

  timeOf(/** @type {number} */ index) {
    return this.data.times[index] ?? 0;
  }

  isDrawn(/** @type {number} */ index) {
    return this.timeOf(index) >= this.range[0] && this.timeOf(index) <= this.range[1];
  }

  /** What turns a number of the metric into one of the unit. @returns {(value: number) => number} */
  get inUnit() {
    if (this.unit !== 'percent') return (value) => value;
    const whole = this.numbers.typical[this.reference] || 1;
    return (value) => (value / whole) * 100;
  }

  /** A number of the unit as people read it. */
  textOf(/** @type {number} */ value, digits = 4) {
    if (this.unit === 'percent') return `${value.toFixed(digits > 3 ? 2 : 1)} %`;
    return metricText(value, this.unit, digits);
  }

  /** Values of each night, in the unit. */
  get column() {
    const { inUnit } = this;
    return this.numbers.typical.map((value) => (value === null ? null : inUnit(value)));
  }

  get valuesDrawn() {
    return this.column.flatMap((value, index) =>
      value !== null && this.isDrawn(index) ? [value] : [],
    );
  }

  get levelsDrawn() {
    if (!this.isOfMetric) return [];
    const { inUnit, range } = this;
    return this.data.levels
      .filter(({ from, to }) => this.timeOf(from) <= range[1] && this.timeOf(to - 1) >= range[0])
      .map(({ typical }) => inUnit(typical));
  }
}
