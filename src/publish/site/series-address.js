// Stores a view in the URL's fragment, so that a link shows the same view.
import { dayOf } from './chart.js';

/** @typedef {import('./series-view.js').SeriesView} SeriesView */

/** The part after `#`; empty for the initial view. */
export function addressOf(/** @type {SeriesView} */ view) {
  const { pair, range, whole, unit, data } = view;
  const isWhole = range[0] <= whole[0] && range[1] >= whole[1];
  const entries = [
    ...pair.map((index, which) => ['ab'[which], commitName(data, index)]),
    ...(isWhole
      ? []
      : [
          ['from', dayOf(range[0])],
          ['to', dayOf(range[1] + 86_399)],
        ]),
    ...(unit === data.metric ? [] : [['unit', unit]]),
  ];
  return entries.map(([key, value]) => `${key}=${value}`).join('&');
}

function commitName(/** @type {import('./chart-data.ts').SeriesData} */ { commits, at }, /** @type {number} */ index) {
  const commit = commits[index] ?? '';
  const isOnce = commits.indexOf(commit) === commits.lastIndexOf(commit);
  return isOnce ? commit.slice(0, 12) : `${commit.slice(0, 12)}-${at[index]}`;
}

/** Sets the view from an address; missing or invalid parts get their initial value. */
export function followAddress(/** @type {SeriesView} */ view, /** @type {string} */ address) {
  const parameters = new URLSearchParams(address);
  const indices = [...indicesOf(view, parameters.get('a'), true), ...indicesOf(view, parameters.get('b'), false)];
  view.chosen = [...new Set(indices)];
  const unit = view.units.find((one) => one === parameters.get('unit'));
  view.unit = unit ?? view.data.metric;
  view.place = view.chosen.at(-1) ?? view.end;
  const [from, to] = [parameters.get('from'), parameters.get('to')].map((day) => Date.parse(day ?? '') / 1000);
  const isRange = from !== undefined && to !== undefined && from < to;
  view.range = isRange ? [from, to] : aroundChosen(view);
}

/** `isBefore` selects the last of several sessions of a commit, else the first. */
function indicesOf(
  /** @type {SeriesView} */ { data },
  /** @type {string | null} */ name,
  /** @type {boolean} */ isBefore,
) {
  const { commits, at } = data;
  const [, commit, session] = /^([0-9a-f]{7,64})(?:-(\d+))?$/.exec(name ?? '') ?? [];
  if (commit === undefined) return [];
  const matches = (/** @type {string} */ one, /** @type {number} */ index) =>
    one.startsWith(commit) && (session === undefined || at[index] === Number(session));
  const found = isBefore ? commits.findLastIndex(matches) : commits.findIndex(matches);
  return found < 0 ? [] : [found];
}

/** The chosen nightly runs with some before and after, for a link without a range. @returns {[number, number]} */
function aroundChosen(/** @type {SeriesView} */ view) {
  const [first, last] = [view.pair[0], view.pair.at(-1)];
  if (first === undefined || last === undefined) return view.whole;
  const margin = Math.max(60 * 86_400, view.timeOf(last) - view.timeOf(first));
  return [Math.max(view.timeOf(first) - margin, view.whole[0]), Math.min(view.timeOf(last) + margin, view.whole[1])];
}
