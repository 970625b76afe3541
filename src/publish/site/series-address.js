// A view as the address of its page has it, for whoever it is sent to.
import { dayOf } from './chart.js';

/** @typedef {import('./series-view.js').View} View */

/** The part after `#`, empty where nothing was chosen. */
export function addressOf(/** @type {View} */ view) {
  const { pair, range, whole, unit, data } = view;
  const isWhole = range[0] <= whole[0] && range[1] >= whole[1];
  const entries = [
    ...pair.map((index, which) => ['ab'[which], nameOf(data, index)]),
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

/** A commit, with the session where it was measured more than once. */
function nameOf(
  /** @type {import('./chart-data.ts').SeriesData} */ { commits, at },
  /** @type {number} */ index,
) {
  const commit = commits[index] ?? '';
  const isOnce = commits.indexOf(commit) === commits.lastIndexOf(commit);
  return isOnce ? commit.slice(0, 12) : `${commit.slice(0, 12)}-${at[index]}`;
}

/** Sets a view to what an address has; what it lacks is as at first, and what nobody could have written is left out. */
export function followAddress(/** @type {View} */ view, /** @type {string} */ address) {
  const wanted = new URLSearchParams(address);
  const places = [
    ...placeOf(view, wanted.get('a'), true),
    ...placeOf(view, wanted.get('b'), false),
  ];
  view.chosen = [...new Set(places)];
  const unit = view.units.find((one) => one === wanted.get('unit'));
  view.unit = unit ?? view.data.metric;
  view.place = view.chosen.at(-1) ?? view.end;
  const [from, to] = [wanted.get('from'), wanted.get('to')].map(
    (day) => Date.parse(day ?? '') / 1000,
  );
  const isRange = from !== undefined && to !== undefined && from < to;
  view.range = isRange ? [from, to] : aroundChosen(view);
}

/** `isBefore`: of several sessions of a commit the last one is meant, else the first. */
function placeOf(
  /** @type {View} */ { data },
  /** @type {string | null} */ name,
  /** @type {boolean} */ isBefore,
) {
  const { commits, at } = data;
  const [, commit, session] = /^([0-9a-f]{7,64})(?:-(\d+))?$/.exec(name ?? '') ?? [];
  if (commit === undefined) return [];
  const isMeant = (/** @type {string} */ one, /** @type {number} */ index) =>
    one.startsWith(commit) && (session === undefined || at[index] === Number(session));
  const found = isBefore ? commits.findLastIndex(isMeant) : commits.findIndex(isMeant);
  return found < 0 ? [] : [found];
}

/** Where a link chooses nightly runs and no range, they are seen with some before and after. @returns {[number, number]} */
function aroundChosen(/** @type {View} */ view) {
  const [first, last] = [view.pair[0], view.pair.at(-1)];
  if (first === undefined || last === undefined) return view.whole;
  const room = Math.max(60 * 86_400, view.timeOf(last) - view.timeOf(first));
  return [
    Math.max(view.timeOf(first) - room, view.whole[0]),
    Math.min(view.timeOf(last) + room, view.whole[1]),
  ];
}
