// A series that a person looks through: zoomed, read night by night, compared between two nights, and kept as a link.
import {
  axisLook,
  Chart,
  changeText,
  colour,
  dayOf,
  drawLevels,
  inUtc,
  isWorse,
  make,
  metricText,
  rangeOf,
  seriesData,
  thin,
  timeAxis,
  verticalAt,
  whenColoursChange,
} from './chart.js';

/** @typedef {import('./drawn.ts').SeriesData} SeriesData */
/** @typedef {'pps' | 'nsPerPacket' | 'percent'} Unit */

const target = document.getElementById('chart');
if (seriesData && target && seriesData.times.length > 0) drawSeries(seriesData, target);

function drawSeries(/** @type {SeriesData} */ data, /** @type {HTMLElement} */ box) {
  const { times, at, commits, occasions, metric } = data;
  const all = /** @type {const} */ ([times[0] ?? 0, times.at(-1) ?? 0]);
  const end = times.length - 1;

  /** Places of at most two nights, the one that was chosen last at the end. @type {number[]} */
  let chosen = [];
  /** @type {Unit} */
  let unit = metric;
  /** @type {[number, number]} */
  let range = spared(all[0], all[1]);
  let place = end;

  // What is drawn, in the unit.

  const numbers = () =>
    (unit === 'nsPerPacket' ? data.nsPerPacket : unit === 'pps' ? data.pps : data[metric]) ??
    data.pps;

  /** The night that others are held against: the first that was chosen, the last release, or the oldest. */
  const reference = () => {
    const release = data.releases.at(-1);
    const released = release ? times.findLastIndex((time) => time <= release.time) : -1;
    return chosen.toSorted((a, b) => a - b)[0] ?? Math.max(released, 0);
  };

  const shownBy = () => {
    if (unit !== 'percent') return (/** @type {number} */ value) => value;
    const whole = numbers().typical[reference()] || 1;
    return (/** @type {number} */ value) => (value / whole) * 100;
  };

  let shown = shownBy();

  const column = () => numbers().typical.map((value) => (value === null ? null : shown(value)));

  const inUnit = (/** @type {number} */ value, digits = 4) =>
    unit === 'percent' ? `${value.toFixed(digits > 3 ? 2 : 1)} %` : metricText(value, unit, digits);

  const isDrawn = (/** @type {number} */ index) =>
    (times[index] ?? 0) >= range[0] && (times[index] ?? 0) <= range[1];

  const valuesDrawn = () =>
    column().flatMap((value, index) => (value !== null && isDrawn(index) ? [value] : []));

  /** Levels are of the metric that is judged. */
  const isOfMetric = () => unit === metric || unit === 'percent';

  const levelsDrawn = () =>
    !isOfMetric()
      ? []
      : data.levels
          .filter(
            ({ from, to }) => (times[from] ?? 0) <= range[1] && (times[to - 1] ?? 0) >= range[0],
          )
          .map(({ typical }) => shown(typical));

  // The chart.

  const drawBelow = (/** @type {import('./chart.js').Chart} */ chart) => {
    const { ctx, bbox } = chart;
    const [a, b] = chosen.toSorted((one, other) => one - other);
    if (a !== undefined && b !== undefined) {
      const [left, right] = [a, b].map((one) =>
        Math.min(
          Math.max(chart.valToPos(times[one] ?? 0, 'x', true), bbox.left),
          bbox.left + bbox.width,
        ),
      );
      ctx.fillStyle = thin('amber', '1f');
      ctx.fillRect(left ?? 0, bbox.top, (right ?? 0) - (left ?? 0), bbox.height);
    }
    for (const { time } of data.fingerprints) verticalAt(chart, time, colour('amber'), [2, 3]);
    for (const { time, said } of data.releases)
      nameAt(chart, verticalAt(chart, time, colour('grey'), [6, 4]), said);
    if (isOfMetric()) drawLevels(chart, data.levels, times, shown, 'bands');
    drawSpans(chart);
  };

  /** The least and the most blast of each night, where there is room to see them. */
  const drawSpans = (/** @type {import('./chart.js').Chart} */ chart) => {
    const first = times.findIndex((time) => time >= range[0]);
    const last = times.findLastIndex((time) => time <= range[1]);
    if (last - first > 150) return;
    const { ctx, bbox } = chart;
    const { least, most } = numbers();
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
      const x = chart.valToPos(times[one] ?? 0, 'x', true);
      ctx.moveTo(x, chart.valToPos(shown(low), 'y', true));
      ctx.lineTo(x, chart.valToPos(shown(high), 'y', true));
    }
    ctx.stroke();
    ctx.restore();
  };

  const drawAbove = (/** @type {import('./chart.js').Chart} */ chart) => {
    const { ctx, bbox } = chart;
    if (isOfMetric()) drawLevels(chart, data.levels, times, shown, 'steps');
    for (const { place: index, ratio, state } of data.changes) {
      const x = verticalAt(chart, times[index] ?? 0, thin(lookOf(ratio, state), '99'));
      if (x === undefined) continue;
      triangle(ctx, x, bbox.top, isWorse(metric, ratio));
      ctx.fillStyle =
        state === 'candidate' || state === 'confirming'
          ? colour('paper')
          : colour(lookOf(ratio, state));
      ctx.strokeStyle = colour(lookOf(ratio, state));
      ctx.lineWidth = 2 * devicePixelRatio;
      ctx.fill();
      ctx.stroke();
    }
    drawOutside(chart);
    for (const one of chosen) {
      const value = column()[one];
      const x = chart.valToPos(times[one] ?? 0, 'x', true);
      if (value === null || value === undefined || x < bbox.left || x > bbox.left + bbox.width)
        continue;
      ctx.beginPath();
      ctx.arc(x, chart.valToPos(value, 'y', true), 6 * devicePixelRatio, 0, 7);
      ctx.strokeStyle = colour('amber');
      ctx.lineWidth = 2.5 * devicePixelRatio;
      ctx.stroke();
    }
    performance.mark('ppsgate-drawn');
  };

  /** Nights far off, as small triangles at the edge that they are beyond. */
  const drawOutside = (/** @type {import('./chart.js').Chart} */ chart) => {
    const { ctx, bbox, scales } = chart;
    const [low, high] = [scales.y?.min ?? 0, scales.y?.max ?? 0];
    ctx.fillStyle = colour('faint');
    column().forEach((value, index) => {
      if (value === null || (value >= low && value <= high)) return;
      const x = chart.valToPos(times[index] ?? 0, 'x', true);
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      const isBelow = value < low;
      triangle(ctx, x, isBelow ? bbox.top + bbox.height - 7 * devicePixelRatio : bbox.top, isBelow);
      ctx.fill();
    });
  };

  const lookOf = (/** @type {number} */ ratio, /** @type {string} */ state) =>
    state === 'testbed' || state === 'accepted' || state === 'recovered'
      ? 'grey'
      : isWorse(metric, ratio)
        ? 'red'
        : 'green';

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
        x: { time: true, range: () => range },
        y: { range: () => rangeOf(valuesDrawn(), levelsDrawn()) },
      },
      axes: [
        timeAxis(),
        {
          ...axisLook(),
          size: 78,
          values: (_, splits) => splits.map((one) => inUnit(one, 3)),
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
        drawAxes: [drawBelow],
        draw: [drawAbove],
        setCursor: [({ cursor }) => typeof cursor.idx === 'number' && read(cursor.idx)],
        setSelect: [zoomToSelection],
      },
    },
    [times, column()],
    box,
  );

  // What a person does with it.

  const reading = make('output', { class: 'reading' });
  const comparison = make('div', { class: 'comparison', 'aria-live': 'polite' });
  const ranges = group('Nights drawn', [
    ['30 d', () => lastDays(30)],
    ['90 d', () => lastDays(90)],
    ['1 year', () => lastDays(365)],
    ['all', () => zoom(spared(all[0], all[1]))],
  ]);
  /** @type {[string, Unit][]} */
  const units = [
    ['packets/s', 'pps'],
    ...(data.nsPerPacket ? [/** @type {[string, Unit]} */ (['ns/packet', 'nsPerPacket'])] : []),
    ['%', 'percent'],
  ];
  const unitButtons = group(
    'Unit',
    units.map(([name, one]) => [name, () => setUnit(one)]),
  );
  const csv = make('button', { type: 'button' }, 'CSV of what is drawn');
  csv.addEventListener('click', saveCsv);
  box.before(make('div', { class: 'tools' }, ranges, unitButtons, csv));
  box.after(reading, comparison);
  box.tabIndex = 0;
  box.setAttribute('role', 'application');
  box.setAttribute(
    'aria-label',
    `${data.name} on ${data.testbed}: arrows go from night to night, Enter chooses one to compare, plus and minus zoom, Escape goes back. All nights are in the table below.`,
  );

  function read(/** @type {number} */ index) {
    place = index;
    reading.replaceChildren(...nightPieces(index));
  }

  /** @returns {(string | Node)[]} */
  function nightPieces(/** @type {number} */ index) {
    const { typical, least, most } = numbers();
    const value = typical[index];
    const span =
      typeof least[index] === 'number' && typeof most[index] === 'number'
        ? ` (${inUnit(shown(least[index]))} … ${inUnit(shown(most[index]))})`
        : '';
    const level = data.levels.find(({ from, to }) => index >= from && index < to);
    const off =
      level && typeof value === 'number' && unit === metric
        ? `, ${changeText(value / level.typical - 1)} off its level`
        : '';
    const why =
      occasions[index] === 'push' ? 'push' : occasions[index] === 'again' ? 'once more' : 'night';
    return [
      make('b', {}, dayOf(at[index] ?? 0)),
      ` ${why} of `,
      make('code', {}, (commits[index] ?? '').slice(0, 12)),
      ': ',
      make('b', {}, typeof value === 'number' ? inUnit(shown(value)) : 'no number'),
      `${span}${off}`,
      ...remarksAt(index),
    ];
  }

  /** What happened between the night before and this one. */
  function remarksAt(/** @type {number} */ index) {
    const since = times[index - 1] ?? Number.NEGATIVE_INFINITY;
    const until = times[index] ?? 0;
    return [...data.fingerprints, ...data.releases]
      .filter(({ time }) => time > since && time <= until && index > 0)
      .map(({ said }) => make('div', { class: 'faint' }, said));
  }

  function choose(/** @type {number} */ index) {
    chosen = chosen.includes(index)
      ? chosen.filter((one) => one !== index)
      : [...chosen.slice(-1), index];
    renew();
  }

  /** After another choice or another unit. */
  function renew() {
    shown = shownBy();
    chart.setData([times, column()], false);
    chart.redraw(true, true);
    read(place);
    tellComparison();
    for (const [index, [, one]] of units.entries()) {
      unitButtons.children[index]?.setAttribute('aria-pressed', String(one === unit));
    }
    keep();
  }

  function tellComparison() {
    const [a, b] = chosen.toSorted((one, other) => one - other);
    if (a === undefined) {
      comparison.replaceChildren(
        make(
          'span',
          { class: 'faint' },
          'Choose two nights, by click, touch or Enter, to see what lies between them.',
        ),
      );
      return;
    }
    const nights = make(
      'ol',
      {},
      ...chosen
        .toSorted((one, other) => one - other)
        .map((one) => make('li', {}, ...nightPieces(one))),
    );
    const clear = make('button', { type: 'button' }, 'clear');
    clear.addEventListener('click', () => {
      chosen = [];
      renew();
      box.focus();
    });
    comparison.replaceChildren(
      nights,
      ...(b === undefined ? ['Choose another night to compare. '] : betweenPieces(a, b)),
      clear,
    );
  }

  /** @returns {(string | Node)[]} */
  function betweenPieces(/** @type {number} */ a, /** @type {number} */ b) {
    const { typical } = numbers();
    const [before, after] = [typical[a], typical[b]];
    const pieces = [];
    if (typeof before === 'number' && typeof after === 'number') {
      const ratio = after / before - 1;
      const judged = unit === 'percent' ? metric : unit;
      const look = Math.abs(ratio) < 0.01 ? 'faint' : isWorse(judged, ratio) ? 'loss' : 'gain';
      pieces.push(
        make('strong', { class: look }, changeText(ratio)),
        ' over ',
        b - a === 1 ? 'one night' : `${b - a} nights`,
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
    unit = next;
    renew();
  }

  function zoom(/** @type {[number, number]} */ next) {
    const least = 2 * 86_400;
    const limits = spared(all[0], all[1]);
    const middle = (next[0] + next[1]) / 2;
    const half = Math.max(next[1] - next[0], least) / 2;
    range = [Math.max(middle - half, limits[0]), Math.min(middle + half, limits[1])];
    chart.setScale('x', { min: range[0], max: range[1] });
    tellNights();
    keep();
  }

  function lastDays(/** @type {number} */ days) {
    zoom([Math.max(all[1] - days * 86_400, all[0]), spared(all[0], all[1])[1]]);
  }

  /** About a place, which stays where it is. */
  function zoomBy(/** @type {number} */ factor, about = times[place] ?? 0) {
    zoom([about - (about - range[0]) * factor, about + (range[1] - about) * factor]);
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
    place = Math.min(Math.max(next, 0), end);
    const time = times[place] ?? 0;
    if (time < range[0] || time > range[1]) {
      const half = (range[1] - range[0]) / 2;
      zoom([time - half, time + half]);
    }
    const value = column()[place];
    chart.setCursor({ left: chart.valToPos(time, 'x'), top: chart.valToPos(value ?? 0, 'y') });
    read(place);
  }

  box.addEventListener('keydown', (event) => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    const stride = event.shiftKey ? 10 : 1;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => goTo(place - stride),
      ArrowRight: () => goTo(place + stride),
      Home: () => goTo(0),
      End: () => goTo(end),
      Enter: () => choose(place),
      ' ': () => choose(place),
      '+': () => zoomBy(0.5),
      '=': () => zoomBy(0.5),
      '-': () => zoomBy(2),
      Escape: () => {
        if (chosen.length > 0) {
          chosen = [];
          renew();
        } else zoom(spared(all[0], all[1]));
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
  chart.over.addEventListener('dblclick', () => zoom(spared(all[0], all[1])));

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
  function tellNights() {
    const count = times.filter((_, index) => isDrawn(index)).length;
    const told = document.getElementById('night-count');
    if (told) told.textContent = `${count} of ${times.length} nights`;
    for (const [index, row] of rows.entries()) row.toggleAttribute('hidden', !isDrawn(end - index));
  }

  function saveCsv() {
    const { typical, least, most } = numbers();
    const name =
      unit === 'percent' ? `percent_of_${(commits[reference()] ?? '').slice(0, 12)}` : unit;
    const lines = times.flatMap((_, index) => {
      if (!isDrawn(index)) return [];
      const values = [typical, least, most].map((of) =>
        typeof of[index] === 'number' ? shown(of[index]) : '',
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

  // The address has all that was chosen.

  function keep() {
    const isWhole = range[0] <= all[0] && range[1] >= all[1];
    const [a, b] = chosen.toSorted((one, other) => one - other);
    const entries = [
      ...(a === undefined ? [] : [['a', nameOf(a)]]),
      ...(b === undefined ? [] : [['b', nameOf(b)]]),
      ...(isWhole
        ? []
        : [
            ['from', dayOf(range[0])],
            ['to', dayOf(range[1] + 86_399)],
          ]),
      ...(unit === metric ? [] : [['unit', unit]]),
    ];
    const hash = entries.map(([key, value]) => `${key}=${value}`).join('&');
    if (hash !== location.hash.slice(1))
      history.replaceState(null, '', hash === '' ? location.pathname : `#${hash}`);
  }

  /** A commit, with the session where it was measured more than once. */
  function nameOf(/** @type {number} */ index) {
    const commit = commits[index] ?? '';
    const isOnce = commits.indexOf(commit) === commits.lastIndexOf(commit);
    return isOnce ? commit.slice(0, 12) : `${commit.slice(0, 12)}-${at[index]}`;
  }

  /** `isBefore`: of several sessions of a commit the last one is meant, else the first. */
  function placeOf(/** @type {string | null} */ name, /** @type {boolean} */ isBefore) {
    const [, commit, session] = /^([0-9a-f]{7,64})(?:-(\d+))?$/.exec(name ?? '') ?? [];
    if (commit === undefined) return [];
    const isMeant = (/** @type {string} */ one, /** @type {number} */ index) =>
      one.startsWith(commit) && (session === undefined || at[index] === Number(session));
    const found = isBefore ? commits.findLastIndex(isMeant) : commits.findIndex(isMeant);
    return found < 0 ? [] : [found];
  }

  function readAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    chosen = [...new Set([...placeOf(wanted.get('a'), true), ...placeOf(wanted.get('b'), false)])];
    unit = units.map(([, one]) => one).find((one) => one === wanted.get('unit')) ?? metric;
    const [from, to] = [wanted.get('from'), wanted.get('to')].map(
      (day) => Date.parse(day ?? '') / 1000,
    );
    const isRange = from !== undefined && to !== undefined && from < to;
    place = chosen.at(-1) ?? end;
    renew();
    zoom(isRange ? [from, to] : aroundChosen());
  }

  /** Where a link chooses nights and no range, they are seen with some before and after. */
  function aroundChosen() {
    const [first, last] = [Math.min(...chosen), Math.max(...chosen)].map((one) => times[one] ?? 0);
    const limits = spared(all[0], all[1]);
    if (chosen.length === 0 || first === undefined || last === undefined) return limits;
    const room = Math.max(60 * 86_400, last - first);
    return /** @type {[number, number]} */ ([
      Math.max(first - room, limits[0]),
      Math.min(last + room, limits[1]),
    ]);
  }

  whenColoursChange(() => chart.redraw());
  addEventListener('hashchange', readAddress);
  readAddress();
  new ResizeObserver(() => chart.setSize(size())).observe(box);
}

/** With some room at both ends, so that the outermost nights are whole.
 * @returns {[number, number]}
 */
function spared(/** @type {number} */ from, /** @type {number} */ to) {
  const room = Math.max((to - from) * 0.01, 43_200);
  return [from - room, to + room];
}

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

function nameAt(
  /** @type {import('./chart.js').Chart} */ chart,
  /** @type {number | undefined} */ x,
  /** @type {string} */ said,
) {
  if (x === undefined) return;
  const { ctx, bbox } = chart;
  ctx.fillStyle = colour('faint');
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.fillText(
    said.slice(0, 24),
    x + 4 * devicePixelRatio,
    bbox.top + bbox.height - 6 * devicePixelRatio,
  );
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
