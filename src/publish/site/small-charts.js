// Draws small charts of a testbed's cells with a shared cursor.
import {
  axisStyle,
  Chart,
  changeText,
  colour,
  dayOf,
  drawLevels,
  inUtc,
  isWorse,
  metricText,
  rangeOf,
  smallData,
  thin,
  timeAxis,
  verticalAt,
  whenColoursChange,
} from './chart.js';

/** @typedef {import('./chart-data.ts').SmallData} SmallData */

const figures = document.querySelectorAll('#small-multiples figure');

function drawSmall(/** @type {SmallData} */ data, /** @type {Element} */ figure) {
  const target = figure.querySelector('.small');
  const value = figure.querySelector('.value');
  const link = figure.querySelector('a');
  if (!(target instanceof HTMLElement) || !value || data.values.length === 0) return;
  const { times, values, commits, metric } = data;
  const last = values.at(-1) ?? 0;

  const readout = (/** @type {number | null | undefined} */ place) => {
    const chosen = values[place ?? -1];
    value.textContent =
      chosen === undefined || place === null || place === undefined
        ? metricText(last, metric)
        : `${dayOf(times[place] ?? 0)} ${metricText(chosen, metric)} ${changeText(last / chosen - 1)} since`;
  };

  const drawMarks = (/** @type {import('./chart.js').Chart} */ chart) => {
    for (const { place, ratio, isOpen } of data.changes) {
      const look = isWorse(metric, ratio) ? 'red' : 'green';
      verticalAt(chart, times[place] ?? 0, colour(isOpen ? look : 'grey'), isOpen ? [] : [2, 3]);
    }
  };

  target.replaceChildren();
  const chart = new Chart(
    {
      width: target.clientWidth,
      height: 120,
      tzDate: inUtc,
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        sync: { key: 'cells' },
        points: { size: 7 },
      },
      scales: {
        x: { time: true },
        y: {
          range: () =>
            rangeOf(
              values,
              data.levels.map(({ typical }) => typical),
            ),
        },
      },
      axes: [
        { ...timeAxis(), size: 22 },
        {
          ...axisStyle(),
          size: 76,
          space: 26,
          values: (_, splits) => splits.map((one) => metricText(one, metric, 3)),
        },
      ],
      series: [
        {},
        {
          paths: () => null,
          points: { show: true, size: 3, width: 0, fill: () => thin('faint', '99') },
        },
      ],
      hooks: {
        drawAxes: [drawMarks],
        draw: [(self) => drawLevels(self, data.levels, times, (one) => one, 'steps')],
        setCursor: [({ cursor }) => readout(cursor.idx)],
      },
    },
    [times, values],
    target,
  );
  chart.over.addEventListener('click', () => {
    const commit = commits[chart.cursor.idx ?? -1];
    if (link && commit !== undefined) location.href = `${link.href}#b=${commit}`;
  });
  readout(null);
  whenColoursChange(() => chart.redraw());
  new ResizeObserver(() => chart.setSize({ width: target.clientWidth, height: 120 })).observe(target);
}

/** Draws each chart shortly before it is visible. */
const whenSeen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      const data = smallData?.[[...figures].indexOf(target)];
      if (!isIntersecting || data === undefined) continue;
      whenSeen.unobserve(target);
      drawSmall(data, target);
    }
  },
  { rootMargin: '300px' },
);

if (smallData) for (const figure of figures) whenSeen.observe(figure);
