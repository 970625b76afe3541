// The interactive chart of a series: zoom, reading run by run, comparison of two nightly runs, and the view in the address.
import {
  axisStyle,
  Chart,
  daySeconds,
  inUtc,
  make,
  rangeOf,
  seriesData,
  thin,
  timeAxis,
  whenColoursChange,
} from './chart.js';
import { addressOf, followAddress } from './series-address.js';
import { drawAbove, drawBelow } from './series-drawing.js';
import { comparisonPieces, csvOf, nightlyRunPieces } from './series-text.js';
import { SeriesView } from './series-view.js';

/** @typedef {import('./chart-data.ts').SeriesData} SeriesData */
/** @typedef {import('./series-view.js').Unit} Unit */

/** @type {Record<Unit, string>} */
const unitNames = {
  pps: 'packets/s',
  nsPerPacket: 'ns/packet',
  instructionsPerPacket: 'instructions/packet',
  percent: '%',
};

class SeriesChart {
  #box;
  #view;
  #chart;
  #reading = make('output', { class: 'reading' });
  #comparison = make('div', { class: 'comparison', 'aria-live': 'polite' });
  #unitButtons;
  /** Positions of the fingers that touch the chart, by pointer. @type {Map<number, number>} */
  #fingers = new Map();

  constructor(/** @type {SeriesData} */ data, /** @type {HTMLElement} */ box) {
    this.#box = box;
    this.#view = new SeriesView(data);
    this.#unitButtons = buttonGroup(
      'Unit',
      this.#view.units.map((unit) => [unitNames[unit], () => this.#setUnit(unit)]),
    );
    box.replaceChildren();
    this.#chart = new Chart(this.#options(), [data.times, this.#view.column], box);
    this.#addTools();
    this.#handleKeys();
    this.#handleMouse();
    this.#handleTouch();
    whenColoursChange(() => this.#chart.redraw());
    addEventListener('hashchange', () => this.#readAddress());
    this.#readAddress();
    new ResizeObserver(() => this.#chart.setSize(this.#size())).observe(box);
  }

  #size() {
    return {
      width: this.#box.clientWidth,
      height: Math.max(240, Math.min(400, innerHeight * 0.5)),
    };
  }

  /** @returns {import('uplot').Options} */
  #options() {
    const view = this.#view;
    return {
      ...this.#size(),
      tzDate: inUtc,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, dist: 8 }, points: { size: 9 } },
      scales: {
        x: { time: true, range: () => view.range },
        y: { range: () => rangeOf(view.valuesDrawn, view.levelsDrawn) },
      },
      axes: [
        timeAxis(),
        {
          ...axisStyle(),
          size: 78,
          values: (_, splits) => splits.map((one) => view.textOf(one, 3)),
        },
      ],
      series: [
        {},
        {
          paths: () => null,
          points: { show: true, size: 4.5, width: 0, fill: () => thin('ink', 'b0') },
        },
      ],
      hooks: {
        drawAxes: [(self) => drawBelow(self, view)],
        draw: [(self) => drawAbove(self, view)],
        setCursor: [({ cursor }) => typeof cursor.idx === 'number' && this.#read(cursor.idx)],
        setSelect: [(self) => this.#zoomToSelection(self)],
      },
    };
  }

  #addTools() {
    const { whole, data } = this.#view;
    const ranges = buttonGroup('Nightly runs drawn', [
      ['30 d', () => this.#zoomToDays(30)],
      ['90 d', () => this.#zoomToDays(90)],
      ['1 year', () => this.#zoomToDays(365)],
      ['all', () => this.#zoom(whole)],
    ]);
    const csv = make('button', { type: 'button' }, 'CSV of what is drawn');
    csv.addEventListener('click', () => this.#saveCsv());
    this.#box.before(make('div', { class: 'tools' }, ranges, this.#unitButtons, csv));
    this.#box.after(this.#reading, this.#comparison);
    this.#box.tabIndex = 0;
    this.#box.setAttribute('role', 'application');
    this.#box.setAttribute(
      'aria-label',
      `${data.name} on ${data.testbed}: arrows go from nightly run to nightly run, Enter chooses one to compare, plus and minus zoom, Escape goes back. All nightly runs are in the table below.`,
    );
  }

  #read(/** @type {number} */ index) {
    this.#view.place = index;
    this.#reading.replaceChildren(...nightlyRunPieces(this.#view, index));
  }

  #choose(/** @type {number} */ index) {
    const { chosen } = this.#view;
    this.#view.chosen = chosen.includes(index) ? chosen.filter((one) => one !== index) : [...chosen.slice(-1), index];
    this.#update();
  }

  #clearChoice() {
    this.#view.chosen = [];
    this.#update();
  }

