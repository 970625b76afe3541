// A series that a person looks through: zoomed, read run by run, compared between two nightly runs, and kept as a link.
import {
  axisLook,
  Chart,
  changeText,
  dayOf,
  inUtc,
  isWorse,
  make,
  rangeOf,
  seriesData,
  thin,
  timeAxis,
  whenColoursChange,
} from './chart.js';
import { addressOf, followAddress } from './series-address.js';
import { drawAbove, drawBelow } from './series-drawing.js';
import { View } from './series-view.js';

/** @typedef {import('./chart-data.ts').SeriesData} SeriesData */
/** @typedef {import('./series-view.js').Unit} Unit */

/** @type {Record<Unit, string>} */
const unitNames = {
  pps: 'packets/s',
  nsPerPacket: 'ns/packet',
  instructionsPerPacket: 'instructions/packet',
  percent: '%',
};

const target = document.getElementById('chart');
if (seriesData && target && seriesData.times.length > 0) drawSeries(seriesData, target);

function drawSeries(/** @type {SeriesData} */ data, /** @type {HTMLElement} */ box) {
  const { times, at, commits, occasions, metric } = data;
  const view = new View(data);

  // The chart.

  const size = () => ({
    width: box.clientWidth,
    height: Math.max(240, Math.min(400, innerHeight * 0.5)),
  });

  box.replaceChildren();
  const chart = new Chart(
    {
      ...size(),
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
          ...axisLook(),
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
        setCursor: [({ cursor }) => typeof cursor.idx === 'number' && read(cursor.idx)],
        setSelect: [zoomToSelection],
      },
    },
    [times, view.column],
    box,
  );

  // What a person does with it.

  const reading = make('output', { class: 'reading' });
  const comparison = make('div', { class: 'comparison', 'aria-live': 'polite' });
  const ranges = group('Nightly runs drawn', [
    ['30 d', () => lastDays(30)],
    ['90 d', () => lastDays(90)],
    ['1 year', () => lastDays(365)],
    ['all', () => zoom(view.whole)],
  ]);
  const { units } = view;
  const unitButtons = group(
    'Unit',
    units.map((one) => [unitNames[one], () => setUnit(one)]),
  );
  const csv = make('button', { type: 'button' }, 'CSV of what is drawn');
  csv.addEventListener('click', saveCsv);
  box.before(make('div', { class: 'tools' }, ranges, unitButtons, csv));
  box.after(reading, comparison);
  box.tabIndex = 0;
  box.setAttribute('role', 'application');
  box.setAttribute(
    'aria-label',
    `${data.name} on ${data.testbed}: arrows go from nightly run to nightly run, Enter chooses one to compare, plus and minus zoom, Escape goes back. All nightly runs are in the table below.`,
  );

  function read(/** @type {number} */ index) {
    view.place = index;
    reading.replaceChildren(...nightlyPieces(index));
  }

  /** @returns {(string | Node)[]} */
  function nightlyPieces(/** @type {number} */ index) {
    const { typical, least, most } = view.numbers;
    const value = typical[index];
    const span =
      typeof least[index] === 'number' && typeof most[index] === 'number'
        ? ` (${view.textOf(view.inUnit(least[index]))} … ${view.textOf(view.inUnit(most[index]))})`
        : '';
    const level = data.levels.find(({ from, to }) => index >= from && index < to);
    const off =
      level && typeof value === 'number' && view.unit === metric
        ? `, ${changeText(value / level.typical - 1)} off its level`
        : '';
    const why =
      occasions[index] === 'push' ? 'push' : occasions[index] === 'again' ? 'once more' : 'nightly';
    return [
      make('b', {}, dayOf(at[index] ?? 0)),
      ` ${why} of `,
      make('code', {}, (commits[index] ?? '').slice(0, 12)),
      ': ',
      make('b', {}, typeof value === 'number' ? view.textOf(view.inUnit(value)) : 'no number'),
      `${span}${off}`,
      ...remarksAt(index),
    ];
  }

  /** What happened between the nightly run before and this one. */
  function remarksAt(/** @type {number} */ index) {
    const since = times[index - 1] ?? Number.NEGATIVE_INFINITY;
    const until = view.timeOf(index);
    return [...data.fingerprints, ...data.releases]
      .filter(({ time }) => time > since && time <= until && index > 0)
      .map(({ said }) => make('div', { class: 'faint' }, said));
  }

  function choose(/** @type {number} */ index) {
    view.chosen = view.chosen.includes(index)
      ? view.chosen.filter((one) => one !== index)
      : [...view.chosen.slice(-1), index];
    renew();
  }

  /** Called after another choice or another unit. */
  function renew() {
    chart.setData([times, view.column], false);
    chart.redraw(true, true);
    read(view.place);
    tellComparison();
    for (const [index, one] of units.entries()) {
      unitButtons.children[index]?.setAttribute('aria-pressed', String(one === view.unit));
    }
    keep();
  }

  function tellComparison() {
    const [a, b] = view.pair;
    if (a === undefined) {
      comparison.replaceChildren(
        make(
          'span',
          { class: 'faint' },
          'Choose two nightly runs, by click, touch or Enter, to see what lies between them.',
        ),
      );
      return;
    }
    const nightlyRuns = make(
      'ol',
      {},
      ...view.pair.map((one) => make('li', {}, ...nightlyPieces(one))),
    );
    const clear = make('button', { type: 'button' }, 'clear');
    clear.addEventListener('click', () => {
      view.chosen = [];
      renew();
      box.focus();
    });
    comparison.replaceChildren(
      nightlyRuns,
      ...(b === undefined ? ['Choose another nightly run to compare. '] : betweenPieces(a, b)),
      clear,
    );
  }

  /** @returns {(string | Node)[]} */
  function betweenPieces(/** @type {number} */ a, /** @type {number} */ b) {
    const { typical } = view.numbers;
    const [before, after] = [typical[a], typical[b]];
    const pieces = [];
    if (typeof before === 'number' && typeof after === 'number') {
      const ratio = after / before - 1;
      const judged = view.unit === 'percent' ? metric : view.unit;
      const look = Math.abs(ratio) < 0.01 ? 'faint' : isWorse(judged, ratio) ? 'loss' : 'gain';
      pieces.push(
        make('strong', { class: look }, changeText(ratio)),
        ' over ',
        b - a === 1 ? 'one nightly run' : `${b - a} nightly runs`,
        '; ',
      );
    }
    const [from, to] = [commits[a] ?? '', commits[b] ?? ''];
    if (from === to) return [...pieces, 'the same commit. '];
    const said = `${from.slice(0, 12)}..${to.slice(0, 12)}`;
    const address = data.compare?.replaceAll('F'.repeat(40), from).replaceAll('T'.repeat(40), to);
    const range = make('code', {}, said);
    return [
      ...pieces,
      'commits between: ',
      address === undefined ? range : make('a', { href: address, id: 'compare' }, range),
      ' ',
    ];
  }

  function setUnit(/** @type {Unit} */ next) {
    view.unit = next;
    renew();
  }

  function zoom(/** @type {[number, number]} */ next) {
    const least = 2 * 86_400;
    const limits = view.whole;
    const middle = (next[0] + next[1]) / 2;
    const half = Math.max(next[1] - next[0], least) / 2;
    view.range = [Math.max(middle - half, limits[0]), Math.min(middle + half, limits[1])];
    chart.setScale('x', { min: view.range[0], max: view.range[1] });
    tellNightlyRuns();
    keep();
  }

  function lastDays(/** @type {number} */ days) {
    const [first, last] = [view.timeOf(0), view.timeOf(view.end)];
    zoom([Math.max(last - days * 86_400, first), view.whole[1]]);
  }

  /** About a place, which stays where it is. */
  function zoomBy(/** @type {number} */ factor, about = view.timeOf(view.place)) {
    zoom([about - (about - view.range[0]) * factor, about + (view.range[1] - about) * factor]);
  }

  function zoomToSelection(/** @type {import('./chart.js').Chart} */ self) {
    const { left, width } = self.select;
    if (width < 8) return;
    const next = /** @type {[number, number]} */ ([
      self.posToVal(left, 'x'),
      self.posToVal(left + width, 'x'),
    ]);
    self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    zoom(next);
  }

  /** The cursor, which the keyboard moves; what it leaves behind comes into view. */
  function goTo(/** @type {number} */ next) {
    const place = Math.min(Math.max(next, 0), view.end);
    const time = view.timeOf(place);
    if (time < view.range[0] || time > view.range[1]) {
      const half = (view.range[1] - view.range[0]) / 2;
      zoom([time - half, time + half]);
    }
    const value = view.column[place];
    chart.setCursor({ left: chart.valToPos(time, 'x'), top: chart.valToPos(value ?? 0, 'y') });
    read(place);
  }

  box.addEventListener('keydown', (event) => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    const stride = event.shiftKey ? 10 : 1;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => goTo(view.place - stride),
      ArrowRight: () => goTo(view.place + stride),
      Home: () => goTo(0),
      End: () => goTo(view.end),
      Enter: () => choose(view.place),
      ' ': () => choose(view.place),
      '+': () => zoomBy(0.5),
      '=': () => zoomBy(0.5),
      '-': () => zoomBy(2),
      Escape: () => {
        if (view.chosen.length > 0) {
          view.chosen = [];
          renew();
        } else zoom(view.whole);
      },
    };
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });

  chart.over.addEventListener('click', () => {
    if (typeof chart.cursor.idx === 'number') choose(chart.cursor.idx);
  });
  chart.over.addEventListener('dblclick', () => zoom(view.whole));

  // One finger reads, two zoom; up and down still scroll the page.
  /** @type {Map<number, number>} */
  const fingers = new Map();
  chart.over.addEventListener('pointerdown', ({ pointerType, pointerId, clientX }) => {
    if (pointerType === 'touch') fingers.set(pointerId, clientX);
  });
  chart.over.addEventListener('pointermove', ({ pointerId, clientX }) => {
    const before = [...fingers.values()];
    if (!fingers.has(pointerId)) return;
    fingers.set(pointerId, clientX);
    const { left } = chart.over.getBoundingClientRect();
    const now = [...fingers.values()];
    const [a, b] = now;
    if (a === undefined) return;
    if (b === undefined) {
      chart.setCursor({ left: clientX - left, top: 10 });
      return;
    }
    const apart = Math.abs(a - b) || 1;
    const were = Math.abs((before[0] ?? 0) - (before[1] ?? 0)) || 1;
    zoomBy(were / apart, chart.posToVal((a + b) / 2 - left, 'x'));
  });
  for (const over of /** @type {const} */ (['pointerup', 'pointercancel', 'pointerleave'])) {
    chart.over.addEventListener(over, ({ pointerId }) => fingers.delete(pointerId));
  }

  // The table and the file have what is drawn.

  const rows = document.querySelectorAll('#series details tbody tr');

  function tellNightlyRuns() {
    const count = times.filter((_, index) => view.isDrawn(index)).length;
    const told = document.getElementById('run-count');
    if (told) told.textContent = `${count} of ${times.length} nightly runs`;
    for (const [index, row] of rows.entries())
      row.toggleAttribute('hidden', !view.isDrawn(view.end - index));
  }

  function saveCsv() {
    const { typical, least, most } = view.numbers;
    const name =
      view.unit === 'percent'
        ? `percent_of_${(commits[view.reference] ?? '').slice(0, 12)}`
        : view.unit;
    const lines = times.flatMap((_, index) => {
      if (!view.isDrawn(index)) return [];
      const values = [typical, least, most].map((of) =>
        typeof of[index] === 'number' ? view.inUnit(of[index]) : '',
      );
      return [
        [
          new Date((at[index] ?? 0) * 1000).toISOString(),
          commits[index],
          occasions[index],
          ...values,
        ].join(','),
      ];
    });
    const text = [
      `at,commit,occasion,${name}_median,${name}_least,${name}_most`,
      ...lines,
      '',
    ].join('\n');
    const href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    make('a', { href, download: `${data.name.replaceAll(' ', '-')}-drawn.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  // The address has all of it.

  function keep() {
    const address = addressOf(view);
    if (address === location.hash.slice(1)) return;
    history.replaceState(null, '', address === '' ? location.pathname : `#${address}`);
  }

  function readAddress() {
    followAddress(view, location.hash.slice(1));
    const { range } = view;
    renew();
    zoom(range);
  }

  whenColoursChange(() => chart.redraw());
  addEventListener('hashchange', readAddress);
  readAddress();
  new ResizeObserver(() => chart.setSize(size())).observe(box);
}

/** Buttons that belong together. */
function group(/** @type {string} */ name, /** @type {[string, () => void][]} */ entries) {
  const box = make('div', { role: 'group', 'aria-label': name, class: 'buttons' });
  for (const [said, action] of entries) {
    const button = make('button', { type: 'button' }, said);
    button.addEventListener('click', action);
    box.append(button);
  }
  return box;
}