  #setUnit(/** @type {Unit} */ unit) {
    this.#view.unit = unit;
    this.#update();
  }

  #update() {
    const view = this.#view;
    this.#chart.setData([view.data.times, view.column], false);
    this.#chart.redraw(true, true);
    this.#read(view.place);
    this.#showComparison();
    for (const [index, unit] of view.units.entries()) {
      this.#unitButtons.children[index]?.setAttribute('aria-pressed', String(unit === view.unit));
    }
    this.#writeAddress();
  }

  #showComparison() {
    const { pair } = this.#view;
    const [a, b] = pair;
    if (a === undefined) {
      const hint = 'Choose two nightly runs, by click, touch or Enter, to see what lies between them.';
      this.#comparison.replaceChildren(make('span', { class: 'faint' }, hint));
      return;
    }
    const clear = make('button', { type: 'button' }, 'clear');
    clear.addEventListener('click', () => {
      this.#clearChoice();
      this.#box.focus();
    });
    this.#comparison.replaceChildren(
      make('ol', {}, ...pair.map((one) => make('li', {}, ...nightlyRunPieces(this.#view, one)))),
      ...(b === undefined ? ['Choose another nightly run to compare. '] : comparisonPieces(this.#view, a, b)),
      clear,
    );
  }

  #zoom(/** @type {[number, number]} */ [from, to]) {
    const [first, last] = this.#view.whole;
    const middle = (from + to) / 2;
    const half = Math.max(to - from, 2 * daySeconds) / 2;
    this.#view.range = [Math.max(middle - half, first), Math.min(middle + half, last)];
    this.#chart.setScale('x', { min: this.#view.range[0], max: this.#view.range[1] });
    this.#updateTable();
    this.#writeAddress();
  }

  #zoomToDays(/** @type {number} */ days) {
    const [first, last] = [this.#view.timeOf(0), this.#view.timeOf(this.#view.end)];
    this.#zoom([Math.max(last - days * daySeconds, first), this.#view.whole[1]]);
  }

  /** Keeps the time `about` in its place. */
  #zoomBy(/** @type {number} */ factor, about = this.#view.timeOf(this.#view.place)) {
    const [from, to] = this.#view.range;
    this.#zoom([about - (about - from) * factor, about + (to - about) * factor]);
  }

  #zoomToSelection(/** @type {import('./chart.js').Chart} */ chart) {
    const { left, width } = chart.select;
    if (width < 8) return;
    const [from, to] = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#zoom([from, to]);
  }

  /** Moves the cursor, and scrolls to it. */
  #goTo(/** @type {number} */ next) {
    const view = this.#view;
    const place = Math.min(Math.max(next, 0), view.end);
    const time = view.timeOf(place);
    if (time < view.range[0] || time > view.range[1]) {
      const half = (view.range[1] - view.range[0]) / 2;
      this.#zoom([time - half, time + half]);
    }
    const left = this.#chart.valToPos(time, 'x');
    this.#chart.setCursor({ left, top: this.#chart.valToPos(view.column[place] ?? 0, 'y') });
    this.#read(place);
  }

  #handleKeys() {
    const view = this.#view;
    this.#box.addEventListener('keydown', (event) => {
      if (event.target !== this.#box || event.ctrlKey || event.metaKey || event.altKey) return;
      const stride = event.shiftKey ? 10 : 1;
      /** @type {Record<string, () => void>} */
      const actions = {
        ArrowLeft: () => this.#goTo(view.place - stride),
        ArrowRight: () => this.#goTo(view.place + stride),
        Home: () => this.#goTo(0),
        End: () => this.#goTo(view.end),
        Enter: () => this.#choose(view.place),
        ' ': () => this.#choose(view.place),
        '+': () => this.#zoomBy(0.5),
        '=': () => this.#zoomBy(0.5),
        '-': () => this.#zoomBy(2),
        Escape: () => (view.chosen.length > 0 ? this.#clearChoice() : this.#zoom(view.whole)),
      };
      const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  #handleMouse() {
    const { over } = this.#chart;
    over.addEventListener('click', () => {
      const { idx } = this.#chart.cursor;
      if (typeof idx === 'number') this.#choose(idx);
    });
    over.addEventListener('dblclick', () => this.#zoom(this.#view.whole));
  }

  /** A single finger reads, two zoom; up and down still scroll the page. */
  #handleTouch() {
    const { over } = this.#chart;
    over.addEventListener('pointerdown', ({ pointerType, pointerId, clientX }) => {
      if (pointerType === 'touch') this.#fingers.set(pointerId, clientX);
    });
    over.addEventListener('pointermove', ({ pointerId, clientX }) => {
      if (this.#fingers.has(pointerId)) this.#moveFinger(pointerId, clientX);
    });
    for (const end of /** @type {const} */ (['pointerup', 'pointercancel', 'pointerleave'])) {
      over.addEventListener(end, ({ pointerId }) => this.#fingers.delete(pointerId));
    }
  }

  #moveFinger(/** @type {number} */ pointer, /** @type {number} */ x) {
    const before = [...this.#fingers.values()];
    this.#fingers.set(pointer, x);
    const { left } = this.#chart.over.getBoundingClientRect();
    const [a, b] = this.#fingers.values();
    if (a === undefined) return;
    if (b === undefined) {
      this.#chart.setCursor({ left: x - left, top: 10 });
      return;
    }
    const apart = Math.abs(a - b) || 1;
    const apartBefore = Math.abs((before[0] ?? 0) - (before[1] ?? 0)) || 1;
    this.#zoomBy(apartBefore / apart, this.#chart.posToVal((a + b) / 2 - left, 'x'));
  }

  #updateTable() {
    const view = this.#view;
    const { times } = view.data;
    const count = document.getElementById('run-count');
    const drawn = times.filter((_, index) => view.isDrawn(index)).length;
    if (count) count.textContent = `${drawn} of ${times.length} nightly runs`;
    const rows = document.querySelectorAll('#series details tbody tr');
    for (const [index, row] of rows.entries()) {
      row.toggleAttribute('hidden', !view.isDrawn(view.end - index));
    }
  }

  #saveCsv() {
    const href = URL.createObjectURL(new Blob([csvOf(this.#view)], { type: 'text/csv' }));
    const name = this.#view.data.name.replaceAll(' ', '-');
    make('a', { href, download: `${name}-drawn.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  #writeAddress() {
    const address = addressOf(this.#view);
    if (address === location.hash.slice(1)) return;
    history.replaceState(null, '', address === '' ? location.pathname : `#${address}`);
  }

  #readAddress() {
    followAddress(this.#view, location.hash.slice(1));
    const { range } = this.#view;
    this.#update();
    this.#zoom(range);
  }
}

function buttonGroup(/** @type {string} */ name, /** @type {[string, () => void][]} */ entries) {
  const box = make('div', { role: 'group', 'aria-label': name, class: 'buttons' });
  for (const [label, action] of entries) {
    const button = make('button', { type: 'button' }, label);
    button.addEventListener('click', action);
    box.append(button);
  }
  return box;
}

const target = document.getElementById('chart');
if (seriesData && target && seriesData.times.length > 0) new SeriesChart(seriesData, target);
